//! Points of strands that are tied to bones and poses, for every model that moves strands: they follow, lengths are kept,
//! nothing jumps when they are tied or let go, and hair comes to rest.

use std::sync::Arc;

use coif::body::{Body, Pose};
use coif::groom::Groom;
use coif::math::WorldTransform;
use coif::model::{ModelSettings, follow_the_leader};
use coif::simulation::{Anchor, Simulation, Wind, World};
use glam::{DVec3, Quat, Vec3};

use crate::scene::{Shake, ball, groom, simulation};

const STILL: Shake = Shake { angle: 0.0, height: 0.0 };

const SHAKE: Shake = Shake { angle: 0.8, height: 0.05 };

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
    let hanging = (0..40).filter(|&s| below(s, 6) && below(s, POINTS - 1)).step_by(2);
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
        println!("{name}: off {off:.1e} m, strain {strained:.1e} ({by_itself:.1e} without), {fast:.2} m/s");
        assert!(sim.report().quarantined.is_empty(), "{name}");
    }
}

/// Pinned to the bone that hair grows on, hair comes to rest with its points where they were, and the rest of it is no
/// farther from the groom than without pins.
#[test]
fn hair_that_is_pinned_comes_to_rest() {
    for model in models() {
        let name = model.name();
        let run = |pins: bool| {
            let mut sim = simulation(hair(), STILL, &model);
            let swing = |time: f64| WorldTransform {
                rotation: Quat::from_rotation_y(0.4 * (1.0 - (9.0 * time).cos()) as f32),
                translation: DVec3::Y * 0.025 * (1.0 - (9.0 * time).cos()),
            };
            let mut followers = None;
            let mut rest_log = vec![];
            for frame in 0..1200 {
                // Swings for a second, is pinned after half of that, and stands still.
                let pose = swing(f64::from(frame.min(60)) / 60.0);
                sim.drive(Pose::Rigid(pose), 1.0 / 60.0).expect("a pose");
                if frame % 60 == 59 { rest_log.push(speed(&sim)); }
                if pins && frame == 30 {
                    followers = Some(Followers::pin(&mut sim, Anchor::Bone(0), &pose));
                }
            }
            let pose = swing(1.0);
            if pins { println!("{:?}", rest_log); }
            (speed(&sim), followers.map_or(0.0, |followers| followers.off(&sim, &pose)))
        };
        let (free, _) = run(false);
        let (held, off) = run(true);
        println!("{name}: {held:.1e} m/s ({free:.1e} without pins), off {off:.1e} m");
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
            let mut change = |sims: &mut [Simulation; 2]| {
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
            let fast = sims.each_ref().map(|sim| speed(sim));
            let [a, b] = sims.map(|sim| sim.strands());
            let pairs = a.positions().iter().zip(b.positions());
            (pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max), fast)
        };
        let (pinned, gone) = (jump(false), jump(true));
        println!("{name}: {pinned:.5?} m in the step after it is pinned, {gone:.5?} m after it is let go");
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
        let off = followers.off(&sim, &pose(1.0));
        println!("{name}: {report:?}, {off:.3} m off, strain {strained:.1e} ({:.1e} without)", strain(&free));
        assert_eq!(report.out_of_reach, report.count, "{name}");
        assert!(sim.report().quarantined.is_empty(), "{name}");
        // Then back.
        for step in 1..=720 {
            sim.set_pin_pose(7, pose((1.0 - f64::from(step) / 240.0).max(0.0))).expect("a pose");
            sim.step();
        }
        println!("{name}: back: {:?} off {:.1e} {:.1e} m/s", sim.report().pins, followers.off(&sim, &pose(0.0)), speed(&sim));
    }
}
