//! The renderer: one frame from start to end.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use coif::groom::Strands;
use glam::Vec3;
use rayon::prelude::*;

use crate::backdrop::SrgbTable;
use crate::camera::View;
use crate::hair::{
    HairScene, HairShader, StrandRef, StrokeChunk, Thinning, order_strands, plan_chunks,
};
use crate::shadow::{Shadows, SplatMemory};
use crate::surface::{SkinShader, SurfacePass};
use crate::tiles::{BodyBuffer, TILE, TileGrid, TileWorker};
use crate::{Backdrop, Camera, Error, HairLook, Image, Light, Result};

/// Largest side of a picture (pixels).
const LARGEST: usize = 16384;

/// Hair to be drawn, as borrowed slices.
#[derive(Debug, Clone, Copy)]
pub struct HairView<'a> {
    /// Centre lines, root to tip (m).
    pub strands: &'a Strands,
    /// Radius of the fibre at each point (m).
    pub radius: &'a [f32],
    /// Linear colour at each point; the look's root and tip colours if absent.
    pub color: Option<&'a [Vec3]>,
    /// A number per strand that determines its jitter; its index if absent. With the same numbers every strand keeps
    /// its look when strands are drawn in another order or in parts.
    pub seed_ids: Option<&'a [u32]>,
}

impl<'a> HairView<'a> {
    /// Hair without colours of its own.
    pub fn new(strands: &'a Strands, radius: &'a [f32]) -> Self {
        Self { strands, radius, color: None, seed_ids: None }
    }

    pub(crate) fn seed_id(&self, strand: usize) -> u32 {
        self.seed_ids.and_then(|ids| ids.get(strand).copied()).unwrap_or(strand as u32)
    }

    fn check(&self) -> Result<()> {
        let points = self.strands.point_count();
        check_length("hair radius", self.radius.len(), points)?;
        if let Some(color) = self.color {
            check_length("hair color", color.len(), points)?;
        }
        match self.seed_ids {
            Some(ids) => check_length("hair seed_ids", ids.len(), self.strands.strand_count()),
            None => Ok(()),
        }
    }
}

/// A body or another surface, as borrowed slices.
#[derive(Debug, Clone, Copy)]
pub struct SurfaceView<'a> {
    /// Vertices (m).
    pub positions: &'a [Vec3],
    /// Normal at each vertex.
    pub normals: &'a [Vec3],
    /// Corners of each triangle.
    pub triangles: &'a [[u32; 3]],
    /// Linear colour at each vertex; a warm light grey if absent.
    pub color: Option<&'a [Vec3]>,
}

impl SurfaceView<'_> {
    fn check(&self, surface: usize) -> Result<()> {
        check_length("surface normals", self.normals.len(), self.positions.len())?;
        if let Some(color) = self.color {
            check_length("surface color", color.len(), self.positions.len())?;
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for &vertex in corners {
                if vertex as usize >= self.positions.len() {
                    return Err(Error::VertexIndex { surface, triangle, vertex });
                }
            }
        }
        Ok(())
    }
}

fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::SliceLength { what, found, expected }) }
}

/// How hair casts shadows on hair and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HairShadows {
    /// Deep shadow maps: layers at equal intervals over the depth of all hair.
    #[default]
    DeepShadow,
    /// Deep opacity maps: fewer layers, which follow the front of the hair as seen from the light.
    DeepOpacity,
}

/// Settings that are constant from frame to frame. Threads come from rayon's current pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The background.
    pub backdrop: Backdrop,
    /// Brightness of the picture: 1 as lit, 2 twice as bright.
    pub exposure: f32,
    /// Texels along the longer side of a hair shadow map.
    pub shadow_resolution: usize,
    /// Depth nodes of a deep shadow map.
    pub shadow_layers: usize,
    /// Kind of the hair shadow maps.
    pub hair_shadows: HairShadows,
    /// Layers of a deep opacity map.
    pub opacity_layers: usize,
    /// Texels along the longer side of a body shadow map.
    pub body_shadow_resolution: usize,
    /// Width of fibres (pixels) below which dense hair is drawn as fewer and wider strands; 0 draws every strand.
    pub finest_width: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            backdrop: Backdrop::default(),
            exposure: 1.0,
            shadow_resolution: 192,
            shadow_layers: 48,
            hair_shadows: HairShadows::default(),
            opacity_layers: 16,
            body_shadow_resolution: 576,
            finest_width: 0.0,
        }
    }
}

