//! Tubes around the strands of cells: the columns of a fitted hair mesh.
//!
//! Roots are mapped to a plane, which is divided into square cells. The strands of a cell have a
//! mean line, and a tube around it extends on every level as far to every side as they do. Its four edges are
//! the columns of a bundle; columns of neighbouring cells that are close to each other are merged.

use std::collections::BTreeMap;

use glam::{Mat3, Quat, Vec2, Vec3};

use super::{Bundle, HairMesh};
use crate::groom::Strands;
use crate::{Error, Result};

/// Largest distance of columns of neighbouring cells that are merged, in cells.
const SAME: f32 = 0.9;

/// Largest number of strands of the sample.
const MAX_STRANDS: usize = 4000;

/// Sample points of a strand, per layer.
const FINER: usize = 3;

/// Exponent of the distance of levels from the root: more than 1 puts more levels near the scalp, where hair bends
/// most.
const DENSER: f32 = 1.5;

/// Fraction of the points that may be outside of a tube on each of its sides: stray hairs.
const STRAY: f32 = 0.004;

/// Smallest distance of the means of two halves of a cell's strands that counts as a parting, in mean distances of
/// strands from these means. For a uniform distribution it is 3.5.
const TWO_DIRECTIONS: f32 = 4.0;

/// Smallest fraction of a cell's strands in a second direction that gets a tube of its own. Fewer are
/// left out: single hairs would take as many vertices as a lock.
const OTHERS: f32 = 0.25;

/// Smallest width of a tube, as a fraction of a cell: thinner ones are slivers.
const MIN_WIDTH: f32 = 0.15;

/// Smallest width of a tube, and smallest side of a cell (m): the width of a tube around a single strand. Less makes
/// prisms that are much longer than wide, which fold under violent motion.
const THINNEST: f32 = 4e-3;

/// Smallest height of the layer at the root (m): shorter hair has fewer layers.
const MIN_LAYER: f32 = 0.3e-3;

/// Smallest distance of the viewpoint from the roots (m): less would spread roots that are millimetres
/// apart over all directions.
const MIN_REACH: f32 = 5e-2;

/// Variance of the roots around a corner, in cells squared, below which they are few or collinear and do not determine
/// the slope of the scalp; roots on all sides have an eighth.
const IN_A_ROW: f32 = 0.02;

/// Margin of a tube around its strands (m).
const MARGIN: f32 = 1e-3;

/// A sample of the strands, with their roots mapped to a plane.
pub(super) struct Sample {
    /// Positions of the roots on the plane (radians).
    at: Vec<Vec2>,
    /// Map between the scalp and the plane.
    view: View,
    /// Points at the same fractions of the length, `layers + 1` each.
    lines: Vec<Vec<Vec3>>,
    /// The same with [`FINER`] times as many segments.
    fine: Vec<Vec<Vec3>>,
    /// Layers of a tube.
    layers: usize,
}

/// The strands and the root polygon of a bundle.
#[derive(Clone)]
pub(super) struct Plan {
    /// Its strands, as indices in the sample.
    strands: Vec<usize>,
    /// The corners of its cell on the scalp (m).
    ground: [Vec3; 4],
}

/// Form of a tube that replaces a folded one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Simpler {
    /// A tube around a line after this many smoothing iterations.
    Smooth(usize),
    /// A straight box, which is never folded.
    Box,
}

