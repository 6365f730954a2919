//! All tests of scene files, styles and built-in scenes in one program, a module per subject.

mod builtin_scenes;
mod docs_reference;
mod fitted_any_groom;
mod fitted_hair_mesh;
mod hair_mesh_rest;
mod placing;
mod scene_file;
mod scene_file_contact;
mod scene_file_keys;
mod scene_file_model;
mod scene_file_pins;
mod scene_file_random;
mod scene_file_refused;
mod scene_file_set;
mod scene_text;
