//! A moving body between two frames: distance fields at both, and what is in between
//! (`selle2008` 5.1).
//!
//! A body that moves by more than its own detail per frame cannot be blended: half of one frame and
//! half of the next is a body twice as thin, or none. Here a point is carried back along the body's
//! motion to the first frame and forward to the second, and the two distances found there are blended
//! (`selle2008` figure 15).

use glam::Vec3;

use super::distance_field::{DistanceField, FieldSample};

/// Fixed-point iterations for the places in the two frames. Each cuts
/// the error of a body that turns by about its angle; more than three gains nothing beside the grid's
/// own error.
const ROUNDS: usize = 3;

/// How a point between two frames is traced to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// At the same place in both (no motion). For comparison.
    Linear,
    /// Carried back to the first frame alone. It does not arrive at the second frame. For comparison.
    OneSided,
    /// Carried to both frames by the mean of both velocities at the point (`selle2008` 5.1). For
    /// comparison.
    TwoSided,
    /// Carried to both frames on a path whose ends have the velocities found there.
    #[default]
    TwoSidedCurved,
}

/// Distance and velocity of a body at any time between two frames.
///
/// Model: `phi(x, a) = (1 - a) phi0(x0) + a phi1(x1)`, where x0 and x1 are where the point x at the
/// fraction a of the frame comes from and goes to.
/// Source: `selle2008` 5.1.
/// Deviations: the paper goes straight, by the mean of both velocities at x:
/// `x0 = x - dt a v`, `x1 = x + dt (1 - a) v`. Where a body turns, the velocity at x is not that at x0 or
/// x1, and the path is not straight. Here velocity goes evenly from that at x0 to that at x1,
/// `x0 = x - dt a ((1 - a/2) v0 + a/2 v1)` and
/// `x1 = x + dt (1 - a) ((1 - a)/2 v0 + (1 + a)/2 v1)`, and both places are found again from the
/// velocities there. [`Scheme::TwoSided`] is the paper's.
///
/// Exact at both frames. Continuous in between, but for jumps of less than a tenth of a cell where the
/// field's gradient jumps from cell to cell. Velocities of the fields have to be those at the frames
/// themselves, or in both the displacement of each point between the two frames, over `dt`: then every point
/// goes straight from one frame to the other, however unevenly the body moves. Means over the frame
/// before would not arrive.
#[derive(Clone, Copy)]
pub struct LevelSetInTime<'a> {
    start: &'a DistanceField,
    end: &'a DistanceField,
    dt: f32,
    scheme: Scheme,
}

impl<'a> LevelSetInTime<'a> {
    /// Between two frames that are `dt` (s) apart.
    pub fn new(start: &'a DistanceField, end: &'a DistanceField, dt: f32) -> Self {
        Self { start, end, dt, scheme: Scheme::default() }
    }

    /// The same by another scheme.
    pub fn with_scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// Signed distance to the surface (m) at `x` (m), at the fraction `a` of the time from the first frame (0)
    /// to the second (1).
    pub fn distance_at(&self, x: Vec3, a: f32) -> f32 {
        if a <= 0.0 {
            return self.start.distance_at(x);
        }
        if a >= 1.0 && self.scheme != Scheme::OneSided {
            return self.end.distance_at(x);
        }
        let (from, to) = self.places(x, a);
        if self.scheme == Scheme::OneSided {
            return self.start.distance_at(from);
        }
        (1.0 - a) * self.start.distance_at(from) + a * self.end.distance_at(to)
    }

    /// Distance, its gradient, and the velocity of the surface at `x`, at the fraction `a` of the time from the
    /// first frame to the second.
    pub fn sample(&self, x: Vec3, a: f32) -> FieldSample {
        let a = if a.is_nan() { 0.0 } else { a.clamp(0.0, 1.0) };
        let (from, to) = self.places(x, a);
        let (start, end) = (self.start.sample(from), self.end.sample(to));
        if a == 0.0 || self.scheme == Scheme::OneSided {
            return start;
        }
        if a == 1.0 {
            return end;
        }
        let mix = |start: Vec3, end: Vec3| start * (1.0 - a) + end * a;
        FieldSample {
            distance: (1.0 - a) * start.distance + a * end.distance,
            gradient: mix(start.gradient, end.gradient).try_normalize().unwrap_or(end.gradient),
            velocity: mix(start.velocity, end.velocity),
        }
    }

