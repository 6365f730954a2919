//! The distance field against shapes with an analytic distance, and for defective meshes.
#![allow(clippy::unwrap_used)]

use crate::shapes::{Mesh, ball, cuboid, revolved, torus};
use coif::body::closest_point_triangle;
use coif::body::distance_field::plain::PlainDistanceField;
use coif::body::distance_field::{DistanceField, Settings};
use glam::{DVec3, Mat3, Quat, Vec3};
use proptest::prelude::*;

fn settings(cell: f32) -> Settings {
    Settings { cell, margin: 6.0 * cell, ..Settings::default() }
}

fn field(mesh: &Mesh, settings: &Settings) -> DistanceField {
    let mut field = DistanceField::new(&mesh.triangles, settings).unwrap();
    field.rebuild(&mesh.positions, &[]);
    field
}

/// All nodes of the field that can be sampled, with their distance in cells.
fn nodes(field: &DistanceField) -> Vec<(Vec3, f32)> {
    let (lo, _) = field.bounds().unwrap();
    let [nx, ny, nz] = field.dims();
    let cell = field.cell();
    let mut all = Vec::new();
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                // Slightly inside of the cell, against rounding at its border.
                let node = Vec3::new(x as f32, y as f32, z as f32);
                let p = lo + (node + 1e-4) * cell;
                all.push((p, field.distance_at(p) / cell));
            }
        }
    }
    all
}

/// Largest errors (cells): within one cell, within four, and anywhere.
fn errors(field: &DistanceField, truth: impl Fn(Vec3) -> f32) -> [f32; 3] {
    let mut worst = [0.0f32; 3];
    for (p, d) in nodes(field) {
        let exact = truth(p) / field.cell();
        for (worst, within) in worst.iter_mut().zip([1.0, 4.0, f32::INFINITY]) {
            if exact.abs() <= within {
                *worst = worst.max((d - exact).abs());
            }
        }
    }
    println!("errors {worst:?} on {:?} nodes", field.dims());
    worst
}

fn distance_to_box(p: Vec3, half: Vec3) -> f32 {
    let q = p.abs() - half;
    q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
}

#[test]
fn a_sphere_is_exact_in_the_band_and_close_beyond() {
    // The polyhedron is within 3e-4 of its sphere's radius.
    let field = field(&ball(128, 64, |p| p * 0.2), &settings(0.01));
    let [band, near, far] = errors(&field, |p| p.length() - 0.2);
    assert!(band < 0.02 && near < 0.08 && far < 0.35);
    assert_eq!(*field.report(), Default::default());
}

#[test]
fn a_wider_band_is_exact_too() {
    let wide = Settings { band: 3.0, ..settings(0.01) };
    let field = field(&ball(128, 64, |p| p * 0.2), &wide);
    let exact = nodes(&field)
        .iter()
        .filter(|(_, d)| d.abs() < 2.9)
        .fold(0.0f32, |worst, (p, d)| worst.max((d - (p.length() - 0.2) / 0.01).abs()));
    assert!(exact < 0.02, "{exact} cells");
}

#[test]
fn a_box_keeps_its_edges() {
    let half = Vec3::new(0.153, 0.081, 0.117);
    // Nodes on the faces and nodes off the faces.
    for shift in [Vec3::ZERO, Vec3::new(0.0031, -0.0017, 0.0044)] {
        for half in [half, Vec3::new(0.16, 0.08, 0.12)] {
            let mesh = cuboid(half).moved(|p| p + shift);
            let field = field(&mesh, &settings(0.01));
            let [band, near, far] = errors(&field, |p| distance_to_box(p - shift, half));
            assert!(band < 0.01 && near < 0.45 && far < 0.6, "{half} {shift}");
        }
    }
}

#[test]
fn a_rotated_box_is_as_accurate() {
    let half = Vec3::new(0.153, 0.081, 0.117);
    let turn = Quat::from_euler(glam::EulerRot::YXZ, 0.5, 0.3, 0.8);
    let mesh = cuboid(half).moved(|p| turn * p);
    let field = field(&mesh, &settings(0.01));
    let [band, near, far] = errors(&field, |p| distance_to_box(turn.inverse() * p, half));
    assert!(band < 0.01 && near < 0.45 && far < 0.6);
}

