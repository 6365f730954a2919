//! The worst of all frames, kept in checkpoints so that a resumed run reports the whole.

use coif::simulation::Health;

/// Maxima over all frames so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Peaks {
    pub(super) stretch: f32,
    pub(super) penetration_m: f32,
    pub(super) non_finite: u64,
}

impl Peaks {
    /// How many bytes it takes in a checkpoint.
    pub(super) const BYTES: usize = 16;

    /// Takes in a frame.
    pub(super) fn add(&mut self, health: &Health) {
        self.stretch = self.stretch.max(health.stretch_max);
        self.penetration_m = self.penetration_m.max(health.penetration_max);
        self.non_finite = self.non_finite.max(health.non_finite as u64);
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..4].copy_from_slice(&self.stretch.to_le_bytes());
        out[4..8].copy_from_slice(&self.penetration_m.to_le_bytes());
        out[8..].copy_from_slice(&self.non_finite.to_le_bytes());
        out
    }

    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
        Self {
            stretch: f32::from_le_bytes([a, b, c, d]),
            penetration_m: f32::from_le_bytes([e, f, g, h]),
            non_finite: u64::from_le_bytes(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_bring_it_back() {
        let mut peaks = Peaks { stretch: 1e-5, penetration_m: 0.25, non_finite: 3 };
        assert_eq!(Peaks::from_bytes(peaks.to_bytes()), peaks);
        peaks.add(&Health { stretch_max: 0.5, penetration_max: 0.1, ..Health::default() });
        assert_eq!(peaks, Peaks { stretch: 0.5, penetration_m: 0.25, non_finite: 3 });
    }
}
