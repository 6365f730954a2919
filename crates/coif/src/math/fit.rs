use glam::{Mat3, Quat, Vec3};

use super::RigidTransform;

/// The rigid transform that maps `from` to `to` in the least-squares sense.
///
/// Model: Davenport's q-method: the optimal rotation, as a quaternion, is the eigenvector of a symmetric 4x4 matrix with
/// the largest eigenvalue, computed here by Jacobi rotations. Coincident points give a pure translation.
pub(crate) fn fit_rigid(from: &[Vec3], to: &[Vec3]) -> RigidTransform {
    let n = from.len().min(to.len());
    if n == 0 {
        return RigidTransform::IDENTITY;
    }
    let centre = |v: &[Vec3]| v[..n].iter().map(|p| p.as_dvec3()).sum::<glam::DVec3>() / n as f64;
    let (a, b) = (centre(from), centre(to));
    // Sum the correlation of the centred points.
    let mut s = [[0.0f64; 3]; 3];
    for (p, q) in from[..n].iter().zip(&to[..n]) {
        let (p, q) = ((p.as_dvec3() - a).to_array(), (q.as_dvec3() - b).to_array());
        for (i, pi) in p.iter().enumerate() {
            for (j, qj) in q.iter().enumerate() {
                s[i][j] += pi * qj;
            }
        }
    }
    let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = s;
    let matrix = [
        [xx + yy + zz, yz - zy, zx - xz, xy - yx],
        [yz - zy, xx - yy - zz, xy + yx, zx + xz],
        [zx - xz, xy + yx, yy - xx - zz, yz + zy],
        [xy - yx, zx + xz, yz + zy, zz - xx - yy],
    ];
    let [w, x, y, z] = largest_eigenvector(matrix);
    let rotation = Quat::from_xyzw(x as f32, y as f32, z as f32, w as f32).normalize();
    let turned = (Mat3::from_quat(rotation) * a.as_vec3()).as_dvec3();
    RigidTransform { rotation, translation: (b - turned).as_vec3() }
}

/// Eigenvector of the largest eigenvalue of a symmetric matrix, by cyclic Jacobi rotations. A zero
/// matrix gives the first unit vector.
fn largest_eigenvector(mut m: [[f64; 4]; 4]) -> [f64; 4] {
    let mut v = [[0.0; 4]; 4];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for _sweep in 0..30 {
        let mut off = 0.0;
        for p in 0..3 {
            for q in p + 1..4 {
                off += m[p][q] * m[p][q];
                if m[p][q] == 0.0 {
                    continue;
                }
                let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut m {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..4 {
                    (m[p][k], m[q][k]) = (c * m[p][k] - s * m[q][k], s * m[p][k] + c * m[q][k]);
                }
                for row in &mut v {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
        if off < 1e-30 {
            break;
        }
    }
    let best = (1..4).fold(0, |best, i| if m[i][i] > m[best][best] { i } else { best });
    [v[0][best], v[1][best], v[2][best], v[3][best]]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_rigid_motion_is_recovered(
            axis in (-1.0f32..1.0, -1.0f32..1.0, 0.1f32..1.0), angle in -3.1f32..3.1,
            shift in (-2.0f32..2.0, -2.0f32..2.0, -2.0f32..2.0)
        ) {
            let motion = RigidTransform {
                rotation: Quat::from_axis_angle(Vec3::from(axis).normalize(), angle),
                translation: shift.into(),
            };
            let from: Vec<Vec3> = (0..20)
                .map(|i| Vec3::new((i * 7 % 11) as f32, (i * 5 % 13) as f32, (i % 3) as f32) * 0.01)
                .collect();
            let to: Vec<Vec3> = from.iter().map(|&p| motion.point(p)).collect();
            let found = fit_rigid(&from, &to);
            for (p, q) in from.iter().zip(&to) {
                prop_assert!(found.point(*p).distance(*q) < 1e-5);
            }
        }
    }

    #[test]
    fn one_point_gives_a_translation_and_none_the_identity() {
        let one = fit_rigid(&[Vec3::X], &[Vec3::Y]);
        assert!(one.point(Vec3::X).distance(Vec3::Y) < 1e-6);
        assert_eq!(fit_rigid(&[], &[]), RigidTransform::IDENTITY);
    }
}