impl Sample {
    /// Model: the roots are seen from a viewpoint behind them; the angle from the middle of all directions and
    /// the direction around it are polar coordinates, so that nearly a whole sphere can be mapped.
    pub(super) fn new(strands: &Strands, layers: usize) -> Self {
        let stride = strands.strand_count().div_ceil(MAX_STRANDS).max(1);
        let chosen: Vec<usize> = (0..strands.strand_count()).step_by(stride).collect();
        let mut lengths: Vec<f32> = chosen.iter().map(|&s| length(strands.strand(s))).collect();
        lengths.sort_unstable_by(f32::total_cmp);
        let layers = layers.min(layers_for(lengths[lengths.len() / 2]));
        let fine: Vec<Vec<Vec3>> =
            chosen.iter().map(|&s| at_fractions(strands.strand(s), FINER * layers)).collect();
        let lines: Vec<Vec<Vec3>> =
            fine.iter().map(|line| line.iter().copied().step_by(FINER).collect()).collect();
        let count = lines.len() as f32;
        let mean = lines.iter().map(|l| l[0]).sum::<Vec3>() / count;
        let reach = lines.iter().map(|l| l[0].distance(mean)).fold(MIN_REACH, f32::max);
        // Move the viewpoint against the mean direction of growth: roots of hair that grows in one direction are all on
        // one side of it.
        let direction =
            lines.iter().map(|l| (l[1] - l[0]).normalize_or_zero()).sum::<Vec3>() / count;
        let centre = mean - direction * (direction.length() * 1.5 * reach);
        let axis = lines
            .iter()
            .map(|l| (l[0] - centre).normalize_or_zero())
            .sum::<Vec3>()
            .normalize_or(Vec3::Y);
        let radius = lines.iter().map(|l| l[0].distance(centre)).sum::<f32>() / count;
        let turn = Quat::from_rotation_arc(axis, Vec3::Y);
        let view = View { centre, turn, radius: radius.max(MIN_REACH) };
        let at = lines.iter().map(|l| view.place_of(l[0])).collect();
        Self { at, view, lines, fine, layers }
    }

    /// Square cells that contain roots, about `wanted` of them. Few strands have a cell each.
    pub(super) fn cells(&self, wanted: usize) -> Cells {
        let count = |side: f32| {
            let mut cells: BTreeMap<[i32; 2], Vec<usize>> = BTreeMap::new();
            for (i, p) in self.at.iter().enumerate() {
                let cell = (*p / side).floor();
                cells.entry([cell.x as i32, cell.y as i32]).or_default().push(i);
            }
            cells
        };
        let (mut small, mut large) = ((THINNEST / self.view.radius).clamp(1e-3, 1.0), 8.0f32);
        for _ in 0..24 {
            let side = (small * large).sqrt();
            if count(side).len() > wanted { small = side } else { large = side }
        }
        Cells { side: large, roots: count(large) }
    }

