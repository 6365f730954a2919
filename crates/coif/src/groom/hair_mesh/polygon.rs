//! Coordinates (u, v) in a polygon of three or four corners, which determine the weights of the corners.
//!
//! A triangle has barycentric weights, a quad bilinear ones. On an edge both are linear between its two
//! ends, and the other corners have weight zero, so that adjacent polygons agree.

use glam::{Vec2, Vec3};

/// Weights of the corners at (u, v); the fourth is 0 in a triangle. Inside: a quad has u and v in 0..1,
/// a triangle u, v >= 0 and u + v <= 1.
pub(crate) fn weights(corners: usize, Vec2 { x: u, y: v }: Vec2) -> [f32; 4] {
    if corners == 3 {
        [1.0 - u - v, u, v, 0.0]
    } else {
        [(1.0 - u) * (1.0 - v), u * (1.0 - v), u * v, (1.0 - u) * v]
    }
}

/// Derivatives of the weights by u and by v.
pub(crate) fn weight_rates(corners: usize, Vec2 { x: u, y: v }: Vec2) -> [[f32; 4]; 2] {
    if corners == 3 {
        [[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0]]
    } else {
        [[v - 1.0, 1.0 - v, v, -v], [u - 1.0, -u, u, 1.0 - u]]
    }
}

/// The coordinates of the middle of the polygon.
pub(crate) fn middle(corners: usize) -> Vec2 {
    Vec2::splat(if corners == 3 { 1.0 / 3.0 } else { 0.5 })
}

/// Clamps coordinates to the polygon.
pub(crate) fn clamped(corners: usize, c: Vec2) -> Vec2 {
    let c = c.max(Vec2::ZERO);
    if corners == 4 {
        return c.min(Vec2::ONE);
    }
    let over = c.x + c.y - 1.0;
    if over <= 0.0 {
        return c;
    }
    // Project onto the edge u + v = 1, and clamp to its ends.
    let c = (c - Vec2::splat(0.5 * over)).max(Vec2::ZERO);
    c / (c.x + c.y).max(1.0)
}

/// The coordinates in the polygon whose point is nearest to `p`.
///
/// Model: Gauss-Newton on the squared distance; exact after one iteration in a plane parallelogram or
/// triangle.
pub(crate) fn locate(corners: &[Vec3], p: Vec3) -> Vec2 {
    const MAX_ITERATIONS: usize = 12;
    let n = corners.len();
    let blend = |w: &[f32; 4]| corners.iter().zip(w).map(|(&c, &w)| c * w).sum::<Vec3>();
    let mut at = middle(n);
    for _ in 0..MAX_ITERATIONS {
        let away = p - blend(&weights(n, at));
        let [du, dv] = weight_rates(n, at).map(|w| blend(&w));
        let (a, b, c) = (du.length_squared(), du.dot(dv), dv.length_squared());
        let determinant = a * c - b * b;
        if determinant <= 1e-12 * a * c {
            break;
        }
        let (x, y) = (du.dot(away), dv.dot(away));
        let step = Vec2::new(c * x - b * y, a * y - b * x) / determinant;
        let next = clamped(n, at + step);
        if next.distance_squared(at) < 1e-14 {
            return next;
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locate_inverts_the_weights() {
        let quad = [Vec3::ZERO, Vec3::new(2.0, 0.1, 0.0), Vec3::new(2.4, 0.0, 1.5), Vec3::Z];
        for n in [3, 4] {
            for at in [Vec2::new(0.2, 0.3), Vec2::new(0.0, 0.6), Vec2::new(0.5, 0.5)] {
                let w = weights(n, at);
                let p = quad[..n].iter().zip(w).map(|(&c, w)| c * w).sum();
                assert!(locate(&quad[..n], p).distance(at) < 1e-4, "{n} {at}");
            }
        }
    }

    #[test]
    fn rates_are_the_derivatives_of_the_weights() {
        let at = Vec2::new(0.3, 0.45);
        let h = 1e-3;
        for n in [3, 4] {
            let rates = weight_rates(n, at);
            for (axis, rate) in [Vec2::X, Vec2::Y].into_iter().zip(rates) {
                let (a, b) = (weights(n, at - axis * h), weights(n, at + axis * h));
                for i in 0..4 {
                    assert!(((b[i] - a[i]) / (2.0 * h) - rate[i]).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn clamping_gives_the_nearest_coordinates_inside() {
        assert_eq!(clamped(4, Vec2::new(1.5, -0.2)), Vec2::new(1.0, 0.0));
        assert_eq!(clamped(3, Vec2::new(1.0, 1.0)), Vec2::splat(0.5));
        assert_eq!(clamped(3, Vec2::new(3.0, 0.5)), Vec2::new(1.0, 0.0));
        assert_eq!(clamped(3, Vec2::new(-1.0, 0.5)), Vec2::new(0.0, 0.5));
    }
}
