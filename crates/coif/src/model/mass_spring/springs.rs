//! Stiffness and rest length of the springs of a strand, from the fibre (`selle2008` 3.2).

use glam::DVec3;

use super::altitude::{CANDIDATES, altitude_lengths, min_altitude};
use super::lever::{altitude_lever_squared, spring_lever_squared};
use super::strand::{Material, Spring, Strand, radius_between};
use crate::groom::Fibre;

/// Largest contribution of a torsion spring to the bending stiffness of curly hair (fraction).
const TORSION_FRACTION: f64 = 0.05;

/// Smallest contribution of the bending spring to the bending stiffness of curly hair (fraction).
const MIN_BEND_FRACTION: f64 = 0.1;

/// Smallest square of the lever that a spring counts with, as a fraction of that in even hair with segments as long as
/// the shorter one at its joint: where a joint is bent, a spring may have no lever at all. In straight hair levers
/// are longer than that at any ratio of the segments.
const MIN_LEVER_SQUARED: f64 = 0.1;

/// Largest half of the angle between two segments (rad) for which the curve around them is estimated.
const MAX_HALF_ANGLE: f64 = 0.6;

/// Inverse of the largest strain of edges under the weight of the strand.
const WEIGHT_STRETCH: f64 = 500.0;

/// Largest stiffness of edges and of other springs in double precision, relative to the smallest mass at
/// their ends over substep and look-ahead of springs: the rounding error is one part in 100,000 of the
/// inertia. At the bound, hair of 100 points sags by less than a micrometre under its weight (by 0.2 mm with an
/// internal friction of a second, the maximum), and its slowest motion decays within a substep:
/// the difference to the stiffness of the fibre is invisible.
const STIFFEST_EDGE: f64 = 1e11;
const STIFFEST_BEND: f64 = 3e9;

impl Strand {
    /// Sets all springs, with zero force in the rest shape.
    ///
    /// Model: in straight hair with equal segments springs have the stiffness `c EI / l^3` with the constants of
    /// [`UnitStiffness`]. The rotational stiffness of a joint is the stiffness of a spring times its squared lever
    /// (`lever.rs`), so that with unequal segments springs have
    /// `c EI / l` times the squared lever in even hair over their own. If one of the segments has no extra particle, the
    /// lever is assumed to be that of even hair with the shortest of the segments. The ratio of the stiffness of edges to
    /// all these is that of even hair. The
    /// bending stiffness of a joint represents half of each adjacent segment; that of the first free
    /// joint represents all of the hair between the pinned end and the middle of the next
    /// segment, that of the last joint all of the last segment.
    /// Symbols: c constant of the spring, EI bending stiffness (N m^2), l mean length of the segments that the spring spans
    /// (m).
    ///
    /// `relative` is the bending stiffness at the points relative to that of the fibre: a joint has that of its point,
    /// springs over two joints the mean, edges the larger one of their ends.
    pub(super) fn attach(
        &mut self,
        points: &[DVec3],
        material: &Material<'_>,
        relative: &[f32],
        heavy: f64,
        pinned_points: usize,
    ) {
        let count = self.position.len();
        // Find the segment from a particle to the next.
        let segment = |row: usize| {
            let before = (0..=row).rev().find_map(|r| self.point[r]);
            (before.unwrap_or(0) as usize).min(points.len() - 2)
        };
        let length = |i: usize| points[i].distance(points[i + 1]);
        let lengths: Vec<f64> = (0..points.len() - 1).map(length).collect();
        let has_extra = |i: usize| self.row_of(i + 1) > self.row_of(i) + 1;
        let extra: Vec<bool> = (0..lengths.len()).map(has_extra).collect();
        let from_root = self.bends_from_root;
        let tributary =
            TributaryLengths { lengths: &lengths, extra: &extra, pinned_points, from_root };
        // Set edge, bending, torsion and altitude springs from each particle.
        let mut springs = vec![[Spring::default(); 3]; count];
        let mut altitude = vec![(0.0, [0.0; CANDIDATES]); count];
        for row in 0..count {
            for s in 1..=3 {
                let end = row + s;
                if end >= count {
                    break;
                }
                let (first, last) = (segment(row), segment(end - 1));
                let inner = &self.point[row + 1..end];
                let is_edge = s == 1 || (s == 2 && inner[0].is_none());
                let radius = radius_between(material, first, last + 1);
                let bending = bending_stiffness(material.fibre, radius)
                    * if first == last {
                        f64::from(relative[first].max(relative[first + 1]))
                    } else {
                        mean(&relative[first + 1..=last])
                    };
                let stiffness = if is_edge {
                    let max_stiffness = stretch_stiffness(material.fibre, radius) / lengths[first];
                    let min_stiffness = WEIGHT_STRETCH * heavy / lengths[first];
                    let wanted = material.unit.edge * bending * tributary.edge(first);
                    wanted.max(min_stiffness).min(max_stiffness)
                } else {
                    let turn = bending * tributary.joint(first, last);
                    // `even` is the squared lever in even hair with segments of length 1.
                    let spanning = |constant: f64, even: f64, lever: f64| {
                        turn * constant * even / lever.max(even * tributary.min_lever(first, last))
                    };
                    let known = first + 1 == last && extra[first] && extra[last];
                    let (unit, even) = (material.unit, material.unit.lever_squared);
                    let lever =
                        |of: &dyn Fn(DVec3) -> f64| if known { of(points[last]) } else { 0.0 };
                    if s == 3 {
                        let four = std::array::from_fn(|i| self.position[row + i]);
                        let outer = if inner[0].is_none() { 3 } else { 2 };
                        let across = lever(&|joint| altitude_lever_squared(four, joint, outer));
                        let across = spanning(unit.altitude, even.altitude, across);
                        altitude[row] = (across, altitude_lengths(four));
                    }
                    let (from, to) = (self.position[row], self.position[end]);
                    let between = lever(&|joint| spring_lever_squared(from, to, joint));
                    if s == 2 {
                        spanning(unit.bend, even.bend, between)
                    } else {
                        spanning(unit.torsion, even.torsion, between)
                    }
                };
                let rest = self.position[row].distance(self.position[end]);
                springs[row][s - 1] = Spring { stiffness, rest };
            }
        }
        self.springs = springs;
        self.altitude = altitude;
        self.attach_curls(material, relative);
    }