    /// A mesh with a bundle per cell, or two where its strands have two directions, and the plans of its bundles.
    pub(super) fn mesh(&self, cells: &Cells) -> Result<(HairMesh, Vec<Plan>)> {
        // Build a tube around the strands of every cell.
        const CORNERS: [[i32; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];
        let size = self.cell_size(cells);
        let (mut plans, mut fitted) = (Vec::new(), Vec::new());
        for (&cell, roots) in &cells.roots {
            let corners = CORNERS.map(|[dx, dy]| [cell[0] + dx, cell[1] + dy]);
            let mut places = corners.map(|c| Vec2::new(c[0] as f32, c[1] as f32) * cells.side);
            // Centre a cell without neighbours on its roots.
            if cells.is_alone(cell) {
                let middle = roots.iter().map(|&s| self.at[s]).sum::<Vec2>() / roots.len() as f32;
                let displacement = middle - 0.5 * (places[0] + places[2]);
                places = places.map(|p| p + displacement);
            }
            let ground = places.map(|place| self.root_at(place, cells.side));
            for (displacement, strands) in self.by_direction(roots, size).into_iter().enumerate() {
                let plan = Plan { strands, ground };
                let tube = self.tube(&plan, size);
                fitted.extend(
                    corners.into_iter().zip(tube).map(|(c, line)| (c, line, displacement == 0)),
                );
                plans.push(plan);
            }
        }
        // Merge columns on the same corner that are close to each other. Those of a cell's second tube
        // stay separate: two bundles cannot be on the same side of an edge.
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut on_corner: BTreeMap<[i32; 2], Vec<usize>> = BTreeMap::new();
        let mut group_of = vec![0u32; fitted.len()];
        for (i, (corner, line, shared)) in fitted.iter().enumerate() {
            let near = |g: &usize| {
                let other = &fitted[groups[*g][0]].1;
                let apart = line.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
                apart < SAME * size
            };
            let known = on_corner.entry(*corner).or_default();
            let same = known.iter().copied().find(near).filter(|_| *shared);
            let group = same.unwrap_or_else(|| {
                groups.push(Vec::new());
                if *shared {
                    known.push(groups.len() - 1);
                }
                groups.len() - 1
            });
            groups[group].push(i);
            group_of[i] = group as u32;
        }
        let mut columns = Strands::new();
        for members in &groups {
            let weight = 1.0 / members.len() as f32;
            let line: Vec<Vec3> = (0..=self.layers)
                .map(|k| members.iter().map(|&i| fitted[i].1[k] * weight).sum())
                .collect();
            columns.push(&line);
        }
        let layers = self.layers as u32;
        let bundles = group_of.chunks_exact(4).filter_map(|c| Bundle::over(c, layers)).collect();
        let mut mesh = HairMesh { columns, bundles, seams: Vec::new(), roots: Vec::new() };
        if !mesh.positions().iter().all(|p| p.is_finite()) {
            return Err(Error::HairMesh {
                element: "hair mesh".into(),
                problem: "cannot be fitted: the strands are too far from each other; expected all within \
                          some metres"
                    .into(),
            });
        }
        mesh.own_columns();
        Ok((mesh, plans))
    }

    /// The four columns of a plan, around the mean of its strands.
    fn tube(&self, plan: &Plan, size: f32) -> [Vec<Vec3>; 4] {
        self.around(plan, &self.mean(&plan.strands, &self.lines), size)
    }

    /// The four columns of a plan in a simpler form, with fewer layers if its strands are short.
    pub(super) fn simpler_tube(&self, plan: &Plan, form: Simpler, size: f32) -> [Vec<Vec3>; 4] {
        let mut line = self.mean(&plan.strands, &self.fine);
        let Simpler::Smooth(times) = form else { return self.straight_box(plan, &line) };
        for _ in 0..times {
            let before = line.clone();
            for (p, w) in line[1..].iter_mut().zip(before.windows(3)) {
                *p = 0.25 * (w[0] + w[2]) + 0.5 * w[1];
            }
        }
        let layers = self.layers.min(layers_for(length(&line)));
        self.around(plan, &at_fractions(&line, layers), size)
    }

    /// A straight box around the points of a plan's strands, along the direction from the mean root to the farthest mean
    /// point.
    fn straight_box(&self, plan: &Plan, mean: &[Vec3]) -> [Vec<Vec3>; 4] {
        let root = mean[0];
        let far = |a: &&Vec3, b: &&Vec3| {
            f32::total_cmp(&a.distance_squared(root), &b.distance_squared(root))
        };
        let farthest = mean.iter().max_by(far).copied().unwrap_or(root);
        let along = (farthest - root).normalize_or(self.view.outward(root));
        let (u, v) = along.any_orthonormal_pair();
        let mut values = [u, v, along].map(|_| Vec::new());
        for p in plan.strands.iter().flat_map(|&s| &self.fine[s]) {
            for (values, axis) in values.iter_mut().zip([u, v, along]) {
                values.push((*p - root).dot(axis));
            }
        }
        let [across, over, ends] = values.map(|mut v| range(&mut v, STRAY, THINNEST));
        let layers = self.layers.min(((ends[1] - ends[0]) / MIN_LAYER) as usize).max(1);
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        corners.map(|[i, j]| {
            let side = root + u * across[i] + v * over[j];
            let fraction = |k: usize| k as f32 / layers as f32;
            (0..=layers)
                .map(|k| side + along * (ends[0] + (ends[1] - ends[0]) * fraction(k)))
                .collect()
        })
    }

    /// The edges of a tube around strands, over the corners of their cell.
    ///
    /// Model: the axis of the tube is given, for instance the mean of the strands. Its sections have the directions of the
    /// sides of the cell, rotated with the axis: from the plane of the scalp at the root to perpendicular to the axis at
    /// the distance of a cell. Each section extends as far as all but a few of the points nearest to it, and near
    /// the root about as far as the cell, so that no tube starts as a funnel.
    fn around(&self, plan: &Plan, axis: &[Vec3], size: f32) -> [Vec<Vec3>; 4] {
        let (strands, ground, last) = (&plan.strands, plan.ground, axis.len() - 1);
        // Find the directions and the smallest widths of the sections.
        let x = (ground[1] + ground[2] - ground[0] - ground[3]).normalize_or(Vec3::X);
        let y = ground[2] + ground[3] - ground[0] - ground[1];
        let up = x.cross(y).normalize_or(Vec3::Y);
        let y = up.cross(x);
        let tangent = |k: usize| {
            let direction = axis[(k + 1).min(last)] - axis[k.saturating_sub(1)];
            direction.normalize_or(up)
        };
        let mut turn = Quat::from_rotation_arc(up, tangent(0));
        let wide =
            0.5 * (ground[0].distance(ground[2]) + ground[1].distance(ground[3])) / 2f32.sqrt();
        let thin = THINNEST.max(MIN_WIDTH * size);
        let mut widths = Vec::with_capacity(axis.len());
        let (mut passed, mut sections) = (0.0, Vec::with_capacity(axis.len()));
        for k in 0..=last {
            if k > 0 {
                turn = Quat::from_rotation_arc(tangent(k - 1), tangent(k)) * turn;
                passed += axis[k].distance(axis[k - 1]);
            }
            let away = (passed / size).min(1.0);
            let own = Quat::IDENTITY.slerp(turn.normalize(), away);
            sections.push([own * x, own * y]);
            widths.push(thin.max(wide * (1.0 - away)));
        }
        // Collect the offsets of points from the axis, per nearest section.
        let mut reach: Vec<[Vec<f32>; 2]> = vec![Default::default(); axis.len()];
        let mut ends: Vec<f32> = vec![0.0];
        for &s in strands {
            for (i, &p) in self.fine[s].iter().enumerate() {
                let about = last as f32 * i as f32 / (self.fine[s].len() - 1) as f32;
                let (k, t) = nearest_on(axis, about, p);
                let away = p - axis[k].lerp(axis[k + 1], t);
                for (level, near) in [(k, t < 0.7), (k + 1, t > 0.3)] {
                    if near {
                        let [u, v] = sections[level];
                        reach[level][0].push(away.dot(u));
                        reach[level][1].push(away.dot(v));
                    }
                }
            }
            ends.push((self.fine[s][self.fine[s].len() - 1] - axis[last]).dot(tangent(last)));
        }
        let mut lengths: Vec<[f32; 2]> = Vec::new();
        for (level, &min_width) in reach.iter_mut().zip(&widths) {
            for values in level {
                lengths.push(range(values, STRAY, min_width));
            }
        }
        // Place the corners of the sections, and move the last section beyond the tips.
        let longer = range(&mut ends, STRAY, 0.0)[1] + MARGIN;
        let mut columns = ground.map(|root| vec![root]);
        for k in 1..=last {
            let [u, v] = sections[k];
            let middle = if k == last { axis[k] + tangent(k) * longer } else { axis[k] };
            let ([left, right], [near, far]) = (lengths[2 * k], lengths[2 * k + 1]);
            let corners = [[left, near], [right, near], [right, far], [left, far]];
            for (column, [a, b]) in columns.iter_mut().zip(corners) {
                column.push(middle + u * a + v * b);
            }
        }
        columns
    }

    /// Splits strands that have two directions into the majority and the others, which are left out if they are few;
    /// otherwise returns all of them as one group.
    ///
    /// Model: k-means with two means, on the offsets of the middle and the tip of each strand from its root.
    fn by_direction(&self, strands: &[usize], size: f32) -> Vec<Vec<usize>> {
        let directions = |s: usize| {
            let line = &self.lines[s];
            [line[line.len() / 2] - line[0], line[line.len() - 1] - line[0]]
        };
        let apart = |a: [Vec3; 2], b: [Vec3; 2]| {
            (a[0].distance_squared(b[0]) + a[1].distance_squared(b[1])).sqrt()
        };
        let mean = |of: &[usize]| {
            let weight = 1.0 / of.len().max(1) as f32;
            [0, 1].map(|k| of.iter().map(|&s| directions(s)[k]).sum::<Vec3>() * weight)
        };
        let farthest = |from: [Vec3; 2]| {
            let far = strands.iter().max_by(|&&a, &&b| {
                f32::total_cmp(&apart(directions(a), from), &apart(directions(b), from))
            });
            far.map_or(from, |&s| directions(s))
        };
        let first = farthest(mean(strands));
        let mut means = [first, farthest(first)];
        let mut halves = [Vec::new(), Vec::new()];
        for _ in 0..8 {
            halves = [Vec::new(), Vec::new()];
            for &s in strands {
                let far = means.map(|m| apart(directions(s), m));
                halves[usize::from(far[1] < far[0])].push(s);
            }
            means = [mean(&halves[0]), mean(&halves[1])];
        }
        let squares = |k: usize| -> f32 {
            halves[k].iter().map(|&s| apart(directions(s), means[k]).powi(2)).sum()
        };
        let within: f32 = squares(0) + squares(1);
        let within = (within / strands.len().max(1) as f32).sqrt();
        let gap = apart(means[0], means[1]);
        let parted = gap > TWO_DIRECTIONS * within && gap > size;
        if !parted {
            return vec![strands.to_vec()];
        }
        halves.sort_by_key(|half| std::cmp::Reverse(half.len()));
        let [majority, others] = halves;
        let left_out = (others.len() as f32) < OTHERS * strands.len() as f32;
        if left_out { vec![majority] } else { vec![majority, others] }
    }

    /// The mean of some of these lines.
    fn mean(&self, strands: &[usize], lines: &[Vec<Vec3>]) -> Vec<Vec3> {
        let weight = 1.0 / strands.len() as f32;
        (0..lines[0].len()).map(|k| strands.iter().map(|&s| lines[s][k] * weight).sum()).collect()
    }

    /// Approximate width of a cell at the roots (m).
    pub(super) fn cell_size(&self, cells: &Cells) -> f32 {
        let mut sum = (0.0f64, 0.0f64);
        for roots in cells.roots.values() {
            let middle = roots.iter().map(|&s| self.lines[s][0]).sum::<Vec3>() / roots.len() as f32;
            for &s in roots {
                sum.0 += f64::from(self.lines[s][0].distance_squared(middle));
                sum.1 += 1.0;
            }
        }
        // The mean squared distance from the middle of a square is a sixth of its squared side.
        ((6.0 * sum.0 / sum.1.max(1.0)).sqrt() as f32).max(THINNEST)
    }

    /// The position of the scalp (m) at a place of the plane.
    ///
    /// Model: moving least squares: an affine function of the place is fitted to the roots, with larger weights for near
    /// ones. Where they are few or collinear, the mean sphere of the view gives the slope.
    /// Symbols: w weight of a strand, m the 3x3 matrix of moments, c its coefficient.
    fn root_at(&self, place: Vec2, side: f32) -> Vec3 {
        let mut weights = Vec::with_capacity(self.lines.len());
        let mut m = Mat3::ZERO;
        for (at, line) in self.at.iter().zip(&self.lines) {
            let near = (*at - place) / side;
            if near.length_squared() < 9.0 {
                let w = (-4.0 * near.length_squared()).exp() + 1e-6;
                let v = Vec3::new(1.0, near.x, near.y);
                m += Mat3::from_cols(v * (w * v.x), v * (w * v.y), v * (w * v.z));
                weights.push((line[0], w, v));
            }
        }
        // Find the smallest eigenvalue of the covariance of the roots (cells squared): zero where they are collinear.
        let n = m.x_axis.x.max(f32::MIN_POSITIVE);
        let mean = Vec2::new(m.x_axis.y, m.x_axis.z) / n;
        let (xx, yy) = (m.y_axis.y / n - mean.x * mean.x, m.z_axis.z / n - mean.y * mean.y);
        let xy = m.y_axis.z / n - mean.x * mean.y;
        let min_spread = 0.5 * (xx + yy) - (0.25 * (xx - yy) * (xx - yy) + xy * xy).sqrt();
        // Use the slope of the sphere where the roots determine none.
        let mut slope = [Vec3::ZERO; 2];
        if min_spread < IN_A_ROW {
            slope = [Vec2::X, Vec2::Y].map(|d| {
                0.5 * (self.view.on_sphere(place + d * side)
                    - self.view.on_sphere(place - d * side))
            });
        }
        let left = |root: Vec3, v: Vec3| root - slope[0] * v.y - slope[1] * v.z;
        // Fit the remainder with a regularised slope.
        let ridge = 8e-3 * m.x_axis.x + 1e-12;
        let solve = (m + Mat3::from_diagonal(Vec3::new(1e-9, ridge, ridge))).inverse().x_axis;
        weights.iter().map(|(root, w, v)| left(*root, *v) * (w * v.dot(solve))).sum()
    }
}

/// Azimuthal equidistant map around a viewpoint below the scalp: polar coordinates are the angle from the mean direction
/// of the roots and the azimuth around it.
struct View {
    centre: Vec3,
    /// Rotates the mean direction of the roots to +y.
    turn: Quat,
    /// Mean distance of the roots from the viewpoint (m).
    radius: f32,
}

impl View {
    /// The place of a root on the plane (radians).
    fn place_of(&self, root: Vec3) -> Vec2 {
        let d = self.turn * self.outward(root);
        // Map +x to the right and -z up, seen from outside: orientation is kept.
        Vec2::new(d.x, -d.z).normalize_or_zero() * d.y.clamp(-1.0, 1.0).acos()
    }

