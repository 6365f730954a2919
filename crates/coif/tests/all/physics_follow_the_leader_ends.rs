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
    points: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

impl Strand {
    fn new(line: &[Vec3], settings: &Settings, dt: f32) -> Self {
        let mut strands = Strands::new();
        strands.push(line);
        let groom = Groom::new(strands, Fibre::default());
        let model = FollowTheLeader::new(&groom, settings, dt, GRAVITY).expect("valid");
        Self { model, dt, points: line.to_vec(), velocities: vec![Vec3::ZERO; line.len()] }
    }

    fn step(&mut self, root: RigidTransform) {
        let env = Environment {
            time: 0.0,
            dt: self.dt,
            gravity: GRAVITY,
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
    let settings = Settings { ends: Ends::Free, ..Settings::limp() };
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

#[test]
fn both_pinned_ends_stay_in_place() {
    for ends in [Ends::Both, Ends::BothEvenly] {
        let line: Vec<Vec3> = (0..30)
            .map(|i| {
                let t = i as f32 / 29.0;
                Vec3::new(0.2 * t, -0.3 * t * (1.0 - t), 0.0)
            })
            .collect();
        let settings = Settings { ends, damping: 2.0.into(), ..Settings::limp() };
        let mut strand = Strand::new(&line, &settings, 1.0 / 240.0);
        for i in 1..=240 {
            let root = shake(i as f32 / 240.0);
            strand.step(root);
            for end in [0, 29] {
                let off = strand.points[end].distance(root.point(line[end]));
                assert!(off < 1e-5, "{ends:?}: end {end} is off by {off} m");
            }
        }
        let stretch = strand.stretch(&line);
        println!("{ends:?}: stretch {stretch} (0.02)");
        assert!(stretch < 0.02, "{stretch}");
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
