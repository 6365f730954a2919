//! Obstacles for strands that `grow` places.

use glam::Vec3A;

use crate::math::LANES;

/// A solid that hair must stay out of, at the poses of the frame.
pub trait Obstacle: Sync {
    /// Depth of a point inside of the obstacle (m).
    fn depth(&self, p: Vec3A) -> f32;
    /// Collides a link: if its end is deeper than `allowed` (m), an end outside at the same length.
    fn place(&self, link: &Link, allowed: f32) -> Option<ObstacleCollision>;
    /// Broad phase: which of sixteen points (m; all x, all y, all z) may be inside, one bit each. Only those are
    /// tested one by one: false positives cost time, false negatives leave hair inside.
    fn may_hold(&self, _points: &[f32; 3 * LANES]) -> u32 {
        u32::MAX
    }
}

/// A link of a strand that is being placed.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Its first point (m).
    pub parent: Vec3A,
    /// Its length (m).
    pub length: f32,
    /// Its end without the obstacle (m).
    pub wanted: Vec3A,
}

/// The end of a link that collides.
#[derive(Debug, Clone, Copy)]
pub struct ObstacleCollision {
    /// Its position (m).
    pub at: Vec3A,
    /// Outward unit normal of the surface.
    pub normal: Vec3A,
    /// Velocity of the surface (m/s).
    pub velocity: Vec3A,
}

/// The empty obstacle.
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