    /// The point of the mean sphere at a place (m).
    fn on_sphere(&self, place: Vec2) -> Vec3 {
        let (sin, cos) = place.length().sin_cos();
        let flat = place.normalize_or_zero() * sin;
        self.centre + self.turn.inverse() * Vec3::new(flat.x, cos, -flat.y) * self.radius
    }

    /// Direction away from the viewpoint.
    fn outward(&self, p: Vec3) -> Vec3 {
        (p - self.centre).normalize_or(self.turn.inverse() * Vec3::Y)
    }
}

/// Square cells on the plane.
pub(super) struct Cells {
    /// Side of a cell (radians).
    side: f32,
    /// Strands by the cell of their root.
    roots: BTreeMap<[i32; 2], Vec<usize>>,
}

impl Cells {
    /// Whether no neighbour of this cell contains roots.
    fn is_alone(&self, [x, y]: [i32; 2]) -> bool {
        let beside = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| [x + dx, y + dy]));
        beside.filter(|cell| self.roots.contains_key(cell)).count() == 1
    }
}

/// The segment and the fraction of it that are nearest to a point, among the segments within two of `about`.
fn nearest_on(line: &[Vec3], about: f32, p: Vec3) -> (usize, f32) {
    let last = line.len() - 2;
    let from = (about.floor() as usize).saturating_sub(2).min(last);
    let mut best = (f32::INFINITY, 0, 0.0);
    for k in from..=(from + 4).min(last) {
        let edge = line[k + 1] - line[k];
        let t = ((p - line[k]).dot(edge) / edge.length_squared().max(1e-12)).clamp(0.0, 1.0);
        let distance = (line[k] + edge * t).distance_squared(p);
        if distance < best.0 {
            best = (distance, k, t);
        }
    }
    (best.1, best.2)
}

