//! Bodies driven frame by frame, whose poses are not known in advance, and teleports.
//!
//! Steps keep their fixed length, whatever the frames: the pose at the end of each step is interpolated between
//! those of two frames. From the last step hair is carried onward to the frame itself (`drawn.rs`).

use glam::DVec3;

use super::{Simulation, Stage, body_pose, poses};
use crate::body::{Pose, PoseKeys};
use crate::{Error, Result};

/// Default of the maximum time (s) that a frame simulates: a quarter of a second, after which most of the response
/// of hair to an impulse has decayed.
const MAX_CATCH_UP: f64 = 0.25;

/// Longest frame (s): an hour. Longer ones are rejected as clock errors.
const MAX_FRAME: f64 = 3600.0;

impl Simulation {
    /// Advances to the end of a frame of `dt` (s), at which the body is in `pose`.
    ///
    /// The body moves there from its pose at the end of the frame before. All whole steps up to then are taken, and
    /// positions read afterwards are those at exactly that time, with roots on the scalp in that pose. The first pose, and
    /// that of a frame of zero length (a pause), teleports the hair, as [`teleport_to`](Self::teleport_to) does. On error
    /// nothing has changed.
    pub fn drive(&mut self, pose: Pose<'_>, dt: f64) -> Result<()> {
        if !(0.0..=MAX_FRAME).contains(&dt) {
            return Err(Error::OutOfRange {
                name: "length of a frame (s)".into(),
                value: dt,
                expected: "0 to 3600",
            });
        }
        PoseKeys::check(&self.body, &pose)?;
        if self.keys.is_none() || dt == 0.0 {
            self.teleport_to(pose)?;
        }
        if dt == 0.0 {
            return Ok(());
        }
        let rate = f64::from(self.world.steps_per_second);
        let (before, from) = (self.steps, self.ahead);
        self.push_key(&pose, dt as f32, false);
        self.bodies.begin_frame(dt as f32);
        let moved = self.keys.as_ref().is_some_and(|keys| keys.moves());
        self.rest_or_wake(moved, dt);
        // The fraction of this frame at which a step ends.
        let fraction = |step: u64| ((((step - before) as f64 / rate) - from) / dt).clamp(0.0, 1.0);
        let count = ((from + dt) * rate + 1e-6).floor();
        let target = before + count as u64;
        if self.sleep.asleep {
            self.steps = target;
        }
        // Skip the time beyond the cap: hair moves rigidly with the body.
        let max_steps = (self.max_catch_up.unwrap_or(MAX_CATCH_UP) * rate).max(1.0);
        if count > max_steps && !self.sleep.asleep {
            let skipped = count - max_steps.floor();
            self.note_jump();
            self.steps += skipped as u64;
            self.report.skipped += skipped / rate;
            self.set_fraction(fraction(self.steps) as f32);
            self.bodies.set_fraction(fraction(self.steps) as f32);
            self.jump();
        }
        while self.steps < target {
            let at_once = self.steps_at_once().min((target - self.steps) as usize);
            if at_once == 1 {
                self.step_in_frame([fraction(self.steps), fraction(self.steps + 1)]);
                continue;
            }
            for k in 0..at_once {
                self.steps += 1;
                let (end, in_frame) = (self.step_time(), fraction(self.steps) as f32);
                self.follow_body_in_step(k, end, self.world.dt(), in_frame);
            }
            self.move_hair(at_once);
        }
        let ahead = from + dt - count / rate;
        self.ahead = if ahead * rate > 1e-6 { ahead } else { 0.0 };
        self.step_fraction = fraction(self.steps) as f32;
        self.colliders.arrive();
        self.bodies.arrive();
        self.pins.arrive();
        // Sleeping hair needs no update, unless this frame is the first that ends between two steps.
        if !self.sleep.asleep || (self.ahead > 0.0 && !self.drawn.is_posed) {
            self.draw();
        }
        Ok(())
    }

    /// Computes the root poses at the drawn time.
    pub(super) fn draw(&mut self) {
        self.set_fraction(1.0);
        self.forget_places();
        self.drawn.is_posed = self.ahead > 0.0;
        if self.drawn.is_posed {
            let pose = body_pose(&self.keys, 0.0);
            self.timers.measure(Stage::Roots, || {
                self.roots.pose_into(&self.body, pose, &mut self.drawn.world_from_rest);
            });
        }
    }

