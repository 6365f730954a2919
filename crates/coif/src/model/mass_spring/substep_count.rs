//! The number of substeps of a step: from the rate of strain and the Courant number (`selle2008`
//! section 6).

use glam::Vec3;

use super::Settings;
use super::block::Block;
use crate::math::LANES;
use crate::math::lanes::lane;

/// Largest angle (rad) by which a segment may turn in one substep, or fraction of its length by which it may
/// stretch.
const MAX_TURN: f32 = 0.3;

/// Maximum number of segments that a particle may pass in one substep, relative to its root.
const MAX_SEGMENTS: f32 = 2.0;

/// Strands per strand that may exceed the maximum number of substeps: in a full head some hair always snaps,
/// and the strain limit holds it. More of them would be visible.
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
    // Rounding must not add a substep to a whole number of them.
    let whole = |substeps: f32| (substeps - 1e-3).ceil();
    let wanted = whole((dt / settings.longest_substep).max(dt * rate)).max(1.0);
    let max_count = (dt / settings.shortest_substep).floor().max(1.0);
    // The longest substep is kept even where the shortest is longer than that.
    wanted.min(max_count.max(whole(dt / settings.longest_substep))) as u32
}

/// Substeps per second that the fastest particle of each strand of a block needs, when `left` seconds are
/// left of a step of `dt` seconds.
pub(super) fn fastest(block: &Block, left: f32, dt: f32) -> [f32; LANES] {
    let mut rates = [0.0; LANES];
    for l in 0..block.lanes {
        let goes = block.root_end(l);
        let root = (goes - block.origin[l]) / left;
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