#[test]
fn a_torus_has_a_hole_and_an_inside() {
    let field = field(&torus(160, 80, 0.2, 0.07), &settings(0.01));
    let truth =
        |p: Vec3| Vec3::new(Vec3::new(p.x, 0.0, p.z).length() - 0.2, p.y, 0.0).length() - 0.07;
    let [band, near, far] = errors(&field, truth);
    assert!(band < 0.03 && near < 0.1 && far < 0.25);
    assert!(field.distance_at(Vec3::ZERO) > 0.12);
}

#[test]
fn gradients_point_away_from_the_surface() {
    let field = field(&ball(128, 64, |p| p * 0.2), &settings(0.01));
    for i in 0..4000 {
        let p = crate::shapes::scattered(i) * 0.24;
        let r = p.length();
        if !(0.1..0.24).contains(&r) {
            continue;
        }
        let sample = field.sample(p);
        assert!((sample.gradient.length() - 1.0).abs() < 1e-5);
        assert!(sample.gradient.dot(p / r) > 0.997, "{p}: {}", sample.gradient);
        assert_eq!(sample.distance, field.distance_at(p));
    }
    // In the middle the gradient is undefined; a unit vector is returned.
    assert!((field.sample(Vec3::ZERO).gradient.length() - 1.0).abs() < 1e-5);
}

#[test]
fn sharp_and_thin_shapes_have_the_right_sign() {
    let cell = 0.01;
    // A spike, a lens, a plate of 2.3 cells and a plate of a third of a cell, all turned.
    let turn = Mat3::from_euler(glam::EulerRot::YXZ, 0.4, 0.9, 0.2);
    let spike = revolved(40, &[(0.0, -0.1), (0.06, -0.1), (0.0, 0.25)]);
    let lens = revolved(60, &[(0.0, -0.02), (0.2, 0.0), (0.0, 0.02)]);
    let plates = [0.0115, 0.0017].map(|h| cuboid(Vec3::new(0.2, h, 0.2)));
    for (shape, mesh) in [spike, lens].into_iter().chain(plates).enumerate() {
        let mesh = mesh.moved(|p| turn * p);
        let field = field(&mesh, &settings(cell));
        let (mut inside, mut worst) = (0, 0.0f32);
        for (p, d) in nodes(&field) {
            let exact = mesh.brute_distance(p) / cell;
            let convex = mesh.inside_convex(p);
            if exact < 1.0 {
                worst = worst.max((d.abs() - exact).abs());
            }
            if exact > 2e-3 {
                assert_eq!(d < 0.0, convex, "shape {shape} at {p}: {d} of {exact} cells");
                inside += usize::from(convex);
            }
        }
        println!("shape {shape}: {inside} nodes inside, error {worst}");
        assert!(worst < 2e-3);
        assert!(inside > 100);
    }
}

#[test]
fn samples_have_the_velocity_of_the_surface() {
    let mesh = ball(96, 48, |p| p * Vec3::new(0.2, 0.12, 0.15));
    let (spin, drift) = (Vec3::new(2.0, -1.0, 3.0), Vec3::new(0.5, 0.2, -0.3));
    let velocities: Vec<Vec3> = mesh.positions.iter().map(|p| spin.cross(*p) + drift).collect();
    let mut field = DistanceField::new(&mesh.triangles, &settings(0.01)).unwrap();
    field.rebuild(&mesh.positions, &velocities);
    for &p in &mesh.positions {
        let v = field.sample(p).velocity;
        // The nodes around a point take the velocity of their closest points: within a cell or so.
        assert!(v.distance(spin.cross(p) + drift) < 0.3 * 0.01 * spin.length(), "{p}: {v}");
    }
    // Around a body that moves rigidly the velocity is that of the body, at any distance.
    field.rebuild(&mesh.positions, &vec![drift; mesh.positions.len()]);
    for (p, _) in nodes(&field) {
        assert!(field.sample(p).velocity.distance(drift) < 1e-4);
    }
}

