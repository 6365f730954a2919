//! Strands bound into strips, and carried along by them.
//!
//! Every point hangs on the two joints beside it, in their frames; at rest it is where it was groomed.
//! Segments keep their length: each point follows the one before it, and turns out of the body.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;

use super::hung_lanes::{Around, HungLanes};
use crate::collide::PosedShapes;
use crate::environment::{GrowEnvironment, Onward};
use crate::groom::Groom;
use crate::groom::strips::{JointFrame, StripPose, Strips};
use crate::math::RigidTransform;
use crate::model::cantilever::BodyAtRest;

/// Strands that one task places.
const STRANDS: usize = 256;

/// Distance that points of strands keep from the body (m), if the groom's clearance is not smaller.
const ROOM: f32 = 2e-4;

/// Largest distance of strands from the positions that their strip gives (m): pushed aside by the body.
const PUSHED: f32 = 0.02;

/// Where a point hangs.
#[derive(Debug, Clone, Copy)]
pub(super) struct HungPoint {
    /// The joint before it, among all joints of all strips; the other is the next.
    pub(super) joint: u32,
    /// Weight of the other joint, 0 to 1.
    pub(super) fraction: f32,
    /// Its position relative to the two joints, in their frames (m). Of an embedded point: its place in
    /// the rest shape.
    pub(super) offset: [Vec3; 2],
    /// To the point before (m).
    pub(super) length: f32,
}

/// Every point of the strands of a groom, bound to its place in a strip.
pub struct StripBinding {
    /// First point of every strand, and the total.
    first: Vec<u32>,
    embedded: Vec<u32>,
    strip_of_strand: Vec<u32>,
    /// First joint of every strip, and the total.
    first_joint: Vec<u32>,
    places: Vec<HungPoint>,
    lanes: HungLanes,
    /// How far a strand is from the joints of its strip (m), at most.
    reach: f32,
    /// Clearance of each point from the body (m).
    room: Vec<f32>,
    /// Whether that is the groom's, which has been measured.
    has_clearance: bool,
}

impl StripBinding {
    /// Binds the strands of a groom to valid strips that list them.
    pub fn new(groom: &Groom, strips: &Strips) -> Self {
        let mut places = Vec::with_capacity(groom.strands.point_count());
        let mut embedded = Vec::with_capacity(groom.strands.strand_count());
        let mut reach = 0.0f32;
        let mut frames = Vec::new();
        for (s, line) in groom.strands.iter().enumerate() {
            let strip = strips.strip_of_strand[s] as usize;
            let joints = strips.edges.strand(strip);
            let first = strips.edges.points_of(strip).start;
            let pinned = (groom.embedded[s] as usize).clamp(1, line.len() - 1);
            let length = |i: usize| if i > 0 { line[i].distance(line[i - 1]) } else { 0.0 };
            places.extend((0..pinned).map(|i| HungPoint {
                joint: 0,
                fraction: 0.0,
                offset: [line[i]; 2],
                length: length(i),
            }));
            let mut i = pinned;
            strips.hang(strip, &line[pinned..], &mut frames, |hung, p| {
                let [a, b] = [0, 1].map(|k| joints[hung.segment + k]);
                reach = reach.max(p.distance(a.lerp(b, hung.fraction)));
                let joint = (first + hung.segment) as u32;
                places.push(HungPoint {
                    joint,
                    fraction: hung.fraction,
                    offset: hung.offset,
                    length: length(i),
                });
                i += 1;
            });
            embedded.push(pinned as u32);
        }
        let room = vec![ROOM; places.len()];
        let first = groom.strands.first_points();
        let mut lanes = HungLanes::new(first, &embedded, &strips.strip_of_strand, &places);
        lanes.set_room(&room);
        Self {
            lanes,
            first: groom.strands.first_points().to_vec(),
            embedded,
            strip_of_strand: strips.strip_of_strand.clone(),
            first_joint: strips.edges.first_points().to_vec(),
            room,
            places,
            reach,
            has_clearance: false,
        }
    }

    /// Number of joints that carry them.
    pub(crate) fn joint_count(&self) -> usize {
        self.first_joint.last().map_or(0, |&n| n as usize)
    }

