//! Limits of coordinates, distances and angles: one constant per meaning.

/// Largest coordinate (m) of hair that is read or generated, and of a point that takes part in contact between single
/// hairs. Beyond it, single precision does not resolve millimetres, so that neighbouring hairs are not distinct.
pub const MAX_GROOM_COORDINATE: f32 = 1e4;

/// Largest distance (m) of moving hair from the origin. Beyond it a strand goes to quarantine and is left out of the hair
/// volume: single precision does not resolve the cells of its grid.
pub const MAX_WORLD_DISTANCE: f32 = 1e5;

/// Largest distance of a particle from its root, in lengths of its strand. Beyond it the strand goes to quarantine. An
/// unstable step exceeds it at once, a violent motion of the body does not.
pub const MAX_STRAND_LENGTHS: f32 = 10.0;

/// Largest coordinate (m) of a vertex of a distance field: beyond it, squares of distances overflow.
pub const MAX_FIELD_COORDINATE: f32 = 1e15;

/// Angle between successive segments from which hair looks kinked (degrees). Curls with ten points a turn have 36, so that
/// a smaller angle would count curls; a larger one would miss kinks.
pub const KINK_ANGLE: f32 = 60.0;

/// [`KINK_ANGLE`] in radians.
pub(crate) const KINK_RADIANS: f32 = std::f32::consts::FRAC_PI_3;

/// Cosine of [`KINK_ANGLE`].
pub(crate) const KINK_COSINE: f32 = 0.5;
