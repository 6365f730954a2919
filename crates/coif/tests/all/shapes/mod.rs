//! Meshes whose distance is known, for the tests of the distance field.
#![allow(dead_code, unreachable_pub)]

use std::f32::consts::{PI, TAU};

use glam::Vec3;

/// Triangles, counter-clockwise seen from outside.
pub struct Mesh {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    pub fn moved(mut self, to: impl Fn(Vec3) -> Vec3) -> Self {
        self.positions.iter_mut().for_each(|p| *p = to(*p));
        self
    }

    /// The triangles of both meshes.
    pub fn with(mut self, other: &Self) -> Self {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
        self
    }
}

/// A unit sphere of meridians and parallels, with its vertices mapped by `to`.
pub fn ball(meridians: u32, parallels: u32, to: impl Fn(Vec3) -> Vec3) -> Mesh {
    let outline: Vec<(f32, f32)> = (0..=parallels)
        .map(|j| PI * j as f32 / parallels as f32)
        .map(|angle| (angle.sin(), -angle.cos()))
        .collect();
    revolved(meridians, &outline).moved(to)
}

/// Surface of revolution about y of an outline of (radius, height) from bottom to top. Radii of its ends are taken as
/// zero.
pub fn revolved(around: u32, outline: &[(f32, f32)]) -> Mesh {
    let last = outline.len() - 1;
    let mut positions = vec![Vec3::new(0.0, outline[0].1, 0.0)];
    for &(radius, height) in &outline[1..last] {
        positions.extend(
            (0..around)
                .map(|i| TAU * i as f32 / around as f32)
                .map(|angle| Vec3::new(radius * angle.cos(), height, radius * angle.sin())),
        );
    }
    let top = positions.len() as u32;
    positions.push(Vec3::new(0.0, outline[last].1, 0.0));
    let at = |ring: u32, i: u32| 1 + ring * around + i % around;
    let rings = last as u32 - 1;
    let mut triangles = Vec::new();
    for i in 0..around {
        triangles.push([0, at(0, i), at(0, i + 1)]);
        for ring in 1..rings {
            let [a, b] = [at(ring - 1, i), at(ring - 1, i + 1)];
            let [c, d] = [at(ring, i), at(ring, i + 1)];
            triangles.extend([[a, c, b], [b, c, d]]);
        }
        triangles.push([top, at(rings - 1, i + 1), at(rings - 1, i)]);
    }
    Mesh { positions, triangles }
}

/// A box of twelve triangles.
pub fn cuboid(half: Vec3) -> Mesh {
    let corner = |i: u32| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { 1.0 } else { -1.0 });
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Mesh {
        positions: (0..8).map(|i| Vec3::from(corner(i)) * half).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// A torus around y with the major radius `large` and the minor radius `small`.
pub fn torus(around: u32, across: u32, large: f32, small: f32) -> Mesh {
    let mut mesh = Mesh { positions: Vec::new(), triangles: Vec::new() };
    for i in 0..around {
        let (s, c) = (TAU * i as f32 / around as f32).sin_cos();
        for j in 0..across {
            let (t, r) = (TAU * j as f32 / across as f32).sin_cos();
            let radius = large + small * r;
            mesh.positions.push(Vec3::new(radius * c, small * t, radius * s));
            let at = |i: u32, j: u32| i % around * across + j % across;
            let [a, b] = [at(i, j), at(i, j + 1)];
            let [d, e] = [at(i + 1, j), at(i + 1, j + 1)];
            mesh.triangles.extend([[a, b, d], [b, e, d]]);
        }
    }
    mesh
}

/// The `i`-th point of a quasi-random sequence in the cube from -1 to 1.
pub fn scattered(i: u32) -> Vec3 {
    let i = f64::from(i) + 0.5;
    let fraction = |step: f64| ((i * step).fract() * 2.0 - 1.0) as f32;
    Vec3::new(fraction(0.819_172_513), fraction(0.671_043_607), fraction(0.549_700_478))
}
