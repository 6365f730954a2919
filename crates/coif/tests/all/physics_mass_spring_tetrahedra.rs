//! Altitude springs in solids and shells: `selle2008` figure 4. A flattened body recovers its shape.

use coif::model::mass_spring::altitude::six_volume;
use coif::model::mass_spring::tetrahedra::TetrahedralBody;
use glam::DVec3;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// A ring of boxes, each cut into six tetrahedra.
fn torus() -> TetrahedralBody {
    let (around, across) = (14u32, 2u32);
    let side = across + 1;
    let mut position = Vec::new();
    for i in 0..around {
        let a = std::f64::consts::TAU * f64::from(i) / f64::from(around);
        for j in 0..side {
            for k in 0..side {
                let r = 0.3 + 0.2 * (f64::from(j) / f64::from(across) - 0.5);
                let y = 0.2 * f64::from(k) / f64::from(across);
                position.push(DVec3::new(r * a.cos(), y, r * a.sin()));
            }
        }
    }
    let at = |i: u32, j: u32, k: u32| (i % around) * side * side + j * side + k;
    let mut tetrahedra = Vec::new();
    for i in 0..around {
        for j in 0..across {
            for k in 0..across {
                let corner = |c: u32| at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1));
                for [b, c] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
                    tetrahedra.push([corner(0), corner(b), corner(c), corner(7)]);
                }
            }
        }
    }
    TetrahedralBody::solid(position, &tetrahedra, 0.01)
}

/// Half of a ball, open below.
fn dome() -> TetrahedralBody {
    let (rows, columns) = (5u32, 14u32);
    let mut position = vec![DVec3::Y * 0.3];
    let mut triangles = Vec::new();
    for i in 1..=rows {
        let a = std::f64::consts::FRAC_PI_2 * f64::from(i) / f64::from(rows);
        for j in 0..columns {
            let b = std::f64::consts::TAU * f64::from(j) / f64::from(columns);
            position.push(DVec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin()) * 0.3);
        }
    }
    let at = |i: u32, j: u32| 1 + (i - 1) * columns + j % columns;
    for j in 0..columns {
        triangles.push([0, at(1, j + 1), at(1, j)]);
        for i in 1..rows {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    TetrahedralBody::shell(position, &triangles, 0.01)
}

fn height(body: &TetrahedralBody) -> f64 {
    body.position.iter().map(|p| p.y).fold(0.0, f64::max)
}

/// Lets a body collapse without springs, then sets its stiffness. Returns both heights as fractions of the original one.
fn collapse_and_recover(mut body: TetrahedralBody) -> (f64, f64, TetrahedralBody) {
    let tall = height(&body);
    (0..60).for_each(|_| body.step(0.01, GRAVITY));
    let flat = height(&body);
    body.stiffness = 500.0;
    body.damping = 0.01;
    for _ in 0..200 {
        body.step(0.01, GRAVITY);
        assert!(body.position.iter().all(|p| p.is_finite()));
    }
    (flat / tall, height(&body) / tall, body)
}

#[test]
fn a_flattened_torus_recovers() {
    let rest = torus();
    let (flat, tall, body) = collapse_and_recover(torus());
    println!("torus: {flat} of its height, then {tall}");
    assert!(flat < 1e-6 && tall > 0.9, "{flat} {tall}");
    // No tetrahedron is left inverted.
    for (points, _) in body.tetrahedra() {
        let volume = |b: &TetrahedralBody| six_volume(points.map(|p| b.position[p as usize]));
        assert!(volume(&body) * volume(&rest) > 0.0);
    }
    // Two triangles for each face of a box without a neighbour.
    assert_eq!(body.surface().len(), 14 * 8 * 2);
}

#[test]
fn a_flattened_shell_recovers() {
    let (flat, tall, _) = collapse_and_recover(dome());
    println!("shell: {flat} of its height, then {tall}");
    assert!(flat < 1e-6 && tall > 0.8, "{flat} {tall}");
}

/// The energy of an inverted body stays below 1.3 times its initial value while the body recovers, and decays.
#[test]
fn energy_stays_bounded_while_an_inverted_body_recovers() {
    let mut body = torus();
    for p in &mut body.position {
        p.y = 1.0 - 0.3 * p.y;
    }
    body.stiffness = 500.0;
    let start = body.energy();
    for _ in 0..150 {
        body.step(0.01, DVec3::ZERO);
        assert!(body.energy() < 1.3 * start, "{} {start}", body.energy());
    }
    println!("energy {} of {start}", body.energy());
    assert!(body.energy() < 0.3 * start);
}
