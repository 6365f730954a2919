//! Changes between two steps: gravity, wind, parameters of the model, colliders. Positions stay, and the change
//! acts from the next step on.

use std::sync::Arc;

use glam::Vec3;

use super::{FreeCollider, Simulation, body_pose, heavy_groom};
use crate::body::Collider;
use crate::contact::Contacts;
use crate::environment::Wind;
use crate::model::ModelSettings;
use crate::{Error, Result};

impl Simulation {
    /// Changes gravity (m/s^2). The rest shape stays balanced against the gravity that the simulation began with, so the
    /// difference is a force: without gravity, hair that was held against it rises.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<()> {
        if !gravity.is_finite() {
            let (name, expected) = ("gravity (m/s^2)".into(), "finite numbers");
            return Err(Error::OutOfRange { name, value: f64::NAN, expected });
        }
        self.wake_if(self.world.gravity != gravity);
        self.world.gravity = gravity;
        Ok(())
    }

    /// Changes the wind. Its gusts continue, unless the seed changes.
    pub fn set_wind(&mut self, wind: Wind) -> Result<()> {
        wind.validate()?;
        self.wake_if(self.world.wind != wind);
        if self.world.wind.velocity != wind.velocity {
            self.gusts.change(&self.world.wind, self.step_time());
        }
        self.world.wind = wind;
        Ok(())
    }

    /// Velocity of the air (m/s) at a point, at the end of the last step.
    pub fn air_at(&self, p: Vec3) -> Vec3 {
        self.world.wind.velocity_with(&self.gusts, p, self.step_time())
    }

    /// Changes parameters of the model. Hair keeps its positions and velocities, and its groom stays its shape at rest.
    ///
    /// Parameters that the model changes in place cost and allocate nothing; otherwise it is built anew with the same
    /// state. Refused where that is not possible: another model, or a parameter of the number of particles. On
    /// error nothing has changed.
    pub fn set_model(&mut self, settings: &ModelSettings) -> Result<()> {
        if settings.name() != self.model.name() {
            return Err(Error::OtherModel { this: self.model.name(), other: settings.name() });
        }
        let heavy = heavy_groom(&self.groom, &self.world);
        let groom = heavy.as_ref().unwrap_or(&self.groom);
        if self.model.change(settings, groom)? {
            self.wake_if(true);
            return Ok(());
        }
        let (dt, gravity) = (self.world.dt(), self.held_gravity);
        let mut model = settings.build(groom, dt, gravity)?;
        let (name, can) = (model.name(), model.capabilities());
        let contacts = &self.world.contacts;
        let mut contacts = Contacts::new(contacts, &self.groom, name, can.contact, model.lender())?;
        // Transfer the state as in a checkpoint.
        let mut state = Vec::new();
        self.contacts.save(&mut state);
        if !contacts.restore(&state) {
            return Err(Error::BadCheckpoint("the springs between hairs do not go over".into()));
        }
        state.clear();
        self.model.save(&mut state);
        model.restore(&state, super::poses(&self.roots, self.primitives.as_ref()))?;
        (self.model, self.contacts) = (model, contacts);
        self.wake_if(true);
        Ok(())
    }

    /// Replaces the colliders of the body: other shapes, other places in the rest shape, more or fewer. On error nothing
    /// has changed.
    pub fn set_colliders(&mut self, colliders: &[Collider]) -> Result<()> {
        if self.body.colliders() == colliders {
            return Ok(());
        }
        let same_count = self.body.colliders().len() == colliders.len();
        Arc::make_mut(&mut self.body).set_colliders(colliders)?;
        if let Some(keys) = &mut self.keys {
            keys.change_colliders(&self.body);
        }
        self.stand_colliders(!same_count);
        Ok(())
    }

    /// Sets the colliders besides the body's own, with their poses at the end of the next frame: those of
    /// other characters, of objects in a hand. A new one appears at rest; one that is not in the list
    /// is removed. They move with the next [`drive`](Self::drive), or with the next step. On error nothing has changed.
    pub fn set_free_colliders(&mut self, colliders: &[FreeCollider]) -> Result<()> {
        let renumbered = self.colliders.set_free(colliders, self.origin)?;
        match renumbered {
            None => {}
            Some(renumbered) => self.stand_colliders(renumbered),
        }
        Ok(())
    }

    /// Places all colliders at their poses at the end of the last step, without velocity.
    fn stand_colliders(&mut self, renumbered: bool) {
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(self.step_fraction);
        }
        let pose = body_pose(&self.keys, self.step_time());
        self.colliders.follow(&self.body, pose, 0.0);
        if let Some(keys) = &mut self.keys {
            keys.set_fraction(1.0);
        }
        if renumbered {
            self.model.renumber_colliders();
        }
        self.wake_if(true);
    }
}
