//! Obstacles for strands while they are placed: the body, as far as `grow` needs it.

use glam::Vec3A;

use crate::math::LANES;

/// What hair must stay out of, at the poses of the frame.
pub trait Obstacle: Sync {
    /// How deep a point is inside (m).
    fn depth(&self, p: Vec3A) -> f32;
    /// For a link whose end is deeper than `allowed` (m): where it can end instead.
    fn place(&self, link: &Link, allowed: f32) -> Option<ObstacleCollision>;
    /// Which of sixteen points (m; all x, all y, all z) may be inside, one bit each. Only those are tested
    /// one by one: false positives cost time, false negatives leave hair inside.
    fn may_hold(&self, _points: &[f32; 3 * LANES]) -> u32 {
        u32::MAX
    }
}

/// A link of a strand that is being placed.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Where it begins (m).
    pub parent: Vec3A,
    /// How long it is (m).
    pub length: f32,
    /// Where it would end (m).
    pub wanted: Vec3A,
}

/// Where a link that collides ends.
#[derive(Debug, Clone, Copy)]
pub struct ObstacleCollision {
    /// m.
    pub at: Vec3A,
    /// Normal of what it collides with, outwards, unit length.
    pub normal: Vec3A,
    /// Velocity of that (m/s).
    pub velocity: Vec3A,
}

/// Nothing to stay out of.
pub(crate) struct Nowhere;

impl Obstacle for Nowhere {
    fn depth(&self, _: Vec3A) -> f32 {
        0.0
    }

    fn place(&self, _: &Link, _: f32) -> Option<ObstacleCollision> {
        None
    }

    #[inline(always)]
    fn may_hold(&self, _: &[f32; 3 * LANES]) -> u32 {
        0
    }
}
