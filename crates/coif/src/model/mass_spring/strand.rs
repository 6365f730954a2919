//! One hair as a chain of particles and springs (`selle2008` 3.2).
//!
//! The particles of a strand are its points and, on straight segments, one extra particle
//! beside the hair, in the order along the strand. Every particle has springs to the next three particles,
//! and an altitude spring in the tetrahedron of the four. Whether those are edge,
//! bending or torsion springs follows from which of the particles are extra. So curly hair, straight
//! hair and any mixture of them have the same structure, with a bandwidth of three particles.

use glam::{DQuat, DVec3, Vec3};

use super::Settings;
use super::altitude::CANDIDATES;
use super::homogenise::UnitStiffness;
use crate::groom::Fibre;
use crate::model::chains::hold_groom;

/// Rotation (rad) of the extra particles about the hair from segment to segment. A quarter of a
/// turn makes the bending stiffness of joints isotropic.
pub(super) const ROTATION: f64 = std::f64::consts::FRAC_PI_2;

/// Fraction of a segment's mass that its extra particle carries; the rest is distributed over the points at its ends.
const EXTRA_MASS: f64 = 0.25;

/// Largest stretch of an edge by the weight of the groom, as a fraction of its length.
const MAX_HELD_STRETCH: f32 = 0.05;

/// A strand in double precision and relative to its root.
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
    /// Drag (1/s); empty if it is constant.
    pub(super) drag: Vec<f32>,
    /// Friction relative to that of the body; empty if it is constant.
    pub(super) friction: Vec<f32>,
    /// Force (N) that holds the groom against gravity, in the rest frame.
    pub(super) hold: Vec<DVec3>,
    /// Whether the body carries it.
    pub(super) pinned: Vec<bool>,
    /// Number of particles at the root that the body carries.
    pub(super) pinned_at_root: usize,
    /// Whether the hair bends from its root on, instead of from the last pinned point.
    pub(super) bends_from_root: bool,
    /// The springs to the next three particles.
    pub(super) springs: Vec<[Spring; 3]>,
    /// Stiffness (N/m) of the altitude spring, and its rest lengths (m).
    pub(super) altitude: Vec<(f64, [f64; CANDIDATES])>,
}

/// A spring between two particles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spring {
    /// Stiffness (N/m); 0 if there is none.
    pub(super) stiffness: f64,
    /// Rest length (m).
    pub(super) rest: f64,
}

/// The third corner of an equilateral triangle on a segment, in the direction of a unit vector perpendicular to the
/// segment.
pub(super) fn raise(a: DVec3, b: DVec3, side: DVec3) -> DVec3 {
    (a + b) * 0.5 + side * (0.75f64.sqrt() * a.distance(b))
}

/// Material and parameters of a strand.
pub(super) struct Material<'a> {
    pub(super) fibre: &'a Fibre,
    pub(super) radius: &'a [f32],
    pub(super) unit: &'a UnitStiffness,
}

impl Strand {
    /// Number of particles of a strand.
    pub(super) fn count_particles(line: &[Vec3], embedded: usize, settings: &Settings) -> usize {
        let points: Vec<DVec3> = line.iter().map(|p| (*p - line[0]).as_dvec3()).collect();
        line.len() + extra_particles(&points, embedded, settings).iter().filter(|e| **e).count()
    }

    /// Builds a strand, of which the first `embedded` points move with the scalp.
    pub(super) fn new(
        line: &[Vec3],
        embedded: usize,
        material: &Material<'_>,
        settings: &Settings,
        gravity: Vec3,
    ) -> Self {
        let n = line.len();
        let points: Vec<DVec3> = line.iter().map(|p| (*p - line[0]).as_dvec3()).collect();
        let pinned_points = pinned_points(n, embedded);
        let pinned_tips = if settings.hold_tips { 2 } else { 0 };
        let extra = extra_particles(&points, embedded, settings);
        let mut strand = Self::particles(&points, |i| extra[i]);
        strand.bends_from_root = embedded < 2;
        strand.weigh(&points, material);
        let first_of_tip = strand.row_of(n - pinned_tips.min(n));
        strand.pinned_at_root = strand.row_of(pinned_points - 1) + 1;
        for row in 0..strand.position.len() {
            strand.pinned[row] =
                row < strand.pinned_at_root || (pinned_tips > 0 && row >= first_of_tip);
        }
        let heavy = strand.weight.iter().sum::<f64>() * f64::from(gravity.length().max(1.0));
        let stiffness = settings.stiffness.along(line);
        strand.attach(&points, material, &stiffness, heavy, pinned_points);
        if settings.damping.constant().is_none() {
            strand.drag = strand.along(&settings.damping.along(line));
        }
        if settings.friction.constant().is_none() {
            strand.friction = strand.along(&settings.friction.along(line));
        }
        let h = f64::from(settings.longest_substep);
        strand.bound_stiffness(h * (h + f64::from(material.fibre.damping)));
        if settings.hold_shape {
            strand.hold_up(line, pinned_points, gravity);
        }
        strand
    }

