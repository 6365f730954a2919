//! Strands that lie in strips and go where these go.
//!
//! Every point hangs on the two joints beside it, in their frames; at rest it is where it was groomed.
//! Segments keep their length: each point follows the one before it. What they touch, the caller knows.

use glam::Vec3;
use rayon::prelude::*;

use super::{JointFrame, StripPose, Strips};
use crate::groom::Groom;
use crate::math::RigidTransform;

/// Strands that one task moves.
const PIECE: usize = 256;

/// Where a point hangs.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The joint before it, among all joints of all strips; the other is the next.
    joint: u32,
    /// How much the other joint counts, 0 to 1.
    share: f32,
    /// Where it is, seen from the two joints, in their frames (m). Of an embedded point: its place in
    /// the rest shape.
    offset: [Vec3; 2],
    /// To the point before (m).
    length: f32,
}

/// How the strands of a groom lie in strips.
#[derive(Debug)]
pub struct CarriedStrands {
    first_point: Vec<u32>,
    embedded: Vec<u32>,
    places: Vec<Place>,
    thickness: Vec<f32>,
    reach: f32,
}

impl CarriedStrands {
    /// Hangs the strands of a groom on strips that name them.
    pub fn new(groom: &Groom, strips: &Strips) -> Self {
        let mut places = Vec::with_capacity(groom.strands.point_count());
        let mut thickness = vec![0.0f32; strips.count()];
        let mut reach = 0.0f32;
        let mut frames = Vec::new();
        for (s, line) in groom.strands.iter().enumerate() {
            let strip = strips.strip_of_strand[s] as usize;
            let joints = strips.edges.strand(strip);
            let first = strips.edges.points_of(strip).start;
            let embedded = (groom.embedded[s] as usize).clamp(1, line.len() - 1);
            strips.rest_frames(strip, &mut frames);
            let mut from = 0;
            for (i, &p) in line.iter().enumerate() {
                let length = if i > 0 { p.distance(line[i - 1]) } else { 0.0 };
                if i < embedded {
                    places.push(Place { joint: 0, share: 0.0, offset: [p; 2], length });
                    continue;
                }
                let (segment, share) = nearest_segment(joints, p, from);
                from = segment;
                let offset = [segment, segment + 1].map(|j| frames[j].local(p - joints[j]));
                thickness[strip] =
                    offset.iter().map(|o| o.y.abs()).fold(thickness[strip], f32::max);
                reach = reach.max(p.distance(joints[segment].lerp(joints[segment + 1], share)));
                places.push(Place { joint: (first + segment) as u32, share, offset, length });
            }
        }
        Self {
            first_point: groom.strands.first_points().to_vec(),
            embedded: groom.embedded.clone(),
            places,
            thickness,
            reach,
        }
    }

    /// Per strip: how far its strands are out of its plane (m).
    pub fn thickness(&self) -> &[f32] {
        &self.thickness
    }

    /// How far a strand is from the joints of its strip (m), at most.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Where the strands are, in the groom's order, with strips that are at `pose` and roots that the
    /// scalp has taken to `world_from_rest`. `aside` is asked for every strand, and what it gives for
    /// every point that is free (its number, the point before, the unit vector to it, and the length)
    /// which way to go.
    pub fn positions<A: Fn(usize, Vec3, Vec3, f32) -> Vec3>(
        &self,
        pose: &StripPose,
        world_from_rest: &[RigidTransform],
        aside: impl Fn(usize) -> A + Sync,
        out: &mut [Vec3],
    ) {
        self.for_each_strand(out, |s, places, line| {
            let aside = aside(s);
            let first = self.first_point[s] as usize;
            let embedded = (self.embedded[s] as usize).clamp(1, line.len() - 1);
            for (i, place) in places.iter().enumerate() {
                if i < embedded {
                    line[i] = world_from_rest[s].point(place.offset[0]);
                    continue;
                }
                let at = |k: usize| {
                    let j = place.joint as usize + k;
                    let frame = JointFrame { tangent: pose.tangent[j], binormal: pose.binormal[j] };
                    pose.position[j] + frame.point(place.offset[k])
                };
                let target = at(0).lerp(at(1), place.share);
                let way = target - line[i - 1];
                let ahead = if i > 1 {
                    line[i - 1] - line[i - 2]
                } else {
                    pose.tangent[place.joint as usize]
                };
                let way = way.try_normalize().unwrap_or_else(|| ahead.normalize_or(Vec3::NEG_Y));
                let way = aside(first + i, line[i - 1], way, place.length);
                line[i] = line[i - 1] + way * place.length;
            }
        });
    }

