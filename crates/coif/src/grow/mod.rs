//! From few simulated shapes to many rendered ones.

pub mod strips;