    /// Replaces the constants for four consecutive points without extra particles.
    ///
    /// Model: a joint has the bending stiffness `EI / l`, a segment the torsional stiffness `GJ / l`.
    /// Torsion springs also resist bending, so they get only the torsional stiffness that adds a small fraction of the
    /// bending stiffness; altitude springs get the remainder of the torsional, bending springs that of the
    /// bending stiffness. Segments are chords: the hair is longer and lies outside of them, and a force
    /// along the axis of a curl twists it with a longer arm (see [`Chord`]).
    fn attach_curls(&mut self, material: &Material<'_>, relative: &[f32]) {
        let count = self.position.len();
        let x = &self.position;
        let radius = |row: usize| {
            let point = self.point[row].map_or(0, |p| p as usize);
            f64::from(material.radius[point]).max(f64::from(f32::MIN_POSITIVE))
        };
        let is_curl = |row: usize, points: usize| {
            row + points <= count && (row..row + points).all(|r| self.point[r].is_some())
        };
        // Sum the bending stiffness of each joint by torsion and altitude springs (N m).
        let mut carried = vec![0.0; count];
        let mut changes = Vec::new();
        for row in (0..count).filter(|&row| is_curl(row, 4)) {
            let four: [DVec3; 4] = std::array::from_fn(|i| x[row + i]);
            let l = four[1].distance(four[2]);
            let shortest = l.min(four[0].distance(four[1])).min(four[2].distance(four[3]));
            let chord = Chord::between([four[1] - four[0], four[2] - four[1], four[3] - four[2]]);
            let point = self.point[row + 1].map_or(0, |p| p as usize);
            let bending = bending_stiffness(material.fibre, radius(row + 1))
                * mean(&relative[point..=point + 1])
                / (l * chord.longer);
            let ratio =
                2.0 * f64::from(material.fibre.shear_modulus / material.fibre.young_modulus);
            let twisting = ratio * bending * chord.inside * chord.inside;
            let along = (four[2] - four[1]).normalize_or(DVec3::Y);
            let axial = (four[3] - four[0]).normalize_or(DVec3::Y);
            let bends = [1, 2].map(|joint| {
                let axis = (four[joint] - four[joint - 1]).cross(four[joint + 1] - four[joint]);
                (axis.normalize_or_zero(), four[joint])
            });
            // Compute the derivatives of the spring's length by the angles of the two joints and by the twist.
            let torsion_bend = bends.map(|(axis, at)| axial.dot(axis.cross(four[3] - at)));
            let torsion_turn = axial.dot(along.cross(four[3] - four[2]));
            let max_gradient = torsion_bend.iter().fold(1e-9 * l, |m: f64, g| m.max(g.abs()));
            let torsion = TORSION_FRACTION * bending / (max_gradient * max_gradient);
            let torsion = torsion.min(twisting / (torsion_turn * torsion_turn).max(1e-30));
            let left = twisting - torsion * torsion_turn * torsion_turn;
            let mut across = 0.0;
            let mut across_bend = [0.0; 2];
            if let Some(altitude) = min_altitude(four) {
                let turn =
                    altitude.weights[3] * altitude.direction.dot(along.cross(four[3] - four[2]));
                across = left.max(0.0) / (turn * turn).max(0.01 * shortest * shortest);
                across_bend = bends.map(|(axis, at)| {
                    let moved = |i: usize| altitude.weights[i] * axis.cross(four[i] - at);
                    altitude
                        .direction
                        .dot(moved(3) + if at == four[1] { moved(2) } else { DVec3::ZERO })
                });
            }
            for k in 0..2 {
                carried[row + 1 + k] += torsion * torsion_bend[k] * torsion_bend[k]
                    + across * across_bend[k] * across_bend[k];
            }
            changes.push((row, torsion, across));
        }
        for (row, torsion, across) in changes {
            self.springs[row][2].stiffness = torsion;
            self.altitude[row].0 = across;
        }
        for row in (0..count).filter(|&row| is_curl(row, 3)) {
            let [a, b, c]: [DVec3; 3] = std::array::from_fn(|i| self.position[row + i]);
            let (l1, l2) = (a.distance(b), b.distance(c));
            let point = self.point[row + 1].map_or(0, |p| p as usize);
            let bending = bending_stiffness(material.fibre, f64::from(material.radius[point]))
                * f64::from(relative[point])
                / (0.5 * (l1 + l2) * Chord::between([b - a, b - a, c - b]).longer);
            // Compute the derivative of the spring's length by the angle: the area over its length.
            let change = (b - a).cross(c - b).length() / a.distance(c).max(1e-9 * l1);
            let left = (bending - carried[row + 1]).max(MIN_BEND_FRACTION * bending);
            self.springs[row][1].stiffness = left / (change * change).max(1e-4 * l1 * l2);
        }
    }

