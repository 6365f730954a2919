//! Position based dynamics (Müller, Hennix and Ratcliff 2006), the first comparison of `muller2012`
//! section 4.
//!
//! Each particle is predicted; then distance constraints are projected one by one, root to tip, with equal displacements
//! of both ends, `iterations` times; velocities follow from the positions. With few
//! iterations hair stretches for any other parameters: a known property of the method, which
//! `coif validate rope` compares with Follow-The-Leader.
//!
//! Collision with the body comes last in each iteration, so that it has priority over lengths. The groom is held
//! by springs to the body (`chains/shape.rs`), not by bending constraints: distances between every
//! second particle do not determine the sign of the curvature, and do not hold straight hair up.
//!
//! A step is computed in displacements, stored in the memory of the velocities: at 960 steps a second
//! gravity moves a particle by 10 micrometres, of which the rounding of a position a metre from the origin to single
//! precision would lose a percent in each sweep.

use super::chains::{Chain, Chains, Hold, Pool, Profile, Pull, check_even, keep_in_chains};
use super::{Capabilities, Environment, Model, ModelSettings, StepReport};
use crate::Result;
use crate::collide::{Collision, PosedField, PosedShape};
use crate::groom::Groom;
use crate::params::{Ramp, parameters};
use glam::{DVec3, Vec3};

/// Largest shortening of a constraint that keeps a groom in equilibrium, as a fraction of its length: hair that
/// suddenly becomes weightless shrinks by no more than this. Forces on the particles balance the remainder.
const MAX_SHORTENED: f32 = 0.1;

/// Largest ratio of the lengths of two segments of a strand. Up to it the tips of a groom at rest stay within 1 % of its
/// length and its segments within 12 % of theirs, at 60 and 240 steps a second. At 3,000 the shortest segments of
/// rotating hair stretch to three times their length.
const MAX_UNEVEN: f32 = 1000.0;

/// Iterations of the fit of the lengths of the constraints to the tensions.
const HOLD_ROUNDS: usize = 32;

/// Name of this model in scene files.
pub const NAME: &str = "position-based";

/// Capabilities of this model.
pub(super) const CAPABILITIES: Capabilities =
    Capabilities { pins: Some(1), ..Capabilities::STRANDS };

parameters! {
    /// Parameters of position based dynamics.
    pub struct Settings of NAME {
        /// Time in which a particle returns to its place in the groom: more is softer, 1000 is limp.
        style_time: Ramp = 0.25.into(), "s", 1e-3..=1000.0, unlimited: true;
        /// Rate at which hair takes on the velocity of the air.
        damping: Ramp = 5.0.into(), "1/s", 0.0..=1000.0;
        /// Friction on the body, relative to what the body has.
        friction: Ramp = 1.0.into(), "", 0.0..=100.0;
        /// Whether the groom is the shape at rest under gravity; if not, it sags.
        hold_shape: bool = true;
        /// Fraction of the approach speed at which hair rebounds from the body. Of this and `body.field_restitution` the
        /// larger one counts.
        restitution: f32 = 0.0, "", 0.0..=1.0;
        /// Sweeps over the lengths of all segments in each step; less is stretchier.
        iterations: u32 = 25, "", 1..=1000;
    }
}

/// Hair that moves by position based dynamics.
pub struct PositionBased {
    settings: Settings,
    chains: Chains,
    profile: Profile,
    /// Acceleration (m/s^2) that holds each particle against gravity, in the rest frame.
    hold: Vec<Vec3>,
    /// Lengths of the constraints (m): those of the segments, shortened by their stretch under the weight of the groom
    /// for this number of sweeps and this step.
    length: Vec<f32>,
    /// The colliders of the current step: scratch.
    shapes: Vec<PosedShape>,
    /// Length of the steps that it is built for (s), and the gravity that the groom is balanced against (m/s^2).
    dt: f32,
    gravity: Vec3,
    equilibria: Pool<Equilibrium>,
}