/// The range of values without a fraction of them at either end, at least as wide as `min_width`.
fn range(values: &mut [f32], fraction: f32, min_width: f32) -> [f32; 2] {
    values.sort_unstable_by(f32::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return [-0.5 * min_width, 0.5 * min_width];
    };
    let left_out = (fraction * last as f32) as usize;
    let (low, high) = (values[left_out] - MARGIN, values[last - left_out] + MARGIN);
    let more = 0.5 * (min_width - (high - low)).max(0.0);
    [low - more, high + more]
}

/// Length of a line (m).
fn length(line: &[Vec3]) -> f32 {
    line.windows(2).map(|w| w[0].distance(w[1])).sum()
}

/// Largest number of layers of hair of some length (m) for which the first layer is at least [`MIN_LAYER`] high.
fn layers_for(length: f32) -> usize {
    ((length / MIN_LAYER).powf(1.0 / DENSER) as usize).max(1)
}

/// Points of a line at increasing distances: `count` segments from its root to its tip.
fn at_fractions(line: &[Vec3], count: usize) -> Vec<Vec3> {
    let total = length(line);
    let (mut segment, mut passed) = (0, 0.0);
    (0..=count)
        .map(|k| {
            let target = total * (k as f32 / count as f32).powf(DENSER);
            loop {
                let length = line[segment].distance(line[segment + 1]);
                if passed + length >= target || segment + 2 >= line.len() {
                    let t = if length > 0.0 { ((target - passed) / length).min(1.0) } else { 0.0 };
                    return line[segment].lerp(line[segment + 1], t);
                }
                passed += length;
                segment += 1;
            }
        })
        .collect()
}
