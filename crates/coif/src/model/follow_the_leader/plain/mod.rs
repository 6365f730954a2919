//! The same passes, one strand after the other over arrays of structures: a straightforward implementation.
//! Tests compare the lanes with it, and `coif bench` measures the speed-up over it.

mod contact;
mod resting;
mod tip_to_root;

use glam::{Quat, Vec2, Vec3};

use self::contact::{brake_of, collide, leave_field, unbend, unbend_on_plane};
use self::resting::{rebound, remember, update};
use self::tip_to_root::{BackSubstitution, tip_to_root};
use super::ageing::Age;
use super::articulated::{BENT, MAX_LEFT, MAX_SOLVES};
use super::collider::StepCollider;
use super::frames::{COUPLE, FOLLOW, TO_SCALP};
use super::style::RestShape;
use super::{BendLimit, Pass, Settings};
use crate::groom::Groom;
use crate::math::RigidTransform;
use crate::model::{Environment, FieldObstacle};

/// A particle as one structure.
#[derive(Debug, Clone, Copy)]
struct Particle {
    position: Vec3,
    velocity: Vec3,
    /// In the one-way pass, the tension of the next segment: its displacement of the particle as a fraction of its vector.
    /// With two passes, the tension in the segment that ends here.
    tension: f32,
    rest: Vec3,
    length: f32,
    /// See [`super::block::Block::reaction`].
    reaction: f32,
    /// Frame of the segment that ends here, and the groomed direction that it rotates (`frames.rs`).
    frame: Quat,
    groomed: Vec3,
    /// Its contacts (`resting.rs`).
    contacts: [Contact; 2],
}

/// A contact that is stored from step to step; inactive without a force.
#[derive(Debug, Clone, Copy, Default)]
struct Contact {
    /// Number of the collider, or one more than the last for the distance field.
    what: usize,
    force: f32,
    /// Friction force while it sticks, zero while it slides.
    friction: Vec3,
}

/// A contact as the pass from tip to root sees it (`resting.rs`).
#[derive(Clone, Copy, Default)]
struct ContactTerms {
    normal: Vec3,
    target: Vec3,
    offset: f32,
    stiffness: f32,
    along: f32,
    coefficient: f32,
    /// Slip along the surface in the last step.
    slip: f32,
}

/// A collision of a particle: enough for friction.
#[derive(Debug, Clone, Copy)]
struct PlainCollision {
    /// Out of the surface.
    normal: Vec3,
    /// How deep the candidate was (m).
    depth: f32,
    /// Velocity of the surface (m/s).
    velocity: Vec3,
    /// Coulomb friction.
    friction: f32,
    /// The last two collisions.
    what: [Option<usize>; 2],
}

/// The obstacles of a step.
struct Surroundings<'a> {
    colliders: &'a [StepCollider],
    field: Option<&'a FieldObstacle<'a>>,
}

impl Surroundings<'_> {
    /// The surface of a collider or of the field below a point that moves with it: normal, distance,
    /// displacement in the step and coefficient of friction.
    fn below(&self, what: usize, x: Vec3, dt: f32) -> (Vec3, f32, Vec3, f32) {
        if let Some(c) = self.colliders.get(what) {
            let moves = c.velocity_at(x + c.velocity_at(x) * dt) * dt;
            let plane = c.half_space(x + moves);
            return (plane.normal, plane.normal.dot(x + moves) - plane.offset, moves, c.friction);
        }
        let body = self.field.and_then(|field| field.get(what - self.colliders.len()));
        let Some(obstacle) = body else { return (Vec3::ZERO, 1.0, Vec3::ZERO, 0.0) };
        let moves = obstacle.field.velocity_at(x) * dt;
        let sample = obstacle.field.sample(x + moves);
        (sample.gradient, sample.distance - obstacle.skin, moves, obstacle.friction)
    }
}

struct Strand {
    particles: Vec<Particle>,
    embedded: usize,
    shape: RestShape,
    root: RigidTransform,
    age: Age,
}

