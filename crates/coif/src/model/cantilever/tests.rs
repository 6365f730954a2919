use glam::Quat;

use super::plain::PlainCantilever;
use super::*;
use crate::body::{MovingCollider, Shape};
use crate::environment::Wind;
use crate::groom::{Fibre, Strands};
use crate::math::hash_positions;
use crate::params::Ramp;

/// Hair over a ball of 10 cm, of different lengths and numbers of points.
fn hair(count: usize) -> Groom {
    let mut strands = Strands::new();
    for s in 0..count {
        let a = s as f32 * 2.4;
        let y = 1.0 - 1.1 * (s as f32 + 0.5) / count as f32;
        let r = (1.0 - y * y).sqrt();
        let n = Vec3::new(r * a.cos(), y, r * a.sin());
        let points = 9 + s % 5;
        let step = (0.12 + 0.02 * (s % 7) as f32) / points as f32;
        let (mut p, mut d) = (n * 0.102, n);
        let mut line = vec![p];
        for _ in 1..points {
            d = (d + Vec3::NEG_Y * (14.0 * step)).normalize();
            p += d * step;
            if p.length() < 0.103 {
                p = p.normalize() * 0.103;
            }
            line.push(p);
        }
        strands.push(&line);
    }
    Groom::new(strands, Fibre::default())
}

/// The same in three layers, one over the other.
fn layered(count: usize) -> Groom {
    let lowest = hair(count);
    let mut strands = Strands::new();
    for layer in 0..3 {
        let scale = 1.0 + 0.03 * layer as f32;
        for line in lowest.strands.iter() {
            strands.push(&line.iter().map(|p| *p * scale).collect::<Vec<_>>());
        }
    }
    let mut groom = Groom::new(strands, Fibre::default());
    let mut strips = wisps::through_strands(&groom, &single().wisps).expect("valid");
    let name = |s: usize| s.checked_sub(count).map_or(Strips::NONE, |below| below as u32);
    strips.below = (0..3 * count).map(name).collect();
    strips.layer = (0..3 * count).map(|s| (s / count) as u32).collect();
    groom.strips = Some(Box::new(strips));
    groom
}

fn single() -> Settings {
    let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
    Settings { wisps, ..Settings::default() }
}

fn pose_at(time: f32) -> RigidTransform {
    let swing = (time * 6.0).sin() * (time * 4.0).min(1.0);
    RigidTransform {
        rotation: Quat::from_euler(glam::EulerRot::YXZ, 0.8 * swing, 0.3 * swing, 0.0),
        translation: Vec3::new(0.02, 0.05, 0.0) * swing,
    }
}

