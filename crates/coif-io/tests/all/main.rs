//! All tests of the file formats in one program, a module per format.

mod cache;
mod formats;
mod gltf;
mod grooms;
mod hair;
mod hair_mesh;
mod npz;
mod obj;
mod real_files;
mod slivers;