impl PositionBased {
    /// Builds the model for steps of `dt` seconds, with the forces that hold the groom under `gravity` (m/s^2).
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        check_even(groom, MAX_UNEVEN, NAME)?;
        let chains = Chains::new(groom, &settings.friction);
        let profile = Profile::new(groom, &settings.style_time, &settings.damping);
        let points = groom.strands.point_count();
        let mut model = Self {
            settings: settings.clone(),
            chains,
            profile,
            hold: vec![Vec3::ZERO; points],
            length: vec![0.0; points],
            shapes: Vec::new(),
            dt,
            gravity,
            equilibria: Pool::new(),
        };
        model.hold_groom(groom);
        Ok(model)
    }

    /// Computes the forces and lengths that hold the groom.
    fn hold_groom(&mut self, groom: &Groom) {
        let Self { settings, chains, profile, dt, .. } = self;
        let gravity = if settings.hold_shape { self.gravity } else { Vec3::ZERO };
        let kept = |Pull { shape, carried_on, .. }: Pull| shape.kept(*dt) * carried_on * *dt;
        let lists = (&mut self.hold[..], &mut self.length[..]);
        chains.refit(&self.equilibria, lists, &|found, points, embedded, hold, length| {
            let pull = profile.pull(*dt, gravity, Vec3::ZERO);
            found.mobility.clear();
            found.mobility.extend(points.clone().map(|i| f64::from(kept(pull(i)))));
            let line = &groom.strands.positions()[points];
            found.of_strand(line, embedded, settings.iterations, gravity);
            hold.copy_from_slice(&found.hold.acceleration);
            let left = found.length.iter().zip(&found.shortened).map(|(l, s)| (l - s) as f32);
            length.iter_mut().zip(left).for_each(|(to, left)| *to = left);
        });
    }
}

/// Accelerations and lengths that make the groom of one strand a fixed point of a step.
#[derive(Default)]
struct Equilibrium {
    /// Displacement of each particle in a step per acceleration (s^2).
    mobility: Vec<f64>,
    /// Acceleration (m/s^2) of each particle.
    hold: Hold,
    /// Length of each segment, and the shortening of its constraint (m).
    length: Vec<f64>,
    shortened: Vec<f64>,
    /// A trial step, and the displacements of particles by its sweeps (m): scratch.
    tried: Vec<DVec3>,
    moved: Vec<f64>,
}

impl Equilibrium {
    /// Computes the equilibrium of a strand.
    ///
    /// Model: at rest a step first moves particle i by `s (g + a_i)`, then sweeps N times over the
    /// constraints, which carry the tensions T if they move particles by `s T` in total. Tensions and
    /// `a_i` come from [`Hold`], with masses proportional to s. A constraint that stays violated by C moves
    /// each end by N C / 2 (the first free one by N C), which gives the initial shortening. Then
    /// a step is tried repeatedly, and residuals are added.
    /// Symbols: s displacement per acceleration (`mobility`, s^2), g gravity (m/s^2), N number of sweeps.
    fn of_strand(&mut self, line: &[Vec3], embedded: usize, iterations: u32, gravity: Vec3) {
        let Self { mobility, hold, length, shortened, tried, moved } = self;
        let lengths = line.windows(2).map(|w| w[0].as_dvec3().distance(w[1].as_dvec3()));
        length.clear();
        length.extend(std::iter::once(0.0).chain(lengths));
        for (list, value) in [(&mut *shortened, 0.0), (&mut *moved, 0.0)] {
            list.clear();
            list.resize(line.len(), value);
        }
        let per_acceleration = mobility.get(embedded).copied().unwrap_or(1.0);
        let mass = |i: usize| (mobility[i] / per_acceleration) as f32;
        let violation = |i: usize| {
            let shared = if i == embedded { 1.0 } else { 2.0 };
            shared * per_acceleration / f64::from(iterations)
        };
        let max_shortened = |i: usize| f64::from(MAX_SHORTENED) * length[i];
        let max_tension = |i: usize| (0.5 * max_shortened(i) / violation(i).max(1e-300)) as f32;
        hold.solve(line, embedded, mass, max_tension, gravity);
        if gravity == Vec3::ZERO {
            hold.acceleration.fill(Vec3::ZERO);
            return;
        }
        for i in embedded..line.len() {
            shortened[i] = f64::from(hold.tension[i]) * violation(i);
        }
        for _ in 0..HOLD_ROUNDS {
            tried.clear();
            tried.extend(line.iter().map(|p| p.as_dvec3()));
            moved.fill(0.0);
            for i in embedded..line.len() {
                tried[i] += (gravity + hold.acceleration[i]).as_dvec3() * mobility[i];
            }
            for i in (0..iterations).flat_map(|_| embedded..line.len()) {
                let edge = tried[i] - tried[i - 1];
                let outer_weight = if i == embedded { 1.0 } else { 0.5 };
                let correction = edge.length() - (length[i] - shortened[i]);
                let along = edge.normalize_or_zero();
                tried[i - 1] += along * (correction * (1.0 - outer_weight));
                tried[i] -= along * (correction * outer_weight);
                moved[i] += correction * outer_weight;
            }
            for i in embedded..line.len() {
                let lacks = f64::from(hold.tension[i]) - moved[i] / per_acceleration;
                shortened[i] = (shortened[i] + lacks * violation(i)).clamp(0.0, max_shortened(i));
            }
        }
    }
}

