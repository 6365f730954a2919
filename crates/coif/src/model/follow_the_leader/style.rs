//! The shape that hair remembers: the groom, carried by the scalp and by the hair itself.
//!
//! A strand is cut into a few stages, as many as its length asks for, never as its points do. In a
//! stage every point has a goal: its groomed place, seen from the start of the stage and carried by
//! the stage's frame. The first frame is the scalp's; each next one is its predecessor's, turned by
//! the smallest rotation onto the line between the ends of the stage before. A damped spring of
//! stiffness `k` (1/s^2) and damping `c` (1/s) pulls each point to its goal, implicitly, so that the
//! motion depends neither on the number of points nor on the step.
//!
//! Why stages and not segments: with one spring per segment, each relative to the segment before, a
//! strand of n points is n oscillators in a row, each of which drives the next but not the other way
//! round. Their lags and their noise add up, so that motion depends on n, and the limit of many
//! points does not exist (`x_tt = -K x_s` grows without bound for short waves).
//!
//! The groom is the shape under gravity: the frame carries along what held the weight across the stage
//! in the groom, so that hair feels gravity less what its style holds already, and all of the
//! difference when it is turned. What hangs is held as by tension: as much as the root feels of gravity
//! along the strand and never a push, so that hair neither flies up when the head falls nor stays
//! behind when it lands.

use glam::Vec3;

use super::Settings;
use super::block::Block;
use crate::math::LANES;
use crate::math::lanes::{VECTOR, set_lane};

/// Length of hair (m) that one stage spans, about.
const STAGE_LENGTH: f32 = 0.15;

/// Most stages of a strand: each follows the one before with a lag.
const MOST_STAGES: usize = 3;

/// Angle (radians) by which the weight across a stage may bend it when the head is turned on its
/// side. A stage for which the style's time gives more is stiffer by itself: short hair stands, fur
/// too.
const LARGEST_LEAN: f32 = 0.25;

/// Damping in units of critical damping.
const DAMPING_RATIO: f32 = 1.0;

/// How a strand wants to lie.
pub(super) struct RestShape {
    /// Per point: its goal from the start of its stage, in the stage's frame (m).
    pub(super) goal: Vec<Vec3>,
    pub(super) stages: Vec<RestStage>,
}

/// A piece of a strand.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestStage {
    /// Point at which it begins.
    pub(super) first: usize,
    /// Its frame in the rest shape: direction, and a unit vector across.
    pub(super) along: Vec3,
    pub(super) normal: Vec3,
    /// Acceleration that holds the weight across it, in the frame (m/s^2).
    pub(super) hold: Vec3,
    /// Its direction in the frame, if it hangs; else 0.
    pub(super) hang: Vec3,
    /// Share of the way to the goal that one step goes, `k dt^2 / D`.
    pub(super) pull: f32,
    /// Share of the goal's motion that one step takes over, `c dt / D`, with
    /// `D = 1 + k dt^2 + c dt`.
    pub(super) drag: f32,
}

impl RestShape {
    pub(super) fn new(
        line: &[Vec3],
        embedded: usize,
        settings: &Settings,
        dt: f32,
        gravity: Vec3,
    ) -> Self {
        let last = line.len() - 1;
        let base = embedded - 1;
        let free: f32 = line[base..].windows(2).map(|w| w[0].distance(w[1])).sum();
        let wanted = ((free / STAGE_LENGTH).round() as usize).clamp(1, MOST_STAGES);
        let count = wanted.min(last - base);
        // Begin with the frame of the scalp: the first segment that leaves it.
        let first = embedded.max(2) - 1;
        let mut along = (line[first] - line[first - 1]).normalize_or(Vec3::Y);
        let mut normal = along.any_orthonormal_vector();
        let mut goal = vec![Vec3::ZERO; line.len()];
        let mut stages = Vec::with_capacity(count);
        for stage in 0..count {
            let begin = base + (last - base) * stage / count;
            let end = base + (last - base) * (stage + 1) / count;
            let frame =
                |v: Vec3| Vec3::new(v.dot(along), v.dot(normal), v.dot(along.cross(normal)));
            for i in begin + 1..=end {
                goal[i] = frame(line[i] - line[begin]);
            }
            let chord = line[end] - line[begin];
            let span = free / count as f32;
            let towards = chord.normalize_or(along);
            // What lies across has to be held; what stands on end would topple without stiffness.
            let weight = gravity.dot(towards);
            let across = (gravity - towards * weight).length() + (-weight).max(0.0);
            let soft = 1.0 / (settings.style_time * settings.style_time);
            let k = soft.max(across / (LARGEST_LEAN * span));
            let (spring, damper) = (k * dt * dt, 2.0 * DAMPING_RATIO * k.sqrt() * dt);
            let d = 1.0 + spring + damper;
            // Hold what lies across or stands; what hangs is held as long as it hangs.
            let (mut hold, mut hang) = (Vec3::ZERO, Vec3::ZERO);
            if settings.hold_shape {
                hold = frame(towards * weight.max(0.0) - gravity);
                hang = if weight > 0.0 { frame(towards) } else { Vec3::ZERO };
            }
            stages.push(RestStage {
                first: begin,
                along,
                normal,
                hold,
                hang,
                pull: spring / d,
                drag: damper / d,
            });
            normal = transport(normal, along, towards);
            along = towards;
        }
        Self { goal, stages }
    }
}

