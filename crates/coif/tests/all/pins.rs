//! Points of strands that are tied to bones and poses, for every model that moves strands: they follow, lengths are kept,
//! nothing jumps when they are tied or let go, and hair comes to rest.

use std::sync::Arc;

use coif::body::{Body, BonePose, Pose};
use coif::groom::Groom;
use coif::math::WorldTransform;
use coif::model::{ModelSettings, follow_the_leader};
use coif::simulation::{Anchor, REST_SPEED, Simulation, Wind, World};
use glam::{DVec3, Quat, Vec3};

use crate::scene::{Shake, ball, groom, simulation};

const STILL: Shake = Shake { angle: 0.0, height: 0.0 };

/// Points of a strand.
const POINTS: usize = 12;

const HAND: Anchor = Anchor::Pose(7);

/// The models that take pins.
fn models() -> impl Iterator<Item = ModelSettings> {
    let models = ModelSettings::NAMES.iter().map(|n| ModelSettings::by_name(n).expect("a model"));
    models.filter(|model| model.capabilities().pins.is_some())
}

fn hair() -> Groom {
    groom(40, |_| POINTS)
}

/// Middle and tip of every second strand that hangs down, so that it gets slack when they are lifted.
fn pinned(sim: &Simulation) -> Vec<(usize, usize)> {
    let strands = &sim.groom().strands;
    let below = |s: usize, i: usize| strands.strand(s)[0].y - strands.strand(s)[i].y > 0.03;
    let hanging =
        (0..strands.strand_count()).filter(|&s| below(s, 6) && below(s, POINTS - 1)).step_by(2);
    hanging.flat_map(|s| [(s, 6), (s, POINTS - 1)]).collect()
}

fn speed(sim: &Simulation) -> f32 {
    let mut v = vec![Vec3::ZERO; sim.groom().strands.point_count()];
    sim.velocities(&mut v);
    v.iter().map(|v| v.length()).fold(0.0, f32::max)
}

/// Largest stretch or compression of a segment.
fn strain(sim: &Simulation) -> f32 {
    let (now, rest) = (sim.strands(), &sim.groom().strands);
    let of = |s: usize| {
        let (now, rest) = (now.strand(s), rest.strand(s));
        let length = |line: &[Vec3], i: usize| line[i].distance(line[i - 1]);
        (1..now.len()).map(|i| (length(now, i) / length(rest, i) - 1.0).abs()).fold(0.0, f32::max)
    };
    (0..rest.strand_count()).map(of).fold(0.0, f32::max)
}

/// What follows a pose: where its points were in the frame of the pose when they were pinned.
struct Followers(Vec<(usize, usize, Vec3)>);

impl Followers {
    fn pin(sim: &mut Simulation, anchor: Anchor, pose: &WorldTransform) -> Self {
        let strands = sim.strands();
        let frame = pose.relative_to(sim.origin()).inverse();
        let all = pinned(sim).into_iter().map(|(s, i)| {
            sim.pin(s, i, anchor).expect("a point that moves");
            (s, i, frame.point(strands.strand(s)[i]))
        });
        Self(all.collect())
    }

    /// Farthest point from where the pose has it (m).
    fn off(&self, sim: &Simulation, pose: &WorldTransform) -> f32 {
        let (strands, frame) = (sim.strands(), pose.relative_to(sim.origin()));
        let off = |(s, i, place): &(usize, usize, Vec3)| {
            strands.strand(*s)[*i].distance(frame.point(*place))
        };
        self.0.iter().map(off).fold(0.0, f32::max)
    }
}

/// A hand that gathers hair: it lifts it towards the head, and turns, at some 10 cm/s.
fn gather(time: f64) -> WorldTransform {
    let u = time.min(1.0);
    let u = u * u * (3.0 - 2.0 * u);
    WorldTransform {
        rotation: Quat::from_rotation_y((0.15 * u * (3.0 * time).sin()) as f32),
        translation: DVec3::new(0.0, 0.04 * u, 0.004 * u * (3.0 * time).sin()),
    }
}