impl Model for PositionBased {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let Self { settings, chains, profile, hold, length, shapes, .. } = self;
        let restitution = settings.restitution;
        shapes.clear();
        shapes.extend(env.colliders.iter().map(|c| PosedShape::bouncing(c, env.dt, restitution)));
        let field = env.field.map(|field| PosedField::at(field, restitution, env.dt, 1.0));
        chains.step(env, report, &|mut chain: Chain<'_>| {
            predict(&mut chain, env, profile, hold);
            let mut unresolved = 0;
            for _ in 0..settings.iterations {
                if chain.pins.is_empty() {
                    sweep(&mut chain, length);
                } else {
                    sweep_between_pins(&mut chain, length);
                }
                unresolved = collide(&mut chain, shapes, field.as_ref(), env.dt);
            }
            update_velocities(&mut chain, env.dt);
            unresolved
        });
    }

    fn change(&mut self, settings: &ModelSettings, groom: &Groom) -> Result<bool> {
        let ModelSettings::PositionBased(settings) = settings else { return Ok(false) };
        settings.validate()?;
        let now = &self.settings;
        let same_rest = (now.hold_shape, now.iterations)
            == (settings.hold_shape, settings.iterations)
            && (&now.style_time, &now.damping) == (&settings.style_time, &settings.damping);
        self.chains.set_friction(groom, &settings.friction);
        self.profile.set(groom, &settings.style_time, &settings.damping);
        self.settings.clone_from(settings);
        if !same_rest {
            self.hold_groom(groom);
        }
        Ok(true)
    }

    keep_in_chains!();
}

/// Moves embedded particles with the scalp, and predicts free ones from velocity, gravity, air and the
/// spring to the groom (`muller2012` eq. 1). Writes the displacements (m) of the free ones to `velocity`.
fn predict(chain: &mut Chain<'_>, env: &Environment<'_>, profile: &Profile, hold: &[Vec3]) {
    let dt = env.dt;
    let wind = env.air_at(chain.position[0]);
    let first = chain.points.start;
    let pull = profile.pull(dt, env.gravity, wind);
    let (from, to) = (chain.root_before, chain.root);
    chain.collision.fill(Collision::NONE);
    chain.arriving.copy_from_slice(chain.velocity);
    chain.follow_root(&to, 1.0 / dt);
    for i in chain.embedded..chain.position.len() {
        let x = chain.position[i];
        let Pull { shape, push, carried_on } = pull(first + i);
        let accelerated = chain.velocity[i] + (push + to.direction(hold[first + i])) * dt;
        let rest = chain.rest[i];
        let ends = [from.point(rest), to.point(rest)];
        chain.before[i] = x;
        chain.velocity[i] = shape.pulled(x, accelerated * carried_on, ends) * dt;
    }
    hold_pins(chain);
}

/// Writes the displacements (m) of pinned particles to `velocity`.
fn hold_pins(chain: &mut Chain<'_>) {
    for pin in chain.pins {
        let i = pin.point as usize;
        chain.velocity[i] = pin.end - chain.before[i];
    }
}

