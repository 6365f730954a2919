//! One hair as a chain of particles and springs (`selle2008` 3.2).
//!
//! The particles of a strand are its points and, on segments that go on straight, one extra particle
//! beside the hair, in the order along the strand. Every particle has springs to the next, the second
//! and the third after it, and an altitude spring in the tetrahedron of the four. Whether those are edge,
//! bending or torsion springs follows from which of the particles are extra. So curly hair, straight
//! hair and any mixture of them have one structure, and nothing reaches farther than three particles.

use glam::{DQuat, DVec3, Vec3};

use super::Settings;
use super::altitude::{CANDIDATES, altitude_lengths, least_altitude};
use super::homogenise::UnitStiffness;
use super::lever::{altitude_lever_squared, spring_lever_squared};
use crate::groom::Fibre;
use crate::model::chains::hold_groom;

/// Angle (rad) by which extra particles turn about the hair from segment to segment. With a quarter of a
/// turn every joint bends as easily to all sides.
pub(super) const ROTATION: f64 = std::f64::consts::FRAC_PI_2;

/// Share of a segment's mass that its extra particle carries; the points at its ends share the rest.
const EXTRA_MASS: f64 = 0.25;

/// Share of the bending stiffness of curly hair that each torsion spring may carry.
const TORSION_SHARE: f64 = 0.05;

/// Least share of the bending stiffness of curly hair that is left to the bending spring.
const BEND_SHARE: f64 = 0.1;

/// Least square of the lever that a spring counts with, as a share of that in even hair with segments as long as
/// the shorter one at its joint: where a joint is bent, a spring may have no lever at all. In straight hair levers
/// are longer than that at any ratio of the segments.
const MIN_LEVER_SQUARED: f64 = 0.1;

/// Largest half of the angle between two segments (rad) for which the curve around them is guessed.
const MAX_HALF_ANGLE: f64 = 0.6;

/// Edges stretch no more than one part in this many under the weight of the strand.
const WEIGHT_STRETCH: f64 = 500.0;

/// Stiffest edges and other springs that double precision carries with ease, as multiples of the lightest mass at
/// their ends over the substep and what springs look ahead: rounding takes one part in 100,000 of the
/// inertia. With the bound, hair of 100 points sags by less than a micrometre under its weight (by 0.2 mm with an
/// internal friction of a second, the most there is), and its slowest motion is over within a substep:
/// nobody sees that it is softer than the fibre.
const STIFFEST_EDGE: f64 = 1e11;
const STIFFEST_BEND: f64 = 3e9;

/// Largest stretch of an edge that holds up the groom, as a share of its length.
const MAX_HELD_STRETCH: f32 = 0.05;

/// A strand as the model sees it, in double precision and relative to its root.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Strand {
    /// Rest positions (m), relative to the root.
    pub(super) position: Vec<DVec3>,
    /// Which of the strand's points a particle is; `None` if it is extra.
    pub(super) point: Vec<Option<u32>>,
    /// Inertia (kg).
    pub(super) mass: Vec<f64>,
    /// Mass that gravity acts on (kg): all of it is at the points of the hair.
    pub(super) weight: Vec<f64>,
    /// Force (N) that holds the groom against gravity, in the rest frame.
    pub(super) hold: Vec<DVec3>,
    /// Whether the body carries it.
    pub(super) held: Vec<bool>,
    /// How many particles at the root the body carries.
    pub(super) held_at_root: usize,
    /// Whether the hair can bend from its root on, not only from the last held point.
    bends_from_root: bool,
    /// Stiffness (N/m) and length without force (m) of the springs to the next three particles.
    pub(super) springs: Vec<[Spring; 3]>,
    /// Stiffness (N/m) of the altitude spring, and its lengths without force (m).
    pub(super) altitude: Vec<(f64, [f64; CANDIDATES])>,
}

/// A spring between two particles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spring {
    /// N/m; 0 if there is none.
    pub(super) stiffness: f64,
    /// Length without force (m).
    pub(super) rest: f64,
}

