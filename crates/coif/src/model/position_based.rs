//! Position based dynamics (Müller, Hennix and Ratcliff 2006), the first yardstick of `muller2012`
//! section 4.
//!
//! Each particle is predicted; then distance constraints are projected one by one, root to tip, both
//! ends moving by the same way, `iterations` times; velocities follow from the positions. With few
//! iterations hair is stretchy, whatever else is set: that is what the method is known for, and what
//! `coif validate rope` measures against Follow-The-Leader.
//!
//! Contact with the body comes last in each iteration: the body wins over length. The groom is held
//! by ties to the body (`chains/shape.rs`), not by bending constraints: distances between every
//! second particle do not know to which side hair bends, and do not hold straight hair up.

use glam::Vec3;
use rayon::prelude::*;

use super::chains::{Chain, Chains, Ground, Shape, Solid, Touch, hold_groom, keep_in_chains};
use super::{Environment, Model, StepReport};
use crate::groom::Groom;
use crate::{Error, Result};

/// The word that chooses this model.
pub const NAME: &str = "position-based";

/// Parameters of position based dynamics.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Sweeps over the distance constraints in each step, 1 or more. Stretch falls with more.
    pub iterations: u32,
    /// Time (s) in which a particle returns to its place in the groom: small is stiff.
    pub style_time: f32,
    /// Rate (1/s) at which hair takes on the velocity of the air.
    pub damping: f32,
    /// Whether the groom is the shape that hair has under gravity (rather than without).
    pub hold_shape: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { iterations: 25, style_time: 0.25, damping: 5.0, hold_shape: true }
    }
}

impl Settings {
    fn validate(&self) -> Result<()> {
        let checks = [
            ("iterations", self.iterations as f32, self.iterations >= 1, "1 or more"),
            ("style_time (s)", self.style_time, self.style_time > 0.0, "more than 0"),
            ("damping (1/s)", self.damping, self.damping >= 0.0, "0 or more"),
        ];
        for (name, value, fine, expected) in checks {
            if !(fine && value.is_finite()) {
                return Err(Error::OutOfRange { name: name.into(), value: value.into(), expected });
            }
        }
        Ok(())
    }
}

/// Hair that moves by position based dynamics.
pub struct PositionBased {
    settings: Settings,
    chains: Chains,
    /// Acceleration (m/s^2) that holds each particle against gravity, in the rest frame.
    hold: Vec<Vec3>,
    /// The colliders of the present step: scratch.
    solids: Vec<Solid>,
}

impl PositionBased {
    /// Lays out a groom and finds the forces that hold it under `gravity` (m/s^2).
    pub fn new(groom: &Groom, settings: &Settings, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        let chains = Chains::new(groom);
        let mut hold = vec![Vec3::ZERO; groom.strands.point_count()];
        if settings.hold_shape {
            // Constraints carry any tension; all particles weigh the same.
            let strands: Vec<_> = chains.ranges().collect();
            let held = strands.into_par_iter().map(|(points, embedded)| {
                let line = &groom.strands.positions()[points];
                hold_groom(line, embedded, |_| 1.0, |_| f32::INFINITY, gravity).acceleration
            });
            hold = held.flatten_iter().collect();
        }
        Ok(Self { settings: settings.clone(), chains, hold, solids: Vec::new() })
    }
}

impl Model for PositionBased {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let Self { settings, chains, hold, solids } = self;
        solids.clear();
        solids.extend(env.colliders.iter().map(|c| Solid::new(c, env.dt)));
        let shape = Shape::new(settings.style_time, env.dt);
        let ground = env.field.map(|field| Ground::at(field, env.dt, 1.0));
        chains.step(env, report, &|mut chain: Chain<'_>| {
            predict(&mut chain, env, settings, &shape, hold);
            let mut unresolved = 0;
            for _ in 0..settings.iterations {
                project_distances(&mut chain);
                unresolved = chain.collide(solids, ground.as_ref(), env.dt);
            }
            update_velocities(&mut chain, env.dt);
            unresolved
        });
    }

    keep_in_chains!();
}

/// Moves embedded particles with the scalp and free ones by their velocity, gravity, the air and the
/// tie to the groom (`muller2012` eq. 1).
fn predict(
    chain: &mut Chain<'_>,
    env: &Environment<'_>,
    settings: &Settings,
    shape: &Shape,
    hold: &[Vec3],
) {
    let dt = env.dt;
    let wind = env.wind.velocity_at(chain.position[0], env.time);
    let push = env.gravity + wind * settings.damping;
    let carried_on = 1.0 / (1.0 + settings.damping * dt);
    let (from, to) = (chain.root_before, chain.root);
    chain.touch.fill(Touch::NONE);
    chain.follow_root(&to, 1.0 / dt);
    for i in chain.embedded..chain.position.len() {
        let x = chain.position[i];
        let accelerated =
            chain.velocity[i] + (push + to.direction(hold[chain.points.start + i])) * dt;
        let rest = chain.rest[i];
        let ends = [from.point(rest), to.point(rest)];
        chain.before[i] = x;
        chain.position[i] = x + shape.pulled(x, accelerated * carried_on, ends) * dt;
    }
}

/// One sweep over the distance constraints, root to tip (`muller2012` eq. 2).
fn project_distances(chain: &mut Chain<'_>) {
    for i in chain.embedded..chain.position.len() {
        let (a, b) = (chain.position[i - 1], chain.position[i]);
        // An embedded particle has infinite mass.
        let outer_share = if i == chain.embedded { 1.0 } else { 0.5 };
        let correction = distance_correction(a, b, chain.length[i]);
        chain.position[i - 1] = a + correction * (1.0 - outer_share);
        chain.position[i] = b - correction * outer_share;
    }
}

/// How far the ends `a` and `b` of a constraint have to approach each other, as a vector along `b - a`.
#[inline]
fn distance_correction(a: Vec3, b: Vec3, length: f32) -> Vec3 {
    let way = b - a;
    let distance = way.length();
    if distance > 1e-9 { way * (1.0 - length / distance) } else { Vec3::Y * -length }
}

/// Velocities of free particles from their positions (`muller2012` eq. 3).
fn update_velocities(chain: &mut Chain<'_>, dt: f32) {
    for i in chain.embedded..chain.position.len() {
        let velocity = (chain.position[i] - chain.before[i]) * (1.0 / dt);
        chain.velocity[i] = chain.touch[i].rebound(velocity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_restores_the_length_and_keeps_the_middle() {
        let (a, b) = (Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.4, -0.1, 0.5));
        for length in [0.2, 1.5] {
            let correction = distance_correction(a, b, length);
            let (a2, b2) = (a + correction * 0.5, b - correction * 0.5);
            assert!((a2.distance(b2) - length).abs() < 1e-6);
            assert!((a2 + b2).distance(a + b) < 1e-6);
        }
        let apart = distance_correction(a, a, 0.5);
        assert!((apart.length() - 0.5).abs() < 1e-6);
    }
}
