//! Two characters in a game loop: a groom from a plain array, a pose per frame, irregular frame times, changing wind, a
//! moving collider, hair pinned to a hand, a respawn far away. `cargo run --release -p coif --example game_loop`

use std::sync::Arc;

use coif::body::{Body, Collider, Pose, Shape, TriangleMesh};
use coif::glam::{DVec3, Quat, Vec3};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::WorldTransform;
use coif::model::ModelSettings;
use coif::simulation::{Anchor, Crowd, FreeCollider, Layout, Simulation, Wind, World};

/// Floats per vertex in the engine's buffer: position, normal, texture coordinates.
const STRIDE: usize = 8;

/// Identifier of the pose of the hand, to which hair is pinned.
const HAND: u32 = 1;

fn main() -> coif::Result<()> {
    // The scalp in the rest pose, here a patch of a head.
    let corner = |x: f32, z: f32| Vec3::new(0.1 * x, 1.7, 0.1 * z);
    let scalp = TriangleMesh {
        positions: vec![corner(-1., -1.), corner(1., -1.), corner(1., 1.), corner(-1., 1.)],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
    };

    // The groom from an array of the engine: 16 points per strand from root to tip, three floats per point.
    let array: Vec<f32> = (0..400)
        .flat_map(|s| {
            let root = Vec3::new(s as f32 % 20.0 - 9.5, 0.0, s as f32 / 20.0 - 9.5) * 0.008;
            let out = Vec3::new(root.x, 0.1, root.z).normalize();
            (0..16).map(move |i| {
                let t = 0.016 * i as f32;
                Vec3::Y * 1.7 + root + out * t + Vec3::NEG_Y * (3.0 * t * t)
            })
        })
        .flat_map(|p| p.to_array())
        .collect();
    let mut strands = Strands::new();
    for strand in array.chunks(3 * 16) {
        strands.push(&strand.chunks(3).map(Vec3::from_slice).collect::<Vec<_>>());
    }
    let mut groom = Groom::new(strands, Fibre::default());
    groom.bind(&scalp)?;
    let groom = Arc::new(groom);

    // One bone that the engine poses, with a spherical collider for the skull.
    let weights = vec![[(0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)]; 4];
    let skull = Shape::Sphere { radius: 0.1 };
    let skull = Collider::new(skull, Vec3::Y * 1.59, Quat::IDENTITY, 0);
    let body = Arc::new(Body::driven(scalp, weights, 1)?.with_colliders(vec![skull])?);

    // Two characters. Hair sleeps while nothing around it moves.
    let model = ModelSettings::by_name("follow-the-leader")?;
    let character = || Simulation::new(groom.clone(), body.clone(), &model, World::default());
    let mut crowd = Crowd::new(vec![character()?, character()?]);
    let mut vertices = vec![0.0; STRIDE * groom.strands.point_count()];

    let (mut time, mut place) = (0.0, [DVec3::ZERO, DVec3::X * 2.0]);
    for frame in 0..300 {
        // Irregular frame times: 90 frames a second, but every 40th frame takes 30 ms.
        let dt = if frame % 40 == 39 { 0.03 } else { 1.0 / 90.0 };
        time += dt;

        // Poses from the animation: the first character walks and turns its head, the second stands.
        place[0].z += 1.4 * dt;
        let rotation = Quat::from_rotation_y((2.0 * time).sin() as f32);
        let turned = [rotation, Quat::IDENTITY];
        // The first respawns 20 km away; from then on its positions are relative to an origin near it.
        if frame == 200 {
            place[0] = DVec3::new(20_000.0, 3.0, -5_000.0);
            let pose = Pose::Rigid(WorldTransform { rotation, translation: place[0] });
            crowd.characters_mut()[0].teleport_with_origin(pose, place[0])?;
        }
        let poses = [0, 1]
            .map(|c| Pose::Rigid(WorldTransform { rotation: turned[c], translation: place[c] }));

        // Change the wind of the first, and move a ball past the second, which wakes it.
        let velocity = Vec3::X * (2.0 + 2.0 * (0.5 * time).sin() as f32);
        crowd.characters_mut()[0].set_wind(Wind { velocity, gusts: 0.5, seed: 1 })?;
        let ball = FreeCollider {
            id: 1,
            shape: Shape::Sphere { radius: 0.1 },
            world_from_shape: WorldTransform::from_translation(DVec3::new(
                2.0,
                1.6,
                4.0 - 2.0 * time,
            )),
            friction: 0.3,
        };
        let near = if frame > 100 { &[ball][..] } else { &[] };
        crowd.characters_mut()[1].set_free_colliders(near)?;

        // Pin a lock of the first character's hair to its hand for about a second.
        let hand = WorldTransform {
            rotation,
            translation: place[0] + DVec3::new(0.0, 1.55 + 0.05 * (4.0 * time).sin(), 0.15),
        };
        let character = &mut crowd.characters_mut()[0];
        character.set_pin_pose(HAND, hand)?;
        match frame {
            50 => {
                (380..390).try_for_each(|strand| character.pin(strand, 12, Anchor::Pose(HAND)))?
            }
            140 => character.unpin_all(),
            _ => {}
        }

        // Simulate all characters on all cores, then write positions at the time of the frame to the vertex buffer.
        crowd.drive(&poses, dt)?;
        for character in crowd.characters_mut() {
            character.write_positions(Layout { stride: STRIDE, offset: 0 }, &mut vertices)?;
        }
        if frame % 60 == 59 {
            let [x, y, z] = [vertices[120], vertices[121], vertices[122]];
            println!("{time:.2} s: {} awake, a tip at {x:.3} {y:.3} {z:.3}", crowd.awake());
        }
    }
    for character in crowd.characters() {
        let report = character.report();
        println!("{} strands quarantined, {} s skipped", report.quarantined.len(), report.skipped);
        assert!(report.quarantined.is_empty());
    }
    Ok(())
}
