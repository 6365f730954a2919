//! Contact of the points of the hair with the body: step 5 of `selle2008` section 4.

use glam::Vec3;

use super::block::{Block, Touched};
use super::substep::Substep;
use crate::math::lanes::{lane, set_lane};
use crate::model::Environment;
use crate::model::chains::{Chain, Ground, Pose, Solid, Touch};

/// Way along a surface, as a share of what it was without friction, below which a particle sticks.
const STUCK: f32 = 1e-3;

/// Room for the points of one strand.
pub(super) struct Room {
    rows: Vec<u16>,
    before: Vec<Vec3>,
    after: Vec<Vec3>,
    velocity: Vec<Vec3>,
    touch: Vec<Touch>,
}

impl Room {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            before: Vec::with_capacity(rows),
            after: Vec::with_capacity(rows),
            velocity: vec![Vec3::ZERO; rows],
            touch: Vec::with_capacity(rows),
        }
    }
}

/// Puts points that ended inside the body on its surface, and takes the velocity into the surface and
/// what friction takes from `v`.
///
/// Model: where a point is pushed out, its way along the surface shrinks by friction times the depth
/// (Coulomb). The position has felt half of the step's acceleration when it gets here, the velocity will
/// feel all of it: it loses twice as much. A point whose way vanishes sticks, and the second solve leaves
/// it at the surface's velocity; otherwise the second solve leaves its normal velocity.
/// Deviations: extra particles are no hair and touch nothing.
pub(super) fn collide_with_body(
    block: &mut Block,
    env: &Environment<'_>,
    solids: &[Solid],
    substep: &Substep,
) {
    block.touched.clear();
    block.unresolved = 0;
    if solids.is_empty() && env.field.is_none() {
        return;
    }
    let ground = env.field.map(|field| Ground::at(field, env.dt, substep.share));
    let mut room = std::mem::replace(&mut block.room, Room::new(0));
    for l in 0..block.lanes {
        collide_lane(block, l, &mut room, solids, ground.as_ref(), substep);
    }
    block.room = room;
}

fn collide_lane(
    block: &mut Block,
    l: usize,
    room: &mut Room,
    solids: &[Solid],
    ground: Option<&Ground<'_>>,
    substep: &Substep,
) {
    let end = if substep.released { block.count[l] } else { block.held_tip[l] };
    room.rows.clear();
    room.before.clear();
    room.after.clear();
    room.touch.clear();
    let mut embedded = 0;
    for row in 0..end {
        if block.is_point[row as usize] >> l & 1 == 1 {
            embedded += usize::from(row < block.held_at_root[l]);
            room.rows.push(row);
            room.before.push(lane(&block.x, row.into(), l) + block.origin[l]);
            room.after.push(lane(&block.next, row.into(), l) + block.origin_next[l]);
            room.touch.push(Touch::NONE);
        }
    }
    let points = room.rows.len();
    if points <= embedded {
        return;
    }
    let mut chain = Chain {
        points: 0..points,
        embedded,
        position: &mut room.after,
        velocity: &mut room.velocity[..points],
        before: &mut room.before,
        touch: &mut room.touch,
        rest: &[],
        root_before: Pose::new(&block.root[0][l]),
        root: Pose::new(&block.root[1][l]),
    };
    block.unresolved += chain.collide(solids, ground, substep.h);
    for k in (embedded..points).filter(|&k| !room.touch[k].is_none()) {
        let row = room.rows[k] as usize;
        let Touch { normal, velocity: surface, bounce } = room.touch[k];
        let wanted = lane(&block.next, row, l) + block.origin_next[l];
        set_lane(&mut block.next, row, l, room.after[k] - block.origin_next[l]);
        // The way along the surface, without and with friction.
        let along = |p: Vec3| {
            let way = p - room.before[k] - surface * substep.h;
            way - normal * way.dot(normal)
        };
        let (free, slowed) = (along(wanted), along(room.after[k]));
        let sticks = slowed.length_squared() <= STUCK * STUCK * free.length_squared();
        let velocity = lane(&block.v, row, l) - surface;
        let speed_out = velocity.dot(normal);
        let sliding = if sticks {
            Vec3::ZERO
        } else {
            let before = velocity - normal * speed_out;
            let lost = (free - slowed).length() * 2.0 / substep.h;
            before * (1.0 - lost / before.length().max(1e-9)).max(0.0)
        };
        let out = if bounce > 0.0 { bounce } else { 0.0 };
        set_lane(&mut block.v, row, l, surface + sliding + normal * out);
        block.touched.push(Touched { row: row as u16, lane: l as u8, sticks, normal });
    }
}
