//! Coverage of pixels by fibres, and the compositing of these fragments in one tile.
//!
//! A thin fibre is rasterised column by column along its longer axis: the coverage of a column is the length of fibre
//! in it times a profile across, the fibre's width convolved with a tent of one pixel. The tents of neighbouring pixels
//! sum to one everywhere, so the covered area is exact at every sub-pixel position, and moving hair does not flicker. A
//! wide fibre is rasterised pixel by pixel, cut at its joints by the bisecting planes.

use glam::{Vec2, Vec3, Vec4};

use super::strokes::StrokePoint;
use crate::tiles::TILE;

/// Transmittance below which a pixel is finished; the rest gets the mean colour of the covering fibres.
const OPAQUE: f32 = 1.0 / 40.0;
/// Half width (pixels) from which a fibre is drawn as a ribbon with mitred joints. A thinner one covers at most four
/// pixels of a column, even on a diagonal.
const RIBBON: f32 = 0.7;
/// Side of a block (pixels), the granularity at which hidden strokes are skipped.
const BLOCK: usize = 8;
const BLOCKS: usize = TILE / BLOCK;
/// Indices into a tile are masked, which saves a bounds check per fragment.
const MASK: usize = TILE * TILE - 1;
/// Opacity below which the parts of a cut fragment are added linearly.
const FAINT: f32 = 0.08;

/// Integral of a tent of radius 1 from minus infinity, less one half.
fn tent_integral(t: f32) -> f32 {
    let t = t.clamp(-1.0, 1.0);
    t - 0.5 * t * t.abs()
}

/// [`profile`] for four pixels in a row.
#[inline(always)]
fn profile4(d: Vec4, half_width: f32) -> Vec4 {
    let clip = |t: Vec4| t.max(Vec4::NEG_ONE).min(Vec4::ONE);
    let (a, b) = (clip(d + half_width), clip(d - half_width));
    (a - a * a.abs() * 0.5) - (b - b * b.abs() * 0.5)
}

/// Coverage of a pixel at distance `d` from the axis of a fibre of this half width.
fn profile(d: f32, half_width: f32) -> f32 {
    tent_integral(d + half_width) - tent_integral(d - half_width)
}

/// Opacity of a part of a fragment that is cut in two, such that both parts composited give the whole.
fn cut(alpha: f32, fraction: f32) -> f32 {
    if alpha < FAINT {
        alpha * fraction
    } else if alpha > 0.9999 {
        // Even a small part of an opaque fibre would be opaque: limit it to just below.
        1.0 - (1e-4f32).powf(fraction)
    } else {
        1.0 - (1.0 - alpha).powf(fraction)
    }
}

/// The contribution of a stroke to one pixel.
#[derive(Debug, Clone, Copy, Default)]
struct Fragment {
    at: u32,
    alpha: f32,
    /// Fraction of the stroke before the fragment.
    t: f32,
    /// Brightness relative to the mean across the fibre.
    round: f32,
}

/// The pixels of one tile while hair is drawn into it, front to back.
#[derive(Debug)]
pub(crate) struct TilePixels {
    /// Accumulated light, and the remaining transmittance.
    pixels: Box<[Vec4; TILE * TILE]>,
    /// Depth of the body (m); infinite where there is none, or after it has been drawn.
    body_depth: Box<[f32; TILE * TILE]>,
    /// Light of the body times its coverage, and the coverage.
    body: Box<[Vec4; TILE * TILE]>,
    /// Number of unfinished pixels, in total and per block.
    open: usize,
    open_in_block: [u8; BLOCKS * BLOCKS],
    /// A bit for each unfinished pixel, by row and by column.
    open_rows: [u32; TILE],
    open_columns: [u32; TILE],
    /// Visible fragments of the current stroke.
    queued: Box<[Fragment; TILE * TILE]>,
    queued_count: usize,
    /// Number of fragments drawn.
    pub(crate) fragments: u64,
}

