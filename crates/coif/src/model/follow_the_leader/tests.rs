//! The kernels give the same bits for any instruction set.

use glam::Quat;

use super::*;
use crate::body::{MovingCollider, Shape};
use crate::environment::Wind;
use crate::groom::{Fibre, Strands};

/// The machine's instruction set and the baseline of its architecture give the same
/// bits, contact included.
#[test]
fn instruction_sets_agree_to_the_bit() {
    let mut strands = Strands::new();
    for s in 0..37 {
        let a = s as f32 * 0.7;
        let start = Vec3::new(a.cos(), 1.0, a.sin()) * 0.1;
        let bend = |i: f32| Vec3::new(a.cos() * i, 0.3 * i - 2.0 * i * i, a.sin() * i);
        let line: Vec<Vec3> = (0..15).map(|i| start + bend(i as f32 * 0.02)).collect();
        strands.push(&line);
    }
    let groom = Groom::new(strands, Fibre::default());
    let (dt, gravity) = (1.0 / 240.0, Vec3::NEG_Y * 9.81);
    let run = |level: Level| {
        let mut model =
            FollowTheLeader::new(&groom, &Settings::default(), dt, gravity).expect("valid");
        model.level = level;
        for step in 0..60 {
            let turn = Quat::from_rotation_y(0.05 * step as f32);
            let pose = RigidTransform { rotation: turn, translation: Vec3::ZERO };
            let collider = MovingCollider {
                shape: Shape::Ellipsoid { radii: Vec3::new(0.2, 0.14, 0.17) },
                friction: 0.3,
                start: pose,
                end: pose,
            };
            let env = Environment {
                time: 0.0,
                dt,
                gravity,
                wind: &Wind::default(),
                world_from_rest: &[pose; 37],
                colliders: &[collider],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
        }
        let mut positions = vec![Vec3::ZERO; groom.strands.point_count()];
        model.positions(&mut positions);
        crate::math::hash_positions(&positions)
    };
    assert_eq!(run(Level::new()), run(Level::baseline()));
}