#[test]
fn pinned_points_follow_a_pose_and_lengths_are_kept() {
    for model in models() {
        let name = model.name();
        let mut sims = [simulation(hair(), STILL, &model), simulation(hair(), STILL, &model)];
        sims.iter_mut().for_each(|sim| sim.advance_to(0.5));
        let [mut sim, mut free] = sims;
        sim.set_pin_pose(7, gather(0.0)).expect("a pose");
        let followers = Followers::pin(&mut sim, HAND, &gather(0.0));
        assert!(followers.off(&sim, &gather(0.0)) < 1e-6, "{name}: pinning moves nothing");
        let (mut off, mut strained, mut by_itself, mut fast) = (0.0f32, 0.0f32, 0.0f32, 0.0f32);
        for step in 1..=720 {
            let pose = gather(f64::from(step) / 240.0);
            sim.set_pin_pose(7, pose).expect("a pose");
            sim.step();
            free.step();
            let report = sim.report().pins;
            assert_eq!(report.count as usize, followers.0.len());
            assert_eq!(report.out_of_reach, 0, "{name}: {report:?}");
            off = off.max(followers.off(&sim, &pose));
            strained = strained.max(strain(&sim));
            by_itself = by_itself.max(strain(&free));
            fast = fast.max(speed(&sim));
        }
        println!(
            "{name}: off {off:.1e} m, strain {strained:.1e} ({by_itself:.1e} without), {fast:.2} m/s"
        );
        // Asked for is 0.1 mm. What is left is rounding: of a pose, of places 30 cm from the origin.
        assert!(off < 2e-6, "{name}: {off} m");
        // What mass-spring hair may be stretched by before its strain limit acts.
        assert!(strained < by_itself + 0.01, "{name}: {strained}");
        assert!(sim.report().quarantined.is_empty(), "{name}");
    }
}

/// Pinned to the bone that hair grows on while it is shaken, hair comes to rest with its points where they were pinned.
#[test]
fn hair_that_is_pinned_comes_to_rest() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(hair(), STILL, &model);
        let swing = |time: f64| WorldTransform {
            rotation: Quat::from_rotation_y(0.4 * (1.0 - (9.0 * time).cos()) as f32),
            translation: DVec3::Y * 0.025 * (1.0 - (9.0 * time).cos()),
        };
        let mut followers = None;
        let mut before = sim.strands();
        for frame in 0..600 {
            // Swings for a second, is pinned after half of that, and stands still.
            let pose = swing(f64::from(frame.min(60)) / 60.0);
            sim.drive(Pose::Rigid(pose), 1.0 / 60.0).expect("a pose");
            if frame == 30 {
                followers = Some(Followers::pin(&mut sim, Anchor::Bone(0), &pose));
            }
            if frame == 589 {
                before = sim.strands();
            }
        }
        let now = sim.strands();
        let pairs = now.positions().iter().zip(before.positions());
        let moved = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) * 6.0;
        let off = followers.map_or(0.0, |followers| followers.off(&sim, &swing(1.0)));
        println!(
            "{name}: {moved:.1e} m/s over ten frames ({:.1e} in the last step), off {off:.1e} m",
            speed(&sim)
        );
        assert!(moved < REST_SPEED, "{name}: {moved} m/s");
        assert!(off < 2e-6, "{name}: {off} m");
    }
}