/// The third corner of a triangle with three equal sides on a segment, to a side that is a unit vector
/// across the segment.
pub(super) fn raise(a: DVec3, b: DVec3, side: DVec3) -> DVec3 {
    (a + b) * 0.5 + side * (0.75f64.sqrt() * a.distance(b))
}

/// What a strand is made of.
pub(super) struct Material<'a> {
    pub(super) fibre: &'a Fibre,
    pub(super) radius: &'a [f32],
    pub(super) unit: &'a UnitStiffness,
}

impl Strand {
    /// How many particles a strand will have.
    pub(super) fn count_particles(line: &[Vec3], embedded: usize, settings: &Settings) -> usize {
        let points: Vec<DVec3> = line.iter().map(|p| (*p - line[0]).as_dvec3()).collect();
        line.len() + extra_particles(&points, embedded, settings).iter().filter(|e| **e).count()
    }

    /// Lays out the points of a strand, of which the first `embedded` go with the scalp.
    pub(super) fn new(
        line: &[Vec3],
        embedded: usize,
        material: &Material<'_>,
        settings: &Settings,
        gravity: Vec3,
    ) -> Self {
        let n = line.len();
        let points: Vec<DVec3> = line.iter().map(|p| (*p - line[0]).as_dvec3()).collect();
        let held_points = held_points(n, embedded);
        let held_tips = if settings.hold_tips { 2 } else { 0 };
        let extra = extra_particles(&points, embedded, settings);
        let mut strand = Self::particles(&points, |i| extra[i]);
        strand.bends_from_root = embedded < 2;
        strand.weigh(&points, material);
        let first_of_tip = strand.row_of(n - held_tips.min(n));
        strand.held_at_root = strand.row_of(held_points - 1) + 1;
        for row in 0..strand.position.len() {
            strand.held[row] = row < strand.held_at_root || (held_tips > 0 && row >= first_of_tip);
        }
        let heavy = strand.weight.iter().sum::<f64>() * f64::from(gravity.length().max(1.0));
        strand.attach(&points, material, heavy, held_points);
        let h = f64::from(settings.longest_substep);
        strand.bound_stiffness(h * (h + f64::from(material.fibre.damping)));
        if settings.hold_shape {
            strand.hold_up(line, held_points, gravity);
        }
        strand
    }

    /// The row of a point.
    pub(super) fn row_of(&self, point: usize) -> usize {
        let at = |p: &Option<u32>| *p == Some(point as u32);
        self.point.iter().position(at).unwrap_or(self.point.len())
    }

    /// Puts extra particles beside the segments that ask for one.
    fn particles(points: &[DVec3], extra: impl Fn(usize) -> bool) -> Self {
        let mut strand = Self {
            position: Vec::with_capacity(2 * points.len()),
            point: Vec::with_capacity(2 * points.len()),
            mass: Vec::new(),
            weight: Vec::new(),
            hold: Vec::new(),
            held: Vec::new(),
            held_at_root: 0,
            bends_from_root: false,
            springs: Vec::new(),
            altitude: Vec::new(),
        };
        // Carry a direction across the hair along it without twisting.
        let tangent = |i: usize| (points[i + 1] - points[i]).normalize_or(DVec3::Y);
        let mut across = tangent(0).any_orthonormal_vector();
        for i in 0..points.len() {
            strand.position.push(points[i]);
            strand.point.push(Some(i as u32));
            if i + 1 == points.len() {
                break;
            }
            let along = tangent(i);
            if i > 0 {
                across = DQuat::from_rotation_arc(tangent(i - 1), along) * across;
                across = (across - along * across.dot(along)).normalize_or(DVec3::Y);
            }
            if extra(i) {
                let side = DQuat::from_axis_angle(along, ROTATION * (i % 4) as f64) * across;
                strand.position.push(raise(points[i], points[i + 1], side));
                strand.point.push(None);
            }
        }
        let count = strand.position.len();
        strand.mass = vec![0.0; count];
        strand.weight = vec![0.0; count];
        strand.hold = vec![DVec3::ZERO; count];
        strand.held = vec![false; count];
        strand.springs = vec![[Spring::default(); 3]; count];
        strand.altitude = vec![(0.0, [0.0; CANDIDATES]); count];
        strand
    }

