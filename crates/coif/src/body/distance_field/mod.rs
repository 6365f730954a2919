//! Signed distance and velocity around an animated mesh, built anew each step (`muller2012` 3.7).
//!
//! ```text
//!  vertices ─► grid ─► nearest triangles ─► sides ─► marching ─► distance, velocity
//!              fitted   exact, in a band     in/out   beyond      sampled anywhere
//! ```
//!
//! Deviations from the paper: the velocity is that of the closest point at any distance, found by steps along the
//! gradient; the paper averages it outward while marching, which smears it. How marching differs is in `march.rs`.
//!
//! It accepts any mesh. For a closed one the sign is exact. Holes are closed by caps, and leak no
//! farther than their rim (`sign.rs`). Bodies that overlap count as one. A sheet has no inside, so its distance is positive
//! on both sides; so is that of a plate so thin that no node is within it. Triangles without an area
//! count as their edges. Triangles with a vertex that is missing, not a number, or farther than
//! [`MAX_FIELD_COORDINATE`] from the origin are left out. What was unusual is in the [`Report`].

mod band;
mod crossings;
mod grid;
mod lanes;
mod march;
mod near;
pub mod plain;
mod pseudo_normal;
mod sample;
mod sign;

use fearless_simd::{Level, dispatch};
use glam::{Vec3, Vec4};

use self::band::BandNode;
use self::grid::Grid;
use self::march::UNREACHED;
use self::near::Nearest;
use self::pseudo_normal::{Rings, Surface};
pub use self::sample::FieldSample;
pub(crate) use self::sample::MAX_SLOPE;
use self::sign::Sides;
use crate::limits::MAX_FIELD_COORDINATE;
use crate::{Error, Result};

/// Added to the band (cells): a node exactly one cell from the surface is within a band of one.
const SLACK: f32 = 1e-3;

/// Distance (cells) of nodes next to a cap over a hole: the cap runs halfway between two nodes.
const CAP: f32 = 0.5;

/// Resolution and extent of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Wanted edge of a cell (m). Details smaller than this are not resolved; half of it costs eight times
    /// the memory.
    pub cell: f32,
    /// Most cells that a grid may have. Where a mesh needs more, its cells grow, and the report says
    /// so.
    pub max_cells: u32,
    /// Room between the mesh and the border of the grid (m); at least the band and one cell.
    pub margin: f32,
    /// How far from the surface distances are exact (cells, 1 to 4). Below 1 a surface could pass
    /// between two nodes unseen; the cost grows with its cube.
    pub band: f32,
    /// How far from the surface distances are marched (m). Beyond, the distance stays at this value.
    pub reach: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cell: 0.01, max_cells: 1 << 18, margin: 0.03, band: 1.0, reach: f32::INFINITY }
    }
}

impl Settings {
    /// Edge of a cell (m) over a box from `lo` to `hi` (m): the wanted one, or the smallest that keeps within the
    /// most cells.
    pub fn cell_over(&self, lo: Vec3, hi: Vec3) -> f32 {
        Grid::fit(lo, hi, self).cell
    }

    fn validate(&self) -> Result<()> {
        let check = |name: &str, value: f32, fine: bool, expected: &'static str| {
            if fine {
                return Ok(());
            }
            Err(Error::OutOfRange { name: name.into(), value: value.into(), expected })
        };
        let cell_fine = (1e-6..=1e6).contains(&self.cell);
        check("distance field cell (m)", self.cell, cell_fine, "1e-6 to 1e6")?;
        let cells_fine = (1 << 12..=1 << 28).contains(&self.max_cells);
        let max_cells = self.max_cells as f32;
        check("distance field max_cells", max_cells, cells_fine, "4096 to 268435456")?;
        let margin_fine = (0.0..=1e6).contains(&self.margin);
        check("distance field margin (m)", self.margin, margin_fine, "0 to 1e6")?;
        let band_fine = (1.0..=4.0).contains(&self.band);
        check("distance field band (cells)", self.band, band_fine, "1 to 4")?;
        check("distance field reach (m)", self.reach, self.reach > 0.0, "above 0")
    }
}

/// What was unusual in the last rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// The cell is larger than wanted, to keep within the most cells or within the precision of
    /// coordinates far from the origin.
    pub cell_grown: bool,
    /// Triangles left out, for a vertex that is missing, not a number or too far away.
    pub dropped_triangles: u32,
    /// Rows of the grid that went through a hole of the mesh.
    pub open_rows: u32,
    /// Nodes next to caps over holes, counted once per neighbour across.
    pub capped_nodes: u32,
    /// Nodes next to a surface that is inside of another body.
    pub inner_nodes: u32,
}