impl Default for TilePixels {
    fn default() -> Self {
        Self {
            pixels: Box::new([Vec4::W; TILE * TILE]),
            body_depth: Box::new([f32::INFINITY; TILE * TILE]),
            body: Box::new([Vec4::ZERO; TILE * TILE]),
            open: TILE * TILE,
            open_in_block: [(BLOCK * BLOCK) as u8; BLOCKS * BLOCKS],
            open_rows: [u32::MAX; TILE],
            open_columns: [u32::MAX; TILE],
            queued: Box::new([Fragment::default(); TILE * TILE]),
            queued_count: 0,
            fragments: 0,
        }
    }
}

impl TilePixels {
    /// Starts a tile with the body in it.
    pub(crate) fn start(&mut self, body: &[Vec4], body_depth: &[f32]) {
        self.pixels.fill(Vec4::W);
        self.body.copy_from_slice(body);
        self.body_depth.copy_from_slice(body_depth);
        self.open = TILE * TILE;
        self.open_in_block = [(BLOCK * BLOCK) as u8; BLOCKS * BLOCKS];
        self.open_rows = [u32::MAX; TILE];
        self.open_columns = [u32::MAX; TILE];
    }

    /// Whether all pixels are finished.
    pub(crate) fn is_opaque(&self) -> bool {
        self.open == 0
    }

    /// Farthest depth that may still be visible (m).
    pub(crate) fn horizon(&self) -> f32 {
        let mut horizon = 0.0f32;
        for ((pixel, body), &depth) in
            self.pixels.iter().zip(self.body.iter()).zip(self.body_depth.iter())
        {
            if pixel.w > OPAQUE {
                horizon = horizon.max(if body.w >= 1.0 { depth } else { f32::INFINITY });
            }
        }
        horizon
    }

    /// Composites the rest of the body, then returns light and transmittance.
    pub(crate) fn finish(&mut self) -> &[Vec4] {
        for at in 0..self.pixels.len() {
            if self.body_depth[at] < f32::INFINITY {
                self.draw_body(at);
            }
        }
        self.pixels.as_slice()
    }

    fn draw_body(&mut self, at: usize) {
        let through = self.pixels[at].w;
        let body = self.body[at];
        self.pixels[at] += Vec4::new(body.x, body.y, body.z, -body.w) * through;
        self.body_depth[at] = f32::INFINITY;
    }

    /// Queues a fragment if its pixel is unfinished; composites the body first if it is nearer.
    #[inline(always)]
    fn queue(&mut self, at: usize, depth: f32, fragment: Fragment) {
        let at = at & MASK;
        if self.pixels[at].w < OPAQUE {
            return;
        }
        if depth > self.body_depth[at] {
            self.draw_body(at);
            if self.pixels[at].w < OPAQUE {
                self.close(at);
                return;
            }
        }
        self.queued[self.queued_count & MASK] = Fragment { at: at as u32, ..fragment };
        self.queued_count += 1;
    }

    /// Composites the queued fragments behind everything drawn before.
    fn composite(&mut self, [light, end]: [Vec3; 2]) {
        let light = light.extend(-1.0);
        let step = end.extend(-1.0) - light;
        let count = self.queued_count.min(self.queued.len());
        self.fragments += count as u64;
        for i in 0..count {
            let Fragment { at, alpha, t, round } = self.queued[i];
            let at = at as usize & MASK;
            let pixel = self.pixels[at];
            let light = (light + step * t) * Vec4::new(round, round, round, 1.0);
            let after = pixel + light * (alpha * pixel.w);
            self.pixels[at] = after;
            if after.w < OPAQUE {
                self.close(at);
            }
        }
    }

    /// Marks a pixel as finished, and scales its light up for the remaining transmittance.
    fn close(&mut self, at: usize) {
        let pixel = self.pixels[at];
        self.pixels[at] = (pixel.truncate() / (1.0 - pixel.w)).extend(0.0);
        self.body_depth[at] = f32::INFINITY;
        self.open -= 1;
        self.open_rows[at / TILE] &= !(1 << (at % TILE));
        self.open_columns[at % TILE] &= !(1 << (at / TILE));
        self.open_in_block[at / TILE / BLOCK * BLOCKS + at % TILE / BLOCK] -= 1;
    }