/// The stages of a block's lanes that begin at one point.
pub(super) struct Stage {
    /// Point at which they begin.
    pub(super) first: usize,
    /// 1 in the lanes that begin one here.
    pub(super) lanes: [f32; LANES],
    /// 1 in the lanes whose first stage it is.
    pub(super) scalp: [f32; LANES],
    pub(super) hold: [f32; VECTOR],
    pub(super) hang: [f32; VECTOR],
    pub(super) pull: [f32; LANES],
    pub(super) drag: [f32; LANES],
    /// Frame in the rest shape; used by the first stage, whose frame is the scalp's.
    pub(super) along: [f32; VECTOR],
    pub(super) normal: [f32; VECTOR],
}

/// Puts a strand's rest shape into a lane.
pub(super) fn lay_out(block: &mut Block, l: usize, shape: &RestShape) {
    let last = shape.goal.len() - 1;
    for i in 0..block.points {
        set_lane(&mut block.goal, i, l, shape.goal[i.min(last)]);
    }
    for (index, stage) in shape.stages.iter().enumerate() {
        let at = block.stages.partition_point(|s| s.first < stage.first);
        if block.stages.get(at).is_none_or(|s| s.first != stage.first) {
            let none = Stage {
                first: stage.first,
                lanes: [0.0; LANES],
                scalp: [0.0; LANES],
                hold: [0.0; VECTOR],
                hang: [0.0; VECTOR],
                pull: [0.0; LANES],
                drag: [0.0; LANES],
                along: [0.0; VECTOR],
                normal: [0.0; VECTOR],
            };
            block.stages.insert(at, none);
        }
        let to = &mut block.stages[at];
        to.lanes[l] = 1.0;
        to.scalp[l] = f32::from(u8::from(index == 0));
        set_lane(&mut to.hold, 0, l, stage.hold);
        set_lane(&mut to.hang, 0, l, stage.hang);
        set_lane(&mut to.along, 0, l, stage.along);
        set_lane(&mut to.normal, 0, l, stage.normal);
        to.pull[l] = stage.pull;
        to.drag[l] = stage.drag;
    }
}

/// Carries `n`, which is across `u`, along by the smallest rotation that takes `u` to `next`.
pub(super) fn transport(n: Vec3, u: Vec3, next: Vec3) -> Vec3 {
    n - (u + next) * (n.dot(next) / (1.0 + u.dot(next)).max(SMALLEST_TURN))
}

/// Keeps the transport finite when a strand folds back on itself: below this `1 + cos(angle)` the
/// smallest rotation is not unique anyway.
pub(super) const SMALLEST_TURN: f32 = 1e-3;

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn transport_is_the_smallest_rotation() {
        let u = Vec3::new(0.3, 0.5, -0.2).normalize();
        let next = Vec3::new(-0.1, 0.9, 0.4).normalize();
        let n = u.any_orthonormal_vector();
        let expected = Quat::from_rotation_arc(u, next) * n;
        assert!(transport(n, u, next).distance(expected) < 1e-6);
        assert!(transport(n, u, -u).is_finite());
    }

    #[test]
    fn stages_depend_on_length_not_on_points() {
        let settings = Settings::default();
        let line = |points: usize, length: f32| -> Vec<Vec3> {
            (0..points).map(|i| Vec3::NEG_Y * length * i as f32 / (points - 1) as f32).collect()
        };
        let stages = |points, length| {
            let line = line(points, length);
            RestShape::new(&line, 1, &settings, 1.0 / 240.0, Vec3::NEG_Y * 9.81).stages.len()
        };
        assert_eq!((stages(16, 0.3), stages(31, 0.3), stages(61, 0.3)), (2, 2, 2));
        assert_eq!((stages(16, 0.02), stages(2, 0.9), stages(31, 0.9)), (1, 1, 3));
    }

    #[test]
    fn goals_and_frames_give_back_the_groom() {
        let line: Vec<Vec3> = (0..30)
            .map(|i| {
                let a = i as f32 * 0.5;
                Vec3::new(0.02 * a.cos(), -0.012 * i as f32, 0.02 * a.sin())
            })
            .collect();
        let shape = RestShape::new(&line, 1, &Settings::default(), 1.0 / 240.0, Vec3::NEG_Y * 9.81);
        for (i, stage) in shape.stages.iter().enumerate() {
            let end = shape.stages.get(i + 1).map_or(line.len() - 1, |next| next.first);
            for p in stage.first + 1..=end {
                let (g, across) = (shape.goal[p], stage.along.cross(stage.normal));
                let there =
                    line[stage.first] + stage.along * g.x + stage.normal * g.y + across * g.z;
                assert!(there.distance(line[p]) < 1e-6, "point {p}");
            }
        }
    }
}