    /// The strip that a strand lies in.
    pub(crate) fn strip_of(&self, strand: usize) -> usize {
        self.strip_of_strand[strand] as usize
    }

    /// Measures the clearance of the strands from the body at rest, with strips at `pose` and their roots at
    /// `world_from_rest`, a pose per strip: placed strands keep it.
    pub(crate) fn measure_clearance(
        &mut self,
        pose: &StripPose,
        world_from_rest: &[RigidTransform],
        body: &BodyAtRest<'_>,
    ) {
        let strips = self.strip_of_strand.iter();
        let roots: Vec<RigidTransform> = strips.map(|&s| world_from_rest[s as usize]).collect();
        let mut positions = vec![Vec3::ZERO; self.room.len()];
        self.place(pose, &roots, &|_, _, along, _| along, &mut positions);
        self.room
            .par_iter_mut()
            .zip(&positions)
            .for_each(|(room, p)| *room = room.min(body.clearance(*p)));
        self.lanes.set_room(&self.room);
        self.has_clearance = true;
    }

    /// Clearance of each point from the body (m), and whether that has been measured.
    pub(crate) fn clearance(&self) -> (&[f32], bool) {
        (&self.room, self.has_clearance)
    }

    /// Restores [`clearance`](Self::clearance).
    pub(crate) fn set_clearance(&mut self, room: Vec<f32>, has_clearance: bool) {
        self.lanes.set_room(&room);
        (self.room, self.has_clearance) = (room, has_clearance);
    }

    /// Positions of the strands (m), in the groom's order, with strips that are at `pose`: out of `shapes` and of the
    /// body's own surface, and from there onward with their scalp.
    pub(crate) fn positions(
        &self,
        pose: &StripPose,
        shapes: &PosedShapes,
        env: &GrowEnvironment<'_>,
        onward: Option<&Onward<'_>>,
        out: &mut [Vec3],
    ) {
        let around = Around {
            pose,
            shapes,
            env,
            onward,
            first_joint: &self.first_joint,
            strip_of_strand: &self.strip_of_strand,
            reach: self.reach + PUSHED,
        };
        self.lanes.positions(&around, out);
    }

    /// Lays all strands along strips that are at `pose`, from roots that the scalp has taken to `world_from_rest`.
    /// For every free point (its number, the point before, the unit vector to it, and the length) `aside` returns
    /// the direction to take.
    fn place(
        &self,
        pose: &StripPose,
        world_from_rest: &[RigidTransform],
        aside: &(impl Fn(usize, Vec3, Vec3, f32) -> Vec3 + Sync),
        out: &mut [Vec3],
    ) {
        self.for_each_strand(out, &|s, places, line| {
            let first = self.first[s] as usize;
            for (i, place) in places.iter().enumerate() {
                if i < self.embedded[s] as usize {
                    line[i] = world_from_rest[s].point(place.offset[0]);
                    continue;
                }
                let at = |k: usize| {
                    let j = place.joint as usize + k;
                    let frame = JointFrame { tangent: pose.tangent[j], binormal: pose.binormal[j] };
                    pose.position[j] + frame.point(place.offset[k])
                };
                let target = at(0).lerp(at(1), place.fraction);
                let ahead = if i > 1 {
                    line[i - 1] - line[i - 2]
                } else {
                    pose.tangent[place.joint as usize]
                };
                let along = (target - line[i - 1]).try_normalize();
                let along = along.unwrap_or_else(|| ahead.normalize_or(Vec3::NEG_Y));
                let along = aside(first + i, line[i - 1], along, place.length);
                line[i] = line[i - 1] + along * place.length;
            }
        });
    }

    /// Velocities of the strands (m/s), in the groom's order: as the joints beside their points, and embedded points
    /// as the anchor of their strip.
    pub fn velocities(&self, of_joints: &[Vec3], out: &mut [Vec3]) {
        self.for_each_strand(out, &|s, places, line| {
            let anchor = of_joints[self.first_joint[self.strip_of(s)] as usize];
            for (i, place) in places.iter().enumerate() {
                let j = place.joint as usize;
                line[i] = if i < self.embedded[s] as usize {
                    anchor
                } else {
                    of_joints[j].lerp(of_joints[j + 1], place.fraction)
                };
            }
        });
    }

