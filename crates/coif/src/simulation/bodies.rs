//! Bodies besides the one that the hair grows on: a horse under a rider, another character, a prop. Hair collides with
//! the distance field around each; their colliders are not used (those can be [free](super::FreeCollider)).
//!
//! A body follows its own animation, in the simulation's time, until a caller sets its pose; from then on it moves to
//! each pose that is set, and stands where none is.

use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::{Simulation, Surface};
use crate::body::{Body, BodyPose, Pose, PoseKeys};
use crate::collide::SKIN;
use crate::environment::{FieldObstacle, SurfaceField};
use crate::math::bytes::{Reader, put_floats, put_u32, put_u64};
use crate::{Error, Result};

/// Names a body of [`Simulation::add_body`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(u32);

/// One of the bodies.
struct OtherBody {
    id: BodyId,
    body: Arc<Body>,
    /// The poses that it was set to, if it was.
    keys: Option<Box<PoseKeys>>,
    /// Whether the last of them is that at the end of the next frame, rather than where the body is.
    moves: bool,
}

impl OtherBody {
    fn pose(&self, time: f64) -> BodyPose<'_> {
        self.keys.as_ref().map_or(BodyPose::At(time), |keys| BodyPose::Driven(keys))
    }
}

/// The bodies and their surfaces, in the order in which they were added.
#[derive(Default)]
pub(super) struct Bodies {
    bodies: Vec<OtherBody>,
    surfaces: Vec<SurfaceField>,
    /// How many have been added so far.
    added: u32,
}

/// The state of one body in a checkpoint.
pub(super) struct SavedBody {
    keys: Option<Box<PoseKeys>>,
    moves: bool,
    vertices: Vec<Vec3>,
}

impl Bodies {
    pub(super) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    pub(super) fn surfaces(&self) -> &[SurfaceField] {
        &self.surfaces
    }

    /// All surfaces that hair collides with, that of its own body first.
    pub(super) fn with<'a>(&'a self, own: Option<&'a SurfaceField>) -> Option<FieldObstacle<'a>> {
        match (own, self.surfaces.split_first()) {
            (Some(own), _) => Some(FieldObstacle { others: &self.surfaces, ..own.obstacle() }),
            (None, Some((first, others))) => {
                Some(FieldObstacle { is_of_another: true, others, ..first.obstacle() })
            }
            (None, None) => None,
        }
    }

    /// Follows all bodies to the end of a step of length `dt` (s), at `time` (s) and at a fraction of the frame.
    pub(super) fn follow(&mut self, time: f64, fraction: f32, offset: Vec3, dt: f32) {
        self.set_fraction(fraction);
        for (body, surface) in self.bodies.iter().zip(&mut self.surfaces) {
            let (pose, own) = (body.pose(time), body.keys.is_none());
            surface.follow(&body.body, pose, if own { offset } else { Vec3::ZERO }, dt);
        }
    }

    /// Resets all surfaces to where the bodies are, without velocity.
    pub(super) fn reset(&mut self, time: f64, offset: Vec3) {
        for (body, surface) in self.bodies.iter().zip(&mut self.surfaces) {
            let (pose, own) = (body.pose(time), body.keys.is_none());
            surface.reset(&body.body, pose, if own { offset } else { Vec3::ZERO });
        }
    }

    /// Puts the bodies that move at a fraction of the frame.
    pub(super) fn set_fraction(&mut self, fraction: f32) {
        for body in self.bodies.iter_mut().filter(|body| body.moves) {
            if let Some(keys) = &mut body.keys {
                keys.set_fraction(fraction);
            }
        }
    }

    /// Begins a frame of `dt` (s): the poses that have been set are those at its end.
    pub(super) fn begin_frame(&mut self, dt: f32) {
        for body in self.bodies.iter_mut().filter(|body| body.moves) {
            if let Some(keys) = &mut body.keys {
                keys.set_frame_length(dt);
            }
        }
    }

    /// Ends a frame: the bodies have arrived.
    pub(super) fn arrive(&mut self) {
        for body in &mut self.bodies {
            if let Some(keys) = &mut body.keys {
                if !body.moves {
                    keys.stand();
                }
                keys.set_fraction(1.0);
            }
            body.moves = false;
        }
    }

    /// Whether any may move in this frame. The own animation of a body is not known to stand still.
    pub(super) fn any_moves(&self) -> bool {
        let moves = |body: &OtherBody| match &body.keys {
            Some(keys) => body.moves && keys.moves(),
            None => true,
        };
        self.bodies.iter().any(moves)
    }

    /// Moves everything by `by` (m), for an origin that has moved by its negative.
    pub(super) fn shift(&mut self, by: Vec3) {
        for (body, surface) in self.bodies.iter_mut().zip(&mut self.surfaces) {
            surface.shift(by);
            if let Some(keys) = &mut body.keys {
                keys.shift(by);
                // Where the frame has not begun, the body is at its start.
                keys.set_fraction(if body.moves { 0.0 } else { 1.0 });
            }
        }
    }

    fn find(&self, id: BodyId) -> Result<usize> {
        self.bodies.iter().position(|body| body.id == id).ok_or_else(|| Error::OutOfRange {
            name: "id of a body".into(),
            value: id.0.into(),
            expected: "one that add_body has returned and remove_body has not taken",
        })
    }