/// Signed distance to a moving mesh, and its velocity, on a grid that follows it.
///
/// One pass per step builds it; memory is kept, so that nothing is allocated once the largest grid
/// so far has been seen.
pub struct DistanceField {
    settings: Settings,
    level: Level,
    triangles: Vec<[u32; 3]>,
    /// Vertices that triangles name.
    used: Vec<u32>,
    rings: Rings,
    grid: Grid,
    /// Box around the mesh (m); empty if there is none.
    bounds: (Vec3, Vec3),
    report: Report,
    /// In the order x, y, z. In cells while it is built, then in metres.
    distance: Vec<f32>,
    /// Of the closest point, where the fourth number is one; zero elsewhere (m/s).
    velocity: Vec<Vec4>,
    mean_velocity: Vec3,
    // Memory of the steps in between.
    vertices: Vec<[f32; 4]>,
    nearest: Nearest,
    band: Vec<BandNode>,
    known: Vec<u32>,
    sides: Sides,
    distance_zyx: Vec<f32>,
}

impl DistanceField {
    /// A field for a mesh of these triangles, counter-clockwise seen from outside. It is empty until
    /// the first [`rebuild`](Self::rebuild).
    pub fn new(triangles: &[[u32; 3]], settings: &Settings) -> Result<Self> {
        settings.validate()?;
        let mut used = triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        Ok(Self {
            settings: settings.clone(),
            level: Level::new(),
            triangles: triangles.to_vec(),
            used,
            rings: Rings::new(triangles),
            grid: Grid::default(),
            bounds: (Vec3::INFINITY, Vec3::NEG_INFINITY),
            report: Report::default(),
            distance: Vec::new(),
            velocity: Vec::new(),
            mean_velocity: Vec3::ZERO,
            vertices: Vec::new(),
            nearest: Nearest::default(),
            band: Vec::new(),
            known: Vec::new(),
            sides: Sides::default(),
            distance_zyx: Vec::new(),
        })
    }

    /// Builds the field for these vertices (m) and their velocities (m/s). Velocities that are
    /// missing or not finite count as zero.
    pub fn rebuild(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        self.report = Report::default();
        if !self.fit_grid(positions) {
            return;
        }
        self.find_nearest();
        let surface =
            Surface { triangles: &self.triangles, vertices: &self.vertices, rings: &self.rings };
        let (layout, report) = (&self.grid.xyz, &mut self.report);
        self.sides.settle(layout, &surface, &self.nearest, &mut self.band, report);
        self.carry_velocities(velocities);
        self.march();
        self.finish();
    }

    /// Gives the surface other velocities (m/s): the rest of the field stays as it is.
    pub fn set_velocities(&mut self, velocities: &[Vec3]) {
        if self.grid.xyz.len[0] > 0 {
            self.carry_velocities(velocities);
        }
    }

    /// Fits the grid and takes the vertices into it. False if there is nothing to measure.
    fn fit_grid(&mut self, positions: &[Vec3]) -> bool {
        let usable = |p: &Vec3| p.abs().max_element() <= MAX_FIELD_COORDINATE && !p.is_nan();
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut bound = |p: Vec3| (lo, hi) = (lo.min(p), hi.max(p));
        let good = |&v: &u32| positions.get(v as usize).is_some_and(usable);
        if self.used.iter().all(good) {
            self.used.iter().for_each(|&v| bound(positions[v as usize]));
        } else {
            // Leave out triangles with a vertex that cannot be used.
            for corners in &self.triangles {
                if corners.iter().all(good) {
                    corners.iter().for_each(|&v| bound(positions[v as usize]));
                } else {
                    self.report.dropped_triangles += 1;
                }
            }
        }
        self.bounds = (lo, hi);
        if !lo.cmple(hi).all() {
            self.grid = Grid::default();
            return false;
        }
        self.grid = Grid::fit(lo, hi, &self.settings);
        self.report.cell_grown = self.grid.cell > self.settings.cell;
        let grid = &self.grid;
        self.vertices.clear();
        self.vertices.extend(positions.iter().map(|p| {
            let p = if usable(p) { grid.in_cells(*p) } else { Vec3::NAN };
            [p.x, p.y, p.z, 0.0]
        }));
        true
    }

