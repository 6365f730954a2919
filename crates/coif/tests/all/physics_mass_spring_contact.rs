//! Springs between hairs: the linear solve that couples strands.

use coif::contact::{ContactForce, ContactSpring, HairContact};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::mass_spring::{MassSpring, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::{Wind, hash_positions};
use glam::{Quat, Vec3};

/// Permanent springs.
struct Ties(Vec<ContactSpring>);

impl HairContact for Ties {
    fn arrange(&mut self, order: &[u32]) {
        let at = |p: u32| order.iter().position(|&q| q == p).expect("a point") as u32;
        self.0.iter_mut().for_each(|spring| spring.segments = spring.segments.map(at));
    }
    fn find(&mut self, _: &[Vec3], _: &[Vec3], _: f32) {}
    fn springs(&self) -> &[ContactSpring] {
        &self.0
    }
    fn forces(&self, _: &[Vec3], _: &[Vec3], _: &mut Vec<ContactForce>) {}
    fn repel(&mut self, _: &[Vec3], _: &mut [Vec3], _: f32) {}
    fn collide(&mut self, _: &[Vec3], _: &mut [Vec3], _: &mut [Vec3], _: f32) {}
    fn collide_again(&mut self, _: &[Vec3], _: &mut [Vec3], _: &[bool], _: f32) {}
    fn reset(&mut self) {}
    fn save(&self, _: &mut Vec<u8>) {}
    fn restore<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        Some(bytes)
    }
}

/// A spring from the end of a segment to the start of another.
fn tie(a: u32, b: u32, rest: f32, stiffness: f32) -> ContactSpring {
    ContactSpring { segments: [a, b], at: [1.0, 0.0], rest, stiffness, damping: 0.0 }
}

fn step(model: &mut MassSpring, dt: f32, gravity: Vec3, poses: &[RigidTransform]) -> StepReport {
    let mut report = StepReport::default();
    let env = Environment {
        time: 0.0,
        dt,
        gravity,
        wind: &Wind::default(),
        world_from_rest: poses,
        colliders: &[],
        field: None,
        gusts: Default::default(),
        pins: Default::default(),
    };
    model.step(&env, &mut report);
    assert!(report.quarantined.is_empty());
    report
}

/// Deflection of the tip of a beam by a spring to a pinned point: `F = k (d - y)`, `y = F L^3 / (3 EI)`.
#[test]
fn a_spring_deflects_a_hair_as_a_beam() {
    let fibre = Fibre::default();
    let (length, segments, far) = (0.1f32, 20u32, 2e-3f32);
    let line = |z: f32| {
        (0..=segments).map(move |i| Vec3::new(length * i as f32 / segments as f32, 0.0, z))
    };
    let mut strands = Strands::new();
    strands.push(&line(0.0).collect::<Vec<_>>());
    // A second hair over the tip of the first; its first two points are pinned.
    let post: Vec<Vec3> =
        (0..4).map(|i| Vec3::new(length, far, 0.0) + Vec3::Y * 0.01 * i as f32).collect();
    strands.push(&post);
    let groom = Groom::new(strands, fibre);
    let beam = 3.0 * fibre.young_modulus * std::f32::consts::FRAC_PI_4 * fibre.radius.powi(4)
        / length.powi(3);
    let settings = Settings {
        damping: 25.0.into(),
        shortest_substep: 4e-3,
        longest_substep: 4e-3,
        ..Settings::default()
    };
    for stiffness in [0.3 * beam, beam, 10.0 * beam, 1e5 * beam] {
        let mut model = MassSpring::new(&groom, &settings, Vec3::ZERO).expect("a valid model");
        model.set_contact(Some(Box::new(Ties(vec![tie(
            segments - 1,
            segments + 1,
            0.0,
            stiffness,
        )]))));
        let mut max_iterations = 0;
        for _ in 0..700 {
            let report = step(&mut model, 4e-3, Vec3::ZERO, &[RigidTransform::IDENTITY; 2]);
            max_iterations = max_iterations.max(report.solve.iterations);
        }
        let mut now = vec![Vec3::ZERO; groom.strands.point_count()];
        model.positions(&mut now);
        let (found, truth) = (now[segments as usize].y, far * stiffness / (stiffness + beam));
        println!("{:e} N/m: {found:e} for {truth:e}, {max_iterations} iterations", stiffness);
        assert!((found / truth - 1.0).abs() < 0.03, "{found} {truth}");
        assert!(max_iterations <= 3, "one spring adds one dimension to the Krylov space");
    }
}

/// Hairs with springs to their neighbours, on shaking roots: hash of the positions, largest number of iterations, and
/// largest residual.
fn net(threads: usize) -> (u64, u32, f64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let (count, points) = (40u32, 12u32);
        let mut strands = Strands::new();
        for s in 0..count {
            let root = Vec3::new(0.002 * s as f32, 0.0, 0.0);
            let line = (0..points).map(|i| root + Vec3::NEG_Y * 0.006 * i as f32);
            strands.push(&line.collect::<Vec<_>>());
        }
        let groom = Groom::new(strands, Fibre::default());
        let gravity = Vec3::NEG_Y * 9.81;
        let mut springs = Vec::new();
        for s in 0..count - 1 {
            for i in (2..points - 1).step_by(2) {
                let (a, b) = (s * points + i, (s + 1) * points + i);
                springs.push(ContactSpring {
                    segments: [a, b],
                    at: [0.4, 0.4],
                    rest: 0.002,
                    stiffness: 1.0,
                    damping: 1e-5,
                });
            }
        }
        let settings = Settings { tolerance: 1e-4, ..Settings::default() };
        let mut model = MassSpring::new(&groom, &settings, gravity).expect("valid");
        model.set_contact(Some(Box::new(Ties(springs))));
        let (mut max_iterations, mut worst) = (0, 0.0f64);
        for k in 0..60 {
            let swing = 1.0 - (k as f32 * 0.1).cos();
            let rotation = Quat::from_rotation_y(0.5 * swing);
            let pose = RigidTransform { rotation, translation: Vec3::Z * (0.03 * swing) };
            let report = step(&mut model, 1.0 / 240.0, gravity, &vec![pose; count as usize]);
            max_iterations = max_iterations.max(report.solve.iterations);
            worst = worst.max(report.solve.residual);
        }
        let mut now = vec![Vec3::ZERO; groom.strands.point_count()];
        model.positions(&mut now);
        (hash_positions(&now), max_iterations, worst)
    })
}

#[test]
fn a_net_of_hair_is_solved_with_the_same_bits_for_any_number_of_threads() {
    let (hash, iterations, residual) = net(1);
    println!("{iterations} iterations, residual {residual:e}");
    assert!(iterations < 50 && residual <= 1e-4, "{iterations} {residual}");
    for threads in [2, 3] {
        assert_eq!(net(threads).0, hash, "{threads} threads");
    }
}
