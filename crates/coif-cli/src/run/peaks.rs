//! The worst of all frames and the state of the last one, kept in checkpoints so that a resumed run reports
//! the whole.

use coif::simulation::{Health, StrandList};
use serde::{Deserialize, Serialize};

/// A body that is slower than this stands still (m/s): a tenth of what counts as moving hair, and a hundred
/// times what rounding makes of a body at rest.
pub(super) const BODY_AT_REST: f32 = 1e-3;

/// Of all frames so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Peaks {
    pub(super) stretch: f32,
    pub(super) penetration_m: f32,
    pub(super) non_finite: u64,
    pub(super) jump: Jump,
    /// Of the frame with the most.
    pub(super) kinked: Strands,
    pub(super) fastest: Fastest,
    pub(super) drift: f32,
    /// Of the frame with the largest drift.
    pub(super) drifted: Strands,
    /// When the body moved last (s); `None` if it has not.
    pub(super) body_moved_until: Option<f64>,
    pub(super) last: Last,
}

/// How many strands, and the first few of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Strands {
    pub(super) count: usize,
    pub(super) first: Vec<u32>,
}

/// From the groom to frame 1, beyond the rigid motion of the roots.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Jump {
    pub(super) distance_m: f32,
    pub(super) strand: usize,
    /// How far the body went meanwhile (m): hair lags behind by as much.
    pub(super) body_m: f32,
}

/// The fastest point beside its scalp.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Fastest {
    pub(super) speed_m_s: f32,
    pub(super) strand: usize,
    pub(super) point: usize,
    pub(super) frame: u64,
    /// Of the body in that frame.
    pub(super) body_speed_m_s: f32,
}

/// The last frame.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Last {
    pub(super) time_s: f64,
    /// Strands that move beside the scalp, and the speed of the fastest (m/s).
    pub(super) moving: Strands,
    pub(super) speed_m_s: f32,
}

impl From<&StrandList> for Strands {
    fn from(list: &StrandList) -> Self {
        Self { count: list.count, first: list.first().to_vec() }
    }
}

impl Peaks {
    /// Takes in a frame at a time (s).
    pub(super) fn add(&mut self, frame: u64, time_s: f64, health: &Health) {
        let (motion, drift) = (&health.motion, &health.drift);
        self.stretch = self.stretch.max(written(health.stretch_max));
        self.penetration_m = self.penetration_m.max(written(health.penetration_max));
        self.non_finite = self.non_finite.max(health.non_finite as u64);
        if frame <= 1 && drift.distance_max > self.jump.distance_m {
            let body_m = motion.body_speed_max * motion.seconds as f32;
            self.jump = Jump {
                distance_m: written(drift.distance_max),
                strand: drift.distance_strand,
                body_m: written(body_m),
            };
        }
        if health.kinked.count > self.kinked.count {
            self.kinked = (&health.kinked).into();
        }
        if motion.relative_speed_max > self.fastest.speed_m_s {
            let (strand, point) = motion.fastest_relative;
            self.fastest = Fastest {
                speed_m_s: written(motion.relative_speed_max),
                strand,
                point,
                frame,
                body_speed_m_s: written(motion.body_speed_max),
            };
        }
        if drift.max > self.drift {
            (self.drift, self.drifted) = (written(drift.max), (&drift.drifted).into());
        }
        if motion.body_speed_max > BODY_AT_REST {
            self.body_moved_until = Some(time_s);
        }
        let speed_m_s = written(motion.relative_speed_max);
        self.last = Last { time_s, moving: (&motion.moving_strands).into(), speed_m_s };
    }

    /// As the head of a checkpoint: the length (4 bytes) and JSON.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Numbers, lists and names can always be written.
        let json = serde_json::to_vec(self).unwrap_or_default();
        let mut out = (json.len() as u32).to_le_bytes().to_vec();
        out.extend(json);
        out
    }

    /// Takes the head off a checkpoint; `None` if it has another.
    pub(super) fn split_from(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (json, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((serde_json::from_slice(json).ok()?, rest))
    }
}

/// JSON has no infinity.
fn written(x: f32) -> f32 {
    if x.is_finite() { x } else { f32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_bring_it_back() {
        let mut peaks =
            Peaks { stretch: 1e-5, penetration_m: 0.25, non_finite: 3, ..Peaks::default() };
        let health = Health { stretch_max: 0.5, penetration_max: 0.1, ..Health::default() };
        peaks.add(1, 0.1, &health);
        assert_eq!((peaks.stretch, peaks.penetration_m, peaks.non_finite), (0.5, 0.25, 3));
        peaks.body_moved_until = Some(1.0 / 3.0);
        peaks.kinked = Strands { count: 7, first: vec![1, 4] };
        let mut bytes = peaks.to_bytes();
        bytes.extend(b"state");
        assert_eq!(Peaks::split_from(&bytes), Some((peaks, &b"state"[..])));
        for cut in [0, 3, 4, 40] {
            assert_eq!(Peaks::split_from(&bytes[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn only_the_first_frames_jump() {
        let mut peaks = Peaks::default();
        let mut health = Health::default();
        for (frame, distance) in [(0, 0.01), (1, 0.02), (2, 0.5)] {
            health.drift.distance_max = distance;
            peaks.add(frame, frame as f64, &health);
        }
        assert_eq!(peaks.jump.distance_m, 0.02);
        assert_eq!(peaks.body_moved_until, None);
    }
}
