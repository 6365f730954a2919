use glam::Vec3A;

/// Bending of a face about an edge, and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bend {
    /// Force per stiffness: twice the sine of half the angle from rest.
    pub(crate) force: f32,
    /// Slope of that per angle: the cosine of half the angle from rest, never negative.
    pub(crate) slope: f32,
    /// Gradients of the angle with respect to the edge's ends, the wing before and the wing after (1/m).
    pub(crate) gradients: [Vec3A; 4],
}

/// Bending about the edge from a to b, of the corner triangles (a, b, before) and (a, b, after).
///
/// Model: the angle t between the two wings about the edge, less that at rest, with the energy
/// `4 k (1 - cos(t / 2))`: `k t^2 / 2` for small angles, with a force that grows up to a half turn.
/// Source: `baraff1998` 4.3, bend condition.
/// Symbols: a, b ends of the edge (m), `before`, `after` the wings (m), `rest` cosine and sine of the angle at rest,
/// `min_length` lower bound of the distance (m) of a wing from the edge.
/// Deviations: the angle's energy without inverse trigonometric functions. The gradient is exact,
/// the paper's holds the normals' lengths constant.
#[inline(always)]
pub(crate) fn bend_condition(x: [Vec3A; 4], rest: [f32; 2], min_length: f32) -> Bend {
    let [a, b, before, after] = x;
    let edge = b - a;
    let inverse = 1.0 / edge.length().max(min_length);
    let u = edge * inverse;
    let (p, q) = (before - a, after - a);
    let (along_p, along_q) = (p.dot(u), q.dot(u));
    let (p, q) = (p - u * along_p, q - u * along_q);
    let (p2, q2) = (
        p.length_squared().max(min_length * min_length),
        q.length_squared().max(min_length * min_length),
    );
    let scale = 1.0 / (p2 * q2).sqrt();
    // The angle from the direction straight on through the edge to the wing after it.
    let (cosine, sine) = (-p.dot(q) * scale, -p.cross(q).dot(u) * scale);
    let (cosine, sine) = (cosine * rest[0] + sine * rest[1], sine * rest[0] - cosine * rest[1]);
    let half = (0.5 * (1.0 + cosine)).max(FOLDED).sqrt();
    let by_before = u.cross(p) * (-1.0 / p2);
    let by_after = u.cross(q) * (1.0 / q2);
    // The edge's rotation turns both wings: weighted by the foot points of their heights on it.
    let by_b = -(by_before * (along_p * inverse) + by_after * (along_q * inverse));
    let by_a = -(by_b + by_before + by_after);
    Bend { force: sine / half, slope: half, gradients: [by_a, by_b, by_before, by_after] }
}

/// Square of the cosine of half the angle at which a face is folded onto itself.
const FOLDED: f32 = 1e-6;

#[cfg(test)]
mod tests {
    use super::super::differences::{agree, gradient, points};
    use super::*;

    fn angle([a, b, before, after]: [Vec3A; 4]) -> f32 {
        let u = (b - a).normalize();
        let flat = |p: Vec3A| p - a - u * u.dot(p - a);
        let (p, q) = (-flat(before), flat(after));
        p.cross(q).dot(u).atan2(p.dot(q))
    }

    #[test]
    fn force_and_gradient_are_those_of_the_angle() {
        let mut tried = 0;
        for seed in 0..60 {
            let x: [Vec3A; 4] = points(seed);
            let t = angle(x);
            let narrow =
                bend_condition(x, [1.0, 0.0], 1e-6).gradients.iter().any(|g| g.length() > 4.0);
            if t.abs() > 2.8 || narrow {
                continue;
            }
            tried += 1;
            for rest in [0.0f32, 0.3] {
                let found = bend_condition(x, [rest.cos(), rest.sin()], 1e-6);
                assert!((found.force - 2.0 * (0.5 * (t - rest)).sin()).abs() < 1e-4);
                assert!((found.slope - (0.5 * (t - rest)).cos()).abs() < 1e-4);
                agree(found.gradients, gradient(x, 3e-3, angle), 5e-3);
            }
        }
        assert!(tried > 20, "{tried}");
    }

    /// The force grows until the face is folded, and nothing is infinite there.
    #[test]
    fn a_fold_is_pushed_open_all_the_way() {
        let at = |t: f32| {
            let after = Vec3A::new(0.0, t.cos(), t.sin());
            bend_condition([Vec3A::ZERO, Vec3A::X, Vec3A::NEG_Y, after], [1.0, 0.0], 1e-3)
        };
        assert!(at(1.0).force < at(2.0).force && at(2.0).force < at(3.0).force);
        let folded = at(std::f32::consts::PI);
        assert!(folded.gradients.iter().all(|g| g.is_finite()) && folded.force.is_finite());
        let collapsed = bend_condition([Vec3A::ZERO; 4], [1.0, 0.0], 1e-3);
        assert!(collapsed.gradients.iter().all(|g| g.is_finite()) && collapsed.force.is_finite());
    }
}
