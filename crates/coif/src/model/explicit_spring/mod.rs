//! A chain of springs with explicit integration: the second comparison of `muller2012` section 4.
//!
//! Damped linear springs along the segments connect the particles; symplectic Euler
//! advances them in `substeps` substeps. An explicit step must be shorter than the travel time of
//! a wave along a segment, so that stiff hair needs many: `stability.rs` computes the number, and
//! an unstable step is refused when the model is built.
//!
//! The stiffness is a modulus (Pa), like Young's modulus of the fibre but usually much lower: a
//! segment of length l and cross-section A is a spring of `E A / l`, so that neither the stretch nor
//! the speed of waves depends on the number of points. The groom is held by springs to the body
//! (`chains/shape.rs`), not by bending springs.

mod stability;

use glam::Vec3;

use self::stability::{AUTO_MARGIN, MAX_AUTO, Stiffest, largest_ratio};
use super::chains::{Chain, Chains, Hold, Pool, Pose, Profile, Pull, check_even, keep_in_chains};
use super::{Capabilities, Environment, Model, ModelSettings, StepReport};
use crate::collide::{Collision, PosedField, PosedShape, pose_between};
use crate::groom::Groom;
use crate::params::{Ramp, parameters};
use crate::{Error, Result};

/// Name of this model in scene files.
pub const NAME: &str = "explicit-spring";

/// Capabilities of this model.
pub(super) const CAPABILITIES: Capabilities =
    Capabilities { splits_steps: true, pins: Some(1), ..Capabilities::STRANDS };

parameters! {
    /// Parameters of the explicit spring chain.
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
        /// Stress per strain. Real hair has 4e9, which needs hundreds of substeps; a value that needs too many is refused.
        ///
        /// A strand of length L that hangs under gravity g gets longer by the fraction
        /// `density g L / (2 stretch_modulus)`.
        // Waves of 20 m/s in human hair: 30 cm of it get longer by 0.4 % under their weight.
        stretch_modulus: Ramp = 5e5.into(), "Pa", 1.0..=1e12;
        /// Internal friction along the hair as a time: stress per rate of stretch is this times the modulus. Costs
        /// substeps too.
        stretch_damping: f32 = 2e-4, "s", 0.0..=1.0;
        /// Substeps of a step; 0 chooses the number that stability requires, up to 1000; too few are refused.
        substeps: u32 = 0, "", 0..=10_000;
    }
}

/// Largest ratio of the lengths of two segments of a strand. Measured up to a ratio of 73, the groom is an exact
/// equilibrium; far below this limit the shortest spring usually needs more substeps than are allowed, and is refused.
const MAX_UNEVEN: f32 = 1000.0;

/// Largest stretch of a spring by the weight of a held groom, as a fraction of its length.
const MAX_HELD_STRETCH: f32 = 0.5;

/// Hair that moves as an explicit chain of springs.
pub struct ExplicitSpring {
    settings: Settings,
    substeps: u32,
    chains: Chains,
    profile: Profile,
    springs: Springs,
    /// The colliders of the current step, substep after substep: scratch.
    shapes: Vec<PosedShape>,
    /// Length of the steps that it is built for (s), and the gravity that the groom is balanced against (m/s^2).
    dt: f32,
    gravity: Vec3,
    fits: Pool<Fit>,
}

/// Scratch memory for the springs of a strand.
#[derive(Default)]
struct Fit {
    modulus: Vec<f32>,
    mass: Vec<f32>,
    hold: Hold,
}

/// Particles and the springs to their predecessors, in the groom's order.
struct Springs {
    /// Inverse masses (1/kg).
    inverse_mass: Vec<f32>,
    /// Stiffnesses (N/m).
    stiffness: Vec<f32>,
    /// Rest lengths (m).
    length: Vec<f32>,
    /// Acceleration (m/s^2) that holds each particle against gravity, in the rest frame.
    hold: Vec<Vec3>,
}