/// Hair that a hand holds in motion is pinned and let go: neither moves a point, and in the step that follows points go
/// no farther from where they would have gone than an acceleration of some g takes them.
#[test]
fn hair_is_pinned_and_let_go_without_a_jump() {
    for model in models() {
        let name = model.name();
        // Steps of which the first one is with a hand, and the second one without or the other way round.
        let jump = |lets_go: bool| {
            let mut sims = [0, 1].map(|_| {
                let mut sim = simulation(hair(), STILL, &model);
                sim.advance_to(0.5);
                sim
            });
            let change = |sims: &mut [Simulation; 2]| {
                for step in 1..=120 {
                    let pose = gather(f64::from(step) / 240.0);
                    for sim in sims.iter_mut() {
                        sim.set_pin_pose(7, pose).expect("a pose");
                        sim.step();
                    }
                }
            };
            if lets_go {
                for sim in &mut sims {
                    sim.set_pin_pose(7, gather(0.0)).expect("a pose");
                    Followers::pin(sim, HAND, &gather(0.0));
                }
                change(&mut sims);
                sims[1].unpin_all();
            } else {
                let wind = Wind { velocity: Vec3::X * 3.0, ..Wind::default() };
                sims.iter_mut().for_each(|sim| sim.set_wind(wind.clone()).expect("a wind"));
                change(&mut sims);
                Followers::pin(&mut sims[1], HAND, &gather(0.5));
            }
            assert_eq!(sims[0].state_hash(), sims[1].state_hash(), "{name}: nothing jumps");
            let pose = gather(121.0 / 240.0);
            for sim in &mut sims {
                sim.set_pin_pose(7, pose).expect("a pose");
                sim.step();
            }
            let fast = speed(&sims[0]);
            let [a, b] = sims.map(|sim| sim.strands());
            let pairs = a.positions().iter().zip(b.positions());
            (pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max), fast)
        };
        let (pinned, gone) = (jump(false), jump(true));
        println!(
            "{name}: {pinned:.5?} m in the step after it is pinned, {gone:.5?} m after it is let go"
        );
        // What is pinned stops: points go as much less far as they were fast. Besides, and where hair is let go, an
        // acceleration of some g, as in changes of parameters.
        let (moved, fast) = pinned;
        assert!(moved < fast / 240.0 + 1e-3, "{name}: {moved} m with {fast} m/s");
        assert!(gone.0 < 1e-3, "{name}: {gone:?}");
    }
}

/// Where the pose goes away, hair is stretched out towards it, no segment gets longer, and the report says so.
#[test]
fn length_wins_out_of_reach() {
    for model in models() {
        let name = model.name();
        let mut sims = [simulation(hair(), STILL, &model), simulation(hair(), STILL, &model)];
        sims.iter_mut().for_each(|sim| sim.advance_to(0.3));
        let [mut sim, mut free] = sims;
        let pose = |u: f64| WorldTransform::from_translation(DVec3::new(0.0, -1.0, 0.0) * u);
        sim.set_pin_pose(7, pose(0.0)).expect("a pose");
        let followers = Followers::pin(&mut sim, HAND, &pose(0.0));
        let mut strained = 0.0f32;
        for step in 1..=480 {
            sim.set_pin_pose(7, pose((f64::from(step) / 240.0).min(1.0))).expect("a pose");
            sim.step();
            free.step();
            strained = strained.max(strain(&sim));
        }
        let report = sim.report().pins;
        let (off, held, by_itself) = (followers.off(&sim, &pose(1.0)), strain(&sim), strain(&free));
        println!(
            "{name}: {report:?}, {off:.3} m off, strain {strained:.1e}, in the end {held:.1e} ({by_itself:.1e} without)"
        );
        assert_eq!(report.out_of_reach, report.count, "{name}");
        // Of a strand in the second pin counts what is left beyond the first.
        assert!((report.farthest - off).abs() < 0.1 * off, "{name}: {report:?}");
        // Strands that lie round the ball reach less far than is counted. Where lengths are exact, hair stays behind its
        // pin there; where they are kept by springs or in rounds, it gets longer.
        let most = if name == follow_the_leader::NAME { 1e-5 } else { 0.1 };
        assert!(held < by_itself + most, "{name}: {held}");
        // Then back.
        for step in 1..=720 {
            sim.set_pin_pose(7, pose((1.0 - f64::from(step) / 240.0).max(0.0))).expect("a pose");
            sim.step();
        }
        let off = followers.off(&sim, &pose(0.0));
        assert_eq!(sim.report().pins.out_of_reach, 0, "{name}");
        assert!(off < 2e-6, "{name}: {off} m");
        assert!(sim.report().quarantined.is_empty(), "{name}");
    }
}

