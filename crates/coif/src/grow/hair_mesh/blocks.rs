//! The places of strands in memory: blocks of sixteen strands, one per lane, a row per point.
//!
//! Strands are put together by bundle, number of points and how far along their bundle they reach,
//! whatever their order in the groom: then the points of a row lie in one cell of the mesh, or in few, and
//! the frames around it are read once for all of them.

use fearless_simd::Simd;
use glam::{Vec2, Vec3};

use super::place::{Cell, Place, Root, columns_on, level};
use crate::groom::hair_mesh::Found;
use crate::groom::{HairMesh, Strands};
use crate::math::LANES;
use crate::math::cache::prefetch;
use crate::math::lane_layout::in_lane;

/// A point of a strand, bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) found: Found,
    /// From its place to the point, in the frame there (m).
    pub(super) offset: [f32; 3],
}

/// The same point of sixteen strands, counted from the root.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Row {
    /// Coordinates in the polygon.
    pub(super) at: [[f32; LANES]; 2],
    /// Layers from the root.
    pub(super) along: [f32; LANES],
    /// Beside the place (m): along, across, and at right angles to both.
    pub(super) offset: [[f32; LANES]; 3],
    /// Length of the segment before the point (m); 0 at a root and beyond a tip.
    pub(super) length: [f32; LANES],
}

/// The layers of a bundle that some lanes of a row lie in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// The columns' vertices on the lowest level; the first again where a triangle has no fourth.
    pub(super) lower: [u32; 4],
    /// That level.
    pub(super) level: f32,
    /// Number of layers from there on.
    pub(super) layers: u16,
    /// Corners of the bundle: three or four.
    pub(super) corners: u8,
    /// One bit per lane.
    pub(super) lanes: u16,
}

/// Sixteen strands.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Index of its first row among all, and number of its rows: the points of its longest strand.
    pub(super) first_row: usize,
    pub(super) rows: usize,
    /// Number of the last point of each strand; -1 where there is none.
    pub(super) last: [f32; LANES],
    pub(super) roots: [Root; LANES],
    /// Which strand each lane holds; lanes that are not in use repeat the last one.
    pub(super) strands: [u32; LANES],
}

/// All strands.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    rows: Vec<Row>,
    /// Per row: index of its first piece; the total at the end.
    first_piece: Vec<u32>,
    pieces: Vec<Piece>,
    /// Which lane, counted through all blocks, each strand is in.
    pub(super) lane_of: Vec<u32>,
}

impl Blocks {
    /// Lays out strands whose points are bound, all of a strand in one bundle.
    pub(super) fn new(mesh: &HairMesh, strands: &Strands, bound: &[Bound], roots: &[Root]) -> Self {
        let count = strands.strand_count();
        let end = |s: u32| bound.get(strands.points_of(s as usize)).and_then(<[_]>::last);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by(|&a, &b| {
            let key =
                |s: u32| (end(s).map(|e| e.found.bundle), strands.points_of(s as usize).len());
            let along = |s: u32| end(s).map_or(0.0, |e| e.found.along);
            key(a).cmp(&key(b)).then(along(a).total_cmp(&along(b))).then(a.cmp(&b))
        });
        let mut lane_of = vec![0; count];
        for (lane, &s) in order.iter().enumerate() {
            lane_of[s as usize] = lane as u32;
        }
        let mut all = Self {
            blocks: Vec::new(),
            rows: Vec::new(),
            first_piece: vec![0],
            pieces: Vec::new(),
            lane_of,
        };
        for lanes in order.chunks(LANES) {
            all.push(mesh, strands, bound, roots, lanes);
        }
        all
    }