impl ExplicitSpring {
    /// Builds the model for steps of `dt` seconds, with the forces that hold the groom under `gravity`
    /// (m/s^2). Refuses too few substeps for stability.
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Result<Self> {
        settings.validate()?;
        groom.validate()?;
        check_even(groom, MAX_UNEVEN, NAME)?;
        let mut model = Self::unchecked(groom, settings, dt, gravity);
        model.set_substeps(groom)?;
        Ok(model)
    }

    /// Chooses the substeps of a step, or checks them.
    fn set_substeps(&mut self, groom: &Groom) -> Result<()> {
        let (settings, dt) = (&self.settings, self.dt);
        let stiffest = self.stiffest();
        let needed = stiffest.substeps(dt, settings.stretch_damping, 1.0);
        let enough = match settings.substeps {
            0 => needed <= MAX_AUTO,
            substeps => substeps >= needed,
        };
        if !enough {
            let (strand, point) = groom.strands.locate(stiffest.point);
            let substeps = if settings.substeps > 0 { settings.substeps } else { MAX_AUTO };
            let suffice = |one: &Groom| {
                let stiffest = Self::unchecked(one, settings, dt, Vec3::ZERO).stiffest();
                stiffest.substeps(dt, settings.stretch_damping, 1.0) <= substeps
            };
            let (ratio, limit) = largest_ratio(groom, strand, suffice);
            return Err(Error::Unstable { strand, point, substeps, needed, ratio, limit });
        }
        self.substeps = match settings.substeps {
            0 => stiffest.substeps(dt, settings.stretch_damping, AUTO_MARGIN),
            substeps => substeps,
        };
        Ok(())
    }

    /// Number of substeps of a step.
    pub fn substeps(&self) -> u32 {
        self.substeps
    }

    /// The particle that needs the most substeps.
    fn stiffest(&self) -> Stiffest {
        let springs = &self.springs;
        Stiffest::of(self.chains.ranges(), &springs.inverse_mass, &springs.stiffness)
    }

