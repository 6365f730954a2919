//! `distance-field`: signed distance and velocity around a moving body, rebuilt in each step. The reference is the
//! plain version on one thread, with a heap, for the same motion.
//!
//! Limits: the passes over the grid move [`BYTES_PER_NODE`], 18 MB in all, and most of that within the caches. The
//! necessary arithmetic is about 20 million operations for the triangles and 60 million for marching: 1.5 ms at 8 lanes
//! and two operations per cycle.

use std::f32::consts::{PI, TAU};

use coif::body::distance_field::plain::PlainDistanceField;
use coif::body::distance_field::{DistanceField, Settings};
use coif::simulation::hash_positions;
use coif::with_threads;
use glam::{Quat, Vec3};

use super::timing::Pieces;
use super::{Benchmark, Row, Setting, bandwidth, seconds};
use crate::Error;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "distance-field",
    about: "distance and velocity around 20,000 moving triangles, per node of 64 x 32 x 64 cells",
    run,
};

/// Memory that a rebuild moves per node (bytes): reset and search of the nearest triangles (12), sides (10), start (8),
/// bound (16), six directions (48), two changes of order (16), metres (8).
const BYTES_PER_NODE: f64 = 118.0;

/// Number of different poses, so that no step repeats the last.
const POSES: usize = 8;

fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let (meridians, size) = if setting.quick { (48, "2k") } else { (142, "20k") };
    let body = Body::new(meridians);
    let settings = Settings { cell: 0.01, margin: 0.02, ..Settings::default() };
    let limit = BYTES_PER_NODE / bandwidth::measure(1)? * 1e9;
    let row = with_threads(1, || measure(&body, &settings, setting.repetitions()))??;
    Ok(vec![Row { name: format!("field-{size}"), memory_limit_ns: Some(limit), ..row }])
}

fn measure(body: &Body, settings: &Settings, repetitions: usize) -> Result<Row, Error> {
    let mut lanes = DistanceField::new(&body.triangles, settings)?;
    let poses: Vec<_> = (0..POSES).map(|i| body.pose(i as f32 / 60.0)).collect();
    let mut pieces = Pieces::default();
    for round in 0..repetitions + 1 {
        for (index, (positions, velocities)) in poses.iter().enumerate() {
            let fast = seconds(|| lanes.rebuild(positions, velocities));
            // The first round warms up.
            if round == 0 {
                continue;
            }
            // The plain version takes long: one pose per round.
            let mut slow = None;
            if index == round % POSES {
                let mut plain = Ok(PlainDistanceField::default());
                let triangles = &body.triangles;
                slow = Some(seconds(|| {
                    plain = PlainDistanceField::build(triangles, positions, velocities, settings);
                }));
                std::hint::black_box(plain?);
            }
            pieces.add(fast, slow);
        }
    }
    let nodes = lanes.dims().iter().product();
    let samples: Vec<Vec3> = (0..4000)
        .map(|i| lanes.sample(body.around(i)))
        .flat_map(|s| [s.gradient * s.distance, s.velocity])
        .collect();
    let hash = hash_positions(&samples);
    Ok(pieces.row("", [0, nodes], 1, "plain version, one thread", hash))
}

/// A flat body with moving waves that rotates.
struct Body {
    directions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Body {
    /// Meridians and half as many parallels.
    fn new(meridians: u32) -> Self {
        let parallels = meridians / 2;
        let mut directions = vec![Vec3::Y];
        for j in 1..parallels {
            let (s, c) = (PI * j as f32 / parallels as f32).sin_cos();
            for i in 0..meridians {
                let (z, x) = (TAU * i as f32 / meridians as f32).sin_cos();
                directions.push(Vec3::new(s * x, c, s * z));
            }
        }
        let last = directions.len() as u32;
        directions.push(Vec3::NEG_Y);
        let at = |j: u32, i: u32| 1 + (j - 1) * meridians + i % meridians;
        let mut triangles = Vec::new();
        for i in 0..meridians {
            triangles.push([0, at(1, i + 1), at(1, i)]);
            for j in 1..parallels - 1 {
                let [a, b] = [at(j, i), at(j, i + 1)];
                let [c, d] = [at(j + 1, i), at(j + 1, i + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
            triangles.push([last, at(parallels - 1, i), at(parallels - 1, i + 1)]);
        }
        Self { directions, triangles }
    }

    /// Positions and velocities.
    fn pose(&self, time: f32) -> (Vec<Vec3>, Vec<Vec3>) {
        let at = |time: f32| -> Vec<Vec3> {
            let turn = Quat::from_rotation_y(0.5 * time);
            let wave = |p: Vec3| 1.0 + 0.03 * (7.0 * p.x + 5.0 * time).sin() * (6.0 * p.z).cos();
            let size = Vec3::new(0.295, 0.14, 0.295);
            self.directions.iter().map(|&p| turn * (p * size * wave(p))).collect()
        };
        let (positions, before) = (at(time), at(time - 1e-3));
        let velocities = positions.iter().zip(&before).map(|(p, b)| (p - b) * 1e3).collect();
        (positions, velocities)
    }

    /// The i-th of some points around the surface.
    fn around(&self, i: usize) -> Vec3 {
        let p = self.directions[i * 37 % self.directions.len()];
        p * Vec3::new(0.295, 0.14, 0.295) * (0.8 + 0.4 * (i % 10) as f32 / 9.0)
    }
}
