//! Prescribed motion of pinned ends: `selle2008` figure 10.

use glam::Vec3;

use super::NAME;
use crate::params::parameters;

parameters! {
    /// Motion of pinned ends relative to the body.
    #[derive(Copy)]
    pub struct FarEnd of NAME {
        /// Number of the first strand that the keys that follow move; those before it are only pinned.
        first as "tip_first": u32 = 0, "", 0..=u32::MAX;
        /// Velocity of both ends of these strands in the rest shape: hair that is pulled across other hair.
        slide as "ends_slide": Vec3 = Vec3::ZERO, "m/s", -100.0..=100.0;
        /// Speed at which a pinned tip moves towards its root, along the straight line between the ends; negative pulls
        /// it away.
        approach as "tip_approach": f32 = 0.0, "m/s", -100.0..=100.0;
        /// Rate at which a pinned tip turns about the line to its root.
        twist as "tip_twist": f32 = 0.0, "rad/s", -1000.0..=1000.0;
        /// Time after which pinned ends stop; 1000 is never.
        until as "tip_until": f32 = f32::INFINITY, "s", 0.0..=1000.0, unlimited: true;
        /// Whether a pinned tip is released then.
        release as "tip_release": bool = false;
    }
}