    /// Builds the model without the check of stability.
    fn unchecked(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Self {
        let points = groom.strands.point_count();
        let zeros = vec![0.0; points];
        let springs = Springs {
            inverse_mass: zeros.clone(),
            stiffness: zeros.clone(),
            length: zeros,
            hold: vec![Vec3::ZERO; points],
        };
        let mut model = Self {
            settings: settings.clone(),
            substeps: settings.substeps.max(1),
            chains: Chains::new(groom, &settings.friction),
            profile: Profile::new(groom, &settings.style_time, &settings.damping),
            springs,
            shapes: Vec::new(),
            dt,
            gravity,
            fits: Pool::new(),
        };
        model.set_springs(groom);
        model
    }

    /// Computes the springs, and the forces that hold the groom.
    fn set_springs(&mut self, groom: &Groom) {
        let Self { settings, chains, .. } = self;
        let gravity = if settings.hold_shape { self.gravity } else { Vec3::ZERO };
        let Springs { inverse_mass, stiffness, length, hold } = &mut self.springs;
        let lists = (&mut inverse_mass[..], &mut stiffness[..]);
        chains.refit(&self.fits, lists, &|fit, points, _, inverse, stiff| {
            fit.weigh(groom, points, &settings.stretch_modulus, stiff);
            inverse.iter_mut().zip(&fit.mass).for_each(|(to, m)| *to = 1.0 / m);
        });
        let stiffness = &stiffness[..];
        let lists = (&mut length[..], &mut hold[..]);
        chains.refit(&self.fits, lists, &|fit, points, embedded, length, hold| {
            let line = &groom.strands.positions()[points.clone()];
            let stiffness = &stiffness[points.clone()];
            fit.weigh(groom, points, &settings.stretch_modulus, &mut []);
            // Shorten the springs by their stretch under the weight of the groom.
            let rest = |i: usize| line[i].distance(line[i - 1]);
            let max_tension = |i: usize| MAX_HELD_STRETCH * stiffness[i] * rest(i);
            let mass = &fit.mass;
            fit.hold.solve(line, embedded, |i| mass[i], max_tension, gravity);
            for i in 1..line.len() {
                length[i] = rest(i) - fit.hold.tension[i] / stiffness[i];
            }
            hold.copy_from_slice(&fit.hold.acceleration);
        });
    }
}

impl Fit {
    /// Computes the masses of the particles of a strand (kg), and writes the stiffness of its springs (N/m) unless
    /// `stiffness` is empty.
    fn weigh(
        &mut self,
        groom: &Groom,
        points: std::ops::Range<usize>,
        modulus: &Ramp,
        stiffness: &mut [f32],
    ) {
        let line = &groom.strands.positions()[points.clone()];
        let radius = &groom.radius[points];
        self.modulus.clear();
        modulus.extend_along(line, &mut self.modulus);
        self.mass.clear();
        self.mass.resize(line.len(), 0.0);
        for i in 1..line.len() {
            // Assign half of the mass of a segment, a truncated cone, to each end.
            let (a, b) = (radius[i - 1], radius[i]);
            let mean_square = (a * a + a * b + b * b) / 3.0;
            let round = if mean_square > 0.0 { mean_square.sqrt() } else { groom.fibre.radius };
            let area = std::f32::consts::PI * round * round;
            let length = line[i].distance(line[i - 1]);
            if let Some(stiffness) = stiffness.get_mut(i) {
                *stiffness = 0.5 * (self.modulus[i - 1] + self.modulus[i]) * area / length;
            }
            let half = 0.5 * groom.fibre.mass_per_length(round) * length;
            self.mass[i - 1] += half;
            self.mass[i] += half;
        }
    }
}

impl Model for ExplicitSpring {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn step(&mut self, env: &Environment<'_>, report: &mut StepReport) {
        let Self { settings, substeps, chains, profile, springs, shapes, .. } = self;
        let restitution = settings.restitution;
        let substep = SubstepConstants {
            h: env.dt / *substeps as f32,
            inverse_dt: 1.0 / env.dt,
            stretch_damping: settings.stretch_damping,
        };
        report.substeps = *substeps;
        let fraction = |k: u32| k as f32 / *substeps as f32;
        shapes.clear();
        for k in 0..*substeps {
            let moving =
                env.colliders.iter().map(|c| pose_between(c, fraction(k), fraction(k + 1)));
            shapes.extend(moving.map(|c| PosedShape::bouncing(&c, substep.h, restitution)));
        }
        chains.step(env, report, &|mut chain: Chain<'_>| {
            let wind = env.air_at(chain.position[0]);
            let (from, to) = (chain.root_before, chain.root);
            let pull = profile.pull(substep.h, env.gravity, wind);
            let mut unresolved = 0;
            for k in 0..*substeps {
                let ends = [fraction(k), fraction(k + 1)];
                let poses = ends.map(|fraction| from.between(&to, fraction));
                advance_springs(&mut chain, springs, &substep, &pull, &poses);
                let count = env.colliders.len();
                let now = &shapes[k as usize * count..][..count];
                let at = |field| PosedField::at(field, restitution, env.dt, fraction(k + 1));
                unresolved = collide(&mut chain, now, env.field.map(at).as_ref(), substep.h);
                hold_pins(&mut chain, ends, substep.h);
            }
            unresolved
        });
    }

    fn change(&mut self, settings: &ModelSettings, groom: &Groom) -> Result<bool> {
        let ModelSettings::ExplicitSpring(settings) = settings else { return Ok(false) };
        settings.validate()?;
        let (before, substeps) =
            (std::mem::replace(&mut self.settings, settings.clone()), self.substeps);
        let same_springs = before.hold_shape == settings.hold_shape
            && before.stretch_modulus == settings.stretch_modulus;
        if !same_springs {
            self.set_springs(groom);
        }
        if let Err(error) = self.set_substeps(groom) {
            (self.settings, self.substeps) = (before, substeps);
            self.set_springs(groom);
            return Err(error);
        }
        self.chains.set_friction(groom, &settings.friction);
        self.profile.set(groom, &settings.style_time, &settings.damping);
        Ok(true)
    }