    /// The places of the material point at `x` in the first frame and in the second.
    fn places(&self, x: Vec3, a: f32) -> (Vec3, Vec3) {
        let (before, after) = (self.dt * a, self.dt * (1.0 - a));
        let velocities =
            |from: Vec3, to: Vec3| (self.start.sample(from).velocity, self.end.sample(to).velocity);
        match self.scheme {
            Scheme::Linear => (x, x),
            Scheme::OneSided => (x - self.start.sample(x).velocity * before, x),
            Scheme::TwoSided => {
                let (v0, v1) = velocities(x, x);
                let v = 0.5 * (v0 + v1);
                (x - v * before, x + v * after)
            }
            Scheme::TwoSidedCurved => {
                let (mut from, mut to) = (x, x);
                for _ in 0..ROUNDS {
                    let last = (from, to);
                    let (v0, v1) = velocities(from, to);
                    from = x - (v0 * (1.0 - 0.5 * a) + v1 * (0.5 * a)) * before;
                    to = x + (v0 * (0.5 - 0.5 * a) + v1 * (0.5 + 0.5 * a)) * after;
                    // In a pure translation the second round gives the result of the first.
                    if (from, to) == last {
                        break;
                    }
                }
                (from, to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::body::distance_field::Settings;
    use crate::body::{Shape, TriangleMesh};
    use crate::math::RigidTransform;

    const RADII: Vec3 = Vec3::new(0.05, 0.11, 0.07);
    const CELL: f32 = 0.008;
    const DT: f32 = 1.0 / 60.0;

    /// A body that flies and turns, both evenly.
    #[derive(Clone, Copy)]
    struct Flight {
        /// Displacement per frame (m).
        displacement: Vec3,
        /// Angle per frame about each axis.
        turn: Vec3,
    }

    impl Flight {
        fn pose(&self, a: f32) -> RigidTransform {
            let place = Vec3::new(0.03, 0.02, -0.01);
            RigidTransform {
                rotation: Quat::from_scaled_axis(self.turn * a),
                translation: place + self.displacement * a,
            }
        }

        fn velocity(&self, a: f32, p: Vec3) -> Vec3 {
            (self.displacement + self.turn.cross(p - self.pose(a).translation)) / DT
        }

        fn field(&self, mesh: &TriangleMesh, a: f32) -> DistanceField {
            let settings = Settings { cell: CELL, margin: 0.08, ..Settings::default() };
            let mut field = DistanceField::new(&mesh.triangles, &settings).expect("valid settings");
            let pose = self.pose(a);
            let positions: Vec<Vec3> = mesh.positions.iter().map(|&p| pose.point(p)).collect();
            let velocities: Vec<Vec3> = positions.iter().map(|&p| self.velocity(a, p)).collect();
            field.rebuild(&positions, &velocities);
            field
        }

        /// Exact distance and normal.
        fn exact(&self, x: Vec3, a: f32) -> (f32, Vec3) {
            let pose = self.pose(a);
            let found = Shape::Ellipsoid { radii: RADII }.project_point(pose.inverse().point(x));
            (found.distance, pose.direction(found.normal))
        }
    }

    /// Places within two cells of the surface at a time.
    fn places(flight: &Flight, a: f32) -> Vec<Vec3> {
        let pose = flight.pose(a);
        (0..600)
            .map(|i| {
                let y = 1.0 - 2.0 * (i as f32 + 0.5) / 600.0;
                let angle = i as f32 * 2.399_963;
                let r = (1.0 - y * y).sqrt();
                let d = Vec3::new(r * angle.cos(), y, r * angle.sin());
                let out = ((i % 5) as f32 - 2.0) * CELL;
                pose.point(d * RADII + (d / RADII).normalize() * out)
            })
            .collect()
    }

    /// Root mean square and largest error (cells) of a scheme over the frame.
    fn errors(flight: &Flight, mesh: &TriangleMesh, scheme: Scheme) -> (f32, f32) {
        let (start, end) = (flight.field(mesh, 0.0), flight.field(mesh, 1.0));
        let between = LevelSetInTime::new(&start, &end, DT).with_scheme(scheme);
        let (mut sum, mut max_error, mut count) = (0.0, 0.0f32, 0.0);
        for a in [0.2, 0.5, 0.8] {
            for x in places(flight, a) {
                let error = (between.distance_at(x, a) - flight.exact(x, a).0).abs() / CELL;
                (sum, max_error, count) = (sum + error * error, max_error.max(error), count + 1.0);
            }
        }
        ((sum / count).sqrt(), max_error)
    }

    #[test]
    fn two_sided_is_far_better_than_the_others() {
        let mesh = TriangleMesh::ellipsoid(RADII, 60, 90);
        let flights = [
            ("flies", Flight { displacement: Vec3::new(0.04, -0.03, 0.02), turn: Vec3::ZERO }),
            ("turns", Flight { displacement: Vec3::ZERO, turn: Vec3::new(0.3, 0.1, 0.6) }),
            (
                "both",
                Flight {
                    displacement: Vec3::new(0.04, -0.03, 0.02),
                    turn: Vec3::new(0.3, 0.1, 0.6),
                },
            ),
        ];
        for (name, flight) in flights {
            use Scheme::{Linear, OneSided, TwoSided, TwoSidedCurved};
            let schemes = [Linear, OneSided, TwoSided, TwoSidedCurved];
            let found = schemes.map(|scheme| errors(&flight, &mesh, scheme));
            println!("{name}: rms and largest error in cells");
            schemes
                .iter()
                .zip(found)
                .for_each(|(s, (rms, most))| println!("  {s:?}: {rms:.3} {most:.3}"));
            let [linear, one, two, curved] = found.map(|(rms, _)| rms);
            // The grid's own error, without any motion in between, is what is left of a flight.
            assert!(two < 0.7 * linear && curved < 0.15 * linear, "{name}: {found:?}");
            assert!(curved < 0.1, "{name}: {found:?}");
            if flight.turn != Vec3::ZERO {
                assert!(two < 0.7 * one && curved < 0.3 * two, "{name}: {found:?}");
            }
        }
    }

    #[test]
    fn frames_are_exact_and_time_is_continuous() {
        let mesh = TriangleMesh::ellipsoid(RADII, 60, 90);
        let flight =
            Flight { displacement: Vec3::new(0.04, -0.03, 0.02), turn: Vec3::new(0.3, 0.1, 0.6) };
        let (start, end) = (flight.field(&mesh, 0.0), flight.field(&mesh, 1.0));
        for scheme in [Scheme::TwoSided, Scheme::TwoSidedCurved] {
            let between = LevelSetInTime::new(&start, &end, DT).with_scheme(scheme);
            let mut largest = 0.0f32;
            for x in places(&flight, 0.5) {
                assert_eq!(between.distance_at(x, 0.0), start.distance_at(x));
                assert_eq!(between.distance_at(x, 1.0), end.distance_at(x));
                assert_eq!(between.sample(x, 0.0), start.sample(x));
                assert_eq!(between.sample(x, 1.0), end.sample(x));
                // Near the frames the value is near theirs.
                assert!((between.distance_at(x, 1e-4) - start.distance_at(x)).abs() < 0.02 * CELL);
                assert!((between.distance_at(x, 0.9999) - end.distance_at(x)).abs() < 0.02 * CELL);
                let (one, two) = (between.distance_at(x, 0.5), between.distance_at(x, 0.5001));
                largest = largest.max((one - two).abs());
            }
            // The field's gradient jumps from cell to cell, and the place found with it.
            println!("{scheme:?}: largest jump {} cells", largest / CELL);
            assert!(largest < 0.1 * CELL, "{largest}");
        }
        // Kim and Ko's method does not arrive at the second frame.
        let one_sided = LevelSetInTime::new(&start, &end, DT).with_scheme(Scheme::OneSided);
        let jump = |x: &Vec3| (one_sided.distance_at(*x, 1.0) - end.distance_at(*x)).abs();
        let jump = places(&flight, 1.0).iter().map(jump).fold(0.0, f32::max);
        assert!(jump > 0.5 * CELL, "{jump}");
    }

    #[test]
    fn gradient_and_velocity_are_those_of_the_moving_surface() {
        let mesh = TriangleMesh::ellipsoid(RADII, 60, 90);
        let flight =
            Flight { displacement: Vec3::new(0.02, -0.03, 0.0), turn: Vec3::new(0.0, 0.2, 0.4) };
        let (start, end) = (flight.field(&mesh, 0.0), flight.field(&mesh, 1.0));
        let between = LevelSetInTime::new(&start, &end, DT);
        let (mut worst, mut worst_velocity) = (1.0f32, 0.0f32);
        // The field's own gradient is that of a grid: two cells from the tip it is off as well.
        let own = places(&flight, 0.0)
            .into_iter()
            .map(|x| start.sample(x).gradient.dot(flight.exact(x, 0.0).1))
            .fold(1.0, f32::min);
        for a in [0.3, 0.5, 0.9] {
            for x in places(&flight, a) {
                let sample = between.sample(x, a);
                let (distance, normal) = flight.exact(x, a);
                worst = worst.min(sample.gradient.dot(normal));
                let velocity = flight.velocity(a, x - normal * distance);
                worst_velocity = worst_velocity.max(sample.velocity.distance(velocity));
                assert!((sample.distance - between.distance_at(x, a)).abs() < 1e-6);
            }
        }
        println!(
            "least cosine of gradients {worst}, at a frame {own}; velocity {worst_velocity} m/s"
        );
        assert!(worst > 0.95 && worst > own - 0.03, "{worst} {own}");
        // The surface moves at about 4 m/s.
        assert!(worst_velocity < 0.4, "{worst_velocity}");
    }

    #[test]
    fn nothing_and_not_a_number_have_an_answer() {
        let empty = DistanceField::new(&[], &Settings::default()).expect("valid settings");
        let between = LevelSetInTime::new(&empty, &empty, DT);
        assert_eq!(between.distance_at(Vec3::ZERO, 0.5), f32::INFINITY);
        let mesh = TriangleMesh::ellipsoid(RADII, 60, 90);
        let flight = Flight { displacement: Vec3::X, turn: Vec3::ZERO };
        let (start, end) = (flight.field(&mesh, 0.0), flight.field(&mesh, 1.0));
        let between = LevelSetInTime::new(&start, &end, DT);
        assert!(!between.distance_at(Vec3::NAN, 0.5).is_nan());
        assert!(between.sample(Vec3::ZERO, f32::NAN).gradient.is_normalized());
        assert!(between.sample(Vec3::splat(1e9), 0.5).distance > 1.0);
    }
}