/// A game's frame with pins that come and go: on a bone, on a pose that moves, led to a place.
fn frame_with_pins(sim: &mut Simulation, frame: usize) {
    let t = frame as f64 / 60.0;
    let pose = WorldTransform {
        rotation: Quat::from_rotation_y((0.5 * (5.0 * t).sin()) as f32),
        translation: DVec3::X * 0.1 * (4.0 * t).sin(),
    };
    sim.set_pin_pose(7, gather(t)).expect("a pose");
    match frame {
        3 => {
            Followers::pin(sim, HAND, &gather(t));
        }
        7 => sim.pin(1, 9, Anchor::Bone(0)).expect("a point that moves"),
        9 => sim.pin_at(2, 9, HAND, Vec3::new(0.05, -0.05, 0.12), 0.1).expect("a place"),
        12 => assert!(sim.unpin(1, 9) && !sim.unpin(1, 9)),
        _ => {}
    }
    let dt = [1.0 / 60.0, 1.0 / 144.0, 1.0 / 37.0][frame % 3];
    sim.drive(Pose::Rigid(pose), dt).expect("a pose");
}

#[test]
fn same_bits_with_pins_for_any_number_of_threads_and_after_a_restart() {
    for model in models() {
        let name = model.name();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let mut sim = simulation(groom(120, |s| 12 + s % 5), STILL, &model);
                (0..30).for_each(|frame| frame_with_pins(&mut sim, frame));
                sim.state_hash()
            })
        };
        let one = run(1);
        assert_eq!([run(2), run(3)], [one; 2], "{name}");
        let start = || simulation(groom(120, |s| 12 + s % 5), STILL, &model);
        let (mut whole, mut resumed) = (start(), start());
        (0..11).for_each(|frame| frame_with_pins(&mut whole, frame));
        let saved = whole.checkpoint();
        resumed.restore(&saved).expect("its own checkpoint");
        assert!(whole.pins().eq(resumed.pins()) && whole.pins().count() > 3, "{name}");
        for frame in 11..30 {
            frame_with_pins(&mut whole, frame);
            frame_with_pins(&mut resumed, frame);
        }
        assert_eq!(whole.state_hash(), resumed.state_hash(), "{name}");
        assert_eq!(whole.state_hash(), one, "{name}");
        for cut in 1..40 {
            assert!(start().restore(&saved[..saved.len() - cut]).is_err(), "{name}: cut by {cut}");
        }
    }
}

/// A respawn takes pinned points and the poses that they hang on along rigidly; another origin changes nothing; a jump
/// after which a bone is somewhere else relative to the hair leads points there.
#[test]
fn pins_go_along_with_jumps() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(hair(), STILL, &model);
        let home = WorldTransform::IDENTITY;
        sim.drive(Pose::Rigid(home), 0.5).expect("a pose");
        sim.set_pin_pose(7, gather(0.4)).expect("a pose");
        let followers = Followers::pin(&mut sim, HAND, &gather(0.4));
        sim.drive(Pose::Rigid(home), 0.1).expect("a pose");
        let far = DVec3::new(2000.0, 30.0, -500.0);
        let there = WorldTransform { rotation: Quat::from_rotation_y(2.0), translation: far };
        sim.teleport_with_origin(Pose::Rigid(there), far).expect("a pose");
        // Where the hand has been taken.
        let hand = gather(0.4);
        let hand = WorldTransform {
            rotation: there.rotation * hand.rotation,
            translation: there.point(hand.translation.as_vec3()),
        };
        let mut off = followers.off(&sim, &hand);
        for frame in 0..30 {
            if frame == 15 {
                sim.set_origin(far + DVec3::new(0.5, 0.0, 0.25)).expect("an origin");
            }
            sim.drive(Pose::Rigid(there), 1.0 / 50.0).expect("a pose");
            off = off.max(followers.off(&sim, &hand));
        }
        println!("{name}: off {off:.1e} m after a jump");
        assert!(off < 5e-6, "{name}: {off} m");
        assert!(speed(&sim) < 0.02, "{name}: {} m/s", speed(&sim));
        // A reset puts hair on its rest shape, and leads it back to the pins.
        sim.reset();
        let mut fast = 0.0f32;
        for _ in 0..100 {
            sim.drive(Pose::Rigid(there), 1.0 / 50.0).expect("a pose");
            fast = fast.max(speed(&sim));
        }
        let off = followers.off(&sim, &hand);
        println!("{name}: off {off:.1e} m after a reset, up to {fast:.2} m/s");
        assert!(off < 5e-6 && fast < 1.0, "{name}: {off} m, {fast} m/s");
    }
}

