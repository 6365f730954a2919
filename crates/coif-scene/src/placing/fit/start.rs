//! Where the fit of a groom starts: rotations, with the scale and the translation that belong to each.

use coif::body::TriangleMesh;
use glam::{DMat3, DQuat, DVec3, Vec3};

use super::{Similarity, Target};

/// Number of points that stand for a scalp.
const SCALP_POINTS: usize = 700;

/// Extent of roots over that of the head they grow on: ears and nose have none.
const HAIRY: f64 = 0.9;

/// Fraction of the roots that lie outside of an extent, on each side.
const OUTLIERS: f64 = 0.02;

/// Evenly chosen points, `count` at most.
pub(super) fn strided(points: &[Vec3], count: usize) -> Vec<Vec3> {
    let n = points.len().min(count);
    (0..n).map(|i| points[i * points.len() / n]).collect()
}

/// Points on the mesh, evenly over its area: midpoints of equal shares of the area, at places within triangles that
/// follow a low-discrepancy sequence (Halton).
pub(super) fn on_surface(mesh: &TriangleMesh) -> Vec<DVec3> {
    let mut area = 0.0;
    let until: Vec<f64> = (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t).map(|p| p.as_dvec3());
            area += (b - a).cross(c - a).length();
            area
        })
        .collect();
    if !(area.is_finite() && area > 0.0) {
        return Vec::new();
    }
    let halton = |mut i: usize, base: usize| {
        let (mut value, mut step) = (0.0, 1.0);
        while i > 0 {
            step /= base as f64;
            value += step * (i % base) as f64;
            i /= base;
        }
        value
    };
    (0..SCALP_POINTS)
        .map(|i| {
            let at = area * (i as f64 + 0.5) / SCALP_POINTS as f64;
            let t = until.partition_point(|&u| u <= at).min(mesh.triangles.len() - 1);
            let (mut u, mut v) = (halton(i + 1, 2), halton(i + 1, 3));
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            let [a, b, c] = mesh.corners(t).map(|p| p.as_dvec3());
            a + (b - a) * u + (c - a) * v
        })
        .collect()
}

/// Mean, and root mean square distance from it.
pub(super) fn centre_and_size(points: impl Iterator<Item = DVec3> + Clone) -> (DVec3, f64) {
    let count = points.clone().count().max(1) as f64;
    let centre = points.clone().sum::<DVec3>() / count;
    (centre, (points.map(|p| p.distance_squared(centre)).sum::<f64>() / count).sqrt())
}

/// All starts; `None` if the roots or the mesh have no extent.
pub(super) fn starts(
    roots: &[Vec3],
    mesh: &TriangleMesh,
    target: Target,
) -> Option<Vec<Similarity>> {
    let roots: Vec<DVec3> = roots.iter().map(|p| p.as_dvec3()).collect();
    let surface = on_surface(mesh);
    let (from, from_size) = centre_and_size(roots.iter().copied());
    let (to, to_size) = centre_and_size(surface.iter().copied());
    let usable = |size: f64| size.is_finite() && size > 0.0;
    if !(usable(from_size) && usable(to_size)) {
        return None;
    }
    let mut rotations = turns_of_axes();
    if target == Target::Scalp {
        // Align the principal axes, in all four ways that do not mirror.
        let (a, b) = (principal_axes(&roots, from), principal_axes(&surface, to));
        for [x, y] in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
            let signed = DMat3::from_cols(b.x_axis * x, b.y_axis * y, b.z_axis * (x * y));
            rotations.push(DQuat::from_mat3(&(signed * a.transpose())).normalize());
        }
    }
    let whole = mesh.bounds_of_triangles()?;
    let starts = rotations.into_iter().filter(|r| r.is_finite()).map(|rotation| match target {
        Target::Scalp => {
            let scale = to_size / from_size;
            Similarity { scale, rotation, translation: to - rotation * from * scale }
        }
        Target::Surface => on_top(&roots, rotation, whole),
    });
    Some(starts.filter(|s| usable(s.scale) && s.translation.is_finite()).collect())
}

