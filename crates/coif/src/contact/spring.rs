//! A spring between two hairs that touch.

/// A spring between a place on one segment and a place on another.
///
/// Model: the places are fixed shares along the segments, so the vector between them is
/// `sum(weights[i] * x[points[i]])`, with weights `(1 - s, s, -(1 - t), -t)`. The force along it is
/// `stiffness * (length - rest)` plus `damping` times the rate of the length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactSpring {
    /// The ends of the first segment and of the second.
    pub points: [u32; 4],
    /// The points' weights in the vector between the two places.
    pub weights: [f32; 4],
    /// Length without force (m).
    pub rest: f32,
    /// Force per length (N/m).
    pub stiffness: f32,
    /// Force per speed (N s/m).
    pub damping: f32,
}
