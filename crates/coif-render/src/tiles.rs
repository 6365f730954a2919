//! The picture cut into square tiles, each drawn by one thread from start to end.

use std::ops::Range;

use glam::{Vec2, Vec3, Vec4};

use crate::hair::{Entry, HairScene, StrokeChunk, StrokePoint, TilePixels};

/// Side of a tile (pixels). Its pixels stay in the first-level cache while hair is drawn.
pub(crate) const TILE: usize = 32;
/// Side of a block (pixels): the granularity at which hair behind the body is skipped.
const BLOCK: usize = 8;
const BLOCKS: usize = TILE / BLOCK;
/// Maximum number of blocks that are tested for one stroke.
const MAX_BLOCKS: usize = 36;
/// Depth slices of a tile: each is sorted only when it is reached.
const SLICES: usize = 48;
/// Strokes fetched at a time.
const BATCH: usize = 32;

/// The numbers of tiles that cover the picture.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TileGrid {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl TileGrid {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { columns: width.div_ceil(TILE), rows: height.div_ceil(TILE) }
    }

    pub(crate) fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// Pixel coordinates of a tile's upper left corner.
    pub(crate) fn origin(&self, tile: usize) -> Vec2 {
        let (x, y) = (tile % self.columns * TILE, tile / self.columns * TILE);
        Vec2::new(x as f32, y as f32)
    }
}

/// The body as seen by the camera, tile after tile.
#[derive(Debug, Default)]
pub(crate) struct BodyBuffer {
    grid: TileGrid,
    /// Light times coverage, and coverage.
    pub(crate) light: Vec<Vec4>,
    /// Mean depth of the covered part (m); infinite where there is none.
    pub(crate) depth: Vec<f32>,
    /// For each block, the depth behind which nothing is visible (m).
    pub(crate) behind: Vec<f32>,
    /// Whether there is any body at all.
    pub(crate) present: bool,
}

impl BodyBuffer {
    pub(crate) const PIXELS: usize = TILE * TILE;
    pub(crate) const TILE_BLOCKS: usize = BLOCKS * BLOCKS;

    pub(crate) fn clear(&mut self, grid: TileGrid, present: bool) {
        self.grid = grid;
        self.present = present;
        let pixels = grid.count() * Self::PIXELS;
        self.light.clear();
        self.light.resize(pixels, Vec4::ZERO);
        self.depth.clear();
        self.depth.resize(pixels, f32::INFINITY);
        self.behind.clear();
        self.behind.resize(grid.count() * Self::TILE_BLOCKS, f32::INFINITY);
    }

    /// Computes the depths behind which nothing is visible, from the pixels of one tile.
    pub(crate) fn measure_blocks(light: &[Vec4], depth: &[f32], behind: &mut [f32]) {
        behind.fill(0.0);
        for y in 0..TILE {
            for x in 0..TILE {
                let at = y * TILE + x;
                let limit = if light[at].w >= 1.0 { depth[at] } else { f32::INFINITY };
                let block = &mut behind[y / BLOCK * BLOCKS + x / BLOCK];
                *block = block.max(limit);
            }
        }
    }

    /// Whether the body hides all of a screen box that starts at depth `near`.
    pub(crate) fn hides(&self, lo: Vec3, hi: Vec3, near: f32) -> bool {
        if !self.present {
            return false;
        }
        let blocks = |lo: f32, hi: f32, tiles: usize| {
            let first = (lo.max(0.0) / BLOCK as f32) as usize;
            let last = (hi.max(0.0) / BLOCK as f32) as usize;
            first..last.saturating_add(1).min(tiles * BLOCKS)
        };
        let columns = blocks(lo.x, hi.x, self.grid.columns);
        let rows = blocks(lo.y, hi.y, self.grid.rows);
        if columns.len().saturating_mul(rows.len()) > MAX_BLOCKS {
            return false;
        }
        for y in rows {
            for x in columns.clone() {
                let tile = y / BLOCKS * self.grid.columns + x / BLOCKS;
                let block = tile * Self::TILE_BLOCKS + y % BLOCKS * BLOCKS + x % BLOCKS;
                if self.behind[block] >= near {
                    return false;
                }
            }
        }
        true
    }
}

