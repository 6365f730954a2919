//! Hair: shaded points, strokes between them, and their fragments in a tile.

mod coverage;
mod order;
mod shade;
mod strokes;

pub(crate) use coverage::TilePixels;
pub(crate) use order::{StrandRef, order_strands};
pub(crate) use shade::HairShader;
pub(crate) use strokes::{Entry, StrokeChunk, StrokePoint, plan_chunks};
