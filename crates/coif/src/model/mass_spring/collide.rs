//! Collision of the points of the hair with the body: step 5 of `selle2008` section 4.

use glam::Vec3;

use super::block::{Block, ParticleCollision};
use super::substep::Substep;
use crate::collide::response::friction_fraction;
use crate::collide::{Collision, FrictionScale, Particles, PosedField, PosedShape};
use crate::math::LANES;
use crate::math::lanes::{lane, set_lane};
use crate::model::Environment;

/// Largest ratio of the displacements along a surface with and without friction at which a particle sticks.
const STUCK: f32 = 1e-3;

/// Memory for the free points of one strand.
pub(super) struct Room {
    rows: Vec<u16>,
    before: Vec<Vec3>,
    after: Vec<Vec3>,
    velocity: Vec<Vec3>,
    collision: Vec<Collision>,
    /// Empty if it is constant.
    friction: Vec<f32>,
}

impl Room {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            before: Vec::with_capacity(rows),
            after: Vec::with_capacity(rows),
            velocity: Vec::with_capacity(rows),
            collision: Vec::with_capacity(rows),
            friction: Vec::with_capacity(rows),
        }
    }
}

/// Projects points inside the body onto its surface, and removes the velocity into the surface and
/// the friction impulse from `v`.
///
/// Model: Coulomb friction reduces the displacement along the surface by the coefficient times the depth.
/// The position includes half of the acceleration of the substep, the velocity will include all of
/// it, so the impulse on the velocity is twice that on the position, less the approach speed. A point whose
/// displacement vanishes sticks, and the second solve keeps it at the velocity of the surface; otherwise the second solve
/// keeps its normal velocity.
/// Deviations: extra particles do not collide.
pub(super) fn collide_with_body(
    block: &mut Block,
    env: &Environment<'_>,
    shapes: &[PosedShape],
    substep: &Substep,
) {
    block.collisions.clear();
    block.unresolved = 0;
    if shapes.is_empty() && env.field.is_none() {
        return;
    }
    let at = |field| PosedField::at(field, substep.restitution, env.dt, substep.fraction);
    let field = env.field.map(at);
    let mut room = std::mem::replace(&mut block.room, Room::new(0));
    for l in 0..block.lanes {
        collide_lane(block, l, &mut room, shapes, field.as_ref(), substep);
    }
    block.room = room;
}

fn collide_lane(
    block: &mut Block,
    l: usize,
    room: &mut Room,
    shapes: &[PosedShape],
    field: Option<&PosedField<'_>>,
    substep: &Substep,
) {
    let end = if substep.released { block.count[l] } else { block.pinned_tip[l] };
    room.rows.clear();
    room.before.clear();
    room.after.clear();
    room.velocity.clear();
    room.collision.clear();
    room.friction.clear();
    for row in block.pinned_at_root[l]..end {
        if (block.is_point[row as usize] & block.free[row as usize]) >> l & 1 == 1 {
            room.rows.push(row);
            room.before.push(lane(&block.x, row.into(), l) + block.origin[l]);
            room.after.push(lane(&block.next, row.into(), l) + block.origin_next[l]);
            room.velocity.push(lane(&block.v, row.into(), l));
            room.collision.push(Collision::NONE);
            room.friction.extend(block.friction.get(usize::from(row) * LANES + l));
        }
    }
    let mut particles = Particles {
        position: &mut room.after,
        before: &room.before,
        arriving: &room.velocity,
        collision: &mut room.collision,
        friction: FrictionScale { all: substep.friction, each: &room.friction },
    };
    block.unresolved += particles.collide(shapes, field, substep.h);
    for k in (0..room.rows.len()).filter(|&k| !room.collision[k].is_none()) {
        let row = room.rows[k] as usize;
        let Collision { normal, velocity: surface, bounce, friction, stopped } = room.collision[k];
        let wanted = lane(&block.next, row, l) + block.origin_next[l];
        set_lane(&mut block.next, row, l, room.after[k] - block.origin_next[l]);
        // Compare the displacements along the surface without and with friction.
        let along = |p: Vec3| {
            let moved = p - room.before[k] - surface * substep.h;
            moved - normal * moved.dot(normal)
        };
        let (free, slowed) = (along(wanted), along(room.after[k]));
        let sticks = slowed.length_squared() <= STUCK * STUCK * free.length_squared();
        let velocity = room.velocity[k] - surface;
        let speed_out = velocity.dot(normal);
        let sliding = if sticks {
            Vec3::ZERO
        } else {
            let before = velocity - normal * speed_out;
            let approach = (-speed_out).max(0.0);
            let normal_change = (2.0 * stopped / substep.h - approach).max(0.0) + bounce;
            before * (1.0 - friction_fraction(before.length(), friction * normal_change))
        };
        set_lane(&mut block.v, row, l, surface + sliding + normal * bounce);
        block.collisions.push(ParticleCollision { row: row as u16, lane: l as u8, sticks, normal });
    }
}
