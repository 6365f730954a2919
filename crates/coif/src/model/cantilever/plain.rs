//! Reference implementation of the step over an array of structures, without lanes and threads.
//! Tests compare the lanes with it, and `coif bench` measures the speed-up over it.

use glam::{Mat3, Vec3};

use super::block::{ByPlace, Common, Made};
use super::clearance::{at_start, clearance_at};
use super::kernel::{FOLLOW, Pass, RISES, STRAIGHT};
use super::over::{Lower, min_height, over};
use super::{Settings, heights_of, strips_of, widest};
use crate::Result;
use crate::collide::PosedShape;
use crate::collide::response::friction_fraction;
use crate::groom::Groom;
use crate::groom::strips::{JointFrame, StripPose};
use crate::math::RigidTransform;
use crate::model::Environment;

/// A joint as one structure.
#[derive(Debug, Clone, Copy)]
struct Joint {
    position: Vec3,
    deviation: Vec3,
    frame: JointFrame,
    rest: Vec3,
    goal: Vec3,
    length: f32,
    radius: f32,
    by_place: ByPlace,
}

struct Strip {
    /// The strip that it lies on, and the minimum heights of its joints over that (m).
    below: Option<usize>,
    gap: Vec<f32>,
    beside: f32,
    half_widths: [f32; 2],
    joints: Vec<Joint>,
    root: JointFrame,
    lean: [f32; 2],
    weight: f32,
    turn: Mat3,
    velocity: Vec3,
    end_velocity: Vec3,
}

/// Strips without lanes and without threads, which collide with colliders but not with distance fields.
pub struct PlainCantilever {
    settings: Settings,
    strips: Vec<Strip>,
    has_clearance: bool,
}

impl PlainCantilever {
    /// Builds the model from a valid groom; see [`super::Cantilever::new`].
    pub fn new(groom: &Groom, settings: &Settings) -> Result<Self> {
        let strips = strips_of(groom, settings)?;
        let heights = heights_of(&strips);
        let (fibre, thickness) = (&groom.fibre, &strips.thickness(groom));
        let common = Common { strips: &strips, fibre, settings, thickness, heights };
        let below: Vec<Option<usize>> = (0..strips.count()).map(|s| strips.lies_on(s)).collect();
        let strips = (0..strips.count()).map(|s| {
            let made = Made::new(&common, s);
            let mut frames = Vec::new();
            strips.rest_frames(s, &mut frames);
            let joints = (0..made.rest.len()).map(|i| Joint {
                position: made.rest[i],
                deviation: Vec3::ZERO,
                frame: frames[i],
                rest: made.rest[i],
                goal: made.goal[i],
                length: if i > 0 { made.rest[i].distance(made.rest[i - 1]) } else { 0.0 },
                radius: made.radius[i],
                by_place: made.by_place[i],
            });
            Strip {
                below: below[s],
                gap: made.gap.clone(),
                beside: made.beside,
                half_widths: made.half_widths,
                joints: joints.collect(),
                root: made.root,
                lean: made.lean,
                weight: made.weight,
                turn: Mat3::IDENTITY,
                velocity: Vec3::ZERO,
                end_velocity: Vec3::ZERO,
            }
        });
        Ok(Self { settings: settings.clone(), strips: strips.collect(), has_clearance: false })
    }

    /// Advances all strips by `env.dt`, which has to be the same in every step.
    pub fn step(&mut self, env: &Environment<'_>) {
        if !self.has_clearance {
            let shapes: Vec<PosedShape> = env.colliders.iter().map(at_start).collect();
            for strip in &mut self.strips {
                let mut before = f32::INFINITY;
                for joint in &mut strip.joints {
                    let near = shapes.iter().map(|s| s.tangent_plane(joint.position).1);
                    let room = clearance_at(near.fold(f32::INFINITY, f32::min));
                    joint.radius = joint.radius.min(room).min(widest(before, joint.length));
                    before = joint.radius;
                }
            }
            self.has_clearance = true;
        }
        let shapes: Vec<PosedShape> =
            env.colliders.iter().map(|c| PosedShape::new(c, env.dt)).collect();
        let pass = Pass::new(&self.settings, None, env.dt, env);
        let mut near = Vec::new();
        for s in 0..self.strips.len() {
            let (lower, strip) = self.strips.split_at_mut(s);
            let strip = &mut strip[0];
            let wind = env.air_at(strip.joints[0].position);
            let root = &env.world_from_rest[s];
            // Select the colliders within reach of the strip.
            let reach: f32 = strip.joints.iter().map(|j| j.length).sum::<f32>() + 0.05;
            let anchor = root.point(strip.joints[0].rest);
            near.clear();
            near.extend(shapes.iter().filter(|s| s.may_reach(anchor, reach)));
            let below = strip.below.map(|below| &lower[below].joints[..]);
            step_strip(strip, root, wind, &pass, &near, below);
        }
    }

    /// Writes the positions of the joints, in the order of the strips.
    pub fn pose(&self, out: &mut StripPose) {
        let joints = || self.strips.iter().flat_map(|s| &s.joints);
        out.position.clear();
        out.tangent.clear();
        out.binormal.clear();
        out.position.extend(joints().map(|j| j.position));
        out.tangent.extend(joints().map(|j| j.frame.tangent));
        out.binormal.extend(joints().map(|j| j.frame.binormal));
    }
}