/// One sweep over the distance constraints, root to tip (`muller2012` eq. 2), on the displacements.
fn sweep(chain: &mut Chain<'_>, length: &[f32]) {
    let length = &length[chain.points.clone()];
    let embedded = chain.embedded;
    let (before, moved) = (&*chain.before, &mut *chain.velocity);
    // Project the first constraint on its free end: the embedded one has infinite mass.
    let first = before[embedded].as_dvec3() - chain.position[embedded - 1].as_dvec3();
    moved[embedded] -= distance_correction(first + moved[embedded].as_dvec3(), length[embedded]);
    for i in embedded + 1..moved.len() {
        let edge = before[i].as_dvec3() - before[i - 1].as_dvec3();
        let edge = edge + (moved[i].as_dvec3() - moved[i - 1].as_dvec3());
        let correction = distance_correction(edge, length[i]) * 0.5;
        moved[i - 1] += correction;
        moved[i] -= correction;
    }
}

/// One forward and one backward sweep over the distance constraints of a chain with pinned particles, which have infinite
/// mass.
fn sweep_between_pins(chain: &mut Chain<'_>, length: &[f32]) {
    let length = &length[chain.points.clone()];
    let (embedded, count) = (chain.embedded, chain.position.len());
    for i in (embedded..count).chain((embedded..count).rev()) {
        let edge = chain.before[i].as_dvec3() + chain.velocity[i].as_dvec3();
        let [inner, outer] =
            [i > embedded && !chain.is_pinned(i - 1), !chain.is_pinned(i)].map(f32::from);
        let edge = if i > embedded {
            edge - chain.before[i - 1].as_dvec3() - chain.velocity[i - 1].as_dvec3()
        } else {
            edge - chain.position[i - 1].as_dvec3()
        };
        let correction = distance_correction(edge, length[i]) / (inner + outer).max(1.0);
        if inner > 0.0 {
            chain.velocity[i - 1] += correction;
        }
        if outer > 0.0 {
            chain.velocity[i] -= correction;
        }
    }
}

/// The relative displacement of the ends of a constraint that restores its length, along the `edge` from one to the
/// other.
#[inline]
fn distance_correction(edge: DVec3, length: f32) -> Vec3 {
    let distance = edge.length();
    if distance > 1e-9 {
        (edge * (1.0 - f64::from(length) / distance)).as_vec3()
    } else {
        Vec3::Y * -length
    }
}

/// Adds the displacements to the positions, and projects particles out of the body.
fn collide(
    chain: &mut Chain<'_>,
    shapes: &[PosedShape],
    field: Option<&PosedField<'_>>,
    dt: f32,
) -> u32 {
    let moved = |chain: &Chain<'_>, i: usize| chain.before[i] + chain.velocity[i];
    for i in chain.embedded..chain.position.len() {
        chain.position[i] = moved(chain, i);
    }
    let unresolved = chain.collide(shapes, field, dt);
    for pin in chain.pins {
        chain.position[pin.point as usize] = moved(chain, pin.point as usize);
        chain.collision[pin.point as usize] = Collision::NONE;
    }
    for i in chain.embedded..chain.position.len() {
        // Recompute the displacement only after a collision: the difference of positions is rounded.
        if chain.position[i] != moved(chain, i) {
            chain.velocity[i] = chain.position[i] - chain.before[i];
        }
    }
    unresolved
}

/// Velocities of free particles from their displacements (`muller2012` eq. 3).
fn update_velocities(chain: &mut Chain<'_>, dt: f32) {
    for i in chain.embedded..chain.position.len() {
        let velocity = chain.velocity[i] * (1.0 / dt);
        chain.velocity[i] = chain.collision[i].rebound(velocity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_restores_the_length_and_keeps_the_middle() {
        let (a, b) = (Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.4, -0.1, 0.5));
        for length in [0.2, 1.5] {
            let correction = distance_correction((b - a).as_dvec3(), length);
            let (a2, b2) = (a + correction * 0.5, b - correction * 0.5);
            assert!((a2.distance(b2) - length).abs() < 1e-6);
            assert!((a2 + b2).distance(a + b) < 1e-6);
        }
        let apart = distance_correction(DVec3::ZERO, 0.5);
        assert!((apart.length() - 0.5).abs() < 1e-6);
    }
}
