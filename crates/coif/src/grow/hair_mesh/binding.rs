//! Hair bound into a hair mesh, and carried along by it.

use fearless_simd::{Level, dispatch};
use glam::Vec3;
use rayon::prelude::*;

use super::blocks::{Blocks, Bound};
use super::curve::MeshFrames;
use super::lay_lanes::{Scratch, lay_block};
use super::place::{Place, Root};
#[cfg(test)]
pub(super) use super::place::{place_inside, place_on_edge, point};
use crate::environment::{Nowhere, Obstacle, Onward};
use crate::groom::hair_mesh::{Found, Frame, Frames, Search};
use crate::groom::{HairMesh, Strands};
use crate::math::lines::{Line, Lines};
use crate::math::{ClosestTriangle, LANES};
use crate::{Error, Result};

/// Strands that one task binds.
const STRANDS: usize = 64;

/// Blocks of strands that one task carries.
const BLOCKS: usize = 16;

/// Every point of some strands, bound to its place in a hair mesh.
///
/// [`Binding::update`] reads the vertices once; after it, [`Binding::positions`] may be called any number of
/// times, and velocities as well. Nothing allocates.
#[derive(Debug, Clone)]
pub struct Binding {
    pub(super) blocks: Blocks,
    /// First point of every strand, and the total.
    pub(super) first: Vec<u32>,
    frames: Frames,
    state: MeshState,
    lines: Lines<1>,
    level: Level,
}

/// The frames of a mesh at one moment, and how fast they change.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeshState {
    now: Vec<Frame>,
    rates: Vec<Frame>,
}

impl Binding {
    /// Binds strands into the rest shape of a valid hair mesh. Each strand belongs to the bundle whose
    /// root polygon is nearest to its root, and stays with it; a point that leaves its bundle keeps an
    /// offset from it.
    pub fn new(mesh: &HairMesh, strands: &Strands) -> Result<Self> {
        let frames = Frames::new(mesh);
        let mut now = vec![Frame::default(); mesh.vertex_count()];
        frames.update(mesh.positions(), &mut now);
        let (triangles, bundle_of) = mesh.root_triangles();
        let roots = ClosestTriangle::new(&triangles).ok_or(Error::NoTriangles)?;
        let search = Search { mesh, frames: &now, roots, bundle_of: &bundle_of };
        // Find the place of every point, then its offset.
        let unset = Found { bundle: 0, at: glam::Vec2::ZERO, along: 0.0 };
        let mut bound = vec![Bound { found: unset, offset: [0.0; 3] }; strands.point_count()];
        let mut rest = &mut bound[..];
        let mut begins = vec![Root::default(); strands.strand_count()];
        let mut tasks = Vec::with_capacity(strands.strand_count());
        for (line, root) in strands.iter().zip(&mut begins) {
            let (own, others) = rest.split_at_mut(line.len());
            rest = others;
            tasks.push((line, own, root));
        }
        tasks.par_chunks_mut(STRANDS).for_each(|tasks| {
            let mut found = Vec::new();
            for (line, own, root) in tasks {
                search.strand(line, &mut found);
                if let (Some(first), Some(&p)) = (found.first(), line.first()) {
                    **root = Root::new(mesh, &now, first.bundle, p);
                }
                for ((bound, &found), &p) in own.iter_mut().zip(&found).zip(*line) {
                    let offset = Place::inside(mesh, &found).offset_of(&now, p);
                    *bound = Bound { found, offset };
                }
            }
        });
        let blocks = Blocks::new(mesh, strands, &bound, &begins);
        let lines = Lines::new(strands.strand_count());
        let first = strands.first_points().to_vec();
        let (state, level) = (MeshState { rates: now.clone(), now }, Level::new());
        Ok(Self { blocks, first, frames, state, lines, level })
    }

    /// How many points are bound.
    pub fn point_count(&self) -> usize {
        self.first.last().map_or(0, |&n| n as usize)
    }

    /// The columns of the bundle that a strand is in; the first again where a triangle has no fourth.
    pub(crate) fn columns_of(&self, mesh: &HairMesh, strand: usize) -> [usize; 4] {
        let (block, lane, _) = self.blocks.strand(strand);
        let vertices = self.blocks.place(block.first_row, lane).map_or([0; 4], |p| p.vertices());
        let starts = mesh.columns.first_points();
        vertices.map(|v| starts.partition_point(|&first| first <= v) - 1)
    }

