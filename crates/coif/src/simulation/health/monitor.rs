//! Measures the hair once per frame against a snapshot of the frame before.
//!
//! Strands are measured in chunks of fixed size, and the results are merged in order: the same
//! bits for any number of threads. All memory is kept between frames.

use glam::Vec3;
use rayon::prelude::*;

use super::body_speed::{colliders_moved, vertices_moved};
use super::motion::StrandBefore;
use super::{Health, StrandLook, kinks, shape};
use crate::body::{MovingCollider, Shape};
use crate::collide::PosedShape;
use crate::environment::SurfaceField;
use crate::groom::{Fibre, Groom};
use crate::math::RigidTransform;

/// Strands that one task measures: some hundred microseconds of work.
const PIECE: usize = 128;

/// The state at one time, besides the groom and the body in their rest shape.
pub(crate) struct Snapshot<'a> {
    pub(crate) groom: &'a Groom,
    /// The fibre as the model has it: wet hair is denser.
    pub(crate) fibre: Fibre,
    /// Number of steps since the start, and steps in a second.
    pub(crate) step: u64,
    pub(crate) steps_per_second: u32,
    pub(crate) world_from_rest: &'a [RigidTransform],
    /// The colliders, their friction, and where they are.
    pub(crate) shapes: &'a [(Shape, f32)],
    pub(crate) poses: &'a [RigidTransform],
    /// The body's surface, where hair collides with it, and those of other bodies.
    pub(crate) surface: Option<&'a SurfaceField>,
    pub(crate) bodies: &'a [SurfaceField],
}

/// Measures health, frame by frame.
#[derive(Default)]
pub(crate) struct HealthMonitor {
    now: Look,
    before: Look,
    colliders: Vec<MovingCollider>,
    shapes: Vec<PosedShape>,
    pieces: Vec<Piece>,
}

/// The state at the last measurement.
#[derive(Default)]
struct Look {
    /// Its time, in steps since the start; `None` before the first.
    step: Option<u64>,
    positions: Vec<Vec3>,
    world_from_rest: Vec<RigidTransform>,
    poses: Vec<RigidTransform>,
    vertices: Vec<Vec3>,
}

/// The health of some strands, and memory to measure it.
#[derive(Default)]
struct Piece {
    health: Health,
    depth: Vec<f32>,
}

impl HealthMonitor {
    /// Drops the snapshot, because the hair has jumped.
    pub(crate) fn forget(&mut self) {
        (self.now.step, self.before.step) = (None, None);
    }

    /// Measures hair with these positions (m, in the groom's order). A second measurement at the same time gives the same
    /// motion as the first.
    pub(crate) fn look(&mut self, snapshot: &Snapshot<'_>, positions: &[Vec3]) -> Health {
        if self.now.step != Some(snapshot.step) {
            std::mem::swap(&mut self.now, &mut self.before);
        }
        let now = &mut self.now;
        now.step = Some(snapshot.step);
        now.positions.clear();
        now.positions.extend_from_slice(positions);
        now.world_from_rest.clear();
        now.world_from_rest.extend_from_slice(snapshot.world_from_rest);
        now.poses.clear();
        now.poses.extend_from_slice(snapshot.poses);
        now.vertices.clear();
        for surface in snapshot.surface.into_iter().chain(snapshot.bodies) {
            now.vertices.extend_from_slice(surface.vertices());
        }
        self.measure(snapshot)
    }

    fn measure(&mut self, snapshot: &Snapshot<'_>) -> Health {
        let (now, before) = (&self.now, &self.before);
        let steps = before.step.and_then(|step| snapshot.step.checked_sub(step)).unwrap_or(0);
        let seconds = steps as f64 / f64::from(snapshot.steps_per_second);
        // Colliders that were added or removed since do not count as motion.
        let same = steps > 0 && before.poses.len() == now.poses.len();
        let start = if same { &before.poses } else { &now.poses };
        self.colliders.clear();
        let poses = start.iter().zip(&now.poses);
        self.colliders.extend(snapshot.shapes.iter().zip(poses).map(
            |(&(shape, friction), (&start, &end))| MovingCollider { shape, friction, start, end },
        ));
        self.shapes.clear();
        self.shapes.extend(self.colliders.iter().map(PosedShape::without_skin));

        // Measure the strands of each chunk.
        let (shapes, strands) = (&self.shapes, &snapshot.groom.strands);
        let count = strands.strand_count();
        self.pieces.resize_with(count.div_ceil(PIECE), Piece::default);
        self.pieces.par_iter_mut().enumerate().for_each(|(p, piece)| {
            piece.health = Health::default();
            for index in p * PIECE..((p + 1) * PIECE).min(count) {
                let points = strands.points_of(index);
                let strand = StrandLook {
                    index,
                    rest: strands.strand(index),
                    now: &now.positions[points.clone()],
                    last_pinned: (snapshot.groom.embedded[index] as usize).clamp(1, points.len())
                        - 1,
                    world_from_rest: now.world_from_rest[index],
                };
                let before = (steps > 0).then(|| StrandBefore {
                    points: &before.positions[points.clone()],
                    world_from_rest: before.world_from_rest[index],
                    seconds,
                });
                piece.measure(
                    &strand,
                    before.as_ref(),
                    shapes,
                    snapshot,
                    &snapshot.groom.radius[points],
                );
            }
        });

        // Merge the chunks in their order.
        let mut health = Health::default();
        self.pieces.iter().for_each(|piece| health.add(&piece.health));
        if steps > 0 {
            // Nor do bodies that were added or removed.
            let same = before.vertices.len() == now.vertices.len();
            let vertices = if same { &before.vertices } else { &now.vertices };
            let moved =
                colliders_moved(&self.colliders).max(vertices_moved(vertices, &now.vertices));
            let motion = &mut health.motion;
            motion.seconds = seconds;
            motion.body_speed_max = motion.body_speed_max.max((f64::from(moved) / seconds) as f32);
        }
        health
    }
}

impl Piece {
    fn measure(
        &mut self,
        strand: &StrandLook<'_>,
        before: Option<&StrandBefore<'_>>,
        shapes: &[PosedShape],
        snapshot: &Snapshot<'_>,
        radius: &[f32],
    ) {
        let surfaces = snapshot.surface.into_iter().chain(snapshot.bodies);
        let fields = surfaces.map(SurfaceField::field);
        shape::measure(strand, shapes, fields, &mut self.depth, &mut self.health);
        if let Some(before) = before {
            self.health.motion.measure(strand, before, &snapshot.fibre, radius);
        }
        if kinks::is_kinked(strand) {
            self.health.kinked.push(strand.index);
        }
        self.health.drift.measure(strand);
    }
}