    /// Bounds all stiffnesses by the precision of arithmetic: see [`STIFFEST_EDGE`]. `ahead` is the substep times the
    /// look-ahead of springs (s^2).
    pub(super) fn bound_stiffness(&mut self, ahead: f64) {
        let count = self.position.len();
        for row in 0..count {
            let lightest = |end: usize| {
                let own = self.mass[row..=end].iter().zip(&self.pinned[row..=end]);
                let free = own.filter(|(_, pinned)| !**pinned).map(|(mass, _)| *mass);
                free.fold(f64::INFINITY, f64::min)
            };
            let bounds: [f64; 3] = std::array::from_fn(|s| {
                let is_edge = s == 0 || (s == 1 && self.point.get(row + 1) == Some(&None));
                let stiffest = if is_edge { STIFFEST_EDGE } else { STIFFEST_BEND };
                stiffest * lightest((row + s + 1).min(count - 1)) / ahead
            });
            for (spring, bound) in self.springs[row].iter_mut().zip(bounds) {
                spring.stiffness = spring.stiffness.min(bound);
            }
            self.altitude[row].0 = self.altitude[row].0.min(bounds[2]);
        }
    }
}

/// Geometry of a segment as chord of an arc.
#[derive(Debug, Clone, Copy)]
struct Chord {
    /// Length of the arc over that of the chord.
    longer: f64,
    /// Distance of the chord's middle from the centre of the arc, over its radius.
    inside: f64,
}

