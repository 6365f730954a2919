//! Colliders in a checkpoint: their poses after the last step, which placing strands needs.

use glam::{Quat, Vec3};

use crate::body::{MovingCollider, Shape};
use crate::math::RigidTransform;
use crate::math::bytes::{Reader, put_floats, put_u32};

/// Floats per collider: kind and sizes, friction, poses at start and end.
const FLOATS: usize = 19;

/// Appends colliders: their number, and each of them.
pub(crate) fn save_colliders(colliders: &[MovingCollider], out: &mut Vec<u8>) {
    put_u32(out, colliders.len() as u32);
    for c in colliders {
        put_floats(
            out,
            match c.shape {
                Shape::Sphere { radius } => [0.0, radius, 0.0, 0.0],
                Shape::Ellipsoid { radii } => [1.0, radii.x, radii.y, radii.z],
                Shape::Capsule { half_height, radius } => [2.0, half_height, radius, 0.0],
                Shape::Plane => [3.0, 0.0, 0.0, 0.0],
            },
        );
        put_floats(out, [c.friction]);
        for pose in [c.start, c.end] {
            put_floats(out, pose.rotation.to_array());
            put_floats(out, pose.translation.to_array());
        }
    }
}

/// Reads what [`save_colliders`] wrote; `None` if it is something else.
pub(crate) fn read_colliders(from: &mut Reader<'_>) -> Option<Vec<MovingCollider>> {
    let count = from.u32()? as usize;
    let floats: Vec<f32> = from.floats(count.checked_mul(FLOATS)?)?.collect();
    let pose = |v: &[f32]| RigidTransform {
        rotation: Quat::from_slice(v),
        translation: Vec3::from_slice(&v[4..]),
    };
    let collider = |row: &[f32; FLOATS]| {
        let shape = match row[0] as u32 {
            0 => Shape::Sphere { radius: row[1] },
            1 => Shape::Ellipsoid { radii: Vec3::from_slice(&row[1..]) },
            2 => Shape::Capsule { half_height: row[1], radius: row[2] },
            _ => Shape::Plane,
        };
        MovingCollider { shape, friction: row[4], start: pose(&row[5..]), end: pose(&row[12..]) }
    };
    Some(floats.as_chunks::<FLOATS>().0.iter().map(collider).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::shapes;
    use super::*;

    #[test]
    fn colliders_survive_a_checkpoint_and_anything_shorter_is_refused() {
        let pose = |k: f32| RigidTransform {
            rotation: Quat::from_rotation_z(k),
            translation: Vec3::new(k, 2.0 * k, 3.0 * k),
        };
        let colliders = shapes().map(|shape| MovingCollider {
            shape,
            friction: 0.7,
            start: pose(0.3),
            end: pose(0.4),
        });
        let mut bytes = Vec::new();
        save_colliders(&colliders, &mut bytes);
        let mut reader = Reader(&bytes);
        assert_eq!(read_colliders(&mut reader).as_deref(), Some(&colliders[..]));
        assert!(reader.0.is_empty());
        assert!((0..bytes.len()).all(|end| read_colliders(&mut Reader(&bytes[..end])).is_none()));
    }
}
