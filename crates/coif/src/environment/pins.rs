//! Pinned points of strands, with their positions in a step.

use glam::Vec3;

/// A point that is pinned, during a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PinTarget {
    /// Which strand.
    pub strand: u32,
    /// Which point of it, counted from the root.
    pub point: u32,
    /// Its position at the start of the step (m).
    pub start: Vec3,
    /// Its position at the end of the step (m): within reach of the strand.
    pub end: Vec3,
}

impl PinTarget {
    /// Its position at a fraction of the step (m).
    pub fn at(&self, fraction: f32) -> Vec3 {
        if fraction >= 1.0 { self.end } else { self.start + (self.end - self.start) * fraction }
    }
}

/// All points that are pinned, by strand and then from root to tip.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pins<'a>(&'a [PinTarget]);

impl<'a> Pins<'a> {
    /// From targets that are sorted by strand and then by point.
    pub fn new(targets: &'a [PinTarget]) -> Self {
        Self(targets)
    }

    /// Whether no point is pinned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> &'a [PinTarget] {
        self.0
    }

    /// Those of a strand, from root to tip.
    pub fn of(&self, strand: usize) -> &'a [PinTarget] {
        let start = self.0.partition_point(|pin| (pin.strand as usize) < strand);
        let rest = &self.0[start..];
        &rest[..rest.partition_point(|pin| pin.strand as usize == strand)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strand_has_its_own_pins() {
        let pin = |strand, point| PinTarget { strand, point, start: Vec3::ZERO, end: Vec3::X };
        let all = [pin(2, 3), pin(2, 7), pin(5, 1)];
        let pins = Pins::new(&all);
        assert_eq!((pins.of(2), pins.of(5)), (&all[..2], &all[2..]));
        assert!(
            [0, 3, 9].iter().all(|s| pins.of(*s).is_empty()) && Pins::default().of(0).is_empty()
        );
        assert_eq!((all[0].at(0.25), all[0].at(1.0)), (Vec3::X * 0.25, Vec3::X));
    }
}