/// The plain version is the fast marching of the paper.
#[test]
fn lanes_are_at_least_as_accurate_as_the_plain_version() {
    let squash = Vec3::new(0.2, 0.1, 0.2);
    let mesh = ball(128, 64, |p| p * squash * (1.0 + 0.1 * (5.0 * p.x).sin() * (4.0 * p.z).cos()));
    let (spin, settings) = (Vec3::new(2.0, -1.0, 3.0), settings(0.01));
    let velocities: Vec<Vec3> = mesh.positions.iter().map(|p| spin.cross(*p)).collect();
    let mut lanes = DistanceField::new(&mesh.triangles, &settings).unwrap();
    lanes.rebuild(&mesh.positions, &velocities);
    let (triangles, positions) = (&mesh.triangles, &mesh.positions);
    let plain = PlainDistanceField::build(triangles, positions, &velocities, &settings).unwrap();
    assert_eq!(plain.dims, lanes.dims());
    let [nx, ny, nz] = plain.dims.map(|n| n - 1);
    // Sums of squared errors of the distance and of the velocity, of either.
    let mut errors = [[0.0f64; 2]; 2];
    for n in 0..nx * ny * nz {
        let node = [n % nx, n / nx % ny, n / (nx * ny)];
        let p = plain.origin + (Vec3::from(node.map(|n| n as f32)) + 1e-4) * plain.cell;
        let i = plain.index(node);
        let sample = lanes.sample(p);
        let apart = (sample.distance - plain.distance[i]).abs() / plain.cell;
        let limit = if plain.distance[i].abs() < 0.9 * plain.cell { 2e-3 } else { 1.0 };
        assert!(apart < limit, "{p}: {} and {}", sample.distance, plain.distance[i]);
        // Brute force is slow: test some of the nodes.
        if n % 97 == 0 {
            let (exact, q) = mesh.brute_closest(p);
            for (error, (d, v)) in errors
                .iter_mut()
                .zip([(sample.distance, sample.velocity), (plain.distance[i], plain.velocity[i])])
            {
                error[0] += f64::from((d.abs() - exact) / plain.cell).powi(2);
                error[1] += f64::from((v - spin.cross(q)).length_squared());
            }
        }
    }
    println!("squared errors: lanes {:?}, plain {:?}", errors[0], errors[1]);
    assert!(errors[0][0] < errors[1][0] && errors[0][1] < errors[1][1]);
}

#[test]
fn holes_do_not_change_the_sign_elsewhere() {
    let mut mesh = ball(64, 32, |p| p * 0.2);
    // Cut holes that face along the axes and between them, one of them across from another.
    let cut = |p: Vec3, to: Vec3| p.normalize().dot(to.normalize()) < 0.985;
    let directions = [Vec3::X, -Vec3::X, Vec3::Y, Vec3::ONE, Vec3::new(0.3, -0.8, 0.5)];
    let corners = mesh.positions.clone();
    mesh.triangles.retain(|t| {
        let centre: Vec3 = t.iter().map(|&v| corners[v as usize]).sum();
        directions.iter().all(|&w| cut(centre, w))
    });
    let holed = field(&mesh, &settings(0.01));
    assert!(holed.report().open_rows > 0 && holed.report().capped_nodes > 0);
    let mut flipped = 0;
    for (p, d) in nodes(&holed) {
        let truth = (p.length() - 0.2) / 0.01;
        let towards = |w: Vec3| p.normalize().dot(w.normalize());
        let at_hole = directions.iter().any(|&w| towards(w) > 0.97) && truth.abs() < 3.0;
        // The polyhedron is a tenth of a cell within its sphere at most.
        let flips = d * truth < 0.0 && truth.abs() > 0.1;
        assert!(at_hole || !flips, "{p}: {d} for {truth}");
        flipped += usize::from(flips);
        assert!((d - truth).abs() < 2.0, "{p}: {d} for {truth}");
    }
    println!("{flipped} nodes changed sides at the holes");
    assert!(flipped < 60);
}

#[test]
fn a_large_planar_hole_is_closed() {
    // A ball without its lowest third.
    let mut mesh = ball(64, 32, |p| p * 0.2);
    let corners = mesh.positions.clone();
    mesh.triangles.retain(|t| t.iter().all(|&v| corners[v as usize].y > -0.1));
    let bust = field(&mesh, &settings(0.01));
    let floor = mesh.triangles.iter().flatten().map(|&v| corners[v as usize].y).fold(1.0, f32::min);
    let mut worst = 0.0f32;
    for (p, d) in nodes(&bust) {
        let truth = (p.length() - 0.2).max(floor - p.y) / 0.01;
        // Below the rim the distance to the closed ball is larger than those to its two surfaces.
        if truth < 3.0 && p.y > floor + 0.01 || truth < -0.5 {
            worst = worst.max((d - truth).abs());
        }
        if p.y < floor - 0.01 {
            assert!(d > 0.0, "{p}: {d}");
        }
    }
    println!("{worst} cells");
    assert!(worst < 1.1);
}

