//! Hair stays in its place: at rest, under rigid motion, across faces, along the length, in time.

use glam::{Quat, Vec3, Vec3A, Vec3Swizzles};

use super::*;
use crate::environment::{Link, Obstacle, ObstacleCollision};
use crate::groom::hair_mesh::{Frame, Frames};
use crate::groom::{HairMesh, Strands};

/// A block that is bent over and thins out to its tip, with triangles and quads.
fn bent() -> HairMesh {
    let mut mesh = HairMesh::block([3, 3], 6, Vec3::new(0.10, 0.30, 0.08), true);
    for p in mesh.columns.positions_mut() {
        let up = p.y / 0.30;
        let p0 = Vec3::new(p.x * (1.0 - 0.4 * up), 0.0, p.z * (1.0 - 0.3 * up));
        *p = Quat::from_rotation_z(-1.4 * up) * (p0 + Vec3::new(-0.2, 0.0, 0.0))
            + Vec3::new(0.2, 0.02 * up, 0.03 * up * up);
    }
    mesh.validate().unwrap();
    mesh
}

/// Curly strands inside and a little outside of the block.
fn curly() -> Strands {
    let mut strands = Strands::new();
    for i in 0..40 {
        let (x, z) = ((i % 8) as f32 / 7.0 - 0.5, (i / 8) as f32 / 4.0 - 0.5);
        let line: Vec<Vec3> = (0..25)
            .map(|j| {
                let up = j as f32 / 24.0;
                let curl = Vec3::new((20.0 * up).sin(), 0.0, (20.0 * up).cos()) * 0.006 * up;
                let p0 = Vec3::new(0.095 * x, 0.0, 0.076 * z) * (1.0 - 0.4 * up) + curl;
                Quat::from_rotation_z(-1.4 * up) * (p0 + Vec3::new(-0.2, 0.0, 0.0))
                    + Vec3::new(0.2, 0.02 * up, 0.03 * up * up)
            })
            .collect();
        strands.push(&line);
    }
    strands
}