    /// Appends the state of all; nothing if there are none.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        for (body, surface) in self.bodies.iter().zip(&self.surfaces) {
            put_u32(out, body.id.0);
            out.push(u8::from(body.moves));
            let mut keys = Vec::new();
            if let Some(driven) = &body.keys {
                driven.save(&mut keys);
            }
            put_u64(out, keys.len() as u64);
            out.extend_from_slice(&keys);
            put_u32(out, surface.vertices().len() as u32);
            put_floats(out, surface.vertices().iter().flat_map(|p| p.to_array()));
        }
    }

    /// Reads what [`save`](Self::save) wrote; `None` if it is of other bodies.
    pub(super) fn read(&self, from: &mut Reader<'_>) -> Option<Vec<SavedBody>> {
        let mut one = |(body, surface): (&OtherBody, &SurfaceField)| {
            if from.u32()? != body.id.0 {
                return None;
            }
            let moves = from.u8()? == 1;
            let length = usize::try_from(from.u64()?).ok()?;
            let mut bytes = Reader(from.take(length)?);
            let keys = if length == 0 {
                None
            } else {
                Some(Box::new(PoseKeys::read(&mut bytes, &body.body)?))
            };
            let count = from.u32()? as usize;
            if !bytes.0.is_empty() || count != surface.vertices().len() {
                return None;
            }
            let numbers: Vec<f32> = from.floats(3 * count)?.collect();
            let vertices = numbers.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p));
            Some(SavedBody { keys, moves, vertices: vertices.collect() })
        };
        self.bodies.iter().zip(&self.surfaces).map(&mut one).collect()
    }

    /// Restores what was [read](Self::read).
    pub(super) fn restore(&mut self, saved: Vec<SavedBody>) {
        for ((body, surface), saved) in self.bodies.iter_mut().zip(&mut self.surfaces).zip(saved) {
            (body.keys, body.moves) = (saved.keys, saved.moves);
            if let Some(keys) = &mut body.keys {
                keys.set_fraction(if body.moves { 0.0 } else { 1.0 });
            }
            surface.reset_to(&saved.vertices);
        }
    }
}

impl Simulation {
    /// Adds a body that hair collides with as a distance field, besides the one that it grows on. It appears without
    /// velocity, where its own animation has it at this time, and follows that until its
    /// [pose is set](Self::set_body_pose). On error nothing has changed.
    pub fn add_body(&mut self, body: Arc<Body>, surface: &Surface) -> Result<BodyId> {
        let check = |name: &str, value: f32, fine: bool, expected: &'static str| {
            if fine {
                return Ok(());
            }
            Err(Error::OutOfRange { name: name.into(), value: value.into(), expected })
        };
        let (friction, restitution) = (surface.friction, surface.restitution);
        let friction_fine = (0.0..f32::INFINITY).contains(&friction);
        check("friction of a body", friction, friction_fine, "zero or more")?;
        let restitution_fine = (0.0..=1.0).contains(&restitution);
        check("restitution of a body", restitution, restitution_fine, "0 to 1")?;
        let in_substeps = self.model.capabilities().splits_steps;
        let mut field = SurfaceField::new(&body, surface, in_substeps, SKIN)?;
        field.reset(&body, BodyPose::At(self.step_time()), self.animation_offset());
        let id = BodyId(self.bodies.added);
        self.bodies.added += 1;
        self.bodies.bodies.push(OtherBody { id, body, keys: None, moves: false });
        self.bodies.surfaces.push(field);
        self.bodies_have_changed();
        Ok(id)
    }

    /// Sets the pose of another body at the end of the next frame: it moves there with the next
    /// [`drive`](Self::drive), or with the next step. The first time, it jumps there at once. Without a new pose in a frame
    /// it stands. On error nothing has changed.
    pub fn set_body_pose(&mut self, id: BodyId, pose: Pose<'_>) -> Result<()> {
        let (at, origin) = (self.bodies.find(id)?, self.frame_origin());
        if self.bodies.bodies[at].keys.is_none() {
            return self.teleport_body(id, pose);
        }
        let body = &mut self.bodies.bodies[at];
        PoseKeys::check(&body.body, &pose)?;
        if let Some(keys) = &mut body.keys {
            // A second pose before the next frame replaces the first.
            if body.moves {
                keys.take_back();
            }
            keys.push(&body.body, &pose, origin, 0.0, false);
        }
        body.moves = true;
        Ok(())
    }

    /// Moves another body to a pose at once, without velocity. On error nothing has changed.
    pub fn teleport_body(&mut self, id: BodyId, pose: Pose<'_>) -> Result<()> {
        let (at, origin) = (self.bodies.find(id)?, self.frame_origin());
        let (body, surface) = (&mut self.bodies.bodies[at], &mut self.bodies.surfaces[at]);
        PoseKeys::check(&body.body, &pose)?;
        let keys = body.keys.get_or_insert_default();
        keys.push(&body.body, &pose, origin, 0.0, true);
        body.moves = false;
        surface.reset(&body.body, body.pose(0.0), Vec3::ZERO);
        self.bodies_have_changed();
        Ok(())
    }

    /// Removes another body. On error nothing has changed.
    pub fn remove_body(&mut self, id: BodyId) -> Result<()> {
        let at = self.bodies.find(id)?;
        self.bodies.bodies.remove(at);
        self.bodies.surfaces.remove(at);
        // Contacts are stored by the number of the field.
        self.model.renumber_colliders();
        self.bodies_have_changed();
        Ok(())
    }

    /// Another body is not where it was: hair that is placed around it has to be placed again.
    fn bodies_have_changed(&mut self) {
        self.forget_places();
        self.wake_if(true);
    }

    /// Where the origin of all positions is in the world (m): [`origin`](Self::origin) counts once the body that the hair
    /// grows on is driven.
    pub(super) fn frame_origin(&self) -> DVec3 {
        if self.keys.is_some() { self.origin } else { DVec3::ZERO }
    }

    /// Displacement (m) of the own animations of other bodies, which are in the world.
    pub(super) fn animation_offset(&self) -> Vec3 {
        (DVec3::ZERO - self.frame_origin()).as_vec3()
    }
}