    /// Adds a block of these strands.
    fn push(
        &mut self,
        mesh: &HairMesh,
        strands: &Strands,
        bound: &[Bound],
        roots: &[Root],
        lanes: &[u32],
    ) {
        let points = |s: &u32| strands.points_of(*s as usize);
        let rows = lanes.iter().map(|s| points(s).len()).max().unwrap_or(0);
        let mut block = Block {
            first_row: self.rows.len(),
            rows,
            last: [-1.0; LANES],
            roots: [Root::default(); LANES],
            strands: std::array::from_fn(|lane| *in_lane(lanes, lane)),
        };
        for (lane, s) in lanes.iter().enumerate() {
            block.last[lane] = points(s).len() as f32 - 1.0;
            block.roots[lane] = roots[*s as usize];
        }
        for i in 0..rows {
            let mut row = Row::default();
            // Cell of each lane: bundle, level and lane, to be grouped.
            let mut cells: Vec<(u32, u32, usize)> = Vec::with_capacity(LANES);
            for (lane, s) in lanes.iter().enumerate() {
                let Some(point) = points(s).nth(i) else { continue };
                let Bound { found, offset } = &bound[point];
                (row.at[0][lane], row.at[1][lane]) = (found.at.x, found.at.y);
                row.along[lane] = found.along;
                (0..3).for_each(|k| row.offset[k][lane] = offset[k]);
                if i > 0 {
                    let [a, b] = [point - 1, point].map(|p| strands.positions()[p]);
                    row.length[lane] = b.distance(a);
                }
                cells.push((found.bundle, level(mesh, found), lane));
            }
            cells.sort_unstable();
            for same in cells.chunk_by(|a, b| a.0 == b.0) {
                let (&(bundle, lowest, _), &(_, highest, _)) = (&same[0], &same[same.len() - 1]);
                let bundle = &mesh.bundles[bundle as usize];
                self.pieces.push(Piece {
                    lower: columns_on(mesh, bundle, lowest),
                    level: lowest as f32,
                    layers: (highest - lowest + 1) as u16,
                    corners: bundle.corners() as u8,
                    lanes: same.iter().map(|&(.., lane)| 1 << lane).sum(),
                });
            }
            self.first_piece.push(self.pieces.len() as u32);
            self.rows.push(row);
        }
        self.blocks.push(block);
    }

    /// A row, and the cells that its points lie in.
    #[inline(always)]
    pub(super) fn row(&self, index: usize) -> (&Row, &[Piece]) {
        let [first, last] = [index, index + 1].map(|i| self.first_piece[i] as usize);
        (&self.rows[index], &self.pieces[first..last])
    }

    /// Prefetches a row.
    #[inline(always)]
    pub(super) fn prefetch<S: Simd>(&self, simd: S, index: usize) {
        if let Some(row) = self.rows.get(index) {
            prefetch(simd, row.at.as_flattened());
            prefetch(simd, &row.along);
            prefetch(simd, row.offset.as_flattened());
            prefetch(simd, &row.length);
        }
    }

    /// The place of one lane of a row, if there is a point in it.
    pub(super) fn place(&self, index: usize, lane: usize) -> Option<Place> {
        let (row, pieces) = self.row(index);
        let piece = pieces.iter().find(|p| p.lanes & (1 << lane) != 0)?;
        let above = (row.along[lane] - piece.level).floor() as u32;
        let up = above.min(u32::from(piece.layers) - 1);
        let cell = Cell {
            lower: piece.lower.map(|v| v + up),
            level: piece.level + up as f32,
            corners: u32::from(piece.corners),
        };
        let at = Vec2::new(row.at[0][lane], row.at[1][lane]);
        Some(Place::new(&cell, at, row.along[lane], row.offset.map(|o| o[lane])))
    }

    /// The block, the lane and the points of a strand.
    pub(super) fn strand(&self, s: usize) -> (&Block, usize, usize) {
        let lane = self.lane_of[s] as usize;
        let block = &self.blocks[lane / LANES];
        (block, lane % LANES, (block.last[lane % LANES] + 1.0) as usize)
    }

    /// How far each point of a strand is beside its place (m).
    pub(super) fn offsets(&self, s: usize) -> impl Iterator<Item = f32> + '_ {
        let (block, lane, points) = self.strand(s);
        let rows = &self.rows[block.first_row..block.first_row + points];
        rows.iter().map(move |row| Vec3::from(row.offset.map(|o| o[lane])).length())
    }

    /// The length of the segment before a point (m).
    pub(super) fn length(&self, index: usize, lane: usize) -> f32 {
        self.rows[index].length[lane]
    }
}