    /// Whether all pixels that a stroke between `p` and `q` could cover are finished.
    fn is_hidden(&self, p: Vec2, q: Vec2, reach: f32) -> bool {
        let lo = (p.min(q) - reach).max(Vec2::ZERO) * (1.0 / BLOCK as f32);
        let hi = (p.max(q) + reach).max(Vec2::ZERO) * (1.0 / BLOCK as f32);
        for y in lo.y as usize..=(hi.y as usize).min(BLOCKS - 1) {
            for x in lo.x as usize..=(hi.x as usize).min(BLOCKS - 1) {
                if self.open_in_block[y * BLOCKS + x] > 0 {
                    return false;
                }
            }
        }
        true
    }

    /// Draws a stroke; the points before and after it, if joined, shape its ends. Evaluates the light of both ends only
    /// if any of it is visible.
    pub(crate) fn draw(
        &mut self,
        [a, b]: [&StrokePoint; 2],
        [before, after]: [Option<&StrokePoint>; 2],
        origin: Vec2,
        opacity: f32,
        lights: impl FnOnce() -> [Vec3; 2],
    ) {
        let half_width = a.half_width.max(b.half_width);
        let place = |p: &StrokePoint| Vec2::new(p.x, p.y) - origin;
        let (p, q) = (place(a), place(b));
        if self.is_hidden(p, q, 1.5 * half_width + 1.5) {
            return;
        }
        self.queued_count = 0;
        if half_width < RIBBON {
            self.draw_thread(a, b, p, q, opacity);
        } else {
            self.draw_ribbon(a, b, [before.map(place), after.map(place)], [p, q], opacity);
        }
        if self.queued_count > 0 {
            self.composite(lights());
        }
    }

    fn draw_thread(&mut self, a: &StrokePoint, b: &StrokePoint, pa: Vec2, pb: Vec2, opacity: f32) {
        // Step along the longer axis, in increasing direction.
        let along = pb - pa;
        let steep = along.y.abs() > along.x.abs();
        let forward = if steep { along.y > 0.0 } else { along.x > 0.0 };
        let (p, q, from, to) = if forward { (a, b, pa, pb) } else { (b, a, pb, pa) };
        let (cut_before, cut_after) = if forward {
            (a.has_previous(), b.has_next())
        } else {
            (b.has_next(), a.has_previous())
        };
        let (m0, n0, m1, n1) =
            if steep { (from.y, from.x, to.y, to.x) } else { (from.x, from.y, to.x, to.y) };
        let (major, minor) = if steep { (TILE, 1) } else { (1, TILE) };
        let length = m1 - m0;
        if !(length > 1e-6 && length.is_finite() && (n1 - n0).is_finite()) {
            return;
        }
        let per_length = 1.0 / length;
        let slope = (n1 - n0) * per_length;
        let stretch = (1.0 + slope * slope).sqrt();
        let half_step = q.half_width - p.half_width;

        let first = m0.max(0.0) as i32;
        let last = m1.clamp(-1.0, TILE as f32 - 0.001) as i32;
        if m1 <= 0.0 {
            return;
        }
        for column in first..=last {
            let left = column as f32;
            let (lo, hi) = (m0.max(left), m1.min(left + 1.0));
            let along = 0.5 * (lo + hi) - m0;
            let t = along * per_length;
            let centre = n0 + slope * along;
            let half = (p.half_width + half_step * t) * stretch;
            // The first row whose tent reaches the fibre; whole numbers above -8.
            let row = (centre - half - 0.5 + 8.0).clamp(0.0, 64.0) as i32 - 8;
            if row <= -4 || row >= TILE as i32 {
                continue;
            }
            // Skip columns whose four pixels are finished; pixels outside the tile count as finished.
            let open = if steep { &self.open_rows } else { &self.open_columns };
            let open = u64::from(open[column as usize % TILE]) << 4 >> (row + 4) & 0b1111;
            if open == 0 {
                continue;
            }
            let fraction = hi - lo;
            let offset = row as f32 + 0.5 - centre;
            let d = Vec4::new(offset, offset + 1.0, offset + 2.0, offset + 3.0);
            let mut alphas = profile4(d, half).min(Vec4::ONE) * opacity;
            if fraction < 0.9999 {
                // A column cut by a joint is completed by the next stroke; a true end is not.
                let joined = (m0 <= left || cut_before) && (m1 >= left + 1.0 || cut_after);
                if !joined || alphas.max_element() < FAINT {
                    alphas *= fraction;
                } else {
                    alphas = Vec4::from_array(alphas.to_array().map(|alpha| cut(alpha, fraction)));
                }
            }
            let depth = p.z + (q.z - p.z) * t;
            let t = if forward { t } else { 1.0 - t };
            let at = column as usize * major;
            for (k, alpha) in alphas.to_array().into_iter().enumerate() {
                if alpha > 0.0 && open >> k & 1 != 0 {
                    let row = (row + k as i32) as usize;
                    let fragment = Fragment { at: 0, alpha, t, round: 1.0 };
                    self.queue(at + row * minor, depth, fragment);
                }
            }
        }
    }