/// Calls `step` for each of some steps of a ball that swings, with three kinds of colliders.
fn swing(steps: usize, dt: f32, strips: usize, mut step: impl FnMut(&Environment<'_>)) {
    let wind = Wind { velocity: Vec3::new(0.4, 0.0, 0.2), gusts: 0.3, seed: 2 };
    for i in 0..steps {
        let (start, end) = (pose_at(i as f32 * dt), pose_at((i + 1) as f32 * dt));
        let at = |shape, place: Vec3| MovingCollider {
            shape,
            friction: 0.3,
            start: start * RigidTransform::from_translation(place),
            end: end * RigidTransform::from_translation(place),
        };
        let colliders = [
            at(Shape::Sphere { radius: 0.1 }, Vec3::ZERO),
            at(Shape::Ellipsoid { radii: Vec3::new(0.06, 0.09, 0.05) }, Vec3::NEG_Y * 0.15),
            at(Shape::Capsule { half_height: 0.05, radius: 0.04 }, Vec3::new(0.1, -0.2, 0.0)),
            at(Shape::Plane, Vec3::NEG_Y * 0.28),
        ];
        step(&Environment {
            time: f64::from((i + 1) as f32 * dt),
            dt,
            gravity: Vec3::NEG_Y * 9.81,
            wind: &wind,
            world_from_rest: &vec![end; strips],
            colliders: &colliders,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        });
    }
}

#[test]
fn lanes_agree_with_the_reference_implementation() {
    let ramps = Settings {
        style_time: ramp(0.1, 0.5),
        damping: ramp(20.0, 5.0),
        friction: ramp(2.0, 0.5),
        ..single()
    };
    let cases = [
        (hair(70), single()),
        (hair(70), Settings::default()),
        (layered(21), single()),
        (layered(21), ramps),
    ];
    for (groom, settings) in cases {
        let mut lanes = Cantilever::new(&groom, &settings).expect("valid");
        let strips = lanes.strips().count();
        let mut plain = PlainCantilever::new(&groom, &settings).expect("valid");
        let (mut a, mut b) = (StripPose::default(), StripPose::default());
        let mut moved = 0.0f32;
        swing(90, 1.0 / 60.0, strips, |env| {
            lanes.step(env, &mut StepReport::default());
            plain.step(env);
            lanes.pose(&mut a);
            plain.pose(&mut b);
            let pairs =
                [(&a.position, &b.position), (&a.tangent, &b.tangent), (&a.binormal, &b.binormal)];
            for (k, (x, y)) in pairs.into_iter().enumerate() {
                for (j, (x, y)) in x.iter().zip(y).enumerate() {
                    // Rounding is amplified along the strip where a joint collides and rotates fast.
                    assert!(x.distance(*y) < [1e-4, 2e-3, 4e-3][k], "{k}, joint {j}: {x} {y}");
                }
            }
            let rest = lanes.strips().edges.positions();
            let root = env.world_from_rest[0];
            let off = a.position.iter().zip(rest).map(|(p, r)| p.distance(root.point(*r)));
            moved = off.fold(moved, f32::max);
        });
        assert!(moved > 0.02, "nothing but rigid motion was compared: {moved}");
    }
}

#[test]
fn instruction_sets_agree_to_the_bit() {
    let groom = layered(24);
    let run = |level: Level| {
        let mut model = Cantilever::new(&groom, &single()).expect("valid");
        model.level = level;
        swing(60, 1.0 / 40.0, 72, |env| model.step(env, &mut StepReport::default()));
        let mut positions = vec![Vec3::ZERO; model.strips().edges.point_count()];
        model.positions(&mut positions);
        hash_positions(&positions)
    };
    assert_eq!(run(Level::new()), run(Level::baseline()));
}

/// Lengths are exact, joints stay outside of colliders, and frames stay orthonormal.
#[test]
fn lengths_collisions_and_frames_are_correct_in_motion() {
    let groom = hair(70);
    let mut model = Cantilever::new(&groom, &single()).expect("valid");
    let mut pose = StripPose::default();
    let edges = model.strips().edges.clone();
    swing(120, 1.0 / 60.0, 70, |env| {
        model.step(env, &mut StepReport::default());
        model.pose(&mut pose);
        for s in 0..edges.strand_count() {
            for j in edges.points_of(s) {
                let (t, b) = (pose.tangent[j], pose.binormal[j]);
                assert!(t.is_normalized() && b.is_normalized() && t.dot(b).abs() < 1e-3, "{t} {b}");
                if j == edges.points_of(s).start {
                    continue;
                }
                let rest = edges.positions()[j].distance(edges.positions()[j - 1]);
                let now = pose.position[j].distance(pose.position[j - 1]);
                assert!((now / rest - 1.0).abs() < 2e-5, "{now} {rest}");
                let deep = env.colliders.iter().map(|c| c.depth_at(pose.position[j]));
                let deep = deep.fold(0.0, f32::max);
                assert!(deep < 1e-3, "strip {s}, joint {j}: {deep} m deep");
            }
        }
    });
}

/// A rotating ball drags hair by friction, independent of the step; without friction it does not.
#[test]
fn friction_drags_hair_with_the_surface() {
    let mut strands = Strands::new();
    strands.push(&(0..9).map(|i| Vec3::new(0.02 * i as f32, 0.1004, 0.0)).collect::<Vec<_>>());
    let groom = Groom::new(strands, Fibre::default());
    let settings = Settings { hold_shape: false, layer_distance: 0.0, ..single() };
    // Measure the hair after a ball under it has rotated about x for half a second.
    let all_aside = |settings: &Settings, friction: f32, steps: usize| {
        let mut model = Cantilever::new(&groom, settings).expect("valid");
        let dt = 0.5 / steps as f32;
        for i in 0..steps {
            let turned = |i: usize| RigidTransform {
                rotation: Quat::from_rotation_x(1.5 * i as f32 * dt),
                translation: Vec3::X * 0.08,
            };
            let shape = Shape::Sphere { radius: 0.1 };
            let (start, end) = (turned(i), turned(i + 1));
            let env = Environment {
                time: 0.0,
                dt,
                gravity: Vec3::NEG_Y * 9.81,
                wind: &Wind::default(),
                world_from_rest: &[RigidTransform::IDENTITY],
                colliders: &[MovingCollider { shape, friction, start, end }],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
        }
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        pose.position.iter().map(|p| p.z).collect::<Vec<_>>()
    };
    let aside = |friction: f32, steps: usize| all_aside(&settings, friction, steps)[4];
    assert!(aside(0.0, 60).abs() < 1e-6);
    let (coarse, fine) = (aside(0.3, 60), aside(0.3, 120));
    assert!(fine > 1e-3, "{fine}");
    assert!((coarse / fine - 1.0).abs() < 0.2, "{coarse} {fine}");
    assert!(aside(0.6, 60) > coarse);
    // The friction of the hair is a factor of that of the body.
    let twice = Settings { friction: 2.0.into(), ..settings.clone() };
    assert_eq!(all_aside(&twice, 0.3, 60), all_aside(&settings, 0.6, 60));
    // Each joint has the friction of its place: up to the middle the same bits as with constant friction, or with none.
    let halves = |root: f32, tip: f32| Settings {
        friction: Ramp::new(&[[0.5, root], [0.55, tip]]).expect("two places"),
        ..settings.clone()
    };
    let all = all_aside(&settings, 0.3, 60);
    let inner = all_aside(&halves(1.0, 0.0), 0.3, 60);
    assert_eq!(inner[..=4], all[..=4]);
    let outer = all_aside(&halves(0.0, 1.0), 0.3, 60);
    assert!(outer[..=4].iter().all(|z| z.abs() < 1e-6), "{outer:?}");
    println!("all {all:?}\ninner {inner:?}\nouter {outer:?}");
}

/// A step is exact for a chain in steady wind: comparison with the closed form.
#[test]
fn the_deviation_of_one_joint_is_the_solution_of_its_equation() {
    let mut strands = Strands::new();
    strands.push(&[Vec3::ZERO, Vec3::X * 0.2]);
    let groom = Groom::new(strands, Fibre::default());
    let even = Settings { inertia: 0.0, bend_variation: 0.0, ..single() };
    // The only joint is at the tip.
    let ramps = Settings { style_time: ramp(0.6, 0.15), ..even.clone() };
    let compliance = even.compliance(&groom.fibre, 0.2);
    let speed = 0.05f32;
    let steps = [1.0 / 30.0, 1.0 / 240.0];
    for (settings, dt) in steps.into_iter().flat_map(|dt| [(&even, dt), (&ramps, dt)]) {
        let mut model = Cantilever::new(&groom, settings).expect("valid");
        let wind = Wind { velocity: Vec3::Z * speed, ..Wind::default() };
        let steps = (0.2f32 / dt).round() as usize;
        for _ in 0..steps {
            let env = Environment {
                time: 0.0,
                dt,
                gravity: Vec3::NEG_Y * 9.81,
                wind: &wind,
                world_from_rest: &[RigidTransform::IDENTITY],
                colliders: &[],
                field: None,
                gusts: Default::default(),
                pins: Default::default(),
            };
            model.step(&env, &mut StepReport::default());
        }
        // e = tau d W (1 - exp(-t / tau)), with d = D for a single segment.
        let tau = settings.style_time.at(1.0);
        let expected = tau * compliance * speed * (1.0 - (-0.2 / tau).exp());
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        // The lateral displacement is the tangent of the angle times the length.
        let found = 0.2 * (pose.position[1].z / pose.position[1].x);
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected} at {dt}");
    }
}

/// An environment without colliders.
fn alone<'a>(dt: f32, wind: &'a Wind, roots: &'a [RigidTransform]) -> Environment<'a> {
    let gravity = Vec3::NEG_Y * 9.81;
    Environment {
        time: 0.0,
        dt,
        gravity,
        wind,
        world_from_rest: roots,
        colliders: &[],
        field: None,
        gusts: Default::default(),
        pins: Default::default(),
    }
}

/// A long step of a body in uniform motion has no effect on hair, because the acceleration of the root is zero; and hair
/// has the velocity of its root.
#[test]
fn a_long_step_of_a_uniform_motion_does_not_move_hair() {
    let groom = hair(20);
    let settings = Settings { inertia: 1.0, ..single() };
    let speed = 0.8;
    let run = |steps: &[f32]| {
        let mut model = Cantilever::new(&groom, &settings).expect("valid");
        let (mut time, wind) = (0.0, Wind::default());
        for &dt in steps {
            time += dt;
            let roots = vec![RigidTransform::from_translation(Vec3::X * (speed * time)); 20];
            model.step(&alone(dt, &wind, &roots), &mut StepReport::default());
        }
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        let shape: Vec<Vec3> =
            pose.position.iter().map(|p| *p - Vec3::X * (speed * time)).collect();
        let mut velocities = vec![Vec3::ZERO; model.strips().edges.point_count()];
        model.velocities(&mut velocities);
        (shape, velocities)
    };
    // Run until the start has no effect, then one step four times as long.
    let dt = 1.0 / 240.0;
    let even = [dt; 480];
    let mut hitch = even.to_vec();
    hitch.push(4.0 * dt);
    let ((a, _), (b, velocities)) = (run(&even), run(&hitch));
    let worst = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    println!("a hitch moves a joint by {:.2} mm (tolerance 1)", worst * 1e3);
    assert!(worst < 1e-3, "{worst}");
    let off = velocities.iter().map(|v| v.distance(Vec3::X * speed)).fold(0.0, f32::max);
    assert!(off < 0.05 * speed, "{off}");
}

/// The bend factor depends on the height of the anchor: higher strips are softer (`jung2005` 4.2).
#[test]
fn higher_strips_bend_more() {
    let mut strands = Strands::new();
    for y in [0.0, 0.05, 0.1] {
        strands.push(&(0..9).map(|i| Vec3::new(0.02 * i as f32, y, 0.0)).collect::<Vec<_>>());
    }
    let groom = Groom::new(strands, Fibre::default());
    let bent = |bend_variation: f32| {
        let settings = Settings { bend_variation, inertia: 0.0, ..single() };
        let mut model = Cantilever::new(&groom, &settings).expect("valid");
        let mut pose = StripPose::default();
        for i in 1..=30 {
            // Rotate at constant speed.
            let turn = Quat::from_rotation_y(0.05 * i as f32);
            let root = RigidTransform { rotation: turn, translation: Vec3::ZERO };
            let wind = Wind::default();
            model.step(&alone(1.0 / 60.0, &wind, &[root; 3]), &mut StepReport::default());
        }
        model.pose(&mut pose);
        let turn = Quat::from_rotation_y(0.05 * 30.0);
        [0, 1, 2].map(|s| pose.position[9 * s + 8].distance(turn * groom.strands.strand(s)[8]))
    };
    let [low, middle, high] = bent(0.3);
    assert!(low < 0.95 * middle && middle < 0.95 * high, "{low} {middle} {high}");
    let same = bent(0.0);
    assert!(same.iter().all(|d| (d - same[0]).abs() < 1e-5) && same[0] > 0.01, "{same:?}");
}

/// Strips that pass through a plane at rest are pushed out; those slightly below its surface are not.
#[test]
fn strips_that_start_inside_a_collider_are_pushed_out() {
    let groom = hair(40);
    let mut model = Cantilever::new(&groom, &single()).expect("valid");
    let edges = model.strips().edges.clone();
    let at = RigidTransform::from_translation(Vec3::NEG_Y * 0.03);
    let plane = MovingCollider { shape: Shape::Plane, friction: 0.3, start: at, end: at };
    let (wind, roots) = (Wind::default(), vec![RigidTransform::IDENTITY; edges.strand_count()]);
    for _ in 0..60 {
        let env = Environment { colliders: &[plane], ..alone(1.0 / 60.0, &wind, &roots) };
        model.step(&env, &mut StepReport::default());
    }
    let mut points = vec![Vec3::ZERO; edges.point_count()];
    model.positions(&mut points);
    let mut through = 0;
    for s in (0..edges.strand_count()).filter(|&s| edges.strand(s)[0].y > 0.0) {
        for (p, rest) in points[edges.points_of(s)].iter().zip(edges.strand(s)) {
            through += usize::from(rest.y < -0.03 - DEEPEST);
            assert!(p.y > -0.03 - DEEPEST - 1e-4, "strip {s}: {p} from {rest}");
            assert!(p.y > -0.0301 || rest.y < -0.03, "strip {s}: {p} from {rest}");
        }
    }
    assert!(through > 20, "{through}");
}

fn ramp(root: f32, tip: f32) -> Ramp {
    Ramp::new(&[[0.0, root], [1.0, tip]]).expect("two places")
}

/// In a steady wind W each segment is rotated by `tau d W / l` relative to the previous one, with `d = D (l / L)^2` and the
/// style time of its place; where hair does not hold its shape, gravity acts like a wind of `g` over the damping of the
/// place.
#[test]
fn each_joint_has_the_parameters_of_its_place() {
    let (segments, length) = (8usize, 0.2f32);
    let l = length / segments as f32;
    let mut strands = Strands::new();
    strands.push(&(0..=segments).map(|i| Vec3::X * (l * i as f32)).collect::<Vec<_>>());
    let groom = Groom::new(strands, Fibre::default());
    let even = Settings { inertia: 0.0, bend_variation: 0.0, ..single() };
    let bend = even.compliance(&groom.fibre, length) * l / (length * length);
    let turns = |settings: &Settings, wind: Vec3| {
        let mut model = Cantilever::new(&groom, settings).expect("valid");
        let wind = Wind { velocity: wind, ..Wind::default() };
        for _ in 0..480 {
            let env = alone(1.0 / 120.0, &wind, &[RigidTransform::IDENTITY]);
            model.step(&env, &mut StepReport::default());
        }
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        let along = |i: usize| (pose.position[i] - pose.position[i - 1]).normalize();
        let turn = |i: usize| along(i) - if i > 1 { along(i - 1) } else { Vec3::X };
        (1..=segments).map(turn).collect::<Vec<_>>()
    };
    let place = |i: usize| (i + 1) as f32 / segments as f32;
    let styled = Settings { style_time: ramp(0.1, 0.4), ..even.clone() };
    for (i, turn) in turns(&styled, Vec3::Z * 0.02).into_iter().enumerate() {
        let expected = (0.1 + 0.3 * place(i)) * bend * 0.02;
        assert!((turn.z / expected - 1.0).abs() < 0.02, "joint {i}: {} {expected}", turn.z);
    }
    let falls = Settings { damping: ramp(400.0, 900.0), hold_shape: false, ..even };
    for (i, turn) in turns(&falls, Vec3::ZERO).into_iter().enumerate() {
        let expected = 0.3 * bend * 9.81 / (400.0 + 500.0 * place(i));
        assert!((-turn.y / expected - 1.0).abs() < 0.02, "joint {i}: {} {expected}", -turn.y);
    }
}

/// A constant ramp gives the same bits as the number, without a table. Where a ramp is constant up to a place, joints up
/// to there have the same bits as with the number.
#[test]
fn a_constant_ramp_is_equal_to_the_number() {
    let groom = hair(40);
    let run = |settings: &Settings| {
        let mut model = Cantilever::new(&groom, settings).expect("valid");
        let has_table = model.blocks.iter().any(|block| !block.ramps.is_empty());
        swing(60, 1.0 / 60.0, 40, |env| model.step(env, &mut StepReport::default()));
        let mut pose = StripPose::default();
        model.pose(&mut pose);
        (pose.position, has_table)
    };
    let number = run(&single());
    let even = Settings {
        style_time: ramp(0.3, 0.3),
        damping: ramp(10.0, 10.0),
        friction: ramp(1.0, 1.0),
        ..single()
    };
    assert_eq!(number, run(&even));
    assert!(!number.1);
    let until = |from: f32, to: f32| Ramp::new(&[[0.6, from], [0.8, to]]).expect("two places");
    let tips = Settings {
        style_time: until(0.3, 0.5),
        damping: until(10.0, 3.0),
        friction: until(1.0, 0.0),
        ..single()
    };
    let (tips, has_table) = run(&tips);
    assert!(has_table);
    let mut moved = 0;
    for s in 0..groom.strands.strand_count() {
        let line = groom.strands.points_of(s);
        let length = groom.strands.length(s);
        let mut over = 0.0;
        for p in line.clone() {
            if p > line.start {
                over += groom.strands.positions()[p].distance(groom.strands.positions()[p - 1]);
            }
            if over < 0.59 * length {
                assert_eq!(tips[p], number.0[p], "strand {s}, point {p}");
            } else {
                moved += usize::from(tips[p] != number.0[p]);
            }
        }
    }
    assert!(moved > 40, "{moved}");
}