/// Roots on the top and the back of a head that faces +z, as wide as the head except its ears.
fn on_top(roots: &[DVec3], rotation: DQuat, (lo, hi): (Vec3, Vec3)) -> Similarity {
    let (lo, hi) = (lo.as_dvec3(), hi.as_dvec3());
    let extent = |axis: usize| {
        let mut along: Vec<f64> = roots.iter().map(|&p| (rotation * p)[axis]).collect();
        along.sort_by(f64::total_cmp);
        let out = (along.len() as f64 * OUTLIERS) as usize;
        [along[out], along[along.len() - 1 - out]]
    };
    let [x, y, z] = [0, 1, 2].map(extent);
    let scale = HAIRY * (hi.x - lo.x) / (x[1] - x[0]);
    let translation = DVec3::new(
        0.5 * (lo.x + hi.x) - 0.5 * (x[0] + x[1]) * scale,
        hi.y - y[1] * scale,
        lo.z - z[0] * scale,
    );
    Similarity { scale, rotation, translation }
}

/// The 24 rotations that take axes to axes, the identity first.
fn turns_of_axes() -> Vec<DQuat> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let mut turns = vec![DQuat::IDENTITY];
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
            let (x, y) = (axes[i] * signs[0], axes[j] * signs[1]);
            let turn = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)));
            if turn.angle_between(DQuat::IDENTITY) > 1e-3 {
                turns.push(turn);
            }
        }
    }
    turns
}

/// The axes of the covariance of points, longest first, as a rotation (Jacobi iteration).
fn principal_axes(points: &[DVec3], centre: DVec3) -> DMat3 {
    let mut matrix = DMat3::ZERO;
    for &p in points {
        let d = p - centre;
        matrix += DMat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let mut axes = DMat3::IDENTITY;
    for _ in 0..12 {
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (a, b, off) = (matrix.col(i)[i], matrix.col(j)[j], matrix.col(j)[i]);
            if off == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * off).atan2(a - b);
            let mut turn = DMat3::IDENTITY;
            let (sin, cos) = angle.sin_cos();
            (turn.col_mut(i)[i], turn.col_mut(j)[j]) = (cos, cos);
            (turn.col_mut(i)[j], turn.col_mut(j)[i]) = (sin, -sin);
            matrix = turn.transpose() * matrix * turn;
            axes *= turn;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| matrix.col(j)[j].total_cmp(&matrix.col(i)[i]));
    let (x, y) = (axes.col(order[0]), axes.col(order[1]));
    DMat3::from_cols(x, y, x.cross(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_all_different_rotations() {
        let turns = turns_of_axes();
        assert_eq!(turns.len(), 24);
        for (i, a) in turns.iter().enumerate() {
            assert!(turns[..i].iter().all(|b| a.angle_between(*b) > 1.0), "{i}");
        }
    }

    #[test]
    fn principal_axes_of_a_turned_box_are_its_edges() {
        let turn = DQuat::from_rotation_x(0.4) * DQuat::from_rotation_z(1.1);
        let corner = |i: u32| DVec3::from([0, 1, 2].map(|k| f64::from(i >> k & 1) - 0.5));
        let points: Vec<DVec3> =
            (0..8).map(|i| turn * (corner(i) * DVec3::new(1.0, 3.0, 2.0))).collect();
        let axes = principal_axes(&points, DVec3::ZERO);
        for (found, truth) in [(axes.x_axis, DVec3::Y), (axes.y_axis, DVec3::Z)] {
            assert!((found.dot(turn * truth).abs() - 1.0).abs() < 1e-9, "{axes:?}");
        }
        assert!((axes.determinant() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn points_are_spread_over_the_area() {
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X * 3.0, Vec3::new(3.0, 1.0, 0.0), Vec3::Y],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        };
        let points = on_surface(&mesh);
        // Of an area in proportion, within the discrepancy of some hundred points.
        let left = points.iter().filter(|p| p.x < 1.0).count() as f64 / SCALP_POINTS as f64;
        assert!((left - 1.0 / 3.0).abs() < 0.02, "{left}");
        assert!(on_surface(&TriangleMesh::default()).is_empty());
    }
}
