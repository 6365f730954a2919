//! The mass-spring model against analytic results and the limits that it documents.

use crate::scene::{RADIUS, Shake, groom};
use coif::body::{Motion, MovingCollider, Shape};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::{Random, RigidTransform};
use coif::model::mass_spring::elastica::heavy_cantilever;
use coif::model::mass_spring::{FarEnd, MassSpring, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::Wind;
use glam::{Quat, Vec3};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn lines(all: &[Vec<Vec3>]) -> Groom {
    let mut strands = Strands::new();
    all.iter().for_each(|line| strands.push(line));
    Groom::new(strands, Fibre::default())
}

fn horizontal(segments: usize, length: f32) -> Vec<Vec3> {
    (0..=segments).map(|i| Vec3::X * (length * i as f32 / segments as f32)).collect()
}

/// Hair that is stepped without a body.
struct Run {
    model: MassSpring,
    poses: Vec<RigidTransform>,
    colliders: Vec<MovingCollider>,
    report: StepReport,
    points: usize,
    gravity: Vec3,
}

impl Run {
    fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Self {
        Self {
            model: MassSpring::new(groom, settings, gravity).expect("a valid model"),
            poses: vec![RigidTransform::IDENTITY; groom.strands.strand_count()],
            colliders: Vec::new(),
            report: StepReport::default(),
            points: groom.strands.point_count(),
            gravity,
        }
    }

    fn step(&mut self, dt: f32) {
        let env = Environment {
            time: 0.0,
            dt,
            gravity: self.gravity,
            wind: &Wind::default(),
            world_from_rest: &self.poses,
            colliders: &self.colliders,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        self.model.step(&env, &mut self.report);
        assert!(self.report.quarantined.is_empty());
    }

    fn positions(&self) -> Vec<Vec3> {
        let mut out = vec![Vec3::ZERO; self.points];
        self.model.positions(&mut out);
        out
    }
}

fn longest_stretch(groom: &Groom, now: &[Vec3]) -> f32 {
    let mut worst = 0.0f32;
    for s in 0..groom.strands.strand_count() {
        for p in groom.strands.points_of(s).skip(1) {
            let rest = groom.strands.positions()[p].distance(groom.strands.positions()[p - 1]);
            worst = worst.max((now[p].distance(now[p - 1]) / rest - 1.0).abs());
        }
    }
    worst
}

/// A horizontal hair droops under its weight as the elastica of a heavy rod: `q L^3 / EI` of 10 cm of human hair is about
/// 8. Springs get softer where a joint bends by more than half a radian, so the curve requires segments of 5 mm.
#[test]
fn heavy_hair_droops_as_the_elastica() {
    let fibre = Fibre::default();
    let (length, dt) = (0.1, 4e-3);
    let bending = fibre.young_modulus * std::f32::consts::FRAC_PI_4 * fibre.radius.powi(4);
    let weight = fibre.mass_per_length(fibre.radius) * 9.81 * length * length * length / bending;
    let truth = *heavy_cantilever(weight.into(), 40).last().expect("points");
    let truth = Vec3::new(truth[0] as f32, truth[1] as f32, 0.0) * length;
    for (segments, tolerance) in [(10, 0.2), (20, 0.06), (40, 0.015)] {
        let groom = lines(&[horizontal(segments, length)]);
        let settings = Settings {
            hold_shape: false,
            damping: 25.0.into(),
            longest_substep: dt,
            shortest_substep: dt,
            ..Settings::default()
        };
        let mut run = Run::new(&groom, &settings, GRAVITY);
        (0..600).for_each(|_| run.step(dt));
        let tip = run.positions()[segments];
        let error = tip.distance(truth) / length;
        println!("{segments} segments: {tip} for {truth}, error {error:.4}");
        assert!(error < tolerance, "{segments}: {tip} {truth}");
    }
}

/// The groom is the equilibrium under gravity: straight, curved and curly hair in all directions stays at rest.
#[test]
fn the_groom_holds_its_shape() {
    let hair = groom(60, |s| 4 + s % 17);
    let curl = |s: usize| -> Vec<Vec3> {
        let turn = move |t: f32| Vec3::new(t.cos() - 1.0, -0.15 * t, t.sin()) * 0.008;
        let lean = Quat::from_rotation_z(s as f32);
        (0..40).map(|i| lean * turn(0.6 * i as f32)).collect()
    };
    let curly = lines(&(0..7).map(curl).collect::<Vec<_>>());
    for groom in [hair, curly] {
        let mut run = Run::new(&groom, &Settings::default(), GRAVITY);
        for _ in 0..240 {
            run.step(1.0 / 240.0);
        }
        let now = run.positions();
        let moved = now.iter().zip(groom.strands.positions()).map(|(a, b)| a.distance(*b));
        let worst = moved.fold(0.0, f32::max);
        println!("moved {worst:e} m in a second");
        assert!(worst < 2e-4, "{worst}");
    }
}

/// On a head that shakes hard lengths stay within little more than the strain limit, with a number of substeps that adapts
/// to the motion.
#[test]
fn lengths_stay_within_the_limit() {
    let hair = groom(100, |s| 5 + s % 20);
    let settings = Settings::default();
    let mut run = Run::new(&hair, &settings, GRAVITY);
    let (mut worst, mut substeps) = (0.0f32, 0);
    for step in 0..240 {
        let swing = 1.0 - (step as f32 * 9.0 / 240.0).cos();
        let pose = RigidTransform {
            rotation: Quat::from_rotation_y(0.8 * swing),
            translation: Vec3::Y * (0.05 * swing),
        };
        run.poses.fill(pose);
        run.step(1.0 / 240.0);
        worst = worst.max(longest_stretch(&hair, &run.positions()));
        substeps = substeps.max(run.report.substeps);
    }
    println!("stretch {worst}, substeps {substeps}");
    assert!(worst < 0.015, "{worst}");
    assert!((4..=21).contains(&substeps), "{substeps}");
}

/// Hair on a ball that shakes stays out of it, from the third point on: two are pinned.
#[test]
fn hair_stays_out_of_the_body() {
    let hair = groom(60, |s| 5 + s % 20);
    let mut run = Run::new(&hair, &Settings::default(), GRAVITY);
    let (motion, dt) = (Shake { angle: 0.8, height: 0.05 }, 1.0 / 240.0);
    let mut deepest = 0.0f32;
    for step in 0..240 {
        let pose = |step: i32| motion.world_from_rest(0, f64::from(step) * f64::from(dt));
        let (start, end) = (pose(step), pose(step + 1));
        run.poses.fill(end);
        let shape = Shape::Sphere { radius: RADIUS };
        run.colliders = vec![MovingCollider { shape, friction: 0.3, start, end }];
        run.step(dt);
        let now = run.positions();
        for s in 0..hair.strands.strand_count() {
            for p in hair.strands.points_of(s).skip(2) {
                deepest = deepest.max(run.colliders[0].depth_at(now[p]));
            }
        }
    }
    println!("deepest {deepest}");
    assert!(deepest < 1e-5, "{deepest}");
    assert_eq!(run.report.unresolved, 0);
}

/// Coulomb friction: a hair across a slope sticks where friction exceeds the tangent of the slope, and slides without
/// friction.
#[test]
fn friction_holds_hair_on_a_slope() {
    let slid = |friction: f32| {
        // The tip of a long, soft hair is almost free.
        let line: Vec<Vec3> = (0..=30).map(|i| Vec3::new(0.01 * i as f32, 1e-5, 0.0)).collect();
        let groom = lines(&[line]);
        let settings = Settings { hold_shape: false, damping: 0.0.into(), ..Settings::default() };
        let slope = Quat::from_rotation_x(0.3);
        let gravity = slope * GRAVITY;
        let mut run = Run::new(&groom, &settings, gravity);
        let plane = RigidTransform::IDENTITY;
        run.colliders =
            vec![MovingCollider { shape: Shape::Plane, friction, start: plane, end: plane }];
        (0..60).for_each(|_| run.step(1.0 / 240.0));
        let tip = run.positions()[30];
        assert!(tip.y > -1e-5 && tip.y < 1e-3, "{tip}");
        tip.z.abs()
    };
    let (with_friction, frictionless) = (slid(0.5), slid(0.0));
    println!("slid {with_friction} with friction, {frictionless} without");
    assert!(with_friction < 1e-4 && frictionless > 0.01, "{with_friction} {frictionless}");
}

fn both_ends(far_end: FarEnd) -> Settings {
    Settings {
        hold_tips: true,
        far_end,
        hold_shape: false,
        damping: 10.0.into(),
        ..Settings::default()
    }
}

/// `selle2008` figure 10 (a): a straight hair whose ends approach each other buckles out to one side.
#[test]
fn a_hair_whose_ends_approach_buckles() {
    let groom = lines(&[horizontal(24, 0.12)]);
    let far_end = FarEnd { approach: 0.1, until: 0.5, ..FarEnd::default() };
    let mut run = Run::new(&groom, &both_ends(far_end), Vec3::new(0.0, -0.2, 0.0));
    (0..240).for_each(|_| run.step(1.0 / 240.0));
    let x = run.positions();
    let aside = x.iter().map(|p| p.y.hypot(p.z)).fold(0.0, f32::max);
    println!("ends {} apart, {aside} aside", x[24].distance(x[0]));
    assert!((x[24].distance(x[0]) - 0.07).abs() < 1e-3);
    // An arc of 12 cm over a chord of 7 cm rises by about 4 cm.
    assert!(aside > 0.03 && aside < 0.055, "{aside}");
    assert!(longest_stretch(&groom, &x) < 0.012);
}

/// `selle2008` figure 10 (b): a hair that is twisted while its ends approach forms a loop: points that are far apart along
/// it come near each other. Without twist they do not. (A ring of this hair is unstable above a twist of
/// `2 pi sqrt(3) EI / GJ`, 14 rad. Without contact between hairs it then passes through itself and loses two turns.)
#[test]
fn a_twisted_hair_forms_a_loop() {
    let nearest = |twist: f32| {
        let mut groom = lines(&[horizontal(40, 0.12)]);
        groom.fibre.shear_modulus = 1.5e9;
        let far_end = FarEnd { approach: 0.05, twist, until: 1.0, ..FarEnd::default() };
        let mut run = Run::new(&groom, &both_ends(far_end), Vec3::new(0.0, -0.1, 0.0));
        let mut nearest = f32::INFINITY;
        for _ in 0..1440 {
            run.step(1.0 / 960.0);
            let x = run.positions();
            for i in 0..x.len() {
                for j in i + 10..x.len() {
                    nearest = nearest.min(x[i].distance(x[j]));
                }
            }
        }
        assert!(longest_stretch(&groom, &run.positions()) < 0.02);
        nearest
    };
    let (straight, twisted) = (nearest(0.0), nearest(25.0));
    println!("nearest {straight} untwisted, {twisted} twisted");
    assert!(twisted < 0.3 * straight, "{twisted} {straight}");
}

/// `selle2008` figure 10 (d): a curl that was stretched and released recovers.
#[test]
fn a_stretched_curl_springs_back() {
    let turn = |t: f32| Vec3::new(0.008 * t.cos(), -0.0012 * t, 0.008 * t.sin());
    let line: Vec<Vec3> = (0..50).map(|i| turn(0.62 * i as f32)).collect();
    let groom = lines(std::slice::from_ref(&line));
    let far_end = FarEnd { approach: -0.1, until: 0.4, release: true, ..FarEnd::default() };
    let mut run = Run::new(&groom, &both_ends(far_end), Vec3::ZERO);
    let chord = |x: &[Vec3]| x[49].distance(x[0]);
    (0..96).for_each(|_| run.step(1.0 / 240.0));
    let long = chord(&run.positions());
    assert!((long - chord(&line) - 0.04).abs() < 2e-3, "{long}");
    (0..360).for_each(|_| run.step(1.0 / 240.0));
    let x = run.positions();
    let worst = x.iter().zip(&line).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    println!("{} long at rest, {long} pulled, {} after", chord(&line), chord(&x));
    assert!((chord(&x) - chord(&line)).abs() < 2e-3 && worst < 3e-3, "{worst}");
}

#[test]
fn invalid_settings_are_refused_by_name() {
    let groom = lines(&[horizontal(5, 0.1)]);
    for (settings, name) in [
        (Settings { strain_limit: 1.5, ..Settings::default() }, "strain_limit"),
        (Settings { longest_substep: 0.0, ..Settings::default() }, "longest_substep"),
        (Settings { damping: f32::NAN.into(), ..Settings::default() }, "damping"),
    ] {
        let message =
            MassSpring::new(&groom, &settings, GRAVITY).err().expect("refused").to_string();
        assert!(message.contains(name), "{message}");
    }
}

/// With random poses of the roots in every step, within half a metre and half a turn, hair stays finite and keeps its
/// lengths within 2 %.
#[test]
fn random_poses_in_every_step_keep_hair_intact() {
    let hair = groom(60, |s| 2 + s % 25);
    let mut run = Run::new(&hair, &Settings::default(), GRAVITY);
    for step in 0..60u64 {
        let mut random = Random::new(step, 0);
        let [x, y] = [3.0 * random.signed(), 3.0 * random.signed()];
        run.poses.fill(RigidTransform {
            rotation: Quat::from_rotation_x(x) * Quat::from_rotation_y(y),
            translation: 0.5 * random.vector(),
        });
        run.step(1.0 / 240.0);
        let now = run.positions();
        assert!(now.iter().all(|p| p.is_finite()));
        assert!(longest_stretch(&hair, &now) < 0.02, "{}", longest_stretch(&hair, &now));
    }
    // The shortest substep limits the number of substeps.
    assert_eq!(run.report.substeps, 20);
}

/// Wind deflects hair downwind until weight and stiffness balance the drag.
#[test]
fn wind_deflects_hair_downwind() {
    let line: Vec<Vec3> = (0..20).map(|i| Vec3::NEG_Y * 0.006 * i as f32).collect();
    let groom = lines(&[line]);
    let mut run = Run::new(&groom, &Settings::default(), GRAVITY);
    let wind = Wind { velocity: Vec3::X * 3.0, gusts: 0.0, seed: 0 };
    for _ in 0..360 {
        let env = Environment {
            time: 0.0,
            dt: 1.0 / 240.0,
            gravity: GRAVITY,
            wind: &wind,
            world_from_rest: &run.poses,
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        run.model.step(&env, &mut run.report);
    }
    let tip = run.positions()[19];
    println!("tip at {tip}");
    assert!(tip.x > 0.03 && tip.y > -0.114 && tip.z.abs() < 0.02, "{tip}");
}
