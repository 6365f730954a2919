//! Converts strands to strokes: smooth curves, projected, and listed by tile.
//!
//! Strands are divided into chunks of about equal size; each chunk is processed by one thread and keeps its own points
//! and lists, so no result depends on the scheduling of threads.

use std::ops::Range;

use glam::Vec3;

use super::lit::{HairScene, PointLights};
use super::order::StrandRef;
use super::shade::StrandJitter;
use crate::HairView;
use crate::camera::View;
use crate::hash::hash;
use crate::tiles::{BodyBuffer, TILE, TileGrid};

/// Points per chunk (about).
const CHUNK_POINTS: usize = 1 << 14;
/// Maximum distance between a curve and its strokes (pixels).
const FLATNESS: f32 = 0.25;
/// Maximum length of a stroke (pixels): longer ones sort badly by depth and enlarge the lists of tiles.
const LONGEST: f32 = 28.0;
/// Maximum number of strokes for one segment.
const MAX_STROKES: f32 = 64.0;

/// A stroke starts at this point.
const HAS_NEXT: u32 = 1;
/// A stroke ends at this point.
const HAS_PREVIOUS: u32 = 2;

/// A point on the screen; two neighbours are the ends of a stroke.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StrokePoint {
    /// Pixel coordinates.
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Depth (m).
    pub(crate) z: f32,
    /// Half the fibre's width (pixels).
    pub(crate) half_width: f32,
    /// Whether strokes start and end here (two low bits), and a number to break ties in depth.
    tag: u32,
}

impl StrokePoint {
    pub(crate) fn has_next(&self) -> bool {
        self.tag & HAS_NEXT != 0
    }

    pub(crate) fn has_previous(&self) -> bool {
        self.tag & HAS_PREVIOUS != 0
    }

    /// All bits that determine the drawing, for an order without ties.
    pub(crate) fn bits(&self) -> [u32; 5] {
        let [x, y, z, half_width] = [self.x, self.y, self.z, self.half_width].map(f32::to_bits);
        [self.tag, x, y, half_width, z]
    }

    #[cfg(test)]
    pub(crate) fn plain(
        x: f32,
        y: f32,
        half_width: f32,
        has_previous: bool,
        has_next: bool,
    ) -> Self {
        let tag = u32::from(has_next) * HAS_NEXT + u32::from(has_previous) * HAS_PREVIOUS;
        Self { x, y, z: 1.0, half_width, tag }
    }
}

/// A stroke in a tile's list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Depth of the stroke's middle (m).
    pub(crate) depth: f32,
    /// Index of the stroke's first point in the chunk.
    pub(crate) point: u32,
}

/// Cuts all hair into chunks of about the same number of points: ranges of the order.
pub(crate) fn plan_chunks(
    hair: &[HairView<'_>],
    order: &[StrandRef],
    plans: &mut Vec<Range<usize>>,
) {
    plans.clear();
    let (mut start, mut points) = (0, 0);
    for (i, at) in order.iter().enumerate() {
        points += hair[at.view as usize].strands.points_of(at.strand as usize).len();
        if points >= CHUNK_POINTS || i + 1 == order.len() {
            plans.push(start..i + 1);
            (start, points) = (i + 1, 0);
        }
    }
}

/// The strokes of one chunk. Keeps its memory from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct StrokeChunk {
    pub(crate) points: Vec<StrokePoint>,
    pub(crate) lights: PointLights,
    entries: Vec<Entry>,
    first_entry: Vec<u32>,
    slopes: Vec<Vec3>,
    screen: Vec<Vec3>,
}