/// The step of `kernel.rs`, one joint at a time.
fn step_strip(
    strip: &mut Strip,
    root: &RigidTransform,
    wind: Vec3,
    pass: &Pass,
    shapes: &[&PosedShape],
    below: Option<&[Joint]>,
) {
    let turn = Mat3::from_quat(root.rotation);
    let turned = turn * strip.turn.transpose();
    strip.turn = turn;
    let last = strip.joints.len() - 1;

    // Compute anchor, frame, and the terms of forces.
    let tip = strip.joints[last].position;
    let first = strip.joints[0];
    let mut parent = turn * first.rest + root.translation;
    let mut frame =
        JointFrame { tangent: turn * strip.root.tangent, binormal: turn * strip.root.binormal };
    let velocity = (parent - first.position) / pass.step;
    let end = velocity * 1.5 - strip.velocity * 0.5;
    let gain = end - strip.end_velocity;
    (strip.velocity, strip.end_velocity) = (velocity, end);
    let fall = pass.gravity - turn * pass.held_gravity;
    let lean = frame.tangent.cross((tip - parent).normalize_or(Vec3::ZERO));
    let lean = [
        (lean.dot(frame.binormal) - strip.lean[0]) * FOLLOW,
        (lean.dot(frame.normal()) - strip.lean[1]) * FOLLOW,
    ];
    strip.joints[0] = Joint { position: parent, frame, ..first };

    for i in 1..=last {
        let joint = &mut strip.joints[i];
        let ByPlace { style_time, fall_time, friction } = joint.by_place;
        let keep = (-pass.step / style_time).exp();
        let force_time = style_time * (1.0 - keep);
        let air = wind + (fall - gain * (pass.inertia / pass.step)) * fall_time;
        // Add the offsets of forces, bend back, and keep the length.
        let wanted = frame.point(joint.goal);
        let goal = parent + wanted;
        let moved = goal - (joint.position - joint.deviation);
        let compliance = strip.weight * joint.length * joint.length;
        let offset = (air * force_time - moved * (force_time / pass.step)) * (0.5 * compliance);
        let e = turned * (joint.deviation * keep + offset) + offset;
        let mut along = (wanted + e).normalize_or(wanted.normalize_or(frame.tangent));
        // Project out of the body.
        let turn = |along: Vec3, out: Vec3, more: f32| {
            let into = out.dot(along);
            let c = (into + more / joint.length).min(1.0);
            let mut flat = along - out * into;
            if flat.length_squared() < STRAIGHT {
                flat = frame.binormal - out * out.dot(frame.binormal);
            }
            let flat = flat.normalize_or_zero() * (1.0 - c * c).max(0.0).sqrt();
            (out * c + flat).normalize_or(out)
        };
        let leave_body = |mut along: Vec3| {
            for shape in shapes.iter().chain(shapes) {
                let p = parent + along * joint.length;
                let (out, distance) = shape.tangent_plane(p);
                let depth = joint.radius - distance;
                if depth > 0.0 {
                    // Apply friction, then rotate the segment out.
                    let slip = p - joint.position - shape.velocity_at(p) * pass.step;
                    let slip = slip - out * slip.dot(out);
                    let limit = depth * friction * shape.friction;
                    let fraction = friction_fraction(slip.length(), limit);
                    let after_friction = (p - slip * fraction - parent).normalize_or(along);
                    let moved = parent + after_friction * joint.length - p;
                    along = turn(after_friction, out, depth - moved.dot(out));
                }
            }
            along
        };
        along = leave_body(along);
        // Compute the transported frame and the binormal with the lean of the strip.
        let across = |along: Vec3| {
            let frame = frame.transported(along);
            let s = i as f32 / last as f32;
            let across = frame.binormal * (1.0 + s * lean[0]) + frame.normal() * (s * lean[1]);
            (frame, across.normalize_or(frame.binormal))
        };
        // Lift above the strip below; the following joints are translated and not rotated.
        let free = along;
        if let Some(below) = below {
            let lower = |i: usize| {
                let Joint { position, frame, length, .. } = below[i.min(below.len() - 1)];
                Lower { position, frame, length }
            };
            let [half, half_below] = strip.half_widths;
            let lacks = |along: Vec3| {
                let middle = parent + along * joint.length + across(along).1 * half;
                let over = over(lower, [i, below.len() - 1], middle, half_below);
                (over.out, min_height(strip.gap[i], over.aside, strip.beside) - over.height)
            };
            let rise = |along: Vec3| {
                let (out, more) = lacks(along);
                if more > 0.0 { turn(along, out, more) } else { along }
            };
            if lacks(along).1 > 0.0 {
                along = leave_body(rise(along));
                (0..RISES).for_each(|_| along = rise(along));
            }
        }
        // Store position and frame.
        let binormal = across(along).1;
        frame = across(free).0;
        let p = parent + along * joint.length;
        joint.position = p;
        joint.deviation = p - goal;
        joint.frame = JointFrame { tangent: along, binormal };
        parent = p;
    }
}
