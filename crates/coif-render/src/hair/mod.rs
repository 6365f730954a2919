//! Hair: shaded points, strokes between them, and their fragments in a tile.

mod coverage;
mod shade;
mod strokes;

pub(crate) use coverage::TilePixels;
pub(crate) use shade::HairShader;
pub(crate) use strokes::{ChunkPlan, Entry, StrokeChunk, StrokePoint, plan_chunks};