impl StrokeChunk {
    /// The strokes that may overlap a tile.
    pub(crate) fn entries_of(&self, tile: usize) -> &[Entry] {
        match self.first_entry.get(tile..tile + 2) {
            Some(&[from, to]) => &self.entries[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Both ends of the stroke that starts at a point.
    pub(crate) fn ends(&self, point: u32) -> [&StrokePoint; 2] {
        let first = point as usize;
        [&self.points[first], &self.points[first + 1]]
    }

    /// Number of strokes.
    pub(crate) fn stroke_count(&self) -> usize {
        self.points.iter().filter(|p| p.has_next()).count()
    }

    /// Projects these strands and lists their strokes by tile.
    pub(crate) fn build(
        &mut self,
        strands: &[StrandRef],
        scene: &HairScene<'_>,
        view: &View,
        body: &BodyBuffer,
        grid: &TileGrid,
    ) {
        self.points.clear();
        self.lights.clear();
        for &at in strands {
            self.add_strand(at, scene, view, body);
        }
        self.list_by_tile(grid);
    }

    fn add_strand(&mut self, at: StrandRef, scene: &HairScene<'_>, view: &View, body: &BodyBuffer) {
        let (hair, strand) = (&scene.hair[at.view as usize], at.strand as usize);
        let points = hair.strands.strand(strand);
        let first = hair.strands.points_of(strand).start;
        let seed = hair.seed_id(strand);
        let widening = scene.thinning.widening(seed);
        if points.len() < 2 || widening == 0.0 {
            return;
        }
        self.screen.clear();
        self.screen.extend(points.iter().map(|&p| view.project(p)));
        smooth_slopes(points, &mut self.slopes);

        let jitter = StrandJitter::new(seed, scene.shader.look().color_variation);
        self.lights.push_strand(at, jitter);
        let mut connected = false;
        for i in 0..points.len() - 1 {
            let Some(piece) =
                self.visible_piece(i, points, &hair.radius[first..], widening, view, body)
            else {
                connected = false;
                continue;
            };
            let ends_early = piece.to < 1.0;
            let from_step = if connected && piece.from == 0.0 { 1 } else { 0 };
            for k in from_step..=piece.strokes {
                let t = piece.from + (piece.to - piece.from) * k as f32 / piece.strokes as f32;
                let on_screen = if t == 0.0 {
                    self.screen[i]
                } else if t == 1.0 {
                    self.screen[i + 1]
                } else {
                    view.project(hermite(points, |k| self.slopes[k], i, t).0)
                };
                let radius = lerp(hair.radius[first + i], hair.radius[first + i + 1], t);
                let mut tie = seed ^ hash(i as u32 * 64 + k);
                if let Some(color) = hair.color {
                    let [r, g, b] = color[first + i].to_array().map(f32::to_bits);
                    tie ^= hash(r ^ hash(g ^ hash(b)));
                }
                let mut tag = hash(tie) & !(HAS_NEXT | HAS_PREVIOUS);
                if k > 0 {
                    tag |= HAS_PREVIOUS;
                    if let Some(before) = self.points.last_mut() {
                        before.tag |= HAS_NEXT;
                    }
                }
                let half_width = (radius * widening * view.focal / on_screen.z).clamp(0.0, 1e4);
                let (x, y, z) = (on_screen.x, on_screen.y, on_screen.z);
                self.points.push(StrokePoint { x, y, z, half_width, tag });
                self.lights.push_point(i, t);
            }
            connected = !ends_early;
        }
    }

    /// The part of segment `i` that may be visible, and its number of strokes.
    fn visible_piece(
        &self,
        i: usize,
        points: &[Vec3],
        radius: &[f32],
        widening: f32,
        view: &View,
        body: &BodyBuffer,
    ) -> Option<Piece> {
        let (a, b) = (self.screen[i], self.screen[i + 1]);
        let width = radius[i].max(radius[i + 1]) * widening;
        if !(points[i].is_finite() && points[i + 1].is_finite() && width > 0.0) {
            return None;
        }
        // Clip at the near plane.
        let (mut from, mut to) = (0.0, 1.0);
        if a.z < view.near || b.z < view.near {
            if a.z < view.near && b.z < view.near {
                return None;
            }
            let cut = (view.near - a.z) / (b.z - a.z);
            if a.z < view.near { from = cut } else { to = cut }
        }
        let end = |t: f32, own: Vec3| {
            if t == 0.0 || t == 1.0 { own } else { view.project(points[i].lerp(points[i + 1], t)) }
        };
        let (a, b) = (end(from, a), end(to, b));

        // Estimate the distance between curve and chord: an eighth of the change of slope.
        let nearest = a.z.min(b.z).max(view.near);
        let bulge = (self.slopes[i] - self.slopes[i + 1]).length()
            * 0.125
            * points[i].distance(points[i + 1])
            * view.focal
            / nearest;
        let margin = 2.0 + bulge + 1.5 * width * view.focal / nearest;
        let (lo, hi) = (a.min(b) - Vec3::splat(margin), a.max(b) + Vec3::splat(margin));
        let off =
            !(hi.x > 0.0 && hi.y > 0.0 && lo.x < view.width as f32 && lo.y < view.height as f32);
        if off || body.hides(lo, hi, nearest - width) {
            return None;
        }
        let length = (a - b).truncate().length();
        let by_bend = (bulge / FLATNESS).sqrt();
        let strokes = by_bend.max(length / LONGEST).ceil().clamp(1.0, MAX_STROKES) as u32;
        Some(Piece { from, to, strokes })
    }

    /// Counting sort of strokes by the tiles they may overlap.
    fn list_by_tile(&mut self, grid: &TileGrid) {
        let tiles = grid.count();
        self.first_entry.clear();
        self.first_entry.resize(tiles + 1, 0);
        let points = &self.points;
        let strokes = || points.iter().enumerate().filter(|(_, p)| p.has_next());
        for (i, a) in strokes() {
            grid.for_each_tile(a, &points[i + 1], |tile| self.first_entry[tile + 1] += 1);
        }
        for tile in 0..tiles {
            self.first_entry[tile + 1] += self.first_entry[tile];
        }
        let total = self.first_entry[tiles] as usize;
        self.entries.clear();
        self.entries.resize(total, Entry { depth: 0.0, point: 0 });
        for (i, a) in strokes() {
            let b = &points[i + 1];
            let entry = Entry { depth: 0.5 * (a.z + b.z), point: i as u32 };
            grid.for_each_tile(a, b, |tile| {
                self.entries[self.first_entry[tile] as usize] = entry;
                self.first_entry[tile] += 1;
            });
        }
        // Each start has advanced to the start of the next tile: move them back.
        for tile in (1..=tiles).rev() {
            self.first_entry[tile] = self.first_entry[tile - 1];
        }
        self.first_entry[0] = 0;
    }
}

/// A visible part of a segment.
struct Piece {
    from: f32,
    to: f32,
    strokes: u32,
}

fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// Direction and length of the chord after point `i`.
fn chord(points: &[Vec3], i: usize) -> (Vec3, f32) {
    let d = points[i + 1] - points[i];
    let length = d.length();
    if length > 1e-12 && length.is_finite() { (d / length, length) } else { (Vec3::ZERO, 0.0) }
}

/// Derivative per metre between two chords, weighted for uneven spacing.
fn slope_between(before: (Vec3, f32), after: (Vec3, f32)) -> Vec3 {
    if before.1 == 0.0 || after.1 == 0.0 {
        before.0 + after.0
    } else {
        (before.0 * after.1 + after.0 * before.1) / (before.1 + after.1)
    }
}

/// Derivative per metre at point `i`, from its neighbours.
pub(crate) fn slope_at(points: &[Vec3], i: usize) -> Vec3 {
    if i == 0 {
        chord(points, 0).0
    } else if i + 1 == points.len() {
        chord(points, i - 1).0
    } else {
        slope_between(chord(points, i - 1), chord(points, i))
    }
}

/// [`slope_at`] of every point.
fn smooth_slopes(points: &[Vec3], slopes: &mut Vec<Vec3>) {
    slopes.clear();
    let mut before = chord(points, 0);
    slopes.push(before.0);
    for i in 1..points.len() - 1 {
        let after = chord(points, i);
        slopes.push(slope_between(before, after));
        before = after;
    }
    slopes.push(before.0);
}

/// Position and derivative on the cubic between points `i` and `i + 1`.
pub(crate) fn hermite(
    points: &[Vec3],
    slope: impl Fn(usize) -> Vec3,
    i: usize,
    t: f32,
) -> (Vec3, Vec3) {
    if t == 0.0 {
        return (points[i], slope(i));
    }
    if t == 1.0 {
        return (points[i + 1], slope(i + 1));
    }
    let (p, q) = (points[i], points[i + 1]);
    let length = p.distance(q);
    let (m, n) = (slope(i) * length, slope(i + 1) * length);
    let (t2, t3) = (t * t, t * t * t);
    let place = p * (2.0 * t3 - 3.0 * t2 + 1.0)
        + q * (3.0 * t2 - 2.0 * t3)
        + m * (t3 - 2.0 * t2 + t)
        + n * (t3 - t2);
    let slope =
        (q - p) * (6.0 * t - 6.0 * t2) + m * (3.0 * t2 - 4.0 * t + 1.0) + n * (3.0 * t2 - 2.0 * t);
    (place, slope)
}

impl TileGrid {
    /// Calls `visit` with each tile that the stroke's box overlaps.
    fn for_each_tile(&self, a: &StrokePoint, b: &StrokePoint, mut visit: impl FnMut(usize)) {
        let margin = 1.5 * a.half_width.max(b.half_width) + 1.5;
        let span = |p: f32, q: f32, count: usize| {
            let per_tile = 1.0 / TILE as f32;
            let lo = ((p.min(q) - margin) * per_tile).max(0.0) as u32;
            let hi = ((p.max(q) + margin) * per_tile).max(-1.0) + 1.0;
            lo as usize..(hi as u32 as usize).min(count)
        };
        let columns = span(a.x, b.x, self.columns);
        for row in span(a.y, b.y, self.rows) {
            for column in columns.clone() {
                visit(row * self.columns + column);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::order_strands;
    use super::*;

    #[test]
    fn the_cubic_follows_a_circle() {
        let at = |a: f32| Vec3::new(a.cos(), a.sin(), 0.0);
        let points: Vec<Vec3> = (0..9).map(|i| at(i as f32 * 0.3)).collect();
        let mut slopes = Vec::new();
        smooth_slopes(&points, &mut slopes);
        for i in 1..7 {
            for t in [0.25, 0.5, 0.75] {
                let (p, slope) = hermite(&points, |k| slopes[k], i, t);
                assert!((p.length() - 1.0).abs() < 2e-3, "{}", p.length());
                assert!(slope.normalize().dot(p.normalize()).abs() < 2e-2);
            }
        }
    }

    #[test]
    fn chunks_cover_every_strand_once() {
        let mut strands = coif::groom::Strands::new();
        for i in 0..3000 {
            strands.push(&vec![Vec3::ZERO; 1 + i % 40]);
        }
        strands.push(&vec![Vec3::ZERO; 3 * CHUNK_POINTS]);
        strands.push(&[]);
        strands.push(&[Vec3::ZERO]);
        let radius = vec![1.0; strands.point_count()];
        let hair = [HairView::new(&strands, &radius)];
        let (mut order, mut plans) = (Vec::new(), Vec::new());
        order_strands(&hair, &mut order);
        plan_chunks(&hair, &order, &mut plans);
        let mut next = 0;
        for plan in &plans {
            assert_eq!(plan.start, next);
            assert!(plan.end > plan.start);
            next = plan.end;
        }
        assert_eq!(next, order.len());
        assert!(plans.len() > 3);
    }
}