    keep_in_chains!();
}

/// The constants of a substep.
#[derive(Debug, Clone, Copy)]
struct SubstepConstants {
    /// Length of the substep (s).
    h: f32,
    /// One over the length of the whole step (1/s).
    inverse_dt: f32,
    stretch_damping: f32,
}

/// One substep of symplectic Euler: forces from the old state, new velocities, then new positions
/// from the new velocities. The root moves from the first pose to the second.
fn advance_springs(
    chain: &mut Chain<'_>,
    springs: &Springs,
    substep: &SubstepConstants,
    pulled: &impl Fn(usize) -> Pull,
    [from, to]: &[Pose; 2],
) {
    let h = substep.h;
    let first = chain.points.start;
    let (embedded, n) = (chain.embedded, chain.position.len());
    chain.collision.fill(Collision::NONE);
    chain.arriving.copy_from_slice(chain.velocity);
    chain.before.copy_from_slice(chain.position);
    // Compute the force of spring i on its inner end from the state before this substep.
    let pull = |chain: &Chain<'_>, i: usize| {
        let (x, v) = (&*chain.position, &*chain.velocity);
        let stiffness = springs.stiffness[first + i];
        let damper = stiffness * substep.stretch_damping;
        spring_force(
            [x[i - 1], x[i]],
            [v[i - 1], v[i]],
            springs.length[first + i],
            [stiffness, damper],
        )
    };
    let mut inner = pull(chain, embedded);
    for i in embedded..n {
        let Pull { shape, push, carried_on } = pulled(first + i);
        let outer = if i + 1 < n { pull(chain, i + 1) } else { Vec3::ZERO };
        let hold = to.direction(springs.hold[first + i]);
        let acceleration = (outer - inner) * springs.inverse_mass[first + i] + push + hold;
        let (x, rest) = (chain.position[i], chain.rest[i]);
        let free = (chain.velocity[i] + acceleration * h) * carried_on;
        // Overwrite the old state of this particle: its two springs have been computed.
        let velocity = shape.pulled(x, free, [from.point(rest), to.point(rest)]);
        chain.velocity[i] = velocity;
        chain.position[i] = x + velocity * h;
        inner = outer;
    }
    chain.follow_root(to, substep.inverse_dt);
}

/// Moves pinned particles with their pins over a substep of `h` (s), from one fraction of the step to another.
fn hold_pins(chain: &mut Chain<'_>, [start, end]: [f32; 2], h: f32) {
    for pin in chain.pins {
        let i = pin.point as usize;
        chain.position[i] = pin.at(end);
        chain.velocity[i] = (pin.at(end) - pin.at(start)) / h;
        chain.collision[i] = Collision::NONE;
    }
}

/// The force (N) of a damped linear spring on its inner end; the outer end gets the opposite.
#[inline]
fn spring_force(
    [a, b]: [Vec3; 2],
    [velocity_a, velocity_b]: [Vec3; 2],
    length: f32,
    [stiffness, damper]: [f32; 2],
) -> Vec3 {
    let edge = b - a;
    let distance = edge.length();
    let u = if distance > 1e-9 { edge * (1.0 / distance) } else { Vec3::Y };
    u * (stiffness * (distance - length) + damper * (velocity_b - velocity_a).dot(u))
}

/// Projects particles out of the body, and updates their velocities.
fn collide(
    chain: &mut Chain<'_>,
    shapes: &[PosedShape],
    field: Option<&PosedField<'_>>,
    h: f32,
) -> u32 {
    let unresolved = chain.collide(shapes, field, h);
    for i in chain.embedded..chain.position.len() {
        if !chain.collision[i].is_none() {
            let velocity = (chain.position[i] - chain.before[i]) * (1.0 / h);
            chain.velocity[i] = chain.collision[i].rebound(velocity);
        }
    }
    unresolved
}

#[cfg(test)]
mod tests;
