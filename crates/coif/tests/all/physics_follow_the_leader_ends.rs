//! Follow-The-Leader pinned at its root, at both ends or at none; the bending limit; and style, whose motion depends little
//! on the number of points and on the step.

use coif::contact::Lender;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::follow_the_leader::{Ends, FollowTheLeader, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::Wind;
use glam::{Quat, Vec3};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// One strand, simulated.
struct Strand {
    model: FollowTheLeader,
    dt: f32,
    gravity: Vec3,
    points: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

impl Strand {
    fn new(line: &[Vec3], settings: &Settings, dt: f32) -> Self {
        let mut strands = Strands::new();
        strands.push(line);
        let groom = Groom::new(strands, Fibre::default());
        let model = FollowTheLeader::new(&groom, settings, dt, GRAVITY).expect("valid");
        let velocities = vec![Vec3::ZERO; line.len()];
        Self { model, dt, gravity: GRAVITY, points: line.to_vec(), velocities }
    }

    /// Sets the velocity of a point. The first lane has its row of 48 numbers.
    fn set_velocity(&mut self, i: usize, v: Vec3) {
        let samples = self.model.lend();
        for (k, v) in v.to_array().into_iter().enumerate() {
            samples.velocity[i * 48 + 16 * k] = v;
        }
    }

    fn step(&mut self, root: RigidTransform) {
        let env = Environment {
            time: 0.0,
            dt: self.dt,
            gravity: self.gravity,
            wind: &Wind::default(),
            world_from_rest: &[root],
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        self.model.step(&env, &mut StepReport::default());
        self.model.positions(&mut self.points);
        self.model.velocities(&mut self.velocities);
    }

    fn stretch(&self, rest: &[Vec3]) -> f32 {
        let length = |line: &[Vec3], i: usize| line[i].distance(line[i - 1]);
        (1..rest.len())
            .map(|i| (length(&self.points, i) / length(rest, i) - 1.0).abs())
            .fold(0.0, f32::max)
    }
}

fn straight(points: usize, step: Vec3) -> Vec<Vec3> {
    (0..points).map(|i| step * i as f32).collect()
}

fn shake(time: f32) -> RigidTransform {
    let angle = 1.2 * (time * 15.0).sin();
    RigidTransform::about(Vec3::new(-0.08, 0.0, 0.0), Quat::from_rotation_z(angle))
}

#[test]
fn an_unpinned_strand_falls_freely_and_keeps_its_length() {
    let line: Vec<Vec3> = (0..25)
        .map(|i| Vec3::new(0.01 * i as f32, 0.02 * (i as f32 * 0.7).sin(), 0.003 * i as f32))
        .collect();
    for backward in [true, false] {
        let settings = Settings { ends: Ends::Free, backward, ..Settings::limp() };
        let dt = 1.0 / 240.0;
        let mut strand = Strand::new(&line, &settings, dt);
        let centre = |points: &[Vec3]| {
            let (mut sum, mut mass) = (Vec3::ZERO, 0.0);
            for i in 1..points.len() {
                let length = line[i].distance(line[i - 1]);
                sum += (points[i] + points[i - 1]) * (0.5 * length);
                mass += length;
            }
            sum / mass
        };
        for _ in 0..120 {
            strand.step(RigidTransform::IDENTITY);
        }
        // Symplectic Euler falls by g dt^2 n (n + 1) / 2.
        let fallen = GRAVITY * (dt * dt * 120.0 * 121.0 / 2.0);
        let off = (centre(&strand.points) - centre(&line)).distance(fallen);
        println!("centre off by {off} m (1e-4), stretch {} (2e-5)", strand.stretch(&line));
        assert!(off < 1e-4, "{off}");
        assert!(strand.stretch(&line) < 2e-5, "{}", strand.stretch(&line));
    }
}

/// Mass, momentum, angular momentum about the centre of mass, and kinetic energy of a strand of even mass, per mass of
/// length; positions and velocities are those of one time.
fn momenta(rest: &[Vec3], x: &[Vec3], v: &[Vec3]) -> (Vec3, Vec3, f32) {
    let mass = |i: usize| {
        let length =
            |i: usize| if i > 0 && i < rest.len() { rest[i].distance(rest[i - 1]) } else { 0.0 };
        0.5 * (length(i) + length(i + 1))
    };
    let total: f32 = (0..x.len()).map(mass).sum();
    let centre = (0..x.len()).map(|i| x[i] * mass(i)).sum::<Vec3>() / total;
    let momentum = (0..x.len()).map(|i| v[i] * mass(i)).sum::<Vec3>();
    let spin = (0..x.len()).map(|i| (x[i] - centre).cross(v[i]) * mass(i)).sum();
    let energy = (0..x.len()).map(|i| 0.5 * v[i].length_squared() * mass(i)).sum();
    (momentum, spin, energy)
}

/// A free strand that is thrown with a spin goes on with its momentum, gains hardly any energy and keeps its lengths, for any
/// step and with a style or without. What it loses of its angular momentum is of first order in the step: a step that is four times
/// shorter loses less than 0.6 as much (first order: 0.25).
#[test]
fn a_free_strand_that_is_thrown_keeps_its_momentum() {
    let curl: Vec<Vec3> = (0..30)
        .map(|i| i as f32 * 0.5)
        .map(|a| Vec3::new(0.012 * a.cos(), -0.01 * a, 0.012 * a.sin()))
        .collect();
    let arc: Vec<Vec3> = (0..20)
        .map(|i| i as f32 * 0.06)
        .map(|a| Vec3::new(0.15 * a.sin(), 0.15 * a.cos(), 0.0))
        .collect();
    for (name, line) in
        [("curl", &curl), ("arc", &arc), ("straight", &straight(20, Vec3::X * 0.01))]
    {
        let mut lost = 0.0;
        for (styled, rate) in [(true, 240.0), (true, 960.0), (false, 240.0), (false, 960.0)] {
            let base = if styled { Settings::default() } else { Settings::limp() };
            let settings = Settings {
                ends: Ends::Free,
                correction: 1.0.into(),
                damping: 0.0.into(),
                bend_limit: 0.0,
                ..base
            };
            let dt = 1.0 / rate;
            let mut strand = Strand::new(line, &settings, dt);
            strand.gravity = Vec3::ZERO;
            let velocity = |p: Vec3| {
                Vec3::new(0.3, 1.0, -0.2) + Vec3::new(1.0, 4.0, 2.0).cross(p - line[line.len() / 2])
            };
            for (i, p) in line.iter().enumerate() {
                strand.set_velocity(i, velocity(*p));
            }
            let thrown: Vec<Vec3> = line.iter().map(|p| velocity(*p)).collect();
            let (p0, l0, e0) = momenta(line, line, &thrown);
            let (mut most, mut stretch) = (e0, 0.0f32);
            for _ in 0..rate as usize {
                strand.step(RigidTransform::IDENTITY);
                stretch = stretch.max(strand.stretch(line));
                most = most.max(momenta(line, &strand.points, &strand.velocities).2);
            }
            let (p1, l1, e1) = momenta(line, &strand.points, &strand.velocities);
            let (dp, dl) = ((p1 - p0).length() / p0.length(), (l1 - l0).length() / l0.length());
            println!(
                "{name} styled {styled} {rate} Hz: momentum off by {dp:.1e}, angular by {dl:.1e}, energy {:.4} (largest \
                 {:.4}), stretch {stretch:.1e}",
                e1 / e0,
                most / e0
            );
            assert!(stretch < 1e-5, "{stretch}");
            // First order in the step: the projection moves points by the square of their rotation in it, 4.6 rad/s.
            assert!(dp < 0.3 * 4.6 * dt, "{name} {styled} {rate}: momentum {dp}");
            if rate > 240.0 {
                assert!(dl < 0.6 * lost + 1e-3, "{name} {styled}: angular momentum {lost}, {dl}");
            }
            lost = dl;
            // The bound of curls in the energy tests of the model.
            assert!(most < e0 * 1.02, "{name} {styled} {rate}: energy {most} {e0}");
        }
    }
}

#[test]
fn both_pinned_ends_stay_in_place() {
    for (ends, backward) in [
        (Ends::Both, true),
        (Ends::BothEvenly, true),
        (Ends::Both, false),
        (Ends::BothEvenly, false),
    ] {
        let line: Vec<Vec3> = (0..30)
            .map(|i| {
                let t = i as f32 / 29.0;
                Vec3::new(0.2 * t, -0.3 * t * (1.0 - t), 0.0)
            })
            .collect();
        let settings = Settings { ends, backward, damping: 2.0.into(), ..Settings::limp() };
        let mut strand = Strand::new(&line, &settings, 1.0 / 240.0);
        let mut stretch = 0.0f32;
        for i in 1..=240 {
            let root = shake(i as f32 / 240.0);
            strand.step(root);
            for end in [0, 29] {
                let off = strand.points[end].distance(root.point(line[end]));
                assert!(off < 1e-5, "{ends:?}: end {end} is off by {off} m");
            }
            stretch =
                if backward { stretch.max(strand.stretch(&line)) } else { strand.stretch(&line) };
        }
        // Averages of the two passes of the paper keep lengths only approximately.
        let tolerance = if backward { 1e-5 } else { 0.02 };
        println!("{ends:?}, implicit {backward}: stretch {stretch} ({tolerance})");
        assert!(stretch < tolerance, "{stretch}");
    }
}

#[test]
fn the_backward_pass_keeps_lengths_and_root() {
    let line = straight(30, Vec3::NEG_Y * 0.01);
    let settings = Settings { backward: true, ..Settings::limp() };
    let mut strand = Strand::new(&line, &settings, 1.0 / 240.0);
    let mut largest = 0.0f32;
    for i in 1..=480 {
        let root = shake(i as f32 / 240.0);
        strand.step(root);
        assert!(strand.points[0].distance(root.point(line[0])) < 1e-6);
        largest = largest.max(strand.stretch(&line));
    }
    println!("stretch {largest} (2e-5)");
    assert!(largest < 2e-5, "{largest}");
}

/// An impulse at the tip propagates far along the strand within two steps only with the backward pass.
#[test]
fn the_backward_pass_propagates_an_impulse_at_once() {
    let after_two_steps = |backward: bool, blow: f32| {
        let line: Vec<Vec3> = (0..20)
            .map(|i| i as f32 * 0.06)
            .map(|a| Vec3::new(0.15 * a.sin(), 0.15 * a.cos() - 0.15, 0.0))
            .collect();
        let settings = Settings { backward, ..Settings::limp() };
        let mut strand = Strand::new(&line, &settings, 1.0 / 240.0);
        let samples = strand.model.lend();
        // The tip of the first lane is in row 19 of rows of 48 numbers.
        samples.velocity[19 * 48 + 16] -= blow;
        for _ in 0..2 {
            strand.step(RigidTransform::IDENTITY);
        }
        strand.points[12]
    };
    let moved = |backward| after_two_steps(backward, 20.0).distance(after_two_steps(backward, 0.0));
    println!("moved by {} m with, {} m without", moved(true), moved(false));
    assert_eq!(moved(false), 0.0);
    assert!(moved(true) > 1e-5, "{}", moved(true));
}

/// `phi_min = pi - 2 acos(s_b)`: the smallest angle between two segments.
#[test]
fn the_bending_limit_keeps_its_angle() {
    let sharpest = |bend_limit: f32| {
        let line = straight(20, Vec3::NEG_Y * 0.01);
        let settings = Settings { bend_limit, damping: 1.0.into(), ..Settings::limp() };
        let mut strand = Strand::new(&line, &settings, 1.0 / 240.0);
        let mut sharpest = std::f32::consts::PI;
        for i in 1..=720 {
            strand.step(shake(i as f32 / 240.0));
            for w in strand.points.windows(3) {
                sharpest = sharpest.min((w[0] - w[1]).angle_between(w[2] - w[1]));
            }
        }
        sharpest
    };
    let free = sharpest(0.0);
    for limit in [0.7f32, 0.9, 0.97] {
        let min_angle = std::f32::consts::PI - 2.0 * limit.acos();
        let found = sharpest(limit);
        println!("limit {limit}: {found} rad, at least {min_angle}; free {free}");
        assert!(
            found > min_angle - 2e-3,
            "limit {limit}: {found} rad where {min_angle} are allowed"
        );
        assert!(free < min_angle, "the motion does not test the limit");
    }
}

/// Positions of the tip of a styled strand relative to its root at rest, in lengths of the strand, 60 times a second.
fn tip_path(shape: impl Fn(f32) -> Vec3, points: usize, steps_per_second: u32) -> Vec<Vec3> {
    // Equal segments along the curve.
    let fine: Vec<Vec3> = (0..=4000).map(|i| shape(i as f32 / 4000.0)).collect();
    let total: f32 = fine.windows(2).map(|w| w[0].distance(w[1])).sum();
    let mut line = vec![fine[0]];
    let mut done = 0.0;
    for w in fine.windows(2) {
        done += w[0].distance(w[1]);
        if done >= total * line.len() as f32 / (points - 1) as f32 && line.len() < points - 1 {
            line.push(w[1]);
        }
    }
    line.push(fine[4000]);
    let dt = 1.0 / steps_per_second as f32;
    let mut strand = Strand::new(&line, &Settings::default(), dt);
    let mut path = Vec::new();
    for i in 1..=(2 * steps_per_second) {
        let time = i as f32 * dt;
        // Turn the head from side to side, and nod.
        let turn = 0.5 * (1.0 - (time * 6.0).cos()) * (time * 3.0).sin();
        let bow = 0.2 * (1.0 - (time * 4.4).cos());
        let rotation = Quat::from_rotation_x(bow) * Quat::from_rotation_y(turn);
        strand.step(RigidTransform::about(Vec3::new(-0.09, 0.0, 0.0), rotation));
        if i % (steps_per_second / 60) == 0 {
            path.push((strand.points[points - 1] - line[0]) / total);
        }
    }
    path
}

#[test]
fn style_depends_little_on_points_and_steps() {
    let arc = |t: f32| {
        let bend = |s: f32| std::f32::consts::FRAC_PI_2 * (1.0 - (-4.0 * s).exp());
        (0..200).fold(Vec3::ZERO, |p, k| {
            let s = bend(t * k as f32 / 200.0);
            p + Vec3::new(s.cos(), -s.sin(), 0.0) * (0.3 * t / 200.0)
        })
    };
    let curl = |t: f32| {
        let a = t * 25.0;
        Vec3::new(0.015 * a.cos(), -0.25 * t, 0.015 * a.sin())
    };
    let short = |t: f32| Vec3::new(0.03 * t, 0.05 * t - 0.02 * t * t, 0.0);
    for (name, shape) in [("arc", &arc as &dyn Fn(f32) -> Vec3), ("curl", &curl), ("short", &short)]
    {
        let reference = tip_path(shape, 60, 240);
        let span = reference.iter().map(|p| p.distance(reference[0])).fold(0.0, f32::max);
        for (points, steps) in [(30, 240), (15, 240), (60, 60), (30, 60), (15, 60), (60, 480)] {
            let path = tip_path(shape, points, steps);
            let sum: f32 = path.iter().zip(&reference).map(|(a, b)| a.distance_squared(*b)).sum();
            let rms = (sum / path.len() as f32).sqrt();
            println!("{name} {points} points {steps} Hz: {rms} of the length off, of {span} moved");
            assert!(rms < 0.06, "{name}, {points} points, {steps} Hz: {rms}");
        }
        assert!(span > 0.2, "{name} hardly moves: {span}");
    }
}