    /// Moves the body to a pose at once, as at a respawn: hair keeps its shape, is carried along with its roots, and
    /// does not feel the jump. On error nothing has changed.
    pub fn teleport_to(&mut self, pose: Pose<'_>) -> Result<()> {
        self.teleport_with_origin(pose, self.origin)
    }

    /// The same to a distant pose, with all positions relative to another [origin](Self::set_origin) (m)
    /// from then on. The shape of the hair is not rounded by large coordinates.
    pub fn teleport_with_origin(&mut self, pose: Pose<'_>, origin: DVec3) -> Result<()> {
        check_origin(origin)?;
        PoseKeys::check(&self.body, &pose)?;
        self.wake_if(true);
        self.note_jump();
        self.gusts.shift(self.origin - origin);
        self.bodies.shift((self.frame_origin() - origin).as_vec3());
        self.origin = origin;
        self.push_key(&pose, 0.0, true);
        self.jump();
        let poses = poses(&self.roots, self.primitives.as_ref());
        self.drawn.begin_step(poses, self.world.dt());
        self.draw();
        Ok(())
    }

    /// Makes all positions that are read relative to `origin` (m) from now on: a point near the character, in a world
    /// beyond the range of single precision. Poses stay in the world. The motion is unaffected.
    pub fn set_origin(&mut self, origin: DVec3) -> Result<()> {
        check_origin(origin)?;
        self.gusts.shift(self.origin - origin);
        let by = (self.origin - origin).as_vec3();
        self.origin = origin;
        let Some(keys) = &mut self.keys else { return Ok(()) };
        keys.shift(by);
        self.colliders.shift(by);
        self.pins.shift(by);
        self.bodies.shift(by);
        self.note_jump();
        self.drawn.shift(by);
        let roots = std::iter::once(&mut self.roots).chain(&mut self.primitives);
        roots.for_each(|roots| roots.shift(by));
        self.model.teleport(&self.before_jump, poses(&self.roots, self.primitives.as_ref()));
        self.forget_places();
        self.health.forget();
        self.growth.follow(&[], 0.0);
        if let Some(surface) = &mut self.surface {
            surface.shift(by);
        }
        self.draw();
        Ok(())
    }

    /// Where the origin of all positions is in the world (m).
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// The maximum time (s) that one call of [`drive`](Self::drive) or [`advance_to`](Self::advance_to) simulates. The rest
    /// of a longer frame is skipped: hair is carried over it rigidly with the body, as reported
    /// ([`StepReport::skipped`](crate::model::StepReport::skipped)). By default it is a quarter of a second in `drive`, and
    /// unlimited in `advance_to`.
    pub fn set_max_catch_up(&mut self, seconds: f64) -> Result<()> {
        if seconds.is_nan() || seconds <= 0.0 {
            return Err(Error::OutOfRange {
                name: "most time to catch up (s)".into(),
                value: seconds,
                expected: "a positive number",
            });
        }
        self.max_catch_up = Some(seconds);
        Ok(())
    }

    /// Carries hair rigidly over the steps to `target` beyond the cap.
    pub(super) fn skip_before(&mut self, target: f64) {
        let Some(max_seconds) = self.max_catch_up else { return };
        let rate = f64::from(self.world.steps_per_second);
        let skipped = (target - self.steps as f64 - (max_seconds * rate).floor().max(1.0)).max(0.0);
        if skipped > 0.0 {
            self.note_jump();
            self.steps += skipped as u64;
            self.report.skipped += skipped / rate;
            self.jump();
        }
    }

    fn push_key(&mut self, pose: &Pose<'_>, dt: f32, jumps: bool) {
        let keys = self.keys.get_or_insert_default();
        keys.push(&self.body, pose, self.origin, dt, jumps);
    }

    fn set_fraction(&mut self, fraction: f32) {
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(fraction);
        }
    }
}

fn check_origin(origin: DVec3) -> Result<()> {
    if origin.is_finite() {
        return Ok(());
    }
    let (name, expected) = ("origin (m)".into(), "finite numbers");
    Err(Error::OutOfRange { name, value: f64::NAN, expected })
}
