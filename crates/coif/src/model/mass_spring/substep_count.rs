//! The number of substeps of a step, from the strain rate and the Courant number (`selle2008`
//! section 6).

use glam::Vec3;

use super::Settings;
use super::block::Block;
use crate::math::LANES;
use crate::math::lanes::lane;

/// Largest rotation (rad) of a segment in one substep, or strain.
const MAX_TURN: f32 = 0.3;

/// Largest displacement of a particle relative to its root in one substep, in segments.
const MAX_SEGMENTS: f32 = 2.0;

/// One in this many strands may need more substeps than are taken: in a full head some hair always snaps,
/// and the strain limit bounds its stretch. More of them would be visible.
const STRANDS_PER_UNDERSAMPLED: usize = 1000;

/// The number of substeps for a step of `dt` seconds; `rates` is memory for the rates of strands.
pub(super) fn substeps(
    blocks: &[Block],
    dt: f32,
    settings: &Settings,
    rates: &mut Vec<f32>,
) -> u32 {
    rates.clear();
    rates.extend(blocks.iter().flat_map(|b| &b.wanted_rate[..b.lanes]));
    let rate = match rates.len() {
        0 => 0.0,
        strands => {
            let undersampled = strands / STRANDS_PER_UNDERSAMPLED;
            *rates.select_nth_unstable_by(undersampled, |a, b| b.total_cmp(a)).1
        }
    };
    // Round up, with a tolerance so that rounding errors do not add a substep.
    let whole = |substeps: f32| (substeps - 1e-3).ceil();
    let wanted = whole((dt / settings.longest_substep).max(dt * rate)).max(1.0);
    let max_count = (dt / settings.shortest_substep).floor().max(1.0);
    // Give the longest substep priority if the shortest is longer.
    wanted.min(max_count.max(whole(dt / settings.longest_substep))) as u32
}

/// Substeps per second that the fastest particle of each strand of a block needs, for the remaining `left` seconds of a
/// step of `dt` seconds.
pub(super) fn fastest(block: &Block, left: f32, dt: f32) -> [f32; LANES] {
    let mut rates = [0.0; LANES];
    for l in 0..block.lanes {
        let root = (block.root_end(l) - block.origin[l]) / left;
        let turn = block.root[0][l].rotation.angle_between(block.root[1][l].rotation) / dt;
        let mut last = lane(&block.v, 0, l);
        let (mut speed2, mut turn2) = (0.0f32, 0.0f32);
        for row in (1..block.count[l] as usize).filter(|r| block.is_point[*r] >> l & 1 == 1) {
            let v: Vec3 = lane(&block.v, row, l);
            speed2 = speed2.max((v - root).length_squared());
            turn2 = turn2.max((v - last).length_squared());
            last = v;
        }
        let shortest = block.shortest[l].max(1e-6);
        let wanted_rate = (speed2.sqrt() / (MAX_SEGMENTS * shortest))
            .max(turn2.sqrt() / (MAX_TURN * shortest))
            .max(turn / MAX_TURN);
        if wanted_rate.is_finite() {
            rates[l] = wanted_rate;
        }
    }
    rates
}
