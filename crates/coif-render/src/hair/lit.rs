//! Light on the points of strokes, computed on demand.
//!
//! Dense hair hides most of itself, so a point is lit only once a stroke that ends there reaches an unfinished pixel.
//! The light of a point depends on nothing else: whichever thread is first writes the same bits, and later ones read
//! them.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::Vec3;

use super::order::StrandRef;
use super::shade::{HairShader, StrandJitter};
use super::strokes::{hermite, slope_at};
use super::thin::Thinning;
use crate::HairView;

/// Marks a point whose light is not yet computed: packed light leaves the top bit clear.
const UNLIT: u64 = u64::MAX;
/// Bits of each channel: exponent and upper mantissa of a positive number.
const CHANNEL_BITS: u32 = 21;
const DROPPED_BITS: u32 = 31 - CHANNEL_BITS;

/// The data for drawing and lighting all hair of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HairScene<'a> {
    pub(crate) hair: &'a [HairView<'a>],
    pub(crate) shader: &'a HairShader<'a>,
    pub(crate) thinning: Thinning,
    pub(crate) eye: Vec3,
}

/// Position of a point on the hair, and its light once that is computed.
#[derive(Debug)]
struct LitPoint {
    light: AtomicU64,
    /// Index among the strands of the chunk.
    strand: u32,
    segment: u32,
    /// Fraction of the segment before the point.
    t: f32,
}

/// The light of a chunk's points, computed on demand. Keeps its memory from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct PointLights {
    strands: Vec<(StrandRef, StrandJitter)>,
    points: Vec<LitPoint>,
}

impl PointLights {
    pub(crate) fn clear(&mut self) {
        self.strands.clear();
        self.points.clear();
    }

    /// Starts the next strand.
    pub(crate) fn push_strand(&mut self, at: StrandRef, jitter: StrandJitter) {
        self.strands.push((at, jitter));
    }

    /// Adds a point of the last strand.
    pub(crate) fn push_point(&mut self, segment: usize, t: f32) {
        let strand = self.strands.len().saturating_sub(1) as u32;
        let light = AtomicU64::new(UNLIT);
        self.points.push(LitPoint { light, strand, segment: segment as u32, t });
    }

    /// Linear light of a point towards the eye.
    pub(crate) fn at(&self, point: usize, scene: &HairScene<'_>) -> Vec3 {
        let point = &self.points[point];
        let mut packed = point.light.load(Ordering::Relaxed);
        if packed == UNLIT {
            packed = pack(self.shade(point, scene));
            point.light.store(packed, Ordering::Relaxed);
        }
        unpack(packed)
    }

    fn shade(&self, point: &LitPoint, scene: &HairScene<'_>) -> Vec3 {
        let (at, jitter) = &self.strands[point.strand as usize];
        let hair = &scene.hair[at.view as usize];
        let points = hair.strands.strand(at.strand as usize);
        let first = hair.strands.points_of(at.strand as usize).start;
        let (i, t) = (point.segment as usize, point.t);
        let (p, slope) = hermite(points, |k| slope_at(points, k), i, t);
        let look = scene.shader.look();
        let color = match hair.color {
            Some(color) => color[first + i].lerp(color[first + i + 1], t),
            None => {
                let along = (i as f32 + t) / (points.len() - 1) as f32;
                look.root_color.lerp(look.tip_color, along)
            }
        };
        let to_eye = (scene.eye - p).normalize_or(Vec3::Z);
        scene.shader.shade(p, slope.normalize_or(Vec3::Y), to_eye, color, jitter)
    }
}

/// Three channels in one word; values that are not finite or below zero become black.
fn pack(light: Vec3) -> u64 {
    let light = if light.is_finite() { light.max(Vec3::ZERO) } else { Vec3::ZERO };
    let channel = |c: f32| u64::from((c.to_bits() & 0x7fff_ffff) >> DROPPED_BITS);
    channel(light.x) | channel(light.y) << CHANNEL_BITS | channel(light.z) << (2 * CHANNEL_BITS)
}

fn unpack(packed: u64) -> Vec3 {
    let mask = (1 << CHANNEL_BITS) - 1;
    let channel = |k: u32| ((packed >> (k * CHANNEL_BITS) & mask) as u32) << DROPPED_BITS;
    Vec3::new(f32::from_bits(channel(0)), f32::from_bits(channel(1)), f32::from_bits(channel(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_light_keeps_its_value_and_is_never_unlit() {
        for x in [0.0f32, 1e-9, 0.0013, 0.2, 0.73, 1.0, 17.0, 1e30] {
            let light = Vec3::new(x, 0.5 * x, 3.0 * x);
            let error = (unpack(pack(light)) - light).abs().max_element();
            assert!(error <= 3.0 * x / 8192.0, "{x}: {error}");
            assert_ne!(pack(light), UNLIT);
        }
        for odd in [Vec3::NAN, Vec3::INFINITY, Vec3::splat(-1.0), Vec3::splat(-0.0)] {
            assert_eq!(unpack(pack(odd)), Vec3::ZERO);
        }
    }
}