impl Settings {
    /// The default settings for a picture of this size.
    pub fn sized(width: usize, height: usize) -> Self {
        Self { width, height, ..Self::default() }
    }
}

/// The content of one picture.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Hair, in any number of parts.
    pub hair: &'a [HairView<'a>],
    /// Bodies and other surfaces.
    pub surfaces: &'a [SurfaceView<'a>],
    /// The camera.
    pub camera: Camera,
    /// The lights.
    pub lights: &'a [Light],
    /// The look of the hair.
    pub look: &'a HairLook,
}

/// Statistics of the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RenderStats {
    /// Number of strokes: pieces of smoothed segments that may be visible.
    pub segments: usize,
    /// Number of visible fragments: pairs of a stroke and a pixel.
    pub fragments: u64,
    /// Shadow maps of all lights (ms).
    pub shadow_ms: f64,
    /// The body (ms).
    pub surface_ms: f64,
    /// Projecting and listing hair (ms).
    pub shade_ms: f64,
    /// Sorting, lighting and compositing hair in tiles (ms).
    pub raster_ms: f64,
    /// The whole frame (ms).
    pub total_ms: f64,
}

/// Draws frames; keeps its scratch memory between them.
#[derive(Debug)]
pub struct Renderer {
    settings: Settings,
    table: SrgbTable,
    shadows: Shadows,
    splat: SplatMemory,
    surface: SurfacePass,
    body: BodyBuffer,
    order: Vec<StrandRef>,
    plans: Vec<Range<usize>>,
    chunks: Vec<StrokeChunk>,
    tiles: Vec<u8>,
    stats: RenderStats,
    stop: Option<Arc<AtomicBool>>,
}

impl Renderer {
    /// A renderer for pictures of one size.
    pub fn new(settings: Settings) -> Result<Self> {
        let (width, height) = (settings.width, settings.height);
        if !(1..=LARGEST).contains(&width) || !(1..=LARGEST).contains(&height) {
            return Err(Error::Size { width, height, limit: LARGEST });
        }
        Ok(Self {
            settings,
            table: SrgbTable::new(),
            shadows: Shadows::default(),
            splat: SplatMemory::default(),
            surface: SurfacePass::default(),
            body: BodyBuffer::default(),
            order: Vec::new(),
            plans: Vec::new(),
            chunks: Vec::new(),
            tiles: Vec::new(),
            stats: RenderStats::default(),
            stop: None,
        })
    }

    /// The settings of the renderer.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Statistics of the last frame.
    pub fn stats(&self) -> RenderStats {
        self.stats
    }