impl Chord {
    /// The middle one of three segments; a neighbour that is equal to it is ignored.
    fn between([before, own, after]: [DVec3; 3]) -> Self {
        let angle = |a: DVec3, b: DVec3| {
            let angle = a.angle_between(b);
            if angle.is_finite() { angle } else { 0.0 }
        };
        let angles = [angle(before, own), angle(own, after)].map(|a| 0.5 * a);
        let count = angles.iter().filter(|a| **a > 0.0).count().max(1) as f64;
        let half = (angles.iter().sum::<f64>() / count).min(MAX_HALF_ANGLE);
        let longer = if half > 1e-6 { half / half.sin() } else { 1.0 };
        Self { longer, inside: half.cos() }
    }
}

/// Tributary lengths: the lengths of hair that joints and edges represent.
struct TributaryLengths<'a> {
    /// Of the segments (m).
    lengths: &'a [f64],
    /// Which of them have an extra particle.
    extra: &'a [bool],
    /// Points that the body carries.
    pinned_points: usize,
    /// Whether hair bends from its root on, not only from the last pinned point.
    from_root: bool,
}

impl TributaryLengths<'_> {
    /// `1 / l` (1/m) for springs over the segments from `first` to `last`.
    ///
    /// Model: a joint represents half of each adjacent segment. The first free joint has the compliance of the hair from
    /// the root to the middle of the next segment for a load at the tip, `(L - l)^2` over the integral of `(L - s)^2`; or
    /// represents half of the next segment if the hair is pinned up to the joint. The last joint represents all of
    /// the last segment.
    /// Symbols: L length of the hair (m), l distance of the joint from the root (m), s arc length (m).
    fn joint(&self, first: usize, last: usize) -> f64 {
        let all = &self.lengths[first..=last];
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let beside = |joint: usize| (self.lengths[joint - 1], self.lengths[joint]);
        let (clamped, end) = (self.pinned_points - 1, self.lengths.len() - 1);
        let multiple = if (first + 1..=last).contains(&clamped) {
            let (before, after) = beside(clamped);
            if self.from_root {
                let whole: f64 = self.lengths.iter().sum();
                let until = before + 0.5 * after;
                let integral = (whole.powi(3) - (whole - until).powi(3)) / 3.0;
                0.5 * (before + after) * (whole - before).powi(2) / integral
            } else {
                (before + after) / after
            }
        } else if (first + 1..=last).contains(&end) {
            let (before, after) = beside(end);
            (before + after) / (before + 2.0 * after)
        } else {
            1.0
        };
        multiple / mean
    }

    /// `1 / l^3` (1/m^3) of an edge: the largest of the springs that act on it, which span an adjacent joint
    /// or the two joints of a segment without extra particle.
    fn edge(&self, segment: usize) -> f64 {
        let count = self.lengths.len();
        let joints = (segment.max(1)..=segment + 1).filter(|&joint| joint < count);
        let about_one = joints.map(|joint| (joint - 1, joint));
        let middles = segment.max(2) - 1..(segment + 2).min(count - 1);
        let about_two = middles.filter(|&i| !self.extra[i]).map(|i| (i - 1, i + 1));
        let cube = |(first, last): (usize, usize)| {
            let all = &self.lengths[first..=last];
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            1.0 / (mean * self.shortest(first, last).powi(2))
        };
        let own = self.lengths[segment].powi(-3);
        about_one.chain(about_two).map(cube).fold(own, f64::max)
    }

    /// Length (m) of the shortest segment from `first` to `last`.
    fn shortest(&self, first: usize, last: usize) -> f64 {
        self.lengths[first..=last].iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Smallest squared lever of a spring over these segments, relative to that in even
    /// hair with segments of length 1; if it is not known, that in even hair with the shortest segment.
    fn min_lever(&self, first: usize, last: usize) -> f64 {
        let known = first + 1 == last && self.extra[first] && self.extra[last];
        let fraction = if known { MIN_LEVER_SQUARED } else { 1.0 };
        fraction * self.shortest(first, last).powi(2)
    }
}

fn mean(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64
}

/// `EI` of a round fibre (N m^2).
pub(super) fn bending_stiffness(fibre: &Fibre, radius: f64) -> f64 {
    f64::from(fibre.young_modulus) * std::f64::consts::FRAC_PI_4 * radius.powi(4)
}

/// `EA` of a round fibre (N).
fn stretch_stiffness(fibre: &Fibre, radius: f64) -> f64 {
    f64::from(fibre.young_modulus) * std::f64::consts::PI * radius * radius
}
