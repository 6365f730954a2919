//! Mass-spring hair of any valid fibre stays finite and at rest, and short segments do not make it softer.

use coif::groom::{Fibre, Groom, Strands};
use coif::math::{Random, RigidTransform};
use coif::model::mass_spring::elastica::heavy_cantilever;
use coif::model::mass_spring::{MassSpring, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::Wind;
use glam::{Quat, Vec3};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Steps hair in still air, without a body, for `frames` of 1/60 s. Returns positions, the largest speed (m/s), and how
/// often a strand was quarantined.
fn run(groom: &Groom, settings: &Settings, frames: usize) -> (Vec<Vec3>, f32, usize) {
    let mut model = MassSpring::new(groom, settings, GRAVITY).expect("a valid model");
    let poses = vec![RigidTransform::IDENTITY; groom.strands.strand_count()];
    let mut report = StepReport::default();
    for _ in 0..frames {
        let env = Environment {
            time: 0.0,
            dt: 1.0 / 60.0,
            gravity: GRAVITY,
            wind: &Wind::default(),
            world_from_rest: &poses,
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut report);
    }
    let mut x = vec![Vec3::ZERO; groom.strands.point_count()];
    let mut v = x.clone();
    model.positions(&mut x);
    model.velocities(&mut v);
    let fastest = v.iter().map(|v| v.length()).fold(0.0, f32::max);
    (x, fastest, report.quarantined.len())
}

/// Straight, bent and curly hair of 2 to 120 points, 1 to 50 cm long, in random directions.
fn hair(fibre: Fibre, mut random: Random) -> Groom {
    let mut strands = Strands::new();
    for s in 0..8 {
        let points = 2 + (random.unit() * random.unit() * 118.99) as usize;
        let length = 0.01 * 50f32.powf(random.unit());
        let turn =
            Quat::from_rotation_z(6.0 * random.unit()) * Quat::from_rotation_x(6.0 * random.unit());
        let bend = [0.0, 2.0, 20.0][s % 3] * random.unit();
        let (mut p, mut line) = (Vec3::ZERO, vec![Vec3::ZERO]);
        for i in 1..points {
            let angle = bend * i as f32 / points as f32;
            let direction = Vec3::new(angle.cos(), 0.3, angle.sin()).normalize();
            p += turn * direction * (length / (points - 1) as f32);
            line.push(p);
        }
        strands.push(&line);
    }
    Groom::new(strands, fibre)
}

fn check(name: &str, groom: &Groom) {
    let (x, fastest, broken) = run(groom, &Settings::default(), 12);
    let rest = groom.strands.positions();
    let mut drift = 0.0f32;
    for s in 0..groom.strands.strand_count() {
        let tip = groom.strands.points_of(s).end - 1;
        drift = drift.max(x[tip].distance(rest[tip]) / groom.strands.length(s));
    }
    println!("{name}: drift {drift:.1e}, {fastest:.1e} m/s, {broken} broken");
    assert_eq!(broken, 0, "{name}");
    assert!(drift < 0.01 && fastest < 0.01, "{name}: {drift} {fastest}");
}

/// Random fibres within the valid ranges of radius, density, both moduli and damping.
#[test]
fn any_valid_fibre_stays_at_rest_with_any_number_of_points() {
    for seed in 0..40 {
        let mut random = Random::new(seed, 0);
        let mut between = |lo: f32, hi: f32| lo * (hi / lo).powf(random.unit());
        let fibre = Fibre {
            radius: between(1e-6, 1e-3),
            density: between(1.0, 2e4),
            young_modulus: between(1e3, 1e12),
            shear_modulus: between(1e3, 1e12),
            damping: between(1e-6, 1.0),
            ..Fibre::default()
        };
        let hair = hair(fibre, random);
        check(&format!("seed {seed}: {fibre:?}"), &hair);
    }
}

/// The corners of the ranges, and two former failures: a light stiff fibre, and hair with segments of half a millimetre.
#[test]
fn the_stiffest_fibres_stay_at_rest() {
    let human = Fibre::default();
    let stiff = Fibre { radius: 1e-3, density: 1.0, young_modulus: 1e12, ..human };
    for (name, fibre) in [
        (
            "light and stiff",
            Fibre { radius: 0.35e-3, young_modulus: 1.1e11, density: 27.0, ..human },
        ),
        ("stiffest", Fibre { shear_modulus: 1e12, ..stiff }),
        ("stiffest, undamped", Fibre { shear_modulus: 1e12, damping: 0.0, ..stiff }),
        ("stiffest, hardly twists", Fibre { shear_modulus: 1e3, damping: 1.0, ..stiff }),
        (
            "softest",
            Fibre { radius: 1e-6, young_modulus: 1e3, shear_modulus: 1e3, density: 2e4, ..human },
        ),
    ] {
        for seed in 0..3 {
            check(name, &hair(fibre, Random::new(seed, 0)));
        }
    }
    let mut strands = Strands::new();
    for s in 0..4 {
        let turn = Quat::from_rotation_z(1.5 * s as f32);
        let line: Vec<Vec3> = (0..100).map(|i| turn * Vec3::X * (0.05 * i as f32 / 99.0)).collect();
        strands.push(&line);
    }
    check("half a millimetre", &Groom::new(strands, human));
}

/// Human hair droops as the elastica for any length of segments: half a millimetre exceeds single precision, and must not
/// make hair softer. Tolerance: that of 40 segments of 10 cm in `physics_mass_spring.rs`.
#[test]
fn short_segments_do_not_make_hair_softer() {
    let fibre = Fibre::default();
    let bending = fibre.young_modulus * std::f32::consts::FRAC_PI_4 * fibre.radius.powi(4);
    let length = 0.05;
    let weight = fibre.mass_per_length(fibre.radius) * 9.81 * length * length * length / bending;
    let truth = *heavy_cantilever(weight.into(), 40).last().expect("points");
    let truth = Vec3::new(truth[0] as f32, truth[1] as f32, 0.0) * length;
    let settings = Settings { hold_shape: false, damping: 25.0.into(), ..Settings::default() };
    for segments in [25, 100, 200] {
        let mut strands = Strands::new();
        let at = |i: usize| Vec3::X * (length * i as f32 / segments as f32);
        strands.push(&(0..=segments).map(at).collect::<Vec<_>>());
        let (x, _, broken) = run(&Groom::new(strands, fibre), &settings, 60);
        let error = x[segments].distance(truth) / length;
        println!("{segments} segments: {} for {truth}, error {error:.4}", x[segments]);
        assert!(error < 0.015 && broken == 0, "{segments}: {error}");
    }
}