/// A bone goes where the pose has it, of whatever kind the pose is.
#[test]
fn a_pin_on_a_bone_follows_poses_of_every_kind() {
    let mut sims = [0; 3].map(|_| {
        let mut sim = simulation(hair(), STILL, &ModelSettings::default());
        sim.drive(Pose::Rigid(gather(0.0)), 0.5).expect("a pose");
        sim
    });
    let followers: Vec<Followers> = sims
        .iter_mut()
        .map(|sim| Followers::pin(sim, Anchor::Bone(0), &WorldTransform::IDENTITY))
        .collect();
    for frame in 1..60 {
        let pose = gather(f64::from(frame) / 60.0);
        let bones = [BonePose::from(pose)];
        let place = |p: &Vec3| pose.point(*p).as_vec3();
        let positions: Vec<Vec3> = ball().positions.iter().map(place).collect();
        let world_from_mesh = WorldTransform::IDENTITY;
        let poses = [
            Pose::Rigid(pose),
            Pose::Bones(&bones),
            Pose::Vertices { positions: &positions, world_from_mesh },
        ];
        for ((sim, followers), pose_now) in sims.iter_mut().zip(&followers).zip(poses) {
            sim.drive(pose_now, 1.0 / 60.0).expect("a pose");
            let off = followers.off(sim, &pose);
            // A rigid fit to vertices on their parabola, half a ball from them.
            assert!(off < 1e-5, "frame {frame}: {off} m");
        }
    }
}

#[test]
fn what_cannot_be_pinned_is_refused_with_a_hint() {
    let pose = WorldTransform::IDENTITY;
    for name in ModelSettings::NAMES {
        let model = ModelSettings::by_name(name).expect("a model");
        let mut sim = simulation(hair(), STILL, &model);
        sim.set_pin_pose(7, pose).expect("a pose");
        let found = sim.pin(3, 5, HAND);
        assert_eq!(found.is_ok(), model.capabilities().pins.is_some(), "{name}");
        if let Err(error) = found {
            let text = error.to_string();
            assert!(text.contains(name) && text.contains("follow-the-leader"), "{text}");
            continue;
        }
        let least = model.capabilities().pins.unwrap_or(0);
        for (strand, point, anchor) in [
            (40, 5, HAND),
            (0, POINTS, HAND),
            (0, least - 1, HAND),
            (0, 5, Anchor::Pose(8)),
            (0, 5, Anchor::Bone(1)),
        ] {
            let error = sim.pin(strand, point, anchor).expect_err("no such pin").to_string();
            assert!(error.contains(&format!("strand {strand}, point {point}")), "{error}");
        }
        assert!(sim.pin_at(0, 5, HAND, Vec3::NAN, 0.0).is_err());
        assert!(sim.pin_at(0, 5, HAND, Vec3::ZERO, -1.0).is_err());
        let nowhere = WorldTransform { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..pose };
        assert!(sim.set_pin_pose(7, nowhere).is_err());
        assert_eq!(sim.pins().collect::<Vec<_>>(), [(3, 5, HAND)], "{name}");
        assert!(sim.remove_pin_pose(7) && !sim.remove_pin_pose(7));
        assert_eq!(sim.pins().count(), 0, "{name}");
    }
    for settings in [
        follow_the_leader::Settings { ends: follow_the_leader::Ends::Free, ..Default::default() },
        follow_the_leader::Settings::paper(),
    ] {
        let mut sim = simulation(hair(), STILL, &ModelSettings::FollowTheLeader(settings));
        assert!(sim.pin(3, 5, Anchor::Bone(0)).is_err());
    }
    let frames = vec![ball().positions; 2];
    let body = Body::sampled(ball().triangles, frames, 30.0).expect("a body");
    let model = ModelSettings::default();
    let mut sim = Simulation::new(Arc::new(hair()), Arc::new(body), &model, World::default())
        .expect("a valid simulation");
    let error = sim.pin(3, 5, Anchor::Bone(0)).expect_err("a body without bones").to_string();
    assert!(error.contains("set_pin_pose"), "{error}");
}