    /// The row of a point's particle.
    pub(super) fn row_of(&self, point: usize) -> usize {
        let at = |p: &Option<u32>| *p == Some(point as u32);
        self.point.iter().position(at).unwrap_or(self.point.len())
    }

    /// Values of all particles from those of the points; an extra particle has the mean of its segment.
    fn along(&self, of_points: &[f32]) -> Vec<f32> {
        let before = |row: usize| self.point[..row].iter().flatten().last().map_or(0, |p| *p);
        let of = |row: usize| match self.point[row] {
            Some(point) => of_points[point as usize],
            None => {
                let segment = before(row) as usize;
                0.5 * (of_points[segment] + of_points[segment + 1])
            }
        };
        (0..self.point.len()).map(of).collect()
    }

    /// Places the points, and extra particles beside the segments that need one.
    fn particles(points: &[DVec3], extra: impl Fn(usize) -> bool) -> Self {
        let mut strand = Self {
            position: Vec::with_capacity(2 * points.len()),
            point: Vec::with_capacity(2 * points.len()),
            mass: Vec::new(),
            weight: Vec::new(),
            drag: Vec::new(),
            friction: Vec::new(),
            hold: Vec::new(),
            pinned: Vec::new(),
            pinned_at_root: 0,
            bends_from_root: false,
            springs: Vec::new(),
            altitude: Vec::new(),
        };
        // Parallel transport a direction across the hair along it.
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
        strand.pinned = vec![false; count];
        strand.springs = vec![[Spring::default(); 3]; count];
        strand.altitude = vec![(0.0, [0.0; CANDIDATES]); count];
        strand
    }

    /// Distributes the mass of the segments to their ends, and a part to the extra particles.
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

    /// Makes the groom the equilibrium under gravity: edges carry the weight as tension as far as possible, and
    /// forces that are constant in the scalp's frame balance the remainder.
    fn hold_up(&mut self, line: &[Vec3], pinned_points: usize, gravity: Vec3) {
        let rows: Vec<usize> = (0..line.len()).map(|i| self.row_of(i)).collect();
        // Find the spring along the segment before a point.
        let spring = |i: usize| (rows[i - 1], rows[i] - rows[i - 1] - 1);
        let max_tension = |i: usize| {
            let (row, s) = spring(i);
            let Spring { stiffness, rest } = self.springs[row][s];
            MAX_HELD_STRETCH * (stiffness * rest) as f32
        };
        let weight = |i: usize| self.weight[rows[i]] as f32;
        let hold = hold_groom(line, pinned_points, weight, max_tension, gravity);
        for i in pinned_points..line.len() {
            self.hold[rows[i]] = hold.acceleration[i].as_dvec3() * self.weight[rows[i]];
            let (row, s) = spring(i);
            let spring = &mut self.springs[row][s];
            spring.rest -= f64::from(hold.tension[i]) / spring.stiffness;
        }
    }
}

/// Number of points that the body carries: at least two, so that the direction is clamped, and if possible
/// not the last.
fn pinned_points(points: usize, embedded: usize) -> usize {
    embedded.clamp(2, (points - 1).max(2)).min(points)
}

/// Which segments need an extra particle: straight ones, and at pinned ends one that clamps the twist.
fn extra_particles(points: &[DVec3], embedded: usize, settings: &Settings) -> Vec<bool> {
    let n = points.len();
    let mut extra = straight_segments(points, settings.straight_below.into());
    extra[pinned_points(n, embedded) - 2] = true;
    if settings.hold_tips {
        extra[n - 2] = true;
    }
    extra
}

/// Which segments are straight: those with a joint that is nearly straight at one of their ends.
fn straight_segments(points: &[DVec3], below: f64) -> Vec<bool> {
    let n = points.len();
    let is_straight = |joint: usize| {
        let (a, b) = (points[joint] - points[joint - 1], points[joint + 1] - points[joint]);
        // Count a fold, and a joint without a direction, as straight.
        let sine = a.cross(b).length() / (a.length() * b.length()).max(f64::MIN_POSITIVE);
        a.dot(b) < 0.0 && sine < 0.5 || a.angle_between(b) < below || !sine.is_finite()
    };
    let joint = |j: usize| j > 0 && j + 1 < n && is_straight(j);
    let alone = n <= 3;
    (0..n - 1).map(|i| alone || joint(i) || joint(i + 1)).collect()
}

/// Radius (m) of the cylinder with the volume of the truncated cone between two points.
pub(super) fn radius_between(material: &Material<'_>, a: usize, b: usize) -> f64 {
    let (a, b) = (f64::from(material.radius[a]), f64::from(material.radius[b]));
    let square = (a * a + a * b + b * b) / 3.0;
    if square > 0.0 { square.sqrt() } else { material.fibre.radius.into() }
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
    fn straight_hair_has_extra_particles_and_curly_hair_one_at_its_root() {
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
    fn extra_particles_form_equilateral_triangles_and_the_mass_is_kept() {
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
        assert_eq!(strand.pinned_at_root, 3);
    }
}