    /// Mixes a vector of the joints at the points, in the groom's order.
    pub fn mix(
        &self,
        of_joints: &[Vec3],
        of_roots: impl Fn(usize) -> Vec3 + Sync,
        out: &mut [Vec3],
    ) {
        self.for_each_strand(out, |s, places, line| {
            let embedded = (self.embedded[s] as usize).clamp(1, line.len() - 1);
            for (i, place) in places.iter().enumerate() {
                let j = place.joint as usize;
                line[i] = if i < embedded {
                    of_roots(s)
                } else {
                    of_joints[j].lerp(of_joints[j + 1], place.share)
                };
            }
        });
    }

    /// Calls `work` for every strand with its places and its points, in pieces of a fixed size.
    fn for_each_strand(
        &self,
        out: &mut [Vec3],
        work: impl Fn(usize, &[Place], &mut [Vec3]) + Sync,
    ) {
        let strands = self.first_point.len() - 1;
        let mut rest = out;
        let mut pieces = Vec::with_capacity(strands / PIECE + 1);
        for start in (0..strands).step_by(PIECE) {
            let end = (start + PIECE).min(strands);
            let points = (self.first_point[end] - self.first_point[start]) as usize;
            let (mine, others) = rest.split_at_mut(points);
            pieces.push((start..end, mine));
            rest = others;
        }
        pieces.into_par_iter().for_each(|(strands, mut points)| {
            for s in strands {
                let range = self.first_point[s] as usize..self.first_point[s + 1] as usize;
                let (mine, others) = points.split_at_mut(range.len());
                work(s, &self.places[range], mine);
                points = others;
            }
        });
    }
}

/// The segment of a chain nearest to a point, from segment `from` on, and where on it. Later segments
/// have to be nearer: a strand goes along its strip.
fn nearest_segment(joints: &[Vec3], p: Vec3, from: usize) -> (usize, f32) {
    let mut best = (f32::INFINITY, from, 0.0);
    for j in from..joints.len() - 1 {
        let (a, way) = (joints[j], joints[j + 1] - joints[j]);
        let share = ((p - a).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        let distance = p.distance_squared(a + way * share);
        if distance < best.0 {
            best = (distance, j, share);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::groom::strips::wisps;
    use crate::groom::{Fibre, Strands};

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
        let carried = CarriedStrands::new(&groom, &strips);
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
            carried.positions(&pose, &vec![motion; 12], |_| |_, _, way, _| way, &mut out);
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
        let carried = CarriedStrands::new(&groom, &strips);
        let mut bent = strips.clone();
        bent.edges.positions_mut().iter_mut().for_each(|p| p.y += 6.0 * p.z * p.z);
        let mut out = groom.strands.clone();
        let roots = [RigidTransform::IDENTITY; 12];
        carried.positions(&bent.rest_pose(), &roots, |_| |_, _, way, _| way, out.positions_mut());
        for s in 0..12 {
            assert!((out.length(s) / groom.strands.length(s) - 1.0).abs() < 1e-5);
        }
        assert!(out.strand(0)[19].distance(groom.strands.strand(0)[19]) > 0.01, "it did bend");
    }
}