/// A stroke of a tile: its depth and its place in the chunks.
#[derive(Debug, Clone, Copy, Default)]
struct Listed {
    depth: f32,
    chunk: u32,
    point: u32,
}

/// Scratch memory of one worker.
#[derive(Debug, Default)]
pub(crate) struct TileWorker {
    pub(crate) pixels: TilePixels,
    /// Strokes of the tile by slice.
    listed: Vec<Listed>,
    /// Sort keys of a slice: order-preserving bits of the depth, above an index into `listed`.
    keys: Vec<u64>,
}

impl TileWorker {
    /// Draws all hair of a tile into `pixels`, which contains the body already.
    pub(crate) fn draw_hair(
        &mut self,
        chunks: &[StrokeChunk],
        scene: &HairScene<'_>,
        tile: usize,
        origin: Vec2,
        opacity: f32,
    ) {
        // Split the strokes into slices of depth, nearest first.
        let (mut near, mut far, mut total) = (f32::INFINITY, 0.0f32, 0usize);
        for chunk in chunks {
            let entries = chunk.entries_of(tile);
            for entry in entries {
                near = near.min(entry.depth);
                far = far.max(entry.depth);
            }
            total += entries.len();
        }
        if total == 0 {
            return;
        }
        let horizon = self.pixels.horizon();
        let scale = SLICES as f32 / (far - near).max(1e-9);
        let slice_of = |entry: &Entry| (((entry.depth - near) * scale) as usize).min(SLICES - 1);
        let mut starts = [0usize; SLICES + 1];
        for chunk in chunks {
            for entry in chunk.entries_of(tile) {
                starts[slice_of(entry) + 1] += 1;
            }
        }
        for slice in 0..SLICES {
            starts[slice + 1] += starts[slice];
        }
        self.listed.resize(total, Listed::default());
        let mut next = starts;
        for (c, chunk) in chunks.iter().enumerate() {
            for &entry in chunk.entries_of(tile) {
                let place = &mut next[slice_of(&entry)];
                let Entry { depth, point } = entry;
                self.listed[*place] = Listed { depth, chunk: c as u32, point };
                *place += 1;
            }
        }

        // Sort and draw slice by slice until nothing behind can be visible.
        for slice in 0..SLICES {
            if near + slice as f32 / scale > horizon || self.pixels.is_opaque() {
                break;
            }
            self.sort_slice(starts[slice]..starts[slice + 1], chunks);
            for keys in self.keys.chunks(BATCH) {
                // Fetch the ends of many strokes together, so that cache misses overlap.
                let mut ends = [[StrokePoint::default(); 2]; BATCH];
                for (ends, &key) in ends.iter_mut().zip(keys) {
                    let Listed { chunk, point, .. } = self.listed[key as u32 as usize];
                    *ends = chunks[chunk as usize].ends(point).map(|end| *end);
                }
                for ([a, b], &key) in ends.iter().zip(keys) {
                    let Listed { chunk, point, .. } = self.listed[key as u32 as usize];
                    let (chunk, i) = (&chunks[chunk as usize], point as usize);
                    let before = if a.has_previous() {
                        i.checked_sub(1).map(|k| &chunk.points[k])
                    } else {
                        None
                    };
                    let after = if b.has_next() { chunk.points.get(i + 2) } else { None };
                    let lights = || [i, i + 1].map(|end| chunk.lights.at(end, scene));
                    self.pixels.draw([a, b], [before, after], origin, opacity, lights);
                }
            }
        }
    }

    /// Sorts the strokes of a slice by depth; ties are broken by all data of the strokes.
    fn sort_slice(&mut self, range: Range<usize>, chunks: &[StrokeChunk]) {
        let listed = &self.listed;
        let key = |i: usize| u64::from(sortable(listed[i].depth)) << 32 | i as u64;
        self.keys.clear();
        self.keys.extend(range.map(key));
        self.keys.sort_unstable();
        let bits = |key: &u64| {
            let Listed { chunk, point, .. } = listed[*key as u32 as usize];
            chunks[chunk as usize].ends(point).map(StrokePoint::bits)
        };
        for ties in self.keys.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if ties.len() > 1 {
                ties.sort_unstable_by_key(bits);
            }
        }
    }
}

/// Bits that sort as the depth does.
fn sortable(depth: f32) -> u32 {
    let bits = depth.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}
