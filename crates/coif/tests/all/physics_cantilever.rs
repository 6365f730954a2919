//! Strips that move as cantilever beams: independence of the frame rate, order of layers, rest, the beam equation, and
//! collision with a distance field.

use std::sync::Arc;

use crate::scene::{RADIUS, Shake, ball, groom, simulation};
use coif::body::{Body, Collider, Motion, Shape, TriangleMesh};
use coif::groom::strips::{JointFrame, StripPose, Strips, scalp, wisps};
use coif::groom::{Fibre, Groom};
use coif::grow;
use coif::math::RigidTransform;
use coif::model::ModelSettings;
use coif::model::cantilever::Settings;
use coif::simulation::{Simulation, World};
use glam::{Quat, Vec3};

fn cantilever(settings: Settings) -> ModelSettings {
    ModelSettings::Cantilever(settings)
}

/// Motions of the built-in scenes of the same names: a head that shakes at 0.9 Hz by 43 degrees to either side, and one
/// that spins up to one turn a second within half a second, then stops.
#[derive(Clone, Copy, Debug)]
enum Move {
    Shake,
    Spin,
}

impl Motion for Move {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        let t = time as f32;
        let ease = |x: f32| {
            let x = x.clamp(0.0, 1.0);
            x * x * x * (10.0 + x * (6.0 * x - 15.0))
        };
        let angle = match self {
            Move::Shake => 0.75 * ease(t / 0.35) * (std::f32::consts::TAU * 0.9 * t).sin(),
            Move::Spin => {
                // Constant angular acceleration, then constant deceleration.
                let ramp = |t: f32, length: f32| {
                    let u = t.clamp(0.0, length);
                    0.5 * u * u / length + (t - length).max(0.0)
                };
                std::f32::consts::TAU * (ramp(t - 0.3, 0.5) - ramp(t - 1.5, 0.45))
            }
        };
        RigidTransform { rotation: Quat::from_rotation_y(angle), translation: Vec3::ZERO }
    }
}

/// Layers of strips over the upper part of a ball, with strands in them.
fn layered(mesh: &TriangleMesh, length: f32) -> Groom {
    let top = |t: &usize| mesh.corners(*t).iter().all(|p| p.y > 0.02);
    let polygons: Vec<u32> = (0..mesh.triangles.len()).filter(top).map(|t| t as u32).collect();
    let settings = scalp::Settings { length, width: 0.012, ..scalp::Settings::default() };
    let strips = scalp::over_polygons(mesh, &polygons, &settings).expect("strips");
    let count = strips.count();
    let mut groom =
        grow::strips::fill(strips, 2 * count, 10, Fibre::default(), 3).expect("strands");
    groom.bind(mesh).expect("bound");
    groom
}

fn on_ball(groom: Groom, motion: Move, settings: Settings, steps_per_second: u32) -> Simulation {
    let sphere = Shape::Sphere { radius: RADIUS };
    let body = Body::rigid(ball(), Arc::new(motion))
        .and_then(|b| b.with_colliders(vec![Collider::new(sphere, Vec3::ZERO, Quat::IDENTITY, 0)]))
        .expect("a body");
    let world = World { steps_per_second, ..World::default() };
    Simulation::new(Arc::new(groom), Arc::new(body), &cantilever(settings), world).expect("valid")
}

fn pose_of(simulation: &Simulation) -> StripPose {
    let mut pose = StripPose::default();
    assert!(simulation.strip_pose(&mut pose));
    pose
}

/// Positions of all joints agree within 2 % of the length for 30, 60 and 120 steps a second, at every thirtieth of a second
/// of two seconds.
#[test]
fn the_shape_does_not_depend_on_the_frame_rate() {
    for motion in [Move::Shake, Move::Spin] {
        let length = 0.3;
        let start = |rate| on_ball(layered(&ball(), length), motion, Settings::default(), rate);
        let mut runs = [30, 60, 120].map(start);
        let (mut worst, mut swing) = ([0.0f32; 2], 0.0f32);
        for frame in 1..=60 {
            let poses = runs.each_mut().map(|run| {
                run.advance_to(f64::from(frame) / 30.0);
                pose_of(run)
            });
            for k in 0..2 {
                let pairs = poses[k].position.iter().zip(&poses[2].position);
                worst[k] = pairs.map(|(a, b)| a.distance(*b)).fold(worst[k], f32::max);
            }
            let root = motion.world_from_rest(0, f64::from(frame) / 30.0);
            let rest = runs[2].strips().expect("strips").edges.positions();
            let off = poses[2].position.iter().zip(rest).map(|(p, r)| p.distance(root.point(*r)));
            swing = off.fold(swing, f32::max);
        }
        let relative = worst.map(|w| w / length);
        println!(
            "{motion:?}: 30 against 120: {:.4} of the length, 60 against 120: {:.4} (tolerance 0.02); \
             swings {:.2} of the length",
            relative[0],
            relative[1],
            swing / length
        );
        assert!(swing > 0.2 * length, "hardly anything moved: {swing}");
        assert!(relative[0] < 0.02 && relative[1] < 0.02, "{motion:?}: {relative:?}");
    }
}