#[test]
fn an_open_sheet_has_no_inside() {
    let mesh = Mesh {
        positions: vec![Vec3::ZERO, Vec3::new(0.3, 0.02, 0.0), Vec3::new(0.04, 0.1, 0.25)],
        triangles: vec![[0, 1, 2]],
    };
    let field = field(&mesh, &settings(0.01));
    for (p, d) in nodes(&field) {
        let exact = mesh.brute_distance(p) / 0.01;
        assert!(d >= 0.0, "{p}: {d}");
        assert!((d - exact).abs() < if exact < 1.0 { 2e-3 } else { 0.6 }, "{p}: {d} of {exact}");
    }
}

#[test]
fn overlapping_bodies_are_their_union() {
    let (a, b) = (Vec3::new(-0.08, 0.0, 0.0), Vec3::new(0.07, 0.03, 0.01));
    let one = ball(96, 48, |p| p * 0.15 + a);
    let mesh = one.with(&ball(96, 48, |p| p * 0.12 + b));
    let field = field(&mesh, &settings(0.01));
    assert!(field.report().inner_nodes > 0);
    for (p, d) in nodes(&field) {
        let truth = (p.distance(a) - 0.15).min(p.distance(b) - 0.12) / 0.01;
        if truth.abs() > 0.05 {
            assert_eq!(d < 0.0, truth < 0.0, "{p}: {d} for {truth}");
        }
        if truth > 0.0 {
            assert!((d - truth).abs() < 0.35, "{p}: {d} for {truth}");
        } else {
            // Inside, the distance to the union is at least that to the deeper ball.
            assert!(d < truth + 0.35, "{p}: {d} for {truth}");
        }
    }
}

#[test]
fn the_orientation_of_triangles_does_not_matter() {
    let mut mesh = ball(64, 32, |p| p * 0.2);
    let expected = nodes(&field(&mesh, &settings(0.01)));
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    for ((p, d), (_, truth)) in nodes(&field(&mesh, &settings(0.01))).into_iter().zip(expected) {
        assert!((d - truth).abs() < 1e-3, "{p}: {d} for {truth}");
    }
}

#[test]
fn an_empty_mesh_is_infinitely_far() {
    let p = Vec3::new(0.1, 0.2, 0.3);
    let mut empty = DistanceField::new(&[], &Settings::default()).unwrap();
    assert_eq!(empty.distance_at(p), f32::INFINITY);
    empty.rebuild(&[], &[]);
    assert_eq!(empty.distance_at(p), f32::INFINITY);
    assert_eq!(empty.bounds(), None);
    let mut broken =
        DistanceField::new(&[[0, 1, 2], [2, 1, u32::MAX]], &Settings::default()).unwrap();
    broken.rebuild(&[Vec3::NAN, Vec3::X, Vec3::Y], &[]);
    assert_eq!(broken.report().dropped_triangles, 2);
    let sample = broken.sample(p);
    assert_eq!((sample.distance, sample.velocity), (f32::INFINITY, Vec3::ZERO));
    assert_eq!(sample.gradient.length(), 1.0);
}

#[test]
fn invalid_vertices_leave_holes() {
    let mut mesh = ball(64, 32, |p| p * 0.2);
    mesh.positions[300] = Vec3::new(f32::NAN, 0.0, 0.0);
    mesh.positions[700] = Vec3::splat(f32::INFINITY);
    mesh.positions[1100] = Vec3::splat(1e30);
    let velocities = vec![Vec3::splat(f32::NAN); mesh.positions.len()];
    let mut field = DistanceField::new(&mesh.triangles, &settings(0.01)).unwrap();
    field.rebuild(&mesh.positions, &velocities);
    assert_eq!(field.report().dropped_triangles, 18);
    for (p, d) in nodes(&field) {
        let truth = (p.length() - 0.2) / 0.01;
        assert!((d - truth).abs() < 2.5, "{p}: {d} for {truth}");
        assert!(d * truth > 0.0 || truth.abs() < 2.5, "{p}: {d} for {truth}");
        assert_eq!(field.sample(p).velocity, Vec3::ZERO);
    }
    for p in [Vec3::NAN, Vec3::splat(f32::INFINITY), Vec3::new(0.0, f32::NAN, 0.0)] {
        assert_eq!(field.distance_at(p), f32::INFINITY);
        assert!(field.sample(p).gradient.is_finite());
    }
}

