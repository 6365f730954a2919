//! The maxima over all frames, and whether hair has come to rest, kept in checkpoints so that a resumed run reports the
//! whole.

use coif::math::bytes::{Reader, put_u32};
use coif::model::StepReport;
use coif::simulation::{Health, StrandList};
use serde::{Deserialize, Serialize};

/// Speed below which a body is at rest (m/s): a tenth of the speed of moving hair, and a hundred times the rounding
/// error of a body at rest.
const BODY_AT_REST: f32 = 1e-3;

/// Time for which hair may swing after the body has come to rest (s). Long hair swings about once a second, and its
/// damping takes about as long; with less, every stop would give a warning.
const SETTLE_TIME: f64 = 1.0;

/// Speed relative to the scalp below which hair has settled (m/s): it swings by less than a centimetre.
const SETTLED_SPEED: f32 = 0.05;

/// Maxima over all frames so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Peaks {
    pub(super) stretch: f32,
    pub(super) penetration_m: f32,
    pub(super) non_finite: u64,
    pub(super) jump: Jump,
    /// Kinked strands of the frame with the most of them.
    pub(super) kinked: Strands,
    pub(super) fastest: Fastest,
    pub(super) drift: f32,
    /// Drifted strands of the frame with the largest drift.
    pub(super) drifted: Strands,
    /// The pinned point or tip that is farthest from its place, at the end of a frame.
    #[serde(default)]
    pub(super) unreached: Unreached,
    /// Time of the last motion of the body (s); `None` if it has not moved.
    pub(super) body_moved_until: Option<f64>,
    /// The last frame in which hair moved although the body had been at rest for [`SETTLE_TIME`].
    pub(super) restless: Option<Restless>,
    /// Time of the last frame (s).
    pub(super) end_s: f64,
}

/// A number of strands, and the first few of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Strands {
    pub(super) count: usize,
    pub(super) first: Vec<u32>,
}

/// Largest displacement from the groom to frame 1, beyond the rigid motion of the roots.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Jump {
    pub(super) distance_m: f32,
    pub(super) strand: usize,
    /// Displacement of the body in this frame (m): hair lags behind by as much.
    pub(super) body_m: f32,
}

/// The pinned point or tip that is farthest from its place.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Unreached {
    pub(super) distance_m: f32,
    pub(super) strand: u32,
    /// Number of points away from their places, and of all, in that frame.
    pub(super) count: u32,
    pub(super) of: u32,
    pub(super) time_s: f64,
    /// Whether it is a tip held by `ends`, and no pin.
    pub(super) tip: bool,
}

/// The fastest point relative to its scalp.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Fastest {
    pub(super) speed_m_s: f32,
    pub(super) strand: usize,
    pub(super) point: usize,
    pub(super) frame: u64,
    /// Speed of the body in that frame.
    pub(super) body_speed_m_s: f32,
}

/// A frame in which hair moved although the body did not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Restless {
    pub(super) time_s: f64,
    /// Time for which the body had been at rest (s).
    pub(super) rest_s: f64,
    /// Strands that moved relative to the scalp, and the speed of the fastest (m/s).
    pub(super) moving: Strands,
    pub(super) speed_m_s: f32,
}

impl From<&StrandList> for Strands {
    fn from(list: &StrandList) -> Self {
        Self { count: list.count, first: list.first().to_vec() }
    }
}

impl Peaks {
    /// Adds a frame at a time (s).
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
            (self.body_moved_until, self.restless) = (Some(time_s), None);
        }
        let rest_s = time_s - self.body_moved_until.unwrap_or(0.0);
        if rest_s >= SETTLE_TIME && motion.relative_speed_max > SETTLED_SPEED {
            let moving = (&motion.moving_strands).into();
            let speed_m_s = written(motion.relative_speed_max);
            self.restless = Some(Restless { time_s, rest_s, moving, speed_m_s });
        }
        self.end_s = time_s;
    }

    /// Adds the pins and held tips at the end of a frame.
    pub(super) fn add_pins(&mut self, time_s: f64, report: &StepReport) {
        for (pins, tip) in [(&report.pins, false), (&report.ends, true)] {
            if pins.farthest > self.unreached.distance_m {
                self.unreached = Unreached {
                    distance_m: written(pins.farthest),
                    strand: pins.strand,
                    count: pins.out_of_reach,
                    of: pins.count,
                    time_s,
                    tip,
                };
            }
        }
    }

    /// The head of a checkpoint: the length (4 bytes) and JSON.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Numbers, lists and names can always be serialised.
        let json = serde_json::to_vec(self).unwrap_or_default();
        let mut out = Vec::new();
        put_u32(&mut out, json.len() as u32);
        out.extend(json);
        out
    }

    /// Splits the head off a checkpoint; `None` if it is invalid.
    pub(super) fn split_from(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut reader = Reader(bytes);
        let length = reader.u32()? as usize;
        Some((serde_json::from_slice(reader.take(length)?).ok()?, reader.0))
    }
}

/// A finite number, since JSON has no infinity.
fn written(x: f32) -> f32 {
    if x.is_finite() { x } else { f32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_read_back_from_bytes() {
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
    fn hair_is_restless_once_the_body_has_rested_for_a_second() {
        let mut peaks = Peaks::default();
        let frame = |peaks: &mut Peaks, time_s: f64, hair: f32, body: f32| {
            let mut health = Health::default();
            (health.motion.relative_speed_max, health.motion.body_speed_max) = (hair, body);
            peaks.add((time_s * 10.0) as u64, time_s, &health);
            peaks.restless.as_ref().map(|restless| (restless.rest_s, restless.speed_m_s))
        };
        assert_eq!(frame(&mut peaks, 0.5, 0.3, 1.0), None);
        assert_eq!(frame(&mut peaks, 1.0, 0.3, 0.0), None, "it may still swing");
        assert_eq!(frame(&mut peaks, 1.5, 0.3, 0.0), Some((1.0, 0.3)));
        assert_eq!(frame(&mut peaks, 2.0, 0.2, 0.0), Some((1.5, 0.2)));
        assert_eq!(frame(&mut peaks, 2.5, 0.01, 0.0), Some((1.5, 0.2)), "between two twitches");
        assert_eq!(frame(&mut peaks, 3.0, 0.3, 1.0), None, "the body moves again");
        assert_eq!((peaks.end_s, peaks.body_moved_until), (3.0, Some(3.0)));
    }

    #[test]
    fn only_the_first_frames_count_as_a_jump() {
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