    /// How far each point is beside its place (m): 0 for one that lies inside its bundle.
    pub fn offsets(&self) -> impl ExactSizeIterator<Item = f32> + '_ {
        let strands = 0..self.blocks.lane_of.len();
        strands.flat_map(|s| self.blocks.offsets(s)).collect::<Vec<f32>>().into_iter()
    }

    /// Sets the current vertices: positions (m) and velocities (m/s).
    pub fn update(&mut self, vertices: &[Vec3], velocities: &[Vec3]) {
        self.frames.update(vertices, &mut self.state.now);
        self.frames.update(velocities, &mut self.state.rates);
    }

    /// Positions of the points (m), in the order of the strands, for the vertices of the last
    /// [`Binding::update`]; the rest shape before the first. Segments keep their length.
    pub fn positions(&self, out: &mut [Vec3]) {
        self.positions_outside(&Nowhere, out);
    }

    /// Velocities of the points (m/s): the exact rate of [`Binding::positions`].
    pub fn velocities(&self, out: &mut [Vec3]) {
        self.velocities_outside(&Nowhere, out);
    }

    /// [`Binding::positions`] outside of an obstacle.
    pub fn positions_outside(&self, obstacle: &impl Obstacle, out: &mut [Vec3]) {
        self.lay::<false>(self.mesh_frames(), obstacle, None, out);
    }

    /// Velocities of the points of [`Binding::positions_outside`] (m/s); points that are pushed out have none into
    /// the obstacle.
    pub fn velocities_outside(&self, obstacle: &impl Obstacle, out: &mut [Vec3]) {
        self.lay::<true>(self.mesh_frames(), obstacle, None, out);
    }

    /// [`Binding::positions_outside`] for a mesh with these vertices (m), carried onward with the scalp.
    pub(crate) fn positions_of(
        &self,
        vertices: &[Vec3],
        state: &mut MeshState,
        obstacle: &impl Obstacle,
        onward: Option<&Onward<'_>>,
        out: &mut [Vec3],
    ) {
        state.now.resize(vertices.len(), Frame::default());
        self.frames.update(vertices, &mut state.now);
        self.lay::<false>(MeshFrames { now: &state.now, rates: &[] }, obstacle, onward, out);
    }

    /// [`Binding::velocities_outside`] for a mesh whose vertices are here (m) and move so (m/s).
    pub(crate) fn velocities_of(
        &self,
        [vertices, velocities]: [&[Vec3]; 2],
        state: &mut MeshState,
        obstacle: &impl Obstacle,
        out: &mut [Vec3],
    ) {
        let MeshState { now, rates } = state;
        for (points, frames) in [(vertices, &mut *now), (velocities, &mut *rates)] {
            frames.resize(points.len(), Frame::default());
            self.frames.update(points, frames);
        }
        self.lay::<true>(MeshFrames { now, rates }, obstacle, None, out);
    }

    /// The frames of the mesh at the last update.
    pub(super) fn mesh_frames(&self) -> MeshFrames<'_> {
        MeshFrames { now: &self.state.now, rates: &self.state.rates }
    }

    /// Lays all strands, and writes their positions or their velocities (`RATES`).
    fn lay<const RATES: bool>(
        &self,
        mesh_frames: MeshFrames<'_>,
        obstacle: &impl Obstacle,
        onward: Option<&Onward<'_>>,
        out: &mut [Vec3],
    ) {
        let task = |(blocks, lines): (&[_], &mut [Line<'_, 1>])| {
            let mut scratch = Scratch::EMPTY;
            for (block, lines) in blocks.iter().zip(lines.chunks_mut(LANES)) {
                let all = &self.blocks;
                dispatch!(self.level, simd => {
                    lay_block::<_, RATES>(
                        simd, all, block, mesh_frames, obstacle, onward, &mut scratch, lines,
                    )
                });
            }
        };
        let counts = self.first.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        self.lines.with(counts, &self.blocks.lane_of, [out], |lines| {
            let lines = lines.par_chunks_mut(BLOCKS * LANES);
            self.blocks.blocks.par_chunks(BLOCKS).zip(lines).for_each(task);
        });
    }
}