#[test]
fn beyond_the_grid_is_a_lower_bound() {
    let field = field(&ball(64, 32, |p| p * 0.2), &settings(0.01));
    let (lo, hi) = field.bounds().unwrap();
    for i in 0..2000 {
        let p = crate::shapes::scattered(i) * 3.0;
        if p.cmpge(lo).all() && p.cmplt(hi).all() {
            continue;
        }
        let sample = field.sample(p);
        assert!(sample.distance > 0.05 && sample.distance <= p.length() - 0.2 + 1e-4, "{p}");
        assert!(sample.gradient.dot(p) > 0.0);
    }
}

#[test]
fn large_and_distant_meshes_have_a_field() {
    for (scale, at) in [(1.0, 1e4), (1e3, 0.0), (1e9, 1e9), (1e14, 3e14), (1e-3, 1e6), (1.0, 1e12)]
    {
        let mesh = ball(64, 32, |p| p * scale + at);
        let field = field(&mesh, &Settings::default());
        let centre = Vec3::splat(at);
        assert!(field.report().cell_grown || scale < 1.0, "{scale} at {at}");
        let [nx, ny, nz] = field.dims();
        assert!(nx * ny * nz < 400_000);
        let sample = field.sample(centre + Vec3::X * 2.0 * scale);
        assert!(sample.distance >= 0.0 && sample.gradient.is_finite());
        if at * 1e-5 < scale {
            assert!(field.distance_at(centre) < -0.8 * scale, "{scale} at {at}");
            assert!(sample.gradient.x > 0.99);
        }
    }
}

#[test]
fn distances_stay_within_their_reach() {
    let mesh = ball(96, 48, |p| p * 0.2);
    let velocities = vec![Vec3::X; mesh.positions.len()];
    let mut short =
        DistanceField::new(&mesh.triangles, &Settings { reach: 0.03, ..settings(0.01) }).unwrap();
    short.rebuild(&mesh.positions, &velocities);
    for (p, d) in nodes(&short) {
        let truth = ((p.length() - 0.2) / 0.01).clamp(-3.0, 3.0);
        assert!((d - truth).abs() < 0.15, "{p}: {d} for {truth}");
    }
    for p in [Vec3::ZERO, Vec3::X * 0.22, Vec3::ONE] {
        assert!(short.sample(p).velocity.distance(Vec3::X) < 1e-4);
    }
}

#[test]
fn a_rebuild_does_not_depend_on_earlier_ones() {
    let (small, large) =
        (ball(64, 32, |p| p * 0.1), ball(64, 32, |p| p * Vec3::new(0.2, 0.3, 0.1)));
    let mut field = DistanceField::new(&small.triangles, &settings(0.01)).unwrap();
    field.rebuild(&small.positions, &small.positions);
    let bits = |f: &DistanceField| -> Vec<[u32; 4]> {
        nodes(f)
            .iter()
            .map(|&(p, d)| {
                let v = f.sample(p).velocity;
                [d.to_bits(), v.x.to_bits(), v.y.to_bits(), v.z.to_bits()]
            })
            .collect()
    };
    let first = bits(&field);
    field.rebuild(&large.positions, &large.positions);
    assert_ne!(bits(&field), first);
    field.rebuild(&small.positions, &small.positions);
    assert_eq!(bits(&field), first);
}

#[test]
fn invalid_settings_are_refused() {
    let fine = Settings::default();
    for bad in [
        Settings { cell: 0.0, ..fine.clone() },
        Settings { cell: f32::NAN, ..fine.clone() },
        Settings { max_cells: 10, ..fine.clone() },
        Settings { margin: -1.0, ..fine.clone() },
        Settings { band: 0.5, ..fine.clone() },
        Settings { band: f32::INFINITY, ..fine.clone() },
        Settings { reach: 0.0, ..fine.clone() },
    ] {
        assert!(DistanceField::new(&[], &bad).is_err(), "{bad:?}");
    }
    assert!(DistanceField::new(&[], &fine).is_ok());
}