    /// Spreads the mass of the segments: half to either end, some of it to the extra particles.
    fn weigh(&mut self, points: &[DVec3], material: &Material<'_>) {
        for i in 0..points.len() - 1 {
            let row = self.row_of(i);
            let radius = radius_between(material, i, i + 1) as f32;
            let length = points[i].distance(points[i + 1]);
            let mass = f64::from(material.fibre.mass_per_length(radius)) * length;
            let extra = if self.point[row + 1].is_none() { EXTRA_MASS } else { 0.0 };
            let end = if extra > 0.0 { row + 2 } else { row + 1 };
            self.mass[row + 1] += extra * mass;
            for row in [row, end] {
                self.mass[row] += 0.5 * (1.0 - extra) * mass;
                self.weight[row] += 0.5 * mass;
            }
        }
    }

    /// Attaches all springs, without force in the rest shape.
    ///
    /// Model: springs of straight hair with even segments have `c EI / l^3` with the constants of
    /// [`UnitStiffness`]. What counts is what a spring does to the angle of the joint that it spans, its
    /// stiffness times the square of its lever (see `lever.rs`), so that where segments differ springs have
    /// `c EI / l` times the square of the lever in even hair over that of their own, with `l` the mean of the
    /// two segments at the joint. Where one of the segments has no extra particle, the lever is taken for that of
    /// even hair with the shortest of the segments. Edges are as much stiffer than all these as in even hair. The
    /// bending stiffness of a joint stands for half of each segment beside it; the first joint that can
    /// move stands for all of the hair between the place where it is held and the middle of the next
    /// segment, and the last one for all of the last segment.
    fn attach(
        &mut self,
        points: &[DVec3],
        material: &Material<'_>,
        heavy: f64,
        held_points: usize,
    ) {
        let count = self.position.len();
        // Index of the segment that a particle and the next are on.
        let segment = |row: usize| {
            let before = (0..=row).rev().find_map(|r| self.point[r]);
            (before.unwrap_or(0) as usize).min(points.len() - 2)
        };
        let length = |i: usize| points[i].distance(points[i + 1]);
        let lengths: Vec<f64> = (0..points.len() - 1).map(length).collect();
        let has_extra = |i: usize| self.row_of(i + 1) > self.row_of(i) + 1;
        let extra: Vec<bool> = (0..lengths.len()).map(has_extra).collect();
        let from_root = self.bends_from_root;
        let shares = Shares { lengths: &lengths, extra: &extra, held_points, from_root };
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
                let bending = bending_stiffness(material.fibre, radius);
                let stiffness = if is_edge {
                    let most = stretch_stiffness(material.fibre, radius) / lengths[first];
                    let least = WEIGHT_STRETCH * heavy / lengths[first];
                    let wanted = material.unit.edge * bending * shares.edge(first);
                    wanted.max(least).min(most)
                } else {
                    let turn = bending * shares.joint(first, last);
                    // `even` is the square of the lever in even hair with segments of length 1.
                    let spanning = |constant: f64, even: f64, lever: f64| {
                        turn * constant * even / lever.max(even * shares.least_lever(first, last))
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
        self.attach_curls(material);
    }

    /// Replaces the constants where four points follow each other without extra particles.
    ///
    /// Model: a joint resists a change of its angle with `EI / l`, a segment a turn of what follows it
    /// about its axis with `GJ / l`. Torsion springs also resist bending, so they get a small share of
    /// it; bending springs get what is left of it; altitude springs get what torsion springs leave of
    /// the twisting. Segments are chords: the hair itself is longer and lies outside of them, and a pull
    /// along the axis of a curl twists it with a longer arm (see [`Chord`]).
    fn attach_curls(&mut self, material: &Material<'_>) {
        let count = self.position.len();
        let x = &self.position;
        let radius = |row: usize| {
            let point = self.point[row].map_or(0, |p| p as usize);
            f64::from(material.radius[point]).max(f64::from(f32::MIN_POSITIVE))
        };
        let is_curl = |row: usize, points: usize| {
            row + points <= count && (row..row + points).all(|r| self.point[r].is_some())
        };
        // What torsion and altitude springs do to the angle of each joint (N m).
        let mut carried = vec![0.0; count];
        let mut changes = Vec::new();
        for row in (0..count).filter(|&row| is_curl(row, 4)) {
            let four: [DVec3; 4] = std::array::from_fn(|i| x[row + i]);
            let l = four[1].distance(four[2]);
            let shortest = l.min(four[0].distance(four[1])).min(four[2].distance(four[3]));
            let chord = Chord::between([four[1] - four[0], four[2] - four[1], four[3] - four[2]]);
            let bending = bending_stiffness(material.fibre, radius(row + 1)) / (l * chord.longer);
            let ratio =
                2.0 * f64::from(material.fibre.shear_modulus / material.fibre.young_modulus);
            let twisting = ratio * bending * chord.inside * chord.inside;
            let along = (four[2] - four[1]).normalize_or(DVec3::Y);
            let way = (four[3] - four[0]).normalize_or(DVec3::Y);
            let bends = [1, 2].map(|joint| {
                let axis = (four[joint] - four[joint - 1]).cross(four[joint + 1] - four[joint]);
                (axis.normalize_or_zero(), four[joint])
            });
            // How a spring gets longer with the angles of the two joints and with the turn.
            let torsion_bend = bends.map(|(axis, at)| way.dot(axis.cross(four[3] - at)));
            let torsion_turn = way.dot(along.cross(four[3] - four[2]));
            let most = torsion_bend.iter().fold(1e-9 * l, |m: f64, g| m.max(g.abs()));
            let torsion = TORSION_SHARE * bending / (most * most);
            let torsion = torsion.min(twisting / (torsion_turn * torsion_turn).max(1e-30));
            let left = twisting - torsion * torsion_turn * torsion_turn;
            let mut across = 0.0;
            let mut across_bend = [0.0; 2];
            if let Some(altitude) = least_altitude(four) {
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
            let bending = bending_stiffness(material.fibre, {
                let point = self.point[row + 1].map_or(0, |p| p as usize);
                f64::from(material.radius[point])
            }) / (0.5 * (l1 + l2) * Chord::between([b - a, b - a, c - b]).longer);
            // How much shorter the spring gets with the angle: the area over its length.
            let change = (b - a).cross(c - b).length() / a.distance(c).max(1e-9 * l1);
            let left = (bending - carried[row + 1]).max(BEND_SHARE * bending);
            self.springs[row][1].stiffness = left / (change * change).max(1e-4 * l1 * l2);
        }
    }

    /// Bounds all springs by what arithmetic carries: see [`STIFFEST_EDGE`]. `ahead` is a substep times what
    /// springs look ahead (s^2).
    fn bound_stiffness(&mut self, ahead: f64) {
        let count = self.position.len();
        for row in 0..count {
            let lightest = |end: usize| {
                let own = self.mass[row..=end].iter().zip(&self.held[row..=end]);
                let free = own.filter(|(_, held)| !**held).map(|(mass, _)| *mass);
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

    /// Makes the groom the shape under gravity: edges pull as far as the weight hangs on them, and what
    /// they cannot carry is held by forces that go with the scalp.
    fn hold_up(&mut self, line: &[Vec3], held_points: usize, gravity: Vec3) {
        let rows: Vec<usize> = (0..line.len()).map(|i| self.row_of(i)).collect();
        // The spring that is the segment before a point.
        let spring = |i: usize| (rows[i - 1], rows[i] - rows[i - 1] - 1);
        let most = |i: usize| {
            let (row, s) = spring(i);
            let Spring { stiffness, rest } = self.springs[row][s];
            MAX_HELD_STRETCH * (stiffness * rest) as f32
        };
        let weight = |i: usize| self.weight[rows[i]] as f32;
        let hold = hold_groom(line, held_points, weight, most, gravity);
        for i in held_points..line.len() {
            self.hold[rows[i]] = hold.acceleration[i].as_dvec3() * self.weight[rows[i]];
            let (row, s) = spring(i);
            let spring = &mut self.springs[row][s];
            spring.rest -= f64::from(hold.tension[i]) / spring.stiffness;
        }
    }
}

/// What a segment is to the curve that it is a chord of.
#[derive(Debug, Clone, Copy)]
struct Chord {
    /// Length of the arc over that of the chord.
    longer: f64,
    /// Distance of the chord's middle from the axis of the curve over the curve's radius.
    inside: f64,
}

impl Chord {
    /// The chord in the middle of three segments; one that is the same tells nothing.
    fn between([before, own, after]: [DVec3; 3]) -> Self {
        let angle = |a: DVec3, b: DVec3| {
            let angle = a.angle_between(b);
            if angle.is_finite() { angle } else { 0.0 }
        };
        let angles = [angle(before, own), angle(own, after)].map(|a| 0.5 * a);
        let told = angles.iter().filter(|a| **a > 0.0).count().max(1) as f64;
        let half = (angles.iter().sum::<f64>() / told).min(MAX_HALF_ANGLE);
        let longer = if half > 1e-6 { half / half.sin() } else { 1.0 };
        Self { longer, inside: half.cos() }
    }
}

/// How many points the body carries: at least two, so that the direction is held too, and if possible
/// not the last.
fn held_points(points: usize, embedded: usize) -> usize {
    embedded.clamp(2, (points - 1).max(2)).min(points)
}

/// Which segments need an extra particle: those that go on straight, and where the hair is held one that
/// holds its turn.
fn extra_particles(points: &[DVec3], embedded: usize, settings: &Settings) -> Vec<bool> {
    let n = points.len();
    let mut extra = straight_segments(points, settings.straight_below.into());
    extra[held_points(n, embedded) - 2] = true;
    if settings.hold_tips {
        extra[n - 2] = true;
    }
    extra
}

/// Which segments are straight: those that go on straight at one of their ends.
fn straight_segments(points: &[DVec3], below: f64) -> Vec<bool> {
    let n = points.len();
    let is_straight = |joint: usize| {
        let (a, b) = (points[joint] - points[joint - 1], points[joint + 1] - points[joint]);
        // Folded back is a line too.
        let sine = a.cross(b).length() / (a.length() * b.length()).max(f64::MIN_POSITIVE);
        a.dot(b) < 0.0 && sine < 0.5 || a.angle_between(b) < below || !sine.is_finite()
    };
    let joint = |j: usize| j > 0 && j + 1 < n && is_straight(j);
    let alone = n <= 3;
    (0..n - 1).map(|i| alone || joint(i) || joint(i + 1)).collect()
}

/// What lengths of hair joints and edges stand for.
struct Shares<'a> {
    /// Of the segments (m).
    lengths: &'a [f64],
    /// Which of them have an extra particle.
    extra: &'a [bool],
    /// Points that the body carries.
    held_points: usize,
    /// Whether hair bends from its root on, not only from the last held point.
    from_root: bool,
}

impl Shares<'_> {
    /// `1 / l` (1/m) for springs over the segments from `first` to `last`: of the joints between them the first
    /// that moves and the last of all stand for more than half of each segment.
    ///
    /// Model: the first joint that moves bends as if the hair from the root to the middle of the next segment
    /// bent all along, for a load at the tip: `(L - l)^2` over the integral of `(L - s)^2`; or stands for
    /// half of the next segment alone where the hair is held up to the joint. The last one stands for all of
    /// the last segment.
    fn joint(&self, first: usize, last: usize) -> f64 {
        let all = &self.lengths[first..=last];
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let beside = |joint: usize| (self.lengths[joint - 1], self.lengths[joint]);
        let (clamped, end) = (self.held_points - 1, self.lengths.len() - 1);
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

    /// `1 / l^3` (1/m^3) of an edge: the largest that springs have which pull at it, those about a joint beside
    /// it, and those about the two joints of a segment without extra particle.
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

    /// Square of the least lever (m^2) that a spring over these segments counts with, as a multiple of that in even
    /// hair with segments of length 1: where it is not known, that in even hair with the shortest segment.
    fn least_lever(&self, first: usize, last: usize) -> f64 {
        let known = first + 1 == last && self.extra[first] && self.extra[last];
        let share = if known { MIN_LEVER_SQUARED } else { 1.0 };
        share * self.shortest(first, last).powi(2)
    }
}

/// Radius (m) of a round fibre with the area that a cone between two points has on average.
fn radius_between(material: &Material<'_>, a: usize, b: usize) -> f64 {
    let (a, b) = (f64::from(material.radius[a]), f64::from(material.radius[b]));
    let square = (a * a + a * b + b * b) / 3.0;
    if square > 0.0 { square.sqrt() } else { material.fibre.radius.into() }
}

/// `EI` of a round fibre (N m^2).
pub(super) fn bending_stiffness(fibre: &Fibre, radius: f64) -> f64 {
    f64::from(fibre.young_modulus) * std::f64::consts::FRAC_PI_4 * radius.powi(4)
}

/// `EA` of a round fibre (N).
fn stretch_stiffness(fibre: &Fibre, radius: f64) -> f64 {
    f64::from(fibre.young_modulus) * std::f64::consts::PI * radius * radius
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(line: &[Vec3], settings: &Settings) -> Strand {
        let fibre = Fibre::default();
        let radius = vec![fibre.radius; line.len()];
        let unit = UnitStiffness::new(0.5);
        let material = Material { fibre: &fibre, radius: &radius, unit: &unit };
        Strand::new(line, 1, &material, settings, Vec3::NEG_Y * 9.81)
    }

    fn straight() -> Vec<Vec3> {
        (0..12).map(|i| Vec3::new(0.005 * i as f32, 1.0, 0.0)).collect()
    }

    fn curl() -> Vec<Vec3> {
        let turn = |t: f32| Vec3::new(0.01 * t.cos(), -0.002 * t, 0.01 * t.sin());
        (0..30).map(|i| turn(0.7 * i as f32)).collect()
    }

    #[test]
    fn straight_hair_has_extra_particles_and_curly_hair_has_one_that_holds_it() {
        let settings = Settings::default();
        assert_eq!(strand(&straight(), &settings).position.len(), 23);
        let curly = strand(&curl(), &settings);
        assert_eq!(curly.position.len(), 31);
        // Straight, then curly: a mixture.
        let mut mixed = straight();
        let end = mixed[11] - curl()[0];
        mixed.extend(curl()[1..].iter().map(|p| *p + end));
        let mixed = strand(&mixed, &settings);
        assert!(mixed.position.len() > 41 + 9 && mixed.position.len() < 41 + 16);
        for strand in [curly, mixed] {
            let stiff = |s: &Spring| s.stiffness > 0.0 && s.stiffness.is_finite();
            let n = strand.position.len();
            assert!((0..n - 3).all(|j| strand.springs[j].iter().all(stiff)));
            assert!((0..n - 3).all(|j| strand.altitude[j].0.is_finite()));
        }
    }

    /// Triangles have the sides of their segment, and the mass is that of the hair.
    #[test]
    fn extra_particles_are_as_the_paper_has_them() {
        let strand = strand(&straight(), &Settings::default());
        for row in (0..22).step_by(2) {
            for (a, b) in [(row, row + 1), (row + 1, row + 2), (row, row + 2)] {
                let length = strand.position[a].distance(strand.position[b]);
                assert!((length - 0.005).abs() < 1e-7, "{row}: {length}");
            }
        }
        let mass = f64::from(Fibre::default().mass_per_length(40e-6)) * 0.055;
        for sum in [&strand.mass, &strand.weight].map(|m| m.iter().sum::<f64>()) {
            assert!((sum / mass - 1.0).abs() < 1e-5, "{sum} {mass}");
        }
        assert_eq!(strand.held_at_root, 3);
    }
}