/// Follow-The-Leader without lanes and without threads, for strands that are pinned at their roots.
pub struct PlainFollowTheLeader {
    settings: Settings,
    strands: Vec<Strand>,
    back: Vec<BackSubstitution>,
    /// Particles of a strand at the start of the step.
    start: Vec<Particle>,
    /// Positions after the solve before; empty in the first.
    found: Vec<Vec3>,
}

impl PlainFollowTheLeader {
    /// Copies a valid groom; see [`super::FollowTheLeader::new`].
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Self {
        let strands = groom.strands.iter().zip(&groom.embedded).map(|(line, &embedded)| {
            let last = line.len() - 1;
            let embedded = (embedded as usize).clamp(1, last);
            let shape = RestShape::new(line, settings, dt, gravity);
            let length = |i: usize| if i > 0 { line[i].distance(line[i - 1]) } else { 0.0 };
            let mass = |i: usize| length(i) + if i < last { length(i + 1) } else { 0.0 };
            let scale = settings
                .correction
                .at(0.0)
                .powf(settings.correction_form.of_strand(last) / last as f32);
            let particles = (0..=last).map(|i| Particle {
                position: line[i],
                velocity: Vec3::ZERO,
                tension: 0.0,
                rest: line[i],
                length: length(i),
                reaction: if i > 1 { scale * mass(i) / (mass(i - 1) * length(i)) } else { 0.0 },
                frame: Quat::IDENTITY,
                groomed: if i > 0 { (line[i] - line[i - 1]) / length(i) } else { Vec3::ZERO },
                contacts: Default::default(),
            });
            Strand {
                particles: particles.collect(),
                embedded,
                shape,
                root: RigidTransform::IDENTITY,
                age: Age::default(),
            }
        });
        Self {
            settings: settings.clone(),
            strands: strands.collect(),
            back: Vec::new(),
            start: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Advances all strands by `env.dt`.
    pub fn step(&mut self, env: &Environment<'_>) {
        let colliders: Vec<StepCollider> =
            env.colliders.iter().map(|c| StepCollider::new(c, env.dt)).collect();
        let pass = Pass::new(&self.settings, env.dt, env.gravity);
        for (strand, root) in self.strands.iter_mut().zip(env.world_from_rest) {
            let wind = env.air_at(strand.particles[0].position);
            let around = Surroundings { colliders: &colliders, field: env.field.as_ref() };
            if pass.backward && pass.is_styled {
                follow(strand, root, &pass);
            }
            self.start.clear();
            self.start.extend_from_slice(&strand.particles);
            self.found.clear();
            let mut impact =
                step_strand(strand, root, wind, &pass, &around, &mut self.back, &self.found);
            for round in 1..if pass.backward { MAX_SOLVES } else { 0 } {
                if !impact {
                    break;
                }
                // Solve the step again with the new contacts.
                self.found.clear();
                self.found.extend(strand.particles.iter().map(|particle| particle.position));
                for (particle, start) in strand.particles.iter_mut().zip(&self.start) {
                    let found = std::mem::replace(particle, *start).contacts;
                    if round > 1 {
                        particle.contacts = found;
                        continue;
                    }
                    for (contact, found) in particle.contacts.iter_mut().zip(&found) {
                        // What broke loose in this solve slides from the start of the step.
                        let same = found.force > 0.0 && found.what == contact.what;
                        if same && found.friction == Vec3::ZERO {
                            contact.friction = Vec3::ZERO;
                        }
                    }
                    for new in found.into_iter().filter(|c| c.force > 0.0) {
                        if !start.contacts.iter().any(|c| c.force > 0.0 && c.what == new.what) {
                            remember(&mut particle.contacts, new.what, new.force);
                        }
                    }
                }
                impact =
                    step_strand(strand, root, wind, &pass, &around, &mut self.back, &self.found);
            }
            if pass.backward {
                rebound(strand, &self.start, &pass, &around);
            }
            let motion = *root * strand.root.inverse();
            let moved = |(p, start): (&Particle, &Particle)| {
                p.position.distance(motion.point(start.position))
            };
            let moved = strand.particles.iter().zip(&self.start).skip(1).map(moved);
            let root_moved = strand.particles[0].position.distance(self.start[0].position);
            let driven = root_moved + wind.length() * pass.dt;
            strand.age.grow(moved.fold(0.0, f32::max), driven, &pass);
            strand.root = *root;
        }
    }

    /// Replaces the particles' velocities (m/s), in the groom's order.
    pub fn set_velocities(&mut self, from: impl Iterator<Item = Vec3>) {
        let particles = self.strands.iter_mut().flat_map(|s| &mut s.particles);
        for (particle, velocity) in particles.zip(from) {
            particle.velocity = velocity;
        }
    }

    /// Writes the particles' velocities (m/s) in the groom's order.
    pub fn velocities(&self, out: &mut [Vec3]) {
        let particles = self.strands.iter().flat_map(|s| &s.particles);
        for (to, particle) in out.iter_mut().zip(particles) {
            *to = particle.velocity;
        }
    }

    /// Writes the particles' positions in the groom's order.
    pub fn positions(&self, out: &mut [Vec3]) {
        let particles = self.strands.iter().flat_map(|s| &s.particles);
        for (to, particle) in out.iter_mut().zip(particles) {
            *to = particle.position;
        }
    }
}

/// Updates the frames with the directions that the velocities predict for the step (`frames.rs`).
fn follow(strand: &mut Strand, root: &RigidTransform, pass: &Pass) {
    let last = strand.particles.len() - 1;
    for i in (1..=last).rev() {
        let [inner, outer] = [strand.particles[i - 1], strand.particles[i]];
        let edge = outer.position - inner.position + (outer.velocity - inner.velocity) * pass.dt;
        let ahead = edge / outer.length;
        let e = root.inverse().direction(ahead / ahead.length().max(1e-3));
        let g = strand.shape.step[i] / outer.length;
        let q = outer.frame;
        let pure = |v: Vec3| Quat::from_xyzw(v.x, v.y, v.z, 0.0);
        let couple = |other: &Particle| {
            let length = outer.length.min(other.length) / outer.length;
            other.frame * (2.0 * COUPLE / FOLLOW * length)
        };
        let mut sum = q - pure(e) * q * pure(g) + Quat::IDENTITY * (2.0 * TO_SCALP / FOLLOW);
        if i > 1 {
            sum += couple(&inner);
        }
        if i < last {
            sum += couple(&strand.particles[i + 1]);
        }
        let frame = sum * (1.0 / sum.length());
        strand.particles[i].frame = frame;
        strand.particles[i].groomed = frame * g;
    }
}

/// The passes of `articulated/` or of `one_way.rs`, one particle at a time. Returns whether there is a new collision.
fn step_strand(
    strand: &mut Strand,
    root: &RigidTransform,
    wind: Vec3,
    pass: &Pass,
    around: &Surroundings<'_>,
    back: &mut Vec<BackSubstitution>,
    found: &[Vec3],
) -> bool {
    let dt = pass.dt;
    let mut impact = false;
    let fall = pass.gravity * (dt * dt);
    let count = strand.particles.len();
    if pass.backward {
        tip_to_root(strand, root, pass, around, back, found);
    }
    let x_root = strand.particles[0].position;
    let mut parent = root.point(strand.particles[0].rest);
    let mut grandparent = parent - (strand.particles[1].position - x_root);
    let motion = *root * strand.root.inverse();
    let mut displaced = parent - motion.point(x_root);
    let mut pushed = Vec3::ZERO;
    let (mut turn_leader, mut turn_pushed_leader) = (Vec2::ZERO, Vec2::ZERO);
    strand.particles[0].velocity = (parent - x_root) * (1.0 / dt);
    strand.particles[0].position = parent;
    for i in 1..count {
        let particle = strand.particles[i];
        let (x, v) = (particle.position, particle.velocity);
        let mut direction;
        let (mut turn, mut turn_pushed) = (Vec2::ZERO, Vec2::ZERO);
        if let Some(back) = back.get(i) {
            // Compute the minimising turn, given the leader.
            let e = back.along;
            let behind = displaced + e * (back.shrinks * particle.length);
            turn = back.turn - back.by_leader.dot(behind) + back.by_turn * turn_leader;
            let across = back.tangents.mul(turn) * particle.length;
            let place = behind + across;
            strand.particles[i].tension =
                back.pull - back.by_place.dot(place) - back.by_cross.dot(turn);
            for (contact, terms) in strand.particles[i].contacts.iter_mut().zip(&back.terms) {
                impact |= update(contact, terms, place, dt);
            }
            direction = e * (particle.length * (1.0 + back.shrinks)) + across;
            turn_pushed = back.by_turn * turn_pushed_leader - back.by_leader.dot(pushed);
            pushed += back.tangents.mul(turn_pushed) * particle.length;
        } else {
            // Predict (eq. 1), with the pull of the next segment (eq. 9).
            let x_next = strand.particles[(i + 1).min(count - 1)].position;
            direction = x + v * dt + (x_next - x) * particle.tension + fall - parent;
        }
        // Project on the length sphere (3.1).
        if direction.length_squared() < 1e-18 {
            direction = parent - grandparent;
        }
        let distance = direction.length();
        let along_free = direction / distance;
        // Keep the angle with the segment before (eq. 11).
        let mut limit = pass.bend;
        if pass.backward {
            limit = BendLimit::of_cosine(strand.shape.turn[i]);
        }
        if pass.bend.is_on() && i > 1 {
            let before = strand.particles[i - 1].length;
            direction = unbend(&limit, parent - grandparent, before, direction, distance);
            if let Some(back) = back.get(i) {
                let straighter = direction / distance - along_free;
                pushed += straighter * particle.length;
                turn_pushed += back.tangents.dot(straighter);
            }
        }
        let mut p = parent + direction * (particle.length / distance);
        let mut brake = Vec3::ZERO;
        let mut dragged = pushed;
        if i >= strand.embedded {
            let ahead = (parent - grandparent) * (1.0 / particle.length);
            let (colliders, length, holds) = (around.colliders, particle.length, pass.backward);
            let (found, mut collision) = collide(colliders, parent, length, ahead, p, holds);
            let free = std::mem::replace(&mut p, found);
            if let Some(field) = around.field {
                let number = around.colliders.len();
                p = leave_field(field, number, parent, particle.length, ahead, p, &mut collision);
            }
            if let Some(collision) = collision.filter(|_| pass.backward && i > 1) {
                let before = (parent - grandparent) / strand.particles[i - 1].length;
                p = unbend_on_plane(
                    around,
                    collision.normal,
                    [parent, before],
                    particle.length,
                    limit.cos,
                    p,
                );
                impact |= (p - parent).dot(before) < (limit.cos - BENT) * particle.length;
            }
            if let Some(collision) = collision.filter(|t| pass.backward && t.depth > 0.0) {
                let force = strand.shape.mass[i] * collision.depth;
                let contacts = &mut strand.particles[i].contacts;
                for what in collision.what.into_iter().flatten() {
                    let new = remember(contacts, what, force);
                    impact |= new || collision.depth > MAX_LEFT * particle.length;
                }
            }
            let friction = strand.shape.tie[i].friction;
            brake = collision.map_or(Vec3::ZERO, |t| {
                let scaled = PlainCollision { friction: t.friction * friction, ..t };
                brake_of(&scaled, p - x - pushed, 1.0 / dt)
            });
            if let Some(back) = back.get(i) {
                pushed += p - free;
                turn_pushed += back.tangents.dot(p - free) / particle.length;
            }
        } else {
            p = root.point(particle.rest);
            (dragged, pushed, turn_pushed) = (Vec3::ZERO, Vec3::ZERO, Vec2::ZERO);
        }
        strand.particles[i].position = p;
        let carried_on = strand.shape.tie[i].carried_on;
        let blow = wind * (1.0 - carried_on);
        strand.particles[i].velocity = (p - x - dragged) * (carried_on / dt) + blow - brake;
        if let Some(back) = back.get(i) {
            displaced += p - parent - back.along * particle.length;
            turn += back.tangents.dot((p - parent) / particle.length - along_free);
        } else {
            strand.particles[i - 1].tension = (distance - particle.length) * particle.reaction;
        }
        (turn_leader, turn_pushed_leader) = (turn, turn_pushed);
        (grandparent, parent) = (parent, p);
    }
    impact
}
