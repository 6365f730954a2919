//! Hair on body: shapes and fields posed for a step, how far outside hair is kept, Coulomb friction,
//! restitution, and the broad phase. Every model uses it.
//!
//! A model brings only its own projection: a free particle goes to the closest point of the surface (`particles`), a
//! segment turns on the sphere of its length, a vertex of a hair mesh leaves with its neighbours, a joint of a strip turns
//! about the one before. They project on a `PosedShape` or a `PosedField`; friction and restitution of a velocity are
//! in `response`.

mod broad_phase;
mod checkpoint;
mod lanes;
mod particles;
mod posed_field;
mod posed_shape;
pub(crate) mod response;

pub(crate) use self::broad_phase::{Near, PosedShapes};
pub(crate) use self::checkpoint::{read_colliders, save_colliders};
pub(crate) use self::particles::{Collision, FrictionScale, Particles};
pub(crate) use self::posed_field::PosedField;
pub(crate) use self::posed_shape::{PosedShape, depth_inside, pose_between};

/// Distance that hair keeps from the body (m): 80 micrometres, the thickness of a human hair.
///
/// A distance field is exact to about a hundredth of a cell, which is as much for cells of a centimetre: with less,
/// hair on the field's surface is visibly inside the mesh. With more, there is a visible gap.
pub const SKIN: f32 = 8e-5;

/// Depth (m) below the surface that is invisible: the end of a segment that the rounds over tangent planes leave this deep
/// stays, rather than being turned far away.
pub(crate) const GRAZING: f32 = 3e-4;

#[cfg(test)]
pub(crate) mod testing {
    use glam::{Quat, Vec3};

    use super::PosedShape;
    use crate::body::{MovingCollider, Shape};
    use crate::math::RigidTransform;

    /// One of each kind.
    pub(crate) fn shapes() -> [Shape; 4] {
        [
            Shape::Sphere { radius: 0.4 },
            Shape::Ellipsoid { radii: Vec3::new(0.3, 0.8, 0.5) },
            Shape::Capsule { half_height: 0.5, radius: 0.2 },
            Shape::Plane,
        ]
    }

    /// One of each kind, the size of a head.
    pub(crate) const SMALL: [Shape; 4] = [
        Shape::Sphere { radius: 0.1 },
        Shape::Ellipsoid { radii: Vec3::new(0.1, 0.15, 0.07) },
        Shape::Capsule { half_height: 0.1, radius: 0.06 },
        Shape::Plane,
    ];

    /// Places inside and around [`shapes`].
    pub(crate) fn points() -> impl Iterator<Item = Vec3> {
        (0..400).map(|i| {
            let t = i as f32;
            Vec3::new((t * 0.7).sin(), (t * 0.31).cos(), (t * 0.13).sin()) * (0.1 + 0.004 * t)
        })
    }

    /// A collider that does not move, with friction 0.3.
    pub(crate) fn resting(shape: Shape, pose: RigidTransform) -> MovingCollider {
        MovingCollider { shape, friction: 0.3, start: pose, end: pose }
    }

    /// The same with a rotation about z.
    pub(crate) fn turned(shape: Shape, translation: Vec3) -> MovingCollider {
        resting(shape, RigidTransform { rotation: Quat::from_rotation_z(0.3), translation })
    }

    /// The same posed, without a rotation.
    pub(crate) fn still(shape: Shape, translation: Vec3) -> PosedShape {
        PosedShape::new(&resting(shape, RigidTransform::from_translation(translation)), 0.01)
    }
}