/// Height (m) of the middle of joint `j` of a strip over the middle line of another, along the normal of its nearest
/// segment, and lateral distance (m).
fn over(strips: &Strips, pose: &StripPose, [upper, lower]: [usize; 2], j: usize) -> (f32, f32) {
    let middle = |s: usize, j: usize| pose.position[j] + pose.binormal[j] * (0.5 * strips.width[s]);
    let p = middle(upper, j);
    let mut nearest = (f32::INFINITY, 0.0, 0.0);
    for i in strips.edges.points_of(lower).skip(1) {
        // A joint has the frame of the segment that ends there.
        let frame = JointFrame { tangent: pose.tangent[i], binormal: pose.binormal[i] };
        let (start, end) = (middle(lower, i - 1), middle(lower, i));
        let along = end - start;
        let fraction = ((p - start).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let offset = p - (start + along * fraction);
        if offset.length_squared() < nearest.0 {
            let height = offset.dot(frame.normal());
            let aside = (offset.length_squared() - height * height).max(0.0).sqrt();
            nearest = (offset.length_squared(), height, aside);
        }
    }
    (nearest.1, nearest.2)
}

/// Height over the strip below (m) above which a joint counts as in order at rest: a few diameters of a hair.
const IN_ORDER: f32 = 2e-4;

/// Smallest height (m) of a joint over the strip on which its own lies, through 2.5 s, where the two overlap; number of
/// strips that lie on another; and the fraction of their joints that are in order at rest.
fn min_height(sim: &mut Simulation) -> (f32, usize, f32) {
    let strips = sim.strips().expect("strips").clone();
    let rest = strips.rest_pose();
    let (mut pairs, mut joints, mut count) = (Vec::new(), 0, 0);
    for s in 0..strips.count() {
        let Some(below) = strips.lies_on(s) else { continue };
        count += 1;
        for j in strips.edges.points_of(s).skip(1) {
            joints += 1;
            if over(&strips, &rest, [s, below], j).0 > IN_ORDER {
                pairs.push(([s, below], j));
            }
        }
    }
    let mut min_height = f32::INFINITY;
    for frame in 0..=150 {
        sim.advance_to(f64::from(frame) / 60.0);
        let pose = pose_of(sim);
        for &([s, below], j) in &pairs {
            let (height, aside) = over(&strips, &pose, [s, below], j);
            if aside < 0.5 * (strips.width[s] + strips.width[below]) {
                min_height = min_height.min(height);
            }
        }
    }
    (min_height, count, pairs.len() as f32 / joints as f32)
}

/// During the motion every joint of a strip stays above the strip of the layer below, along its normal.
#[test]
fn layers_keep_their_order() {
    for motion in [Move::Shake, Move::Spin] {
        let mut sim = on_ball(layered(&ball(), 0.2), motion, Settings::default(), 240);
        let strips = sim.strips().expect("strips");
        let columns = strips.count() / strips.layers() as usize;
        assert!(strips.layers() == 4 && columns > 30);
        let (lowest, over, ordered) = min_height(&mut sim);
        println!("{motion:?}: layers are at least {:.2} mm apart (tolerance 0)", lowest * 1e3);
        assert!(lowest > 0.0 && over == 3 * columns && ordered == 1.0, "{motion:?}: {lowest}");
    }
}

/// Strands in overlapping rows around a ball, like shingles; the roots of a row have about the same height.
fn shingles() -> Groom {
    let mut strands = coif::groom::Strands::new();
    for row in 0..14 {
        // Twenty tufts of four strands; each row is rotated a little relative to the last.
        for k in 0..80 {
            let up = 0.1 + 0.085 * row as f32 + 0.02 * (k % 2) as f32;
            let turns = (k / 4) as f32 + 0.03 * row as f32 + 0.15 * (k / 2 % 2) as f32;
            let a = std::f32::consts::TAU * turns / 20.0;
            let out = Vec3::new(up.cos() * a.cos(), up.sin(), up.cos() * a.sin());
            let down = Vec3::NEG_Y + out * out.y;
            let (mut p, mut d) = (out * RADIUS, (out * 0.2 + down).normalize());
            let mut line = vec![p];
            for _ in 0..15 {
                d = (d + Vec3::NEG_Y * 0.45).normalize();
                p += d * 0.012;
                // Each row lies a millimetre above the row below.
                let min_radius = RADIUS + 0.002 + 0.001 * row as f32;
                if p.length() < min_radius {
                    p = p.normalize() * min_radius;
                    d = (p - line[line.len() - 1]).normalize();
                }
                line.push(p);
            }
            strands.push(&line);
        }
    }
    let mut groom = Groom::new(strands, Fibre::default());
    groom.bind(&ball()).expect("bound");
    groom
}

/// The same for strips that are fitted to strands, where one lies on another.
#[test]
fn strips_fitted_to_strands_keep_their_order() {
    for motion in [Move::Shake, Move::Spin] {
        let mut sim = on_ball(shingles(), motion, Settings::default(), 60);
        let count = sim.strips().expect("strips").count();
        let (lowest, over, ordered) = min_height(&mut sim);
        println!(
            "{motion:?}: {over} of {count} strips lie on another and stay {:.3} mm over it at least \
             (tolerance 0)",
            lowest * 1e3
        );
        let what = format!("{motion:?}: {lowest}, {over} of {count}, {ordered} in order");
        assert!(lowest > 0.0 && over > count / 2 && ordered > 0.7, "{what}");
    }
}

/// All strands of the groom are at rest under gravity.
#[test]
fn the_groom_is_at_rest() {
    for hair in [groom(150, |s| 8 + s % 9), layered(&ball(), 0.15)] {
        let rest = hair.strands.clone();
        let still = Shake { angle: 0.0, height: 0.0 };
        let mut sim = simulation(hair, still, &cantilever(Settings::default()));
        sim.advance_to(1.0);
        let now = sim.strands();
        let pairs = now.positions().iter().zip(rest.positions());
        let drift = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!("drift at rest {drift:.1e} m (tolerance 2e-5)");
        assert!(drift < 2e-5, "{drift}");
    }
}

/// Without `hold_shape` hair sags by `tau D g / (2 damping)` in the limit of small angles, for any number of joints.
#[test]
fn deflection_follows_the_beam_equation_for_any_number_of_joints() {
    let deflection = |points: usize, damping: f32| {
        let mut strands = coif::groom::Strands::new();
        let line: Vec<Vec3> = (0..points)
            .map(|i| Vec3::new(0.3 * i as f32 / (points - 1) as f32, 0.2, 0.0))
            .collect();
        strands.push(&line);
        let mut hair = Groom::new(strands, Fibre::default());
        hair.bind(&ball()).expect("bound");
        let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
        let settings = Settings {
            hold_shape: false,
            bend_variation: 0.0,
            damping: damping.into(),
            wisps,
            ..Settings::default()
        };
        let tau = settings.style_time.at(0.0);
        let full = (1.0 - settings.trail).acos().powi(2);
        // Compliance of 30 cm of hair, relative to its limit: 4.98 cm is the length up to which human hair stands up.
        let compliance = full / (1.0 + (0.0498f32 / 0.3).powi(3));
        let mut sim = simulation(hair, Shake { angle: 0.0, height: 0.0 }, &cantilever(settings));
        sim.advance_to(4.0);
        let tip = sim.strands().strand(0)[points - 1];
        // y'' = -tau D W / L^2 from the clamped end: y(L) = tau D W / 2, plus the half segment at the end.
        let shape = 0.5 * (1.0 + 1.0 / (points - 1) as f32);
        (0.2 - tip.y, tau * compliance * (9.81 / damping) * shape)
    };
    for points in [5, 14, 40] {
        let (found, expected) = deflection(points, 1000.0);
        println!("{points} joints: tip sags {found:.5} m, expected {expected:.5} (tolerance 2 %)");
        assert!((found / expected - 1.0).abs() < 0.02, "{points} joints: {found} {expected}");
    }
    // Beyond the limit of small angles hair hangs down.
    assert!(deflection(14, 2.0).0 > 0.2);
}

/// Strips, and the strands in them, stay out of a body that is a distance field.
#[test]
fn strips_stay_out_of_a_distance_field() {
    use coif::body::distance_field;
    use coif::simulation::Surface;
    let shake = Shake { angle: 0.8, height: 0.05 };
    let body = Body::rigid(ball(), Arc::new(shake)).expect("a body");
    let field = distance_field::Settings { cell: 0.005, ..Default::default() };
    let world =
        World { surface: Some(Surface { field, ..Surface::default() }), ..World::default() };
    let model = cantilever(Settings::default());
    let mut sim = Simulation::new(Arc::new(layered(&ball(), 0.2)), Arc::new(body), &model, world)
        .expect("valid");
    let mut deepest = [0.0f32; 2];
    for frame in 1..=60 {
        let time = f64::from(frame) / 60.0;
        sim.advance_to(time);
        let root = Shake { angle: 0.8, height: 0.05 }.world_from_rest(0, time);
        let pose = pose_of(&sim);
        let depth = |p: &Vec3| RADIUS - root.inverse().point(*p).length();
        deepest[0] = pose.position.iter().map(depth).fold(deepest[0], f32::max);
        deepest[1] = sim.strands().positions().iter().map(depth).fold(deepest[1], f32::max);
    }
    println!(
        "joints at most {:.2} mm, strands {:.2} mm inside a field of 5 mm cells (tolerance 1 mm)",
        deepest[0] * 1e3,
        deepest[1] * 1e3
    );
    assert!(deepest[0] < 1e-3 && deepest[1] < 1e-3, "{deepest:?}");
}