    /// Stops a picture with [`Error::Stopped`] soon after this flag is set: it is polled between
    /// stages and before every tile.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Some(flag);
    }

    /// Draws one frame.
    ///
    /// The same frame gives the same bytes for any number of threads, and for any order of
    /// strands as long as their `seed_ids` go with them.
    pub fn render(&mut self, frame: &Frame<'_>) -> Result<Image> {
        let start = Instant::now();
        frame.hair.iter().try_for_each(HairView::check)?;
        frame.surfaces.iter().enumerate().try_for_each(|(i, s)| s.check(i))?;
        let (width, height) = (self.settings.width, self.settings.height);
        let view = View::new(&frame.camera, width, height)?;
        let grid = TileGrid::new(width, height);
        let mut clock = Lap(start);
        let stop = self.stop.clone();
        let stopped = || stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        let check_stop = || if stopped() { Err(Error::Stopped) } else { Ok(()) };
        check_stop()?;

        // Build the shadow maps of all lights.
        order_strands(frame.hair, &mut self.order);
        self.shadows.build(
            frame.lights,
            frame.hair,
            &self.order,
            frame.surfaces,
            &self.settings,
            &mut self.splat,
        );
        self.stats.shadow_ms = clock.lap();
        check_stop()?;

        // Draw the body.
        let hair_shader = HairShader::new(frame.look, &self.shadows);
        let all_light: Vec3 = frame.lights.iter().map(|light| light.color).sum();
        let skin_shader = SkinShader {
            shadows: &self.shadows,
            hair: &hair_shader,
            eye: view.eye,
            ambient: all_light * 0.055,
        };
        self.surface.draw(frame.surfaces, &view, grid, &skin_shader, stopped, &mut self.body);
        self.stats.surface_ms = clock.lap();
        check_stop()?;

        // Project and list the hair.
        plan_chunks(frame.hair, &self.order, &mut self.plans);
        self.chunks.resize_with(self.plans.len(), StrokeChunk::default);
        let (body, order) = (&self.body, &self.order);
        let thinning = Thinning::new(frame.hair, &frame.camera, view.focal, &self.settings);
        let scene = HairScene { hair: frame.hair, shader: &hair_shader, thinning, eye: view.eye };
        self.chunks.par_iter_mut().zip(&self.plans).for_each(|(chunk, plan)| {
            chunk.build(&order[plan.clone()], &scene, &view, body, &grid);
        });
        self.stats.segments = self.chunks.par_iter().map(StrokeChunk::stroke_count).sum();
        self.stats.shade_ms = clock.lap();
        check_stop()?;

        // Sort, light and composite tile by tile.
        self.tiles.resize(grid.count() * TILE * TILE * 3, 0);
        let opacity = frame.look.opacity.clamp(0.0, 1.0);
        let (chunks, table, settings) = (&self.chunks, &self.table, &self.settings);
        let tiles = self.tiles.par_chunks_mut(TILE * TILE * 3).enumerate();
        self.stats.fragments = tiles
            .map_init(TileWorker::default, |worker, (tile, out)| {
                if stopped() {
                    return 0;
                }
                let pixels = tile * BodyBuffer::PIXELS..(tile + 1) * BodyBuffer::PIXELS;
                worker.pixels.start(&body.light[pixels.clone()], &body.depth[pixels]);
                worker.pixels.fragments = 0;
                worker.draw_hair(chunks, &scene, tile, grid.origin(tile), opacity);
                finish_tile(worker, &grid, tile, settings, table, out);
                worker.pixels.fragments
            })
            .sum();
        check_stop()?;
        let image = self.gather(&grid);
        self.stats.raster_ms = clock.lap();
        self.stats.total_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(image)
    }

    /// Copies the tiles into one image.
    fn gather(&self, grid: &TileGrid) -> Image {
        let (width, height) = (self.settings.width, self.settings.height);
        let mut rgb8 = vec![0; width * height * 3];
        rgb8.par_chunks_mut(width * 3).enumerate().for_each(|(y, row)| {
            for (column, out) in row.chunks_mut(TILE * 3).enumerate() {
                let tile = y / TILE * grid.columns + column;
                let first = (tile * TILE + y % TILE) * TILE * 3;
                out.copy_from_slice(&self.tiles[first..first + out.len()]);
            }
        });
        Image { width, height, rgb8 }
    }
}

/// Composites a tile over the backdrop and encodes its pixels.
fn finish_tile(
    worker: &mut TileWorker,
    grid: &TileGrid,
    tile: usize,
    settings: &Settings,
    table: &SrgbTable,
    out: &mut [u8],
) {
    let origin = grid.origin(tile);
    let (x0, y0) = (origin.x as usize, origin.y as usize);
    let scale = 2.0 / settings.width.max(settings.height) as f32;
    let (cx, cy) = (0.5 * settings.width as f32, 0.5 * settings.height as f32);
    let pixels = worker.pixels.finish();
    for (at, (pixel, out)) in pixels.iter().zip(out.chunks_exact_mut(3)).enumerate() {
        let (x, y) = (x0 + at % TILE, y0 + at / TILE);
        let (px, py) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
        let mut light = pixel.truncate();
        if pixel.w > 0.0 {
            light += settings.backdrop.at(px * scale, py / cy) * pixel.w;
        }
        let lens = settings.backdrop.lens(px / cx, py / cy) * settings.exposure;
        out.copy_from_slice(&table.encode(light * lens, x, y));
    }
}

/// A clock for the times of stages.
struct Lap(Instant);

impl Lap {
    /// Milliseconds since the last reading.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let passed = (now - self.0).as_secs_f64() * 1e3;
        self.0 = now;
        passed
    }
}
