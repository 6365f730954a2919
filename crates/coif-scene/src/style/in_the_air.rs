//! Hairs in the air over the head, for experiments with a few hairs: `selle2008` figure 10 (c) and figure 11.
//!
//! They move with the head as if they grew there.

use std::f32::consts::{PI, TAU};

use coif::body::TriangleMesh;
use coif::groom::strips::at_equal_arc_length;
use coif::groom::{Groom, Strands};
use glam::Vec3;

use super::StyleRequest;
use crate::file::Style;

/// Segments of the curve of a hair before it is resampled.
const STEPS: usize = 800;

/// Length of crossed hairs (m).
const CROSSED: f32 = 0.12;

/// Offset of the middle of the first crossed hair from its axis (m): slack, so that it can be pulled aside.
const SLACK: f32 = 0.010;

/// Distance (m) at which the others pass it: near enough for stiction.
const PASSING: f32 = 0.4e-3;

/// Maximum distance from its middle at which they pass it, as a fraction of its length.
const SPREAD: f32 = 0.4;

/// Length of the hairs of a sweep (m), and of one turn of the curliest.
const SWEPT: f32 = 0.15;
const TURN: f32 = 0.05;

/// Radius of the curl of the curliest hairs (m).
const CURL: f32 = 0.0068;

/// Radius of the hairs in each row, relative to the fibre's: stiffness over weight is proportional to its square.
const ROWS: [f32; 3] = [1.6, 1.0, 0.6];

/// Width of a sweep and the distance between its rows (m).
const WIDE: f32 = 0.86;
const ROW: f32 = 0.19;

/// Height above the head at which hair begins (m).
const ABOVE: f32 = 0.04;

/// Grows the hair of a style in the air; `None` for other styles, or if the mesh is empty.
pub(super) fn groom(mesh: &TriangleMesh, request: &StyleRequest) -> Option<Groom> {
    let line: fn(&StyleRequest, usize) -> Vec<Vec3> = match request.style {
        Style::Crossed => crossed,
        Style::Sweep => swept,
        _ => return None,
    };
    let top = mesh.positions.iter().map(|p| p.y).reduce(f32::max)?;
    let base = Vec3::Y * (top + ABOVE);
    let points =
        request.particles.map_or(request.points, |n| (n / request.strands.max(1)).clamp(2, 200));
    let mut strands = Strands::with_capacity(request.strands, request.strands * points);
    for s in 0..request.strands {
        let line: Vec<Vec3> = line(request, s).into_iter().map(|p| p + base).collect();
        strands.push(&at_equal_arc_length(&line, points));
    }
    let mut groom = Groom::new(strands, request.fibre);
    if request.style == Style::Sweep {
        for s in 0..request.strands {
            let points = groom.strands.points_of(s);
            let fraction = ROWS[row_and_column(request.strands, s).0];
            groom.radius[points].iter_mut().for_each(|r| *r *= fraction);
        }
    }
    groom.bind(mesh).ok()?;
    Some(groom)
}

/// The first hair stands upright with its middle out towards +z; the others lie across it.
fn crossed(request: &StyleRequest, s: usize) -> Vec<Vec3> {
    let length = request.length.unwrap_or(CROSSED);
    let fraction = |i: usize| i as f32 / STEPS as f32;
    let upright = |u: f32| Vec3::new(0.0, length * u, SLACK * (PI * u).sin().powi(2));
    // Alternate between above and below the middle.
    let side = if s.is_multiple_of(2) { SPREAD } else { -SPREAD };
    let height = length * (0.5 + side * (s / 2) as f32 / (request.strands / 2).max(1) as f32);
    let lying = |u: f32| Vec3::new(length * (u - 0.5) * 1.6, height, SLACK + PASSING);
    (0..=STEPS).map(fraction).map(|u| if s == 0 { upright(u) } else { lying(u) }).collect()
}

/// Hairs that hang in rows: curl increases from left to right, softness from top to bottom.
fn swept(request: &StyleRequest, s: usize) -> Vec<Vec3> {
    let length = request.length.unwrap_or(SWEPT);
    let (row, curl) = row_and_column(request.strands, s);
    let at = Vec3::new(WIDE * (curl - 0.5), ROW * (ROWS.len() - row) as f32, 0.0);
    let radius = CURL * curl;
    let fall = (1.0 - (TAU * radius / TURN).powi(2)).max(0.0).sqrt();
    let point = |i: usize| {
        let arc_length = length * i as f32 / STEPS as f32;
        let angle = TAU * arc_length / TURN;
        // Widen from the root to the full radius within a third of a turn.
        let out = Vec3::new(angle.cos(), 0.0, angle.sin())
            * (radius * (3.0 * arc_length / TURN).min(1.0));
        at + out - Vec3::Y * (arc_length * fall)
    };
    (0..=STEPS).map(point).collect()
}

/// The row of a hair of a sweep, and its position in the row, 0..1.
fn row_and_column(strands: usize, s: usize) -> (usize, f32) {
    let columns = strands.div_ceil(ROWS.len());
    let column = s % columns;
    ((s / columns).min(ROWS.len() - 1), column as f32 / (columns - 1).max(1) as f32)
}
