//! The conditions of a hair mesh: pure functions of a few vertices.
//!
//! A condition is a number C(x) that is zero at rest; its energy is k C^2 / 2 and its force
//! -k C grad C (`baraff1998` 4). They are measured on the faces as they are: stretch on the
//! edges of a quad, shear in its middle, bending in the corners on either side of an edge, volume in
//! the corners of a prism. So nothing is cut into triangles, and no diagonal is preferred.
//!
//! An implicit step requires a positive semi-definite stiffness. Of each energy's second derivative,
//! `k (grad C grad C^T + C grad grad C)`, only the first term is kept, which is a square, and of the second only the
//! transverse part of a stretched edge, which is never negative. So the system of a step is positive definite for any
//! shape, flattened and inverted prisms included, while the forces are exact.

mod bend;
mod shear;
mod stretch;
mod volume;

pub(crate) use bend::bend_condition;
pub(crate) use shear::shear_condition;
pub(crate) use stretch::stretch_condition;
pub(crate) use volume::volume_condition;

#[cfg(test)]
mod differences {
    use glam::Vec3A;

    use crate::math::Random;

    /// The gradient of `value` by central differences of `step` metres.
    pub(super) fn gradient<const N: usize>(
        x: [Vec3A; N],
        step: f32,
        value: impl Fn([Vec3A; N]) -> f32,
    ) -> [Vec3A; N] {
        std::array::from_fn(|v| {
            let slope = |axis: usize| {
                let at = |displacement: f32| {
                    let mut moved = x;
                    moved[v][axis] += displacement;
                    value(moved)
                };
                (at(step) - at(-step)) / (2.0 * step)
            };
            Vec3A::new(slope(0), slope(1), slope(2))
        })
    }

    /// Points of about a metre in general position.
    pub(super) fn points<const N: usize>(seed: u32) -> [Vec3A; N] {
        let mut random = Random::new(seed.into(), 1);
        std::array::from_fn(|_| random.vector().into())
    }

    /// Fails unless both gradients agree to a fraction of their size.
    pub(super) fn agree<const N: usize>(found: [Vec3A; N], truth: [Vec3A; N], tolerance: f32) {
        let size = truth.iter().map(|g| g.length()).fold(0.0, f32::max);
        for v in 0..N {
            let error = (found[v] - truth[v]).length();
            assert!(error <= tolerance * size, "vertex {v}: {} against {}", found[v], truth[v]);
        }
        // No condition depends on the place in the world.
        let sum: Vec3A = found.iter().sum();
        assert!(sum.length() <= 1e-4 * size, "forces add up to {sum}");
    }
}