    fn draw_ribbon(
        &mut self,
        a: &StrokePoint,
        b: &StrokePoint,
        [before, after]: [Option<Vec2>; 2],
        [p, q]: [Vec2; 2],
        opacity: f32,
    ) {
        let length = p.distance(q);
        if !(length > 1e-5 && length.is_finite()) {
            return;
        }
        let along = (q - p) / length;
        // Cut joints along the bisecting plane.
        let halfway = |other: Option<Vec2>| match other {
            Some(d) => (along + d.normalize_or(along)).normalize_or(along),
            None => along,
        };
        let start_plane = halfway(before.map(|o| p - o));
        let end_plane = halfway(after.map(|o| o - q));

        let reach = a.half_width.max(b.half_width) + 1.0;
        let mitre = reach / start_plane.dot(along).min(end_plane.dot(along)).max(0.5) - reach + 1.0;
        let lo = (p.min(q) - reach - mitre).floor().max(Vec2::ZERO);
        let hi = (p.max(q) + reach + mitre).ceil().min(Vec2::splat(TILE as f32));
        if !(hi.x > lo.x && hi.y > lo.y) {
            return;
        }
        for y in lo.y as usize..hi.y as usize {
            for x in lo.x as usize..hi.x as usize {
                let pixel = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let d = along.perp_dot(pixel - p);
                if d.abs() >= reach {
                    continue;
                }
                let from = (0.5 + (pixel - p).dot(start_plane)).clamp(0.0, 1.0);
                let to = (0.5 + (q - pixel).dot(end_plane)).clamp(0.0, 1.0);
                let fraction = from + to - 1.0;
                if fraction <= 0.0 {
                    continue;
                }
                let t = ((pixel - p).dot(along) / length).clamp(0.0, 1.0);
                let half = a.half_width + (b.half_width - a.half_width) * t;
                let whole = profile(d, half).clamp(0.0, 1.0) * opacity;
                if whole <= 0.0 {
                    continue;
                }
                let joined = (from >= 1.0 || before.is_some()) && (to >= 1.0 || after.is_some());
                let alpha = if fraction > 0.9999 {
                    whole
                } else if joined {
                    cut(whole, fraction)
                } else {
                    whole * fraction
                };
                // A round fibre is brightest in the middle; the mean stays as it is.
                let u = (d / half.max(1e-3)).clamp(-1.0, 1.0);
                let roundness = ((half - RIBBON) * 0.8).clamp(0.0, 1.0);
                let round = 1.0 + roundness * (0.24 - 0.72 * u * u);
                let depth = a.z + (b.z - a.z) * t;
                self.queue(y * TILE + x, depth, Fragment { at: 0, alpha, t, round });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stroke through all points, drawn alone.
    fn drawn(points: &[StrokePoint]) -> Vec<Vec4> {
        let mut tile = TilePixels::default();
        for i in 0..points.len() - 1 {
            let before = i.checked_sub(1).map(|k| &points[k]);
            tile.draw(
                [&points[i], &points[i + 1]],
                [before, points.get(i + 2)],
                Vec2::ZERO,
                1.0,
                || [Vec3::ONE; 2],
            );
        }
        tile.finish().to_vec()
    }

    fn covered(points: &[StrokePoint]) -> f32 {
        drawn(points).iter().map(|p| 1.0 - p.w).sum()
    }

    #[test]
    fn coverage_equals_the_true_area() {
        let mut worst = 0.0f32;
        for width in [0.05f32, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0] {
            for step in 0..24 {
                let angle = std::f32::consts::TAU * step as f32 / 24.0 + 0.013 * step as f32;
                let length = 17.3;
                let along = Vec2::from_angle(angle);
                let start = Vec2::new(16.2, 15.7) - along * (0.5 * length);
                let end = start + along * length;
                let point = |p: Vec2, led, followed| {
                    StrokePoint::plain(p.x, p.y, 0.5 * width, led, followed)
                };
                let line = [point(start, false, true), point(end, true, false)];
                let area = covered(&line);
                let error = (area / (length * width) - 1.0).abs();
                worst = worst.max(error);
                assert!(error < 0.02, "width {width}, angle {angle}: {area} {}", length * width);
            }
        }
        println!("largest relative error of the covered area: {worst:.4}");
    }

    #[test]
    fn joints_neither_double_nor_lose_coverage() {
        for width in [0.1f32, 0.6, 1.4, 2.5, 5.0] {
            for turn in [0.0f32, 0.1, 0.4] {
                // A chain of short strokes along a gentle bend against its true area.
                let mut points = Vec::new();
                let (mut p, mut angle, step, count) = (Vec2::new(4.1, 10.3), 0.2f32, 1.7, 12);
                for i in 0..=count {
                    points.push(StrokePoint::plain(p.x, p.y, 0.5 * width, i > 0, i < count));
                    p += Vec2::from_angle(angle) * step;
                    angle += turn / count as f32;
                }
                let (area, truth) = (covered(&points), step * count as f32 * width);
                assert!((area / truth - 1.0).abs() < 0.025, "{width} {turn}: {area} {truth}");
            }
        }
    }

    #[test]
    fn an_opaque_ribbon_has_no_seams() {
        let mut points = Vec::new();
        for i in 0..=14 {
            let angle = i as f32 * 0.11;
            let p = Vec2::new(2.0, 28.0) + Vec2::new(24.0 * angle.sin(), 24.0 * angle.cos() - 24.0);
            points.push(StrokePoint::plain(p.x, p.y, 2.5, i > 0, i < 14));
        }
        let pixels = drawn(&points);
        for i in 10..130 {
            let angle = i as f32 * 0.011;
            let p = Vec2::new(2.0, 28.0) + Vec2::new(24.0 * angle.sin(), 24.0 * angle.cos() - 24.0);
            let through = pixels[p.y as usize * TILE + p.x as usize].w;
            assert!(through < 0.01, "a hole of {through} at {p}");
        }
    }

    #[test]
    fn the_body_hides_what_lies_behind_it() {
        let mut tile = TilePixels::default();
        let half = vec![Vec4::new(0.25, 0.0, 0.0, 0.5); TILE * TILE];
        tile.start(&half, &vec![0.5; TILE * TILE]);
        let point = |x, led| StrokePoint::plain(x, 16.5, 4.0, led, !led);
        tile.draw([&point(2.0, false), &point(30.0, true)], [None; 2], Vec2::ZERO, 1.0, || {
            [Vec3::ONE; 2]
        });
        let pixel = tile.finish()[16 * TILE + 16];
        assert!((pixel.x - (0.25 + 0.5 * 1.2)).abs() < 0.05, "{pixel}");
        assert!(pixel.w < 0.01);
    }

    #[test]
    fn degenerate_strokes_give_finite_pixels() {
        let mut tile = TilePixels::default();
        let odd = [0.0, -1e30, 1e30, f32::NAN, f32::INFINITY, 31.999];
        for &x in &odd {
            for &y in &odd {
                for half in [0.0, 0.1, 7.0] {
                    let a = StrokePoint::plain(x, y, half, false, true);
                    let b = StrokePoint::plain(y, 3.0, half, true, false);
                    tile.draw([&a, &b], [None; 2], Vec2::ZERO, 1.0, || [Vec3::ONE; 2]);
                    tile.draw([&a, &a], [None; 2], Vec2::ZERO, 1.0, || [Vec3::ONE; 2]);
                }
            }
        }
        assert!(tile.finish().iter().all(|p| p.is_finite()));
    }
}
