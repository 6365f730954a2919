//! All tests of the library in one program, one module per subject. Tests that count allocations replace the global
//! allocator and are programs of their own.

mod change;
mod contact_volume;
mod distance_field;
mod drive;
mod ends;
mod every_model;
mod examples;
mod health;
mod hold_uneven;
mod module_order;
mod other_bodies;
mod paper_forms;
mod physics_baselines;
mod physics_cantilever;
mod physics_collision;
mod physics_follow_the_leader;
mod physics_follow_the_leader_ends;
mod physics_hair_mesh;
mod physics_mass_spring;
mod physics_mass_spring_contact;
mod physics_mass_spring_single;
mod physics_mass_spring_stiff;
mod physics_mass_spring_tetrahedra;
mod physics_moving_body;
mod pins;
mod robust_violence;
mod rows;
mod scene;
mod shapes;
mod strand_contact;
mod strand_contact_simulation;
mod tangle;