/// A deformation without symmetry, growing with time.
fn wobbled(p: Vec3, time: f32) -> Vec3 {
    let bend = Quat::from_axis_angle(Vec3::new(0.6, 0.64, 0.48), time * (1.0 + 4.0 * p.y));
    bend * p + Vec3::new((9.0 * p.z).sin(), p.x * p.y * 4.0, (7.0 * p.y).cos()) * 0.05 * time
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn the_rest_shape_is_reproduced_to_rounding() {
    let (mesh, strands) = (bent(), curly());
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    binding.positions(&mut out);
    assert!(farthest(&out, strands.positions()) < 1e-7);
    binding.update(mesh.positions(), &vec![Vec3::ZERO; mesh.vertex_count()]);
    let mut again = vec![Vec3::ZERO; strands.point_count()];
    binding.positions(&mut again);
    assert_eq!(out, again);
    // Most points are inside of the mesh, with an offset of zero.
    let outside = binding.offsets().filter(|&o| o > 1e-5).count();
    println!("{outside} of {} points beside their bundle", strands.point_count());
    assert!(outside < strands.point_count() / 2);
    assert!(binding.offsets().fold(0.0, f32::max) < 0.02);
}

/// Hair that is thrown about above its roots leaves them where they are, even of strands that begin beside
/// the mesh and below it.
#[test]
fn roots_stay_where_the_scalp_has_them() {
    let mesh = bent();
    let mut strands = Strands::new();
    for line in curly().iter() {
        let beside = Vec3::new(0.3 * line[0].x, -0.01, 0.3 * line[0].z);
        strands.push(&line.iter().map(|&p| p + beside).collect::<Vec<_>>());
    }
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let roots = mesh.columns.first_points();
    let is_root = |v: usize| roots.binary_search(&(v as u32)).is_ok();
    let thrown = |(v, &p): (usize, &Vec3)| if is_root(v) { p } else { wobbled(p, 0.8) };
    let vertices: Vec<Vec3> = mesh.positions().iter().enumerate().map(thrown).collect();
    binding.update(&vertices, &vec![Vec3::ZERO; vertices.len()]);
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    binding.positions(&mut out);
    for s in 0..strands.strand_count() {
        let first = strands.points_of(s).start;
        let moved = out[first].distance(strands.positions()[first]);
        assert!(moved < 1e-6, "{s}: {moved}");
    }
    assert!(farthest(&out, strands.positions()) > 0.05);
}

#[test]
fn rigid_motion_carries_hair_rigidly() {
    let (mesh, strands) = (bent(), curly());
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let turn = Quat::from_euler(glam::EulerRot::YXZ, 3.1, 1.2, -0.4);
    let spin = Vec3::new(3.0, -7.0, 2.0);
    let (drift, shift) = (Vec3::new(0.4, 0.0, -1.0), Vec3::new(0.5, -1.0, 2.0));
    let moved: Vec<Vec3> = mesh.positions().iter().map(|&p| turn * p + shift).collect();
    let speed: Vec<Vec3> = moved.iter().map(|&p| spin.cross(p) + drift).collect();
    binding.update(&moved, &speed);
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    let expected: Vec<Vec3> = strands.positions().iter().map(|&p| turn * p + shift).collect();
    binding.positions(&mut out);
    assert!(farthest(&out, &expected) < 2e-6);
    let expected: Vec<Vec3> = expected.iter().map(|&p| spin.cross(p) + drift).collect();
    binding.velocities(&mut out);
    assert!(farthest(&out, &expected) < 1e-4, "{}", farthest(&out, &expected));
}

#[test]
fn velocities_are_the_rate_of_positions() {
    let (mesh, strands) = (bent(), curly());
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let (time, h) = (0.4, 2e-3);
    let at = |time| mesh.positions().iter().map(|&p| wobbled(p, time)).collect::<Vec<Vec3>>();
    let (before, after) = (at(time - h), at(time + h));
    let speed: Vec<Vec3> = before.iter().zip(&after).map(|(b, a)| (*a - *b) / (2.0 * h)).collect();
    let mut positions = [0, 1].map(|_| vec![Vec3::ZERO; strands.point_count()]);
    for (vertices, out) in [before, after].iter().zip(&mut positions) {
        binding.update(vertices, &speed);
        binding.positions(out);
    }
    let mut velocities = vec![Vec3::ZERO; strands.point_count()];
    binding.update(&at(time), &speed);
    binding.velocities(&mut velocities);
    for i in 0..velocities.len() {
        let rate = (positions[1][i] - positions[0][i]) / (2.0 * h);
        assert!(rate.distance(velocities[i]) < 2e-3 * (1.0 + rate.length()), "{i}");
    }
}

/// Two strands on either side of a face come together as their distance from it shrinks, in the deformed
/// mesh as well: the field of places has no step between bundles.
#[test]
fn hair_is_continuous_across_faces() {
    let mesh = bent();
    let frames = Frames::new(&mesh);
    let vertices: Vec<Vec3> = mesh.positions().iter().map(|&p| wobbled(p, 0.5)).collect();
    let mut now = vec![Frame::default(); vertices.len()];
    frames.update(&vertices, &mut now);
    let mut checked = 0;
    for side in mesh.topology().sides {
        let sharing: Vec<usize> = (0..mesh.bundles.len())
            .filter(|&b| side.columns.iter().all(|c| mesh.bundles[b].columns().contains(c)))
            .collect();
        let [a, b] = sharing[..] else { continue };
        for fraction in [0.2, 0.7] {
            let place = |bundle: usize| {
                binding::place_on_edge(&mesh, bundle, side.columns, fraction, side.layer, 0.37)
            };
            let (p, q) = (binding::point(&now, &place(a)), binding::point(&now, &place(b)));
            assert!(p.distance(q) < 1e-6, "bundles {a} and {b}: {p} {q}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn hair_is_smooth_along_the_length() {
    let mesh = bent();
    let frames = Frames::new(&mesh);
    let vertices: Vec<Vec3> = mesh.positions().iter().map(|&p| wobbled(p, 0.5)).collect();
    let mut now = vec![Frame::default(); vertices.len()];
    frames.update(&vertices, &mut now);
    let h = 2e-3;
    for bundle in 0..mesh.bundles.len() {
        // A line with an offset of its own: frames must be smooth as well.
        let at = |along: f32| binding::point(&now, &binding::place_inside(&mesh, bundle, along));
        for level in 1..mesh.bundles[bundle].layers {
            let t = level as f32;
            let (before, after) = ((at(t) - at(t - h)) / h, (at(t + h) - at(t)) / h);
            // The second derivative may step; the first may not.
            let kink = before.distance(after) / before.length();
            assert!(kink < 0.02, "bundle {bundle}, level {level}: {kink}");
        }
    }
}

#[test]
fn a_collapsed_mesh_gives_finite_hair() {
    let (mesh, strands) = (bent(), curly());
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let mut vertices = mesh.positions().to_vec();
    for c in 0..mesh.column_count() {
        let points = mesh.columns.points_of(c);
        let root = vertices[points.start];
        vertices[points].fill(root);
    }
    binding.update(&vertices, &vec![Vec3::ONE; vertices.len()]);
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    binding.positions(&mut out);
    assert!(out.iter().all(|p| p.is_finite()));
    binding.velocities(&mut out);
    assert!(out.iter().all(|p| p.is_finite()));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (mesh, strands) = (bent(), curly());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut binding = Binding::new(&mesh, &strands).unwrap();
            let vertices: Vec<Vec3> = mesh.positions().iter().map(|&p| wobbled(p, 0.3)).collect();
            binding.update(&vertices, &vertices);
            let mut out = vec![Vec3::ZERO; strands.point_count()];
            binding.positions(&mut out);
            out
        })
    };
    assert_eq!(run(1), run(3));
}

/// Whatever the mesh does, segments keep their length.
#[test]
fn hair_keeps_its_length_in_a_mesh_that_does_not() {
    let (mesh, strands) = (bent(), curly());
    let mut binding = Binding::new(&mesh, &strands).unwrap();
    let still = vec![Vec3::ZERO; mesh.vertex_count()];
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    for stretch in [Vec3::new(1.0, 2.0, 1.0), Vec3::splat(0.6), Vec3::new(1.4, 0.5, 2.0)] {
        let moved: Vec<Vec3> =
            mesh.positions().iter().map(|&p| wobbled(p * stretch, 0.4)).collect();
        binding.update(&moved, &still);
        binding.positions(&mut out);
        let mut worst = 0.0f32;
        for s in 0..strands.strand_count() {
            for i in strands.points_of(s).skip(1) {
                let rest = strands.positions()[i].distance(strands.positions()[i - 1]);
                worst = worst.max((out[i].distance(out[i - 1]) / rest - 1.0).abs());
            }
        }
        println!("mesh stretched by {stretch}: segments by {worst}");
        assert!(worst < 1e-4);
    }
}

/// Strands of very different length and number of points, one of a single point and one without any.
fn uneven() -> Strands {
    let mut strands = Strands::new();
    for (i, line) in curly().iter().enumerate() {
        let count = [25, 1, 7, 200, 24, 90, 0, 13][i % 8];
        let end = 24.0 * [1.0, 0.3, 0.6, 0.9, 1.0][i % 5];
        let at = |j: usize| {
            let along = end * j as f32 / count as f32;
            let k = along as usize;
            line[k].lerp(line[(k + 1).min(24)], along.fract())
        };
        strands.push(&(0..count).map(at).collect::<Vec<_>>());
    }
    strands
}

/// In lanes and point by point: the same to the last bit, however far the lanes of a block are apart.
#[test]
fn strands_side_by_side_are_laid_as_each_alone() {
    let mesh = bent();
    let size = |a: &Vec3| a.to_array().map(f32::to_bits);
    for strands in [curly(), uneven()] {
        let mut binding = Binding::new(&mesh, &strands).unwrap();
        let plain = plain::PlainBinding::new(&binding);
        let middle = strands.positions()[strands.point_count() / 2];
        let ball = Ball(Vec3A::from(middle) + Vec3A::X * 0.01, 0.04);
        let [mut lanes, mut alone] = [0, 1].map(|_| vec![Vec3::NAN; strands.point_count()]);
        // At rest, stretched, shrunk, and half of the mesh each.
        for stretch in [1.0, 1.6, 0.2, -0.9] {
            let moved = |p: &Vec3| {
                let by = if stretch < 0.0 { 1.0 + stretch * p.x.signum() } else { stretch };
                wobbled(*p * by, 0.3 * (stretch - 1.0))
            };
            let vertices: Vec<Vec3> = mesh.positions().iter().map(moved).collect();
            let speed: Vec<Vec3> = vertices.iter().map(|p| p.cross(Vec3::ONE) + p.yzx()).collect();
            binding.update(&vertices, &speed);
            let same = |lanes: &[Vec3], alone: &[Vec3], what: &str| {
                for (i, (a, b)) in lanes.iter().zip(alone).enumerate() {
                    assert_eq!(size(a), size(b), "{what} of point {i} at {stretch}: {a} {b}");
                }
            };
            binding.positions(&mut lanes);
            plain.positions(&binding, &mut alone);
            same(&lanes, &alone, "position");
            binding.velocities(&mut lanes);
            plain.velocities(&binding, &mut alone);
            same(&lanes, &alone, "velocity");
            binding.positions_outside(&ball, &mut lanes);
            plain.positions_outside(&binding, &ball, &mut alone);
            same(&lanes, &alone, "position beside the ball");
            binding.velocities_outside(&ball, &mut lanes);
            plain.velocities_outside(&binding, &ball, &mut alone);
            same(&lanes, &alone, "velocity beside the ball");
        }
    }
}

struct Ball(Vec3A, f32);

impl Obstacle for Ball {
    fn depth(&self, root: Vec3A) -> f32 {
        (self.1 - root.distance(self.0)).max(0.0)
    }
    fn place(&self, link: &Link, allowed: f32) -> Option<ObstacleCollision> {
        let (offset, radius) = (link.wanted - self.0, self.1 - allowed);
        let normal = offset.normalize_or(Vec3A::Y);
        // Lay the link into the tangent plane above its end.
        (offset.length() < radius).then(|| {
            let rise = ((self.0 - link.parent).dot(normal) + radius) / link.length;
            let along = (link.wanted - link.parent).reject_from_normalized(normal);
            let flat = (1.0 - rise * rise).max(0.0).sqrt();
            let direction = normal * rise.min(1.0) + along.normalize_or_zero() * flat;
            let at = link.parent + direction.normalize() * link.length;
            ObstacleCollision { at, normal, velocity: Vec3A::ZERO }
        })
    }
}

/// A ball in the path: no point is inside, and lengths stay.
#[test]
fn hair_is_laid_around_what_is_in_its_way() {
    let (mesh, strands) = (bent(), curly());
    let binding = Binding::new(&mesh, &strands).unwrap();
    let middle = strands.positions()[20 * 25 + 12];
    let ball = Ball(Vec3A::from(middle) + Vec3A::X * 0.01, 0.04);
    let mut out = vec![Vec3::ZERO; strands.point_count()];
    binding.positions(&mut out);
    let deepest =
        |out: &[Vec3]| out.iter().map(|&p| ball.1 - ball.0.distance(p.into())).fold(0.0, f32::max);
    assert!(deepest(&out) > 0.02);
    binding.positions_outside(&ball, &mut out);
    println!("deepest {} m", deepest(&out));
    assert!(deepest(&out) < 1e-6);
    for s in 0..strands.strand_count() {
        for i in strands.points_of(s).skip(1) {
            let rest = strands.positions()[i].distance(strands.positions()[i - 1]);
            assert!((out[i].distance(out[i - 1]) / rest - 1.0).abs() < 1e-4);
        }
    }
}