    /// Calls `work` for every strand with its places and its points.
    fn for_each_strand(
        &self,
        out: &mut [Vec3],
        work: &(impl Fn(usize, &[HungPoint], &mut [Vec3]) + Sync),
    ) {
        self.for_each_of(0..self.embedded.len(), out, work);
    }

    /// The same for some strands, in halves until a task has few enough.
    fn for_each_of(
        &self,
        strands: Range<usize>,
        mut out: &mut [Vec3],
        work: &(impl Fn(usize, &[HungPoint], &mut [Vec3]) + Sync),
    ) {
        if strands.len() > STRANDS {
            let middle = strands.start + strands.len() / 2;
            let points = self.first[middle] - self.first[strands.start];
            let (a, b) = out.split_at_mut(points as usize);
            rayon::join(
                || self.for_each_of(strands.start..middle, a, work),
                || self.for_each_of(middle..strands.end, b, work),
            );
            return;
        }
        for s in strands {
            let points = self.first[s] as usize..self.first[s + 1] as usize;
            let (mine, others) = out.split_at_mut(points.len());
            work(s, &self.places[points], mine);
            out = others;
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use glam::Quat;

    use super::super::turn_out::Turning;
    use super::*;
    use crate::body::{MovingCollider, Shape};
    use crate::collide::{Near, PosedShape};
    use crate::environment::{Environment, Wind};
    use crate::groom::strips::wisps;
    use crate::groom::{Fibre, Strands};
    use crate::grow::Growth;
    use crate::model::cantilever::{Cantilever, DEEPEST, Settings};
    use crate::model::{Model, StepReport};

    fn groom() -> Groom {
        let mut strands = Strands::new();
        for s in 0..12 {
            let root = Vec3::new((s % 4) as f32, 0.0, (s / 4) as f32) * 0.002;
            let line = (0..20).map(|i| {
                let t = i as f32 / 19.0;
                let wave = Vec3::new((9.0 * t).sin(), 0.0, (7.0 * t).cos() - 1.0) * 0.004;
                root + Vec3::new(0.02 * t, 0.04 * t - 0.1 * t * t, 0.1 * t) + wave
            });
            strands.push(&line.collect::<Vec<_>>());
        }
        Groom::new(strands, Fibre::default())
    }

    /// At rest, and carried rigidly, strands are where the groom has them.
    #[test]
    fn a_rigid_motion_of_the_strips_moves_the_strands_rigidly() {
        let groom = groom();
        let strips = wisps::through_strands(&groom, &wisps::Settings::default()).unwrap();
        let binding = StripBinding::new(&groom, &strips);
        let turn = RigidTransform {
            rotation: Quat::from_euler(glam::EulerRot::YXZ, 0.4, -1.3, 2.0),
            translation: Vec3::new(0.3, -0.1, 0.2),
        };
        for motion in [RigidTransform::IDENTITY, turn] {
            let mut pose = strips.rest_pose();
            pose.position.iter_mut().for_each(|p| *p = motion.point(*p));
            let directions = pose.tangent.iter_mut().chain(&mut pose.binormal);
            directions.for_each(|d| *d = motion.direction(*d));
            let mut out = vec![Vec3::ZERO; groom.strands.point_count()];
            let (roots, shapes) = (vec![motion; 12], PosedShapes::default());
            let env = GrowEnvironment { world_from_rest: &roots, field: None };
            binding.positions(&pose, &shapes, &env, None, &mut out);
            for (p, rest) in out.iter().zip(groom.strands.positions()) {
                assert!(p.distance(motion.point(*rest)) < 1e-6, "{p} {rest}");
            }
        }
    }

    /// However the strips bend, segments of strands keep their length.
    #[test]
    fn segments_keep_their_length() {
        let groom = groom();
        let strips = wisps::through_strands(&groom, &wisps::Settings::default()).unwrap();
        let binding = StripBinding::new(&groom, &strips);
        let mut bent = strips.clone();
        bent.edges.positions_mut().iter_mut().for_each(|p| p.y += 6.0 * p.z * p.z);
        let mut out = groom.strands.clone();
        let (roots, shapes) = ([RigidTransform::IDENTITY; 12], PosedShapes::default());
        let env = GrowEnvironment { world_from_rest: &roots, field: None };
        binding.positions(&bent.rest_pose(), &shapes, &env, None, out.positions_mut());
        for s in 0..12 {
            assert!((out.length(s) / groom.strands.length(s) - 1.0).abs() < 1e-5);
        }
        assert!(out.strand(0)[19].distance(groom.strands.strand(0)[19]) > 0.01, "it did bend");
    }

    /// Hair that rises, leans over and comes down again, from roots on a circle.
    fn arches(count: usize) -> Groom {
        let mut strands = Strands::new();
        for s in 0..count {
            let (sin, cos) = (s as f32 * 0.7).sin_cos();
            let line = (0..12 + s % 5).map(|i| {
                let t = 0.012 * i as f32;
                let out = 0.03 + 0.7 * t;
                Vec3::new(out * cos, 0.005 + 0.9 * t - 9.0 * t * t, out * sin)
            });
            strands.push(&line.collect::<Vec<_>>());
        }
        Groom::new(strands, Fibre::default())
    }

    /// Strands that a plane goes through at rest leave it; those that graze it stay. With any instructions.
    #[test]
    fn strands_that_begin_inside_something_come_out() {
        let groom = arches(40);
        let wisps = wisps::Settings { radius: 0.0, ..wisps::Settings::default() };
        let settings = Settings { wisps, ..Settings::default() };
        let at = RigidTransform::from_translation(Vec3::NEG_Y * 0.03);
        let beside = RigidTransform::from_translation(Vec3::new(0.06, 0.0, 0.0));
        let ball = Shape::Ellipsoid { radii: Vec3::new(0.02, 0.03, 0.025) };
        let plane = [(Shape::Plane, at), (ball, beside)];
        let plane =
            plane.map(|(shape, at)| MovingCollider { shape, friction: 0.3, start: at, end: at });
        let roots = vec![RigidTransform::IDENTITY; 40];
        let env = Environment {
            time: 0.0,
            dt: 1.0 / 60.0,
            gravity: Vec3::NEG_Y * 9.81,
            wind: &Wind::default(),
            world_from_rest: &roots,
            colliders: &plane,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        let run = |level: Level| {
            let mut model = Cantilever::new(&groom, &settings).unwrap();
            let mut growth = Growth::new(&groom, &model).unwrap();
            if let Growth::InStrips(strands) = &mut growth {
                strands.binding.lanes.set_level(level);
            }
            growth.measure_clearance(&model, &roots, &plane, None);
            for _ in 0..60 {
                model.step(&env, &mut StepReport::default());
                growth.follow(&plane, env.dt);
            }
            let mut points = vec![Vec3::ZERO; groom.strands.point_count()];
            let env = GrowEnvironment { world_from_rest: &roots, field: None };
            growth.positions(&model, &env, None, &mut points);
            // Point by point it is the same, to the bit.
            let (mut pose, mut shapes) = (StripPose::default(), PosedShapes::default());
            model.pose(&mut pose);
            shapes.refill(plane.iter().map(|c| PosedShape::new(c, 0.0)));
            let Growth::InStrips(strands) = &growth else { panic!("strips carry the strands") };
            let mut plain = points.clone();
            let aside = |point: usize, parent, along, length| {
                let near = dispatch!(level, simd => Near::pick(simd, &shapes, parent, 10.0));
                let room = strands.binding.room[point];
                Turning { parent, length, room }.leave(along, &near, None)
            };
            strands.binding.place(&pose, &roots, &aside, &mut plain);
            assert_eq!(points, plain);
            points
        };
        let points = run(Level::new());
        let (mut through, mut grazing) = (0, 0);
        for (p, rest) in points.iter().zip(groom.strands.positions()) {
            through += usize::from(rest.y < -0.03 - DEEPEST);
            grazing += usize::from((-0.03 - DEEPEST..-0.03).contains(&rest.y));
            assert!(p.y > -0.03 - DEEPEST - 1e-4, "{p} from {rest}");
            assert!(p.y > -0.0301 || rest.y < -0.03, "{p} from {rest}");
        }
        assert!(through > 20 && grazing > 5, "{through} {grazing}");
        assert_eq!(points, run(Level::baseline()));
    }
}
