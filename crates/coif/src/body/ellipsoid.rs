use glam::{DVec3, Vec3};

use super::SurfacePoint;

/// Closest point of an ellipsoid about the origin with half axes `radii` (m).
///
/// Model: the closest point is `x_k = r_k^2 p_k / (r_k^2 + t)` for the one root `t` above
/// `-min r_k^2` of `sum (r_k p_k / (r_k^2 + t))^2 = 1` (Lagrange multiplier of the distance).
/// The function falls monotonically there, so bisection cannot fail; it runs in f64 to the last bit
/// that is significant in f32. A point in the plane of the two longer axes may have no such root: then the
/// closest point leaves that plane along the shortest axis.
pub fn project_point_ellipsoid(p: Vec3, radii: Vec3) -> SurfacePoint {
    let (p64, r) = (p.as_dvec3(), radii.as_dvec3());
    let r2 = r * r;
    let shortest = if r.x <= r.y && r.x <= r.z {
        0
    } else if r.y <= r.z {
        1
    } else {
        2
    };
    let lower = -r2.min_element();
    let f = |t: f64| {
        let q = r * p64 / (r2 + t);
        q.length_squared() - 1.0
    };
    // Bracket the root: f falls from above zero (or never is) to below zero.
    let mut lo = lower + r.min_element() * p64[shortest].abs();
    let mut hi = lower + (r * p64).length().max(r2.max_element() * 1e-12);
    let mut x = if p64[shortest].abs() > 1e-12 * r[shortest] || f(lower * (1.0 - 1e-12)) > 0.0 {
        lo = lo.max(lower * (1.0 - 1e-15));
        for _ in 0..120 {
            let middle = 0.5 * (lo + hi);
            if middle <= lo || middle >= hi {
                break;
            }
            if f(middle) > 0.0 {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        r2 * p64 / (r2 + 0.5 * (lo + hi))
    } else {
        // The coordinates along the two longer axes follow; the one along the shortest puts the point on the surface.
        let mut x = DVec3::ZERO;
        for k in 0..3 {
            let gap = r2[k] - r2[shortest];
            x[k] = if gap > 0.0 { r2[k] * p64[k] / gap } else { p64[k] };
        }
        let used = (x / r).length_squared() - (x[shortest] / r[shortest]).powi(2);
        let sign = if p64[shortest] < 0.0 { -1.0 } else { 1.0 };
        x[shortest] = sign * r[shortest] * (1.0 - used).max(0.0).sqrt();
        x
    };
    // Scale the result exactly onto the surface.
    let level = (x / r).length();
    x = if level > 0.0 { x / level } else { DVec3::Y * r.y };
    let normal = (x / r2).normalize();
    let inside = (p64 / r).length_squared() < 1.0;
    let distance = p64.distance(x) * if inside { -1.0 } else { 1.0 };
    SurfacePoint { point: x.as_vec3(), normal: normal.as_vec3(), distance: distance as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_fine_sampling_of_the_surface() {
        let radii = Vec3::new(0.3, 0.8, 0.5);
        let mut surface = Vec::new();
        for i in 0..400 {
            for j in 0..=200 {
                let (a, b) = (i as f32 * 0.015708, j as f32 * 0.015708);
                surface.push(radii * Vec3::new(b.sin() * a.cos(), b.cos(), b.sin() * a.sin()));
            }
        }
        let points = [
            Vec3::new(1.0, 0.2, -0.3),
            Vec3::new(0.1, 0.1, 0.1),
            Vec3::new(0.0, 0.7, 0.0),
            Vec3::new(0.0, 0.2, 0.1),
            Vec3::new(0.29, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 0.0),
        ];
        for p in points {
            let near = surface.iter().map(|s| s.distance(p)).fold(f32::INFINITY, f32::min);
            let s = project_point_ellipsoid(p, radii);
            assert!((s.distance.abs() - near).abs() < 1e-3, "{p}: {} against {near}", s.distance);
            assert_eq!(s.distance < 0.0, (p / radii).length() < 1.0);
        }
    }

    #[test]
    fn a_sphere_is_an_ellipsoid() {
        let p = Vec3::new(0.2, -0.9, 0.4);
        let s = project_point_ellipsoid(p, Vec3::splat(0.5));
        assert!((s.distance - (p.length() - 0.5)).abs() < 1e-6);
    }
}
