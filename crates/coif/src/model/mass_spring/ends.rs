//! Which ends of a strand are held, and how they are moved: `selle2008` figure 10.

use glam::Vec3;

/// Which ends of a strand follow the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// The root.
    #[default]
    Root,
    /// Root and tip: the last two points and the particle beside them are held as well.
    Both,
}

impl Ends {
    /// All choices by name.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("root", Self::Root), ("both", Self::Both)];
}

/// How ends that are held move, besides being carried by the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FarEnd {
    /// Number of the first strand that moves so; those before it are only held.
    pub first: u32,
    /// Velocity (m/s) of both ends, in the rest shape: hair that is pulled across other hair.
    pub slide: Vec3,
    /// Speed (m/s) of the tip towards the root, along the straight line between the ends; negative stretches.
    pub approach: f32,
    /// Rate (rad/s) at which it turns about that line.
    pub twist: f32,
    /// Time (s) after the start at which it stops.
    pub until: f32,
    /// Whether it is let go then.
    pub release: bool,
}

impl Default for FarEnd {
    fn default() -> Self {
        Self {
            first: 0,
            slide: Vec3::ZERO,
            approach: 0.0,
            twist: 0.0,
            until: f32::INFINITY,
            release: false,
        }
    }
}
