//! Where numbers end: one constant per meaning.

/// Farthest coordinate (m) of hair that is read or made, and of a point that takes part in contact between single hairs:
/// beyond it, single precision does not tell millimetres, let alone two hairs.
pub const MAX_GROOM_COORDINATE: f32 = 1e4;

/// Farthest from the origin (m) that hair may get while it moves. Beyond it a strand counts as broken, and takes no part
/// in a volume of hair: single precision has no room for its cells.
pub const MAX_WORLD_DISTANCE: f32 = 1e5;

/// How far a particle may be from its root, in lengths of its strand, before the strand counts as broken: an unstable
/// step gets there at once, a violent motion of the body does not.
pub const MAX_STRAND_LENGTHS: f32 = 10.0;

/// Farthest coordinate (m) of a vertex that a distance field takes in: beyond it, squares of distances overflow.
pub const MAX_FIELD_COORDINATE: f32 = 1e15;