fn vec3() -> impl Strategy<Value = Vec3> {
    (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(Vec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tetrahedra of any shape and orientation, from far larger to far smaller than a cell, flat ones too: exact in the
    /// band, with the right sign, and accurate to 0.9 cells beyond.
    #[test]
    fn any_tetrahedron_agrees_with_brute_force(
        corners in [vec3(), vec3(), vec3(), vec3()],
        scale in 0i32..5,
        flatness in 0i32..9,
    ) {
        let size = 0.15 * 0.25f32.powi(scale);
        let flat = if flatness > 6 { 0.0 } else { 0.3f32.powi(flatness) };
        let positions = corners.map(|p| p * Vec3::new(1.0, flat, 1.0) * size).to_vec();
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] };
        let field = field(&mesh, &settings(0.01));
        for (p, d) in nodes(&field) {
            let exact = mesh.brute_distance(p) / 0.01;
            if exact < 0.99 {
                prop_assert!((d.abs() - exact).abs() < 3e-3, "{p}: {d} of {exact}");
            } else {
                prop_assert!((d.abs() - exact).abs() < 0.9, "{p}: {d} of {exact}");
            }
            if exact > 0.01 {
                prop_assert_eq!(d < 0.0, mesh.inside_tetrahedron(p), "{}: {} of {}", p, d, exact);
            }
        }
    }

    /// Random triangles: no panic, finite values, and no distance larger than the true one
    /// where no body is inside another.
    #[test]
    fn a_triangle_soup_has_a_field(
        positions in proptest::collection::vec(vec3(), 3..60),
        broken in 0usize..80,
        holes in any::<bool>(),
    ) {
        let n = positions.len() as u32;
        let mut mesh = Mesh {
            triangles: (0..2 * n).map(|i| [i % n, (i * 7 + 1) % n, (i * 5 + 3) % n]).collect(),
            positions: positions.iter().map(|p| p * 0.2).collect(),
        };
        if let Some(p) = mesh.positions.get_mut(broken) {
            *p = Vec3::NAN;
        }
        if holes {
            mesh.positions.pop();
        }
        let field = field(&mesh, &settings(0.02));
        if field.bounds().is_some() {
            for (p, d) in nodes(&field) {
                let sample = field.sample(p);
                prop_assert!(d.is_finite() && sample.gradient.is_finite());
                if d > 0.0 && field.report().inner_nodes == 0 {
                    let exact = mesh.brute_distance(p) / 0.02;
                    prop_assert!(d < 1.05 * exact + 0.9, "{p}: {d} of {exact}");
                }
            }
        }
    }
}

impl Mesh {
    fn brute_distance(&self, p: Vec3) -> f32 {
        self.brute_closest(p).0
    }

    /// Distance to the nearest triangle and the closest point; triangles without area count as edges.
    fn brute_closest(&self, p: Vec3) -> (f32, Vec3) {
        let mut best = (f32::INFINITY, p);
        let mut keep = |q: Vec3| {
            if q.distance(p) < best.0 {
                best = (q.distance(p), q);
            }
        };
        for t in &self.triangles {
            let Some([a, b, c]) = self.corners(t) else { continue };
            let q = closest_point_triangle(p, [a, b, c]).0;
            if q.is_finite() && (b - a).cross(c - a).length() > 1e-7 * (b - a).length_squared() {
                keep(q);
            }
            for (a, b) in [(a, b), (b, c), (c, a)] {
                let along = (p - a).dot(b - a) / (b - a).length_squared().max(1e-30);
                keep(a + (b - a) * along.clamp(0.0, 1.0));
            }
        }
        best
    }

    fn corners(&self, triangle: &[u32; 3]) -> Option<[Vec3; 3]> {
        let [a, b, c] = triangle.map(|v| self.positions.get(v as usize).copied());
        let all = [a?, b?, c?];
        all.iter().all(|p| p.is_finite()).then_some(all)
    }

    /// Whether a point is behind every face.
    fn inside_convex(&self, p: Vec3) -> bool {
        self.triangles
            .iter()
            .filter_map(|t| self.corners(t))
            .all(|[a, b, c]| (p - a).dot((b - a).cross(c - a)) < 0.0)
    }

    /// Whether a point is inside of the first four vertices as a tetrahedron of any orientation.
    fn inside_tetrahedron(&self, p: Vec3) -> bool {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| self.positions[i].as_dvec3());
        let p = p.as_dvec3();
        let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
        let whole = volume(a, b, c, d);
        [volume(p, b, c, d), volume(a, p, c, d), volume(a, b, p, d), volume(a, b, c, p)]
            .iter()
            .all(|part| part * whole > 0.0)
    }
}