    /// Finds the nearest triangles, and the nodes that are near.
    fn find_nearest(&mut self) {
        let layout = &self.grid.xyz;
        let nearest = &mut self.nearest;
        nearest.distance2.clear();
        nearest.distance2.resize(layout.size(), f32::MAX);
        nearest.triangle.resize(layout.size(), 0);
        let band = self.settings.band + SLACK;
        let (triangles, vertices, nodes) = (&self.triangles, &self.vertices, &mut self.band);
        dispatch!(self.level, simd => {
            near::find_nearest(simd, layout, band, triangles, vertices, nearest);
            band::collect(simd, layout, band, nearest, nodes);
        });
    }

    /// Gives the nodes of the band the velocity of the closest point, and caps the mean of all.
    fn carry_velocities(&mut self, velocities: &[Vec3]) {
        for &i in &self.known {
            self.velocity[i as usize] = Vec4::ZERO;
        }
        self.known.clear();
        self.velocity.resize(self.grid.xyz.size(), Vec4::ZERO);
        let surface =
            Surface { triangles: &self.triangles, vertices: &self.vertices, rings: &self.rings };
        let (nearest, nodes, velocity) = (&self.nearest, &self.band, &mut self.velocity);
        dispatch!(self.level, simd =>
            band::carry_velocities(simd, &surface, nearest, nodes, velocities, velocity));
        self.known.extend(nodes.iter().map(|n| n.place).chain(self.sides.caps.iter().copied()));
        let sum: Vec4 = nodes.iter().map(|n| velocity[n.place as usize]).sum();
        self.mean_velocity = sum.truncate() / sum.w.max(1.0);
        for &i in &self.sides.caps {
            let v = &mut velocity[i as usize];
            if v.w == 0.0 {
                *v = self.mean_velocity.extend(1.0);
            }
        }
    }

    /// Fills the rest of the grid from the band.
    fn march(&mut self) {
        let (grid, level) = (&self.grid, self.level);
        let reach = self.settings.reach * grid.inverse_cell;
        let (xyz, zyx) = (&mut self.distance, &mut self.distance_zyx);
        let inside = &self.sides.inside;
        xyz.clear();
        xyz.extend(inside.iter().map(|&inside| UNREACHED * side(inside)));
        zyx.clear();
        zyx.resize(grid.zyx.size(), UNREACHED);
        // Start from the band and the caps.
        let start = |xyz: &mut [f32]| {
            for node in &self.band {
                let i = node.place as usize;
                xyz[i] = node.distance * side(inside[i]);
            }
            for &i in &self.sides.caps {
                let distance = &mut xyz[i as usize];
                *distance = distance.clamp(-CAP, CAP);
            }
        };
        start(xyz);
        let (forth, back) = (&grid.xyz, &grid.zyx);
        dispatch!(level, simd => {
            march::march_roughly(simd, forth, xyz);
            march::march(simd, forth, true, reach, xyz);
            march::swap_order(simd, forth, xyz, back, zyx);
            march::march(simd, back, false, reach, zyx);
            march::swap_order(simd, back, zyx, forth, xyz);
        });
        // Restore the exact values: rays may have passed through the band.
        start(xyz);
    }

    /// Turns the distances into metres.
    fn finish(&mut self) {
        let cell = self.grid.cell;
        let reach = self.settings.reach.min(UNREACHED * cell);
        for d in &mut self.distance {
            *d = (*d * cell).clamp(-reach, reach);
        }
    }

    /// What was unusual in the last rebuild.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Edge of a cell (m) in the last rebuild.
    pub fn cell(&self) -> f32 {
        self.grid.cell
    }

    /// Nodes along x, y, z; zero if there is nothing to measure.
    pub fn dims(&self) -> [usize; 3] {
        self.grid.xyz.len
    }

    /// Box around the nodes (m), or `None` if there are none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let last = self.grid.xyz.len.map(|n| n.checked_sub(1).map(|n| n as f32));
        let [Some(x), Some(y), Some(z)] = last else { return None };
        let origin = self.grid.origin;
        Some((origin, origin + Vec3::new(x, y, z) * self.grid.cell))
    }
}

/// The sign of distances inside and outside.
#[inline(always)]
fn side(inside: u8) -> f32 {
    if inside == 1 { -1.0 } else { 1.0 }
}
