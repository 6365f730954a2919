//! Hair: points on the screen, strokes between them, their fragments in a tile, and their light.

mod coverage;
mod lit;
mod order;
mod shade;
mod strokes;
mod thin;

pub(crate) use coverage::TilePixels;
pub(crate) use lit::HairScene;
pub(crate) use order::{StrandRef, order_strands};
pub(crate) use shade::HairShader;
pub(crate) use strokes::{Entry, StrokeChunk, StrokePoint, plan_chunks};
pub(crate) use thin::Thinning;
