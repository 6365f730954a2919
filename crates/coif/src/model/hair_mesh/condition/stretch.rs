use glam::Vec3A;

/// An edge's stretch and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretch {
    /// C: length over rest length, less 1.
    pub(crate) value: f32,
    /// Gradient of C with respect to the second end (1/m); that of the first is the opposite.
    pub(crate) gradient: Vec3A,
    /// Curvature of C across the edge (1/m^2): the part of its second derivative that is not along the
    /// edge is this times (1 - u u^T), for a unit direction u.
    pub(crate) across: f32,
    /// Direction of the edge, unit length; zero for an edge without length.
    pub(crate) direction: Vec3A,
}

/// Stretch of an edge.
///
/// Model: `C = |b - a| / l - 1`.
/// Source: `baraff1998` eq. 10, with the edge as the direction u or v.
/// Symbols: a, b ends (m), l rest length (m).
/// Deviations: on a quad the paper's `w_u` is measured on both edges along u instead of once per
/// triangle, so that no diagonal is stiffer. Without its area: the stiffness carries the volume.
#[inline(always)]
pub(crate) fn stretch_condition(a: Vec3A, b: Vec3A, inverse_rest: f32) -> Stretch {
    let edge = b - a;
    let length = edge.length();
    // An edge without length has no direction to pull in; other conditions open it.
    let inverse = if length > SHORTEST { 1.0 / length } else { 0.0 };
    let direction = edge * inverse;
    Stretch {
        value: length * inverse_rest - 1.0,
        gradient: direction * inverse_rest,
        across: inverse_rest * inverse,
        direction,
    }
}

/// Length below which an edge has no direction (m): a hundredth of a fibre's radius.
const SHORTEST: f32 = 4e-7;

#[cfg(test)]
mod tests {
    use super::super::differences::{agree, gradient, points};
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_value() {
        for seed in 0..20 {
            let x: [Vec3A; 2] = points(seed);
            let of = |[a, b]: [Vec3A; 2]| stretch_condition(a, b, 1.25);
            let found = of(x).gradient;
            agree([-found, found], gradient(x, 3e-3, |x| of(x).value), 1e-3);
        }
    }

    /// The second derivative is `across (1 - u u^T)`: nothing along, the same in all directions across.
    #[test]
    fn the_curvature_across_is_that_of_the_value() {
        for seed in 0..20 {
            let [a, b]: [Vec3A; 2] = points(seed);
            let here = stretch_condition(a, b, 2.0);
            let step = 1e-2;
            for axis in [Vec3A::X, Vec3A::Y, Vec3A::Z] {
                let at = |s: f32| stretch_condition(a, b + axis * s, 2.0).gradient;
                let change = (at(step) - at(-step)) / (2.0 * step);
                let u = here.direction;
                let truth = (axis - u * u.dot(axis)) * here.across;
                assert!(
                    (change - truth).length() < 1e-2 * here.across.max(1.0),
                    "{change} {truth}"
                );
            }
        }
    }

    #[test]
    fn an_edge_without_length_has_no_direction_and_no_trouble() {
        let s = stretch_condition(Vec3A::ONE, Vec3A::ONE, 10.0);
        assert_eq!((s.value, s.gradient, s.across), (-1.0, Vec3A::ZERO, 0.0));
    }
}
