use glam::Vec3A;

/// A tetrahedron's change of volume and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Volume {
    /// C: change of volume over the volume of reference.
    pub(crate) value: f32,
    /// Gradients with respect to the four corners (1/m).
    pub(crate) gradients: [Vec3A; 4],
}

/// Change of volume of a tetrahedron.
///
/// Model: `C = (e1 . (e2 x e3) / 6 - V0) / V`. The gradient with respect to a corner is a third of the area
/// of the face on the other side, towards the corner; it does not vanish when the tetrahedron is flat,
/// and keeps its direction when it is inverted.
/// Source: `wu2016` 3.1, eq. 1 and 2, figure 2.
/// Symbols: x corners (m), V0 rest volume with its sign (m^3), V volume of reference (m^3).
/// Deviations: divided by a volume of reference, so that the stiffness is a modulus. The paper prints
/// its forces without the sixth of the gradient, which is folded into its stiffness.
#[inline(always)]
pub(crate) fn volume_condition(x: [Vec3A; 4], inverse_reference: f32, rest: f32) -> Volume {
    let (e1, e2, e3) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let sixth = inverse_reference * (1.0 / 6.0);
    let by_1 = e2.cross(e3) * sixth;
    let by_2 = e3.cross(e1) * sixth;
    let by_3 = e1.cross(e2) * sixth;
    Volume {
        value: e1.dot(by_1) - rest * inverse_reference,
        gradients: [-(by_1 + by_2 + by_3), by_1, by_2, by_3],
    }
}

#[cfg(test)]
mod tests {
    use super::super::differences::{agree, gradient, points};
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_value() {
        for seed in 0..20 {
            let x: [Vec3A; 4] = points(seed);
            let of = |x| volume_condition(x, 2.0, 0.1);
            agree(of(x).gradients, gradient(x, 3e-2, |x| of(x).value), 1e-3);
        }
    }

    /// The whole derivative of the force `-k C grad C`: the square of the gradient, which the model keeps,
    /// and C times the second derivative of the volume, whose blocks are those of a cross product.
    #[test]
    fn the_derivative_of_the_force_has_the_two_known_parts() {
        let cross = |e: Vec3A, direction: Vec3A| e.cross(direction);
        for seed in 0..20 {
            let x: [Vec3A; 4] = points(seed);
            let (inverse, rest) = (2.0, 0.1);
            let here = volume_condition(x, inverse, rest);
            let (e1, e2, e3) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
            for axis in 0..3 {
                let mut direction = Vec3A::ZERO;
                direction[axis] = 1.0;
                // Move the last corner: grad_1 changes by e2 x direction, grad_2 by direction x e1, grad_3 not at all.
                let second = [
                    -(cross(e2, direction) + cross(direction, e1)),
                    cross(e2, direction),
                    cross(direction, e1),
                    Vec3A::ZERO,
                ];
                let force = |s: f32| {
                    let mut moved = x;
                    moved[3] += direction * s;
                    let c = volume_condition(moved, inverse, rest);
                    c.gradients.map(|g| g * -c.value)
                };
                let (step, slope) = (1e-2, here.gradients[3].dot(direction));
                let (plus, minus) = (force(step), force(-step));
                for v in 0..4 {
                    let found = (plus[v] - minus[v]) / (2.0 * step);
                    let kept = -here.gradients[v] * slope;
                    let dropped = -second[v] * (here.value * inverse / 6.0);
                    assert!(
                        (found - kept - dropped).length() < 2e-3,
                        "{v}: {found} {kept} {dropped}"
                    );
                }
            }
            let _ = e3;
        }
    }

    /// Figure 2: flat or inverted, the force pushes the corner to its side at rest.
    #[test]
    fn the_force_restores_the_corner_when_flat_and_when_inverted() {
        for height in [0.5, 0.0, -0.7f32] {
            let x = [Vec3A::ZERO, Vec3A::X, Vec3A::Y, Vec3A::Z * height];
            let c = volume_condition(x, 6.0, 1.0 / 6.0);
            assert!((c.value - (height - 1.0)).abs() < 1e-6);
            let force = c.gradients[3] * -c.value;
            assert!(force.z > 0.0 && force.x == 0.0 && force.y == 0.0, "{height}: {force}");
        }
    }
}
