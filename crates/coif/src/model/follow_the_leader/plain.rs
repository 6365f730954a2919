//! The same passes, one strand after the other over arrays of structures: what one would write
//! first. Tests hold the lanes against it, and `coif bench` measures the speed-up over it.

use glam::{Mat2, Mat3, Quat, Vec2, Vec3};

use super::articulated::{MAX_LEFT, MAX_SOLVES};
use super::collider::StepCollider;
use super::contact::{CLEAR_OF_ROUNDING, NO_CONE};
use super::frames::{COUPLE, FOLLOW, HOME};
use super::joint::{JOINT, Limit, MIN_CLOSING};
use super::on_sphere::resolve_on_sphere;
use super::resting::{CREEP, HOVER, SLOW, SLOW_FRICTION, STATIC, STEADY, STIFFNESS, STILL};
use super::style::RestShape;
use super::{BendLimit, Pass, Settings};
use crate::groom::Groom;
use crate::math::RigidTransform;
use crate::model::{Environment, FieldObstacle};

/// Rounds in a distance field, whose surface is curved.
const FIELD_ROUNDS: usize = 6;

/// A particle as one structure.
#[derive(Debug, Clone, Copy)]
struct Particle {
    position: Vec3,
    velocity: Vec3,
    /// One way, the pull of the next segment: how far it moves the particle, as a fraction of its vector. With two
    /// passes, the pull in the segment that ends here.
    tension: f32,
    rest: Vec3,
    length: f32,
    /// See [`super::block::Block::reaction`].
    reaction: f32,
    /// Frame of the segment that ends here, and the groomed direction that it turns (`frames.rs`).
    frame: Quat,
    groomed: Vec3,
    /// What it lies on (`resting.rs`).
    contacts: [Contact; 2],
}

/// A contact that is remembered from step to step; none if it has no force.
#[derive(Debug, Clone, Copy, Default)]
struct Contact {
    /// Number of the collider, or one more than the last for the distance field.
    what: usize,
    force: f32,
    /// Friction while it sticks, zero while it slides.
    friction: Vec3,
}

/// A contact as the pass from tip to root sees it (`resting.rs`).
#[derive(Clone, Copy, Default)]
struct Held {
    normal: Vec3,
    target: Vec3,
    offset: f32,
    stiffness: f32,
    along: f32,
    coefficient: f32,
    /// How far it slipped along the surface in the last step.
    slip: f32,
}

/// What touched a particle: enough for friction.
#[derive(Debug, Clone, Copy)]
struct Touch {
    /// Out of the surface.
    normal: Vec3,
    /// How deep the candidate was (m).
    depth: f32,
    /// Velocity of the surface (m/s).
    velocity: Vec3,
    /// Coulomb friction.
    friction: f32,
    /// The last two things that were touched.
    what: [Option<usize>; 2],
}

/// What hair must stay out of.
struct Surroundings<'a> {
    colliders: &'a [StepCollider],
    field: Option<&'a FieldObstacle<'a>>,
}

impl Surroundings<'_> {
    /// The surface of a collider or of the field below a point that is carried along with it: normal, distance,
    /// displacement in the step and coefficient of friction.
    fn below(&self, what: usize, x: Vec3, dt: f32) -> (Vec3, f32, Vec3, f32) {
        if let Some(c) = self.colliders.get(what) {
            let moves = c.velocity_at(x + c.velocity_at(x) * dt) * dt;
            let plane = c.half_space(x + moves);
            return (plane.normal, plane.normal.dot(x + moves) - plane.offset, moves, c.friction);
        }
        let Some(obstacle) = self.field else { return (Vec3::ZERO, 1.0, Vec3::ZERO, 0.0) };
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
}

/// Follow-The-Leader without lanes and without threads, for strands that are held at their roots.
pub struct PlainFollowTheLeader {
    settings: Settings,
    strands: Vec<Strand>,
    left: Vec<Left>,
    /// Particles of a strand at the start of the step.
    start: Vec<Particle>,
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
            let scale = settings.correction.at(0.0).powf(1.0 / last as f32);
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
            }
        });
        Self {
            settings: settings.clone(),
            strands: strands.collect(),
            left: Vec::new(),
            start: Vec::new(),
        }
    }

    /// Advances all strands by `env.dt`.
    pub fn step(&mut self, env: &Environment<'_>) {
        let colliders: Vec<StepCollider> =
            env.colliders.iter().map(|c| StepCollider::new(c, env.dt)).collect();
        let pass = Pass::new(&self.settings, env.dt, env.gravity);
        for (strand, root) in self.strands.iter_mut().zip(env.world_from_rest) {
            let wind = env.wind.velocity_at(strand.particles[0].position, env.time);
            let around = Surroundings { colliders: &colliders, field: env.field.as_ref() };
            self.start.clear();
            self.start.extend_from_slice(&strand.particles);
            let mut impact = step_strand(strand, root, wind, &pass, &around, &mut self.left);
            for round in 1..if pass.backward { MAX_SOLVES } else { 0 } {
                if !impact {
                    break;
                }
                // Solve the step again, now that it is known where hair comes upon the body.
                for (particle, start) in strand.particles.iter_mut().zip(&self.start) {
                    let found = std::mem::replace(particle, *start).contacts;
                    if round > 1 {
                        particle.contacts = found;
                        continue;
                    }
                    for new in found.into_iter().filter(|c| c.force > 0.0) {
                        if !start.contacts.iter().any(|c| c.force > 0.0 && c.what == new.what) {
                            remember(&mut particle.contacts, new.what, new.force);
                        }
                    }
                }
                impact = step_strand(strand, root, wind, &pass, &around, &mut self.left);
            }
            if pass.backward && pass.style.spring > 0.0 {
                follow(strand, root, &pass);
            }
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

/// What the pass from tip to root finds out of a particle and its segment, and leaves for the pass from root to tip
/// (`articulated.rs`).
#[derive(Clone, Copy, Default)]
struct Left {
    shift: Vec3,
    along: Vec3,
    tangents: Columns,
    off: Vec3,
    turns: Vec3,
    shrinks: f32,
    turn: Vec2,
    by_leader: Columns,
    by_turn: Mat2,
    pull: f32,
    by_place: Vec3,
    by_cross: Vec2,
    held: [Held; 2],
}

/// A basis of a plane, or a linear map from the plane to space.
#[derive(Clone, Copy, Default)]
struct Columns([Vec3; 2]);

impl Columns {
    fn tangents(e: Vec3) -> Self {
        let (x, y) = e.any_orthonormal_pair();
        Self([x, y])
    }

    fn map(self, f: impl Fn(Vec3) -> Vec3) -> Self {
        Self(self.0.map(f))
    }

    fn mul(&self, v: Vec2) -> Vec3 {
        self.0[0] * v.x + self.0[1] * v.y
    }

    fn dot(&self, v: Vec3) -> Vec2 {
        Vec2::new(self.0[0].dot(v), self.0[1].dot(v))
    }

    /// `A^T B`.
    fn transposed_mul(&self, b: &Self) -> Mat2 {
        Mat2::from_cols(self.dot(b.0[0]), self.dot(b.0[1]))
    }

    fn after(&self, m: Mat2) -> Self {
        Self([self.mul(m.x_axis), self.mul(m.y_axis)])
    }

    fn plus(&self, b: &Self) -> Self {
        Self([self.0[0] + b.0[0], self.0[1] + b.0[1]])
    }
}

/// Looks at the segments before the step: how far their directions are from the groomed ones, and how far they turn by
/// their velocities.
fn look(strand: &Strand, root: &RigidTransform, pass: &Pass, left: &mut Vec<Left>) {
    let motion = *root * strand.root.inverse();
    left.clear();
    for (i, outer) in strand.particles.iter().enumerate() {
        let shift = motion.point(outer.position) - outer.position;
        let mut seen = Left { shift, ..Left::default() };
        if let (Some(before), Some(inner)) = (left.last(), strand.particles[..i].last()) {
            let carried = shift - before.shift;
            seen.along = ((outer.position - inner.position) + carried) / outer.length;
            seen.tangents = Columns::tangents(seen.along);
            seen.off = root.direction(outer.groomed) - seen.along;
            let drift = (outer.velocity - inner.velocity) * pass.dt;
            seen.turns = (drift - carried) / outer.length;
            seen.shrinks = (-0.5 * seen.turns.length_squared()).max(-0.5);
        }
        left.push(seen);
    }
}

/// A quadratic in the displacement of a particle and the turn of its segment (`articulated.rs`).
struct Beyond {
    inertia: Mat3,
    cross: Columns,
    stiffness: Mat2,
    push: Vec3,
    turn: Vec2,
}

impl Beyond {
    const NOTHING: Self = Self {
        inertia: Mat3::ZERO,
        cross: Columns([Vec3::ZERO; 2]),
        stiffness: Mat2::ZERO,
        push: Vec3::ZERO,
        turn: Vec2::ZERO,
    };
}

/// The joint between two segments (`joint.rs`): stiffness against turns of the outer and the inner one, what couples
/// them, and torques.
struct Joint {
    outer: Mat2,
    inner: Mat2,
    cross: Mat2,
    turn_outer: Vec2,
    turn_inner: Vec2,
}

impl Joint {
    /// Between a segment and the one ahead of it.
    fn new(k: f32, limit: &Limit, [segment, ahead]: [&Left; 2]) -> Self {
        let product = |a: Vec2, b: Vec2| Mat2::from_cols(a * b.x, a * b.y);
        let diagonal = |d: f32| Mat2::from_diagonal(Vec2::splat(d));
        let beyond = limit.start - segment.along.dot(ahead.along);
        let closes = -segment.along.dot(ahead.turns) - ahead.along.dot(segment.turns);
        let over = beyond.max(0.0);
        let part =
            if over > 0.0 { 1.0 } else { (beyond + closes).max(0.0) / closes.max(MIN_CLOSING) };
        let stiffest = limit.stiffness * k;
        let (stiff, force) = (stiffest * part.min(1.0), stiffest * over);
        let bent = (ahead.along * ahead.shrinks - segment.along * segment.shrinks) * force;
        let v = segment.tangents.dot(ahead.along);
        let v_ahead = ahead.tangents.dot(segment.along);
        Self {
            outer: diagonal(force) + product(v, v) * stiff,
            inner: diagonal(force) + product(v_ahead, v_ahead) * stiff,
            cross: segment.tangents.transposed_mul(&ahead.tangents) * force
                - product(v, v_ahead) * stiff,
            turn_outer: segment.tangents.dot(bent) + v * force,
            turn_inner: v_ahead * force - ahead.tangents.dot(bent),
        }
    }
}

/// Lets the frames follow the strand after a step (`frames.rs`).
fn follow(strand: &mut Strand, root: &RigidTransform, pass: &Pass) {
    let turned = *root * strand.root.inverse();
    let last = strand.particles.len() - 1;
    for i in 1..=last {
        let [inner, outer] = [strand.particles[i - 1], strand.particles[i]];
        let along = (outer.position - inner.position) / outer.length;
        let carried = turned.direction(along) - along;
        let ahead = along + (outer.velocity - inner.velocity) * (pass.dt / outer.length) - carried;
        let e = root.inverse().direction(ahead / ahead.length().max(1e-3));
        let g = strand.shape.step[i] / outer.length;
        let q = outer.frame;
        let pure = |v: Vec3| Quat::from_xyzw(v.x, v.y, v.z, 0.0);
        let couple = |other: &Particle| {
            let length = outer.length.min(other.length) / outer.length;
            other.frame * (2.0 * COUPLE / FOLLOW * length)
        };
        let mut sum = q - pure(e) * q * pure(g) + Quat::IDENTITY * (2.0 * HOME / FOLLOW);
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

/// Eliminates the particles from the tip.
fn tip_to_root(
    strand: &mut Strand,
    root: &RigidTransform,
    pass: &Pass,
    around: &Surroundings<'_>,
    left: &mut Vec<Left>,
) {
    let product = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
    let diagonal = |d: f32| Mat3::from_diagonal(Vec3::splat(d));
    let (spring, damper) = (pass.style.spring, pass.style.damper);
    look(strand, root, pass, left);
    let mut beyond = Beyond::NOTHING;
    let whole = left.len() as f32;
    for i in (1..left.len()).rev() {
        let (before, seen) = (left[i - 1], left[i]);
        let length_before = strand.particles[i - 1].length;
        let (particle, mass) = (&mut strand.particles[i], strand.shape.mass[i]);
        let Left { shift, along: e, .. } = seen;
        let length = particle.length;
        let mut rhs = (particle.velocity * pass.dt + pass.gravity * (pass.dt * pass.dt) - shift)
            * mass
            + root.direction(strand.shape.goal[i])
            + (root.translation - particle.position - shift) * (mass * spring)
            + beyond.push;
        let mut inertia = beyond.inertia + diagonal(mass * (1.0 + spring + damper));
        let mut held = [Held::default(); 2];
        let mut contacts = particle.contacts;
        for (contact, held) in contacts.iter_mut().zip(&mut held) {
            if let Some(pressed) = press(contact, particle, shift, [mass, whole], pass, around) {
                let Held { normal: n, target, offset, stiffness, along, .. } = pressed;
                inertia += diagonal(along) + product(n, n) * (stiffness - along);
                let grip = target * along + contact.friction;
                rhs += grip + n * (stiffness * offset + contact.force - n.dot(grip));
                *held = pressed;
            }
        }
        particle.contacts = contacts;
        // Put the turn of the segment in the place of its outer end.
        let link = strand.shape.link;
        let straight = (particle.tension.max(0.0) + link * (spring * FOLLOW + damper)) * length;
        let lever = seen.tangents.map(|t| t * length);
        let by_leader = lever.map(|t| inertia * t).plus(&beyond.cross);
        let mut stiffness = lever.transposed_mul(&by_leader)
            + beyond.cross.transposed_mul(&lever)
            + beyond.stiffness
            + Mat2::from_diagonal(Vec2::splat(straight));
        let mut turn = lever.dot(rhs + seen.off * (link * spring * FOLLOW)) + beyond.turn;
        let mut ahead = Beyond::NOTHING;
        let mut by_turn = Mat2::ZERO;
        if i > 1 {
            let k = length.min(length_before) * link * spring * JOINT;
            let joint = Joint::new(k, &strand.shape.limit[i], [&seen, &before]);
            stiffness += joint.outer;
            turn += joint.turn_outer;
            by_turn = joint.cross;
            (ahead.stiffness, ahead.turn) = (joint.inner, joint.turn_inner);
        }
        // Eliminate the turn.
        let inverse = stiffness.inverse();
        let (turned, coupled) = (inverse * turn, inverse * by_turn);
        let weighed = by_leader.after(inverse);
        left[i] = Left {
            turn: turned,
            by_leader: weighed,
            by_turn: coupled,
            pull: e.dot(rhs),
            by_place: inertia * e,
            by_cross: beyond.cross.dot(e),
            held,
            ..seen
        };
        let centripetal = e * (seen.shrinks * length);
        let cross = weighed.after(by_turn);
        let [u, v] = weighed.0;
        let [p, q] = by_leader.0;
        let inertia = inertia - product(u, p) - product(v, q);
        beyond = Beyond {
            inertia,
            cross,
            stiffness: ahead.stiffness - by_turn.transpose() * coupled,
            push: rhs - by_leader.mul(turned) - inertia * centripetal,
            turn: ahead.turn + by_turn.transpose() * turned - cross.dot(centripetal),
        };
    }
}

/// Looks at a contact that is remembered; `None`, and it is forgotten, if the particle leaves it.
fn press(
    contact: &mut Contact,
    particle: &Particle,
    shift: Vec3,
    [mass, whole]: [f32; 2],
    pass: &Pass,
    around: &Surroundings<'_>,
) -> Option<Held> {
    if contact.force <= 0.0 {
        return None;
    }
    let (normal, gap, moves, coefficient) = around.below(contact.what, particle.position, pass.dt);
    let slip = particle.velocity * pass.dt - moves;
    let out = slip.dot(normal);
    if (gap + out) * mass >= contact.force {
        *contact = Contact::default();
        return None;
    }
    let stiffness = whole * STIFFNESS;
    let slip = (slip - normal * out).length().max(CREEP * pass.dt);
    let sticks = contact.friction != Vec3::ZERO;
    let more = 1.0 + SLOW_FRICTION / (1.0 + (slip / (SLOW * pass.dt)).powi(2));
    let slowed = (coefficient * more * contact.force / slip).min(stiffness);
    let along = if sticks { stiffness } else { slowed };
    let target = moves - shift;
    let offset = normal.dot(target) - gap + HOVER;
    Some(Held { normal, target, offset, stiffness, along, coefficient, slip })
}

/// Updates the force of a contact after a displacement.
fn update(contact: &mut Contact, held: &Held, a: Vec3, dt: f32) {
    if contact.force <= 0.0 {
        return;
    }
    let n = held.normal;
    let slip = (a - held.target).reject_from_normalized(n);
    let slid = contact.friction == Vec3::ZERO;
    let friction = contact.friction.reject_from_normalized(n) - slip * held.along;
    contact.force = (contact.force + held.stiffness * (held.offset - n.dot(a))).max(0.0);
    let stop = if slid { held.stiffness / STIFFNESS } else { 0.0 };
    let slow = 1.0 + SLOW_FRICTION / (1.0 + (slip.length() / (SLOW * dt)).powi(2));
    let most = held.coefficient * contact.force * if slid { slow } else { STATIC };
    let creeps = slip.length() < CREEP * dt || held.along >= held.stiffness;
    let steady = slip.length() <= held.slip * STEADY;
    let sticks = (friction - slip * stop).length() <= most
        || (creeps && steady && friction.length() <= most)
        || (!slid && slip.length() < STILL * dt);
    contact.friction = if sticks { friction.clamp_length_max(most) } else { Vec3::ZERO };
}

/// Remembers a contact in the place of the weaker of two: says whether it is new.
fn remember(contacts: &mut [Contact; 2], what: usize, force: f32) -> bool {
    if let Some(known) = contacts.iter_mut().find(|c| c.force > 0.0 && c.what == what) {
        known.force = known.force.max(force);
        return false;
    }
    let weaker = usize::from(contacts[1].force < contacts[0].force);
    contacts[weaker] = Contact { what, force, friction: Vec3::ZERO };
    true
}

/// The passes of `articulated.rs` or of `one_way.rs`, one particle at a time. Says whether any has come upon the body.
fn step_strand(
    strand: &mut Strand,
    root: &RigidTransform,
    wind: Vec3,
    pass: &Pass,
    around: &Surroundings<'_>,
    left: &mut Vec<Left>,
) -> bool {
    let dt = pass.dt;
    let mut impact = false;
    let fall = pass.gravity * (dt * dt);
    let carried_on = pass.carried_on / dt;
    let blow = wind * (1.0 - pass.carried_on);
    let count = strand.particles.len();
    if pass.backward {
        tip_to_root(strand, root, pass, around, left);
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
        let mut way;
        let (mut turn, mut turn_pushed) = (Vec2::ZERO, Vec2::ZERO);
        if let Some(left) = left.get(i) {
            // Find the best turn behind the leader.
            let e = left.along;
            let behind = displaced + e * (left.shrinks * particle.length);
            turn = left.turn - left.by_leader.dot(behind) + left.by_turn * turn_leader;
            let across = left.tangents.mul(turn) * particle.length;
            let place = behind + across;
            strand.particles[i].tension =
                left.pull - left.by_place.dot(place) - left.by_cross.dot(turn);
            for (contact, held) in strand.particles[i].contacts.iter_mut().zip(&left.held) {
                update(contact, held, place, dt);
            }
            way = e * (particle.length * (1.0 + left.shrinks)) + across;
            turn_pushed = left.by_turn * turn_pushed_leader - left.by_leader.dot(pushed);
            pushed += left.tangents.mul(turn_pushed) * particle.length;
        } else {
            // Predict (eq. 1), with the pull of the next segment (eq. 9).
            let x_next = strand.particles[(i + 1).min(count - 1)].position;
            way = x + v * dt + (x_next - x) * particle.tension + fall - parent;
        }
        // Project on the length sphere (3.1).
        if way.length_squared() < 1e-18 {
            way = parent - grandparent;
        }
        let distance = way.length();
        let along_free = way / distance;
        // Keep the angle with the segment before (eq. 11).
        let mut limit = pass.bend;
        if pass.backward {
            limit = BendLimit::of_cosine(strand.shape.turn[i]);
        }
        if pass.bend.is_on() && i > 1 {
            let before = strand.particles[i - 1].length;
            way = unbend(&limit, parent - grandparent, before, way, distance);
            if let Some(left) = left.get(i) {
                let straighter = way / distance - along_free;
                pushed += straighter * particle.length;
                turn_pushed += left.tangents.dot(straighter);
            }
        }
        let mut p = parent + way * (particle.length / distance);
        let mut brake = Vec3::ZERO;
        let mut dragged = pushed;
        if i >= strand.embedded {
            let ahead = (parent - grandparent) * (1.0 / particle.length);
            let (found, mut touch) = collide(around.colliders, parent, particle.length, ahead, p);
            let free = std::mem::replace(&mut p, found);
            if let Some(field) = around.field {
                let number = around.colliders.len();
                p = leave_field(field, number, parent, particle.length, ahead, p, &mut touch);
            }
            if let Some(touch) = touch.filter(|_| pass.backward && i > 1) {
                let before = (parent - grandparent) / strand.particles[i - 1].length;
                p = unbend_on_plane(
                    around,
                    touch.normal,
                    [parent, before],
                    particle.length,
                    limit.cos,
                    p,
                );
            }
            if let Some(touch) = touch.filter(|t| pass.backward && t.depth > 0.0) {
                let force = strand.shape.mass[i] * touch.depth;
                let contacts = &mut strand.particles[i].contacts;
                for what in touch.what.into_iter().flatten() {
                    let new = remember(contacts, what, force);
                    impact |= new || touch.depth > MAX_LEFT * particle.length;
                }
            }
            brake = touch.map_or(Vec3::ZERO, |t| brake_of(&t, p - x - pushed, 1.0 / dt));
            if let Some(left) = left.get(i) {
                pushed += p - free;
                turn_pushed += left.tangents.dot(p - free) / particle.length;
            }
        } else {
            p = root.point(particle.rest);
            (dragged, pushed, turn_pushed) = (Vec3::ZERO, Vec3::ZERO, Vec2::ZERO);
        }
        strand.particles[i].position = p;
        strand.particles[i].velocity = (p - x - dragged) * carried_on + blow - brake;
        if let Some(left) = left.get(i) {
            displaced += p - parent - left.along * particle.length;
            turn += left.tangents.dot((p - parent) / particle.length - along_free);
        } else {
            strand.particles[i - 1].tension = (distance - particle.length) * particle.reaction;
        }
        (turn_leader, turn_pushed_leader) = (turn, turn_pushed);
        (grandparent, parent) = (parent, p);
    }
    impact
}

fn unbend(limit: &BendLimit, before: Vec3, length_before: f32, way: Vec3, distance: f32) -> Vec3 {
    let along = before.dot(way);
    if along >= length_before * distance * limit.cos {
        return way;
    }
    let inverse = 1.0 / length_before.max(1e-9);
    let u = before * inverse;
    let mut tangent = way - u * (along * inverse);
    if tangent.length() <= distance * 1e-4 {
        tangent = Vec3::new(u.y, u.z, u.x).cross(u);
    }
    u * (distance * limit.cos) + tangent * (distance * limit.sin / tangent.length().max(1e-9))
}

/// Turns a segment that contact has bent beyond the limit along the surface until it is within it, if it can.
fn unbend_on_plane(
    around: &Surroundings<'_>,
    n: Vec3,
    [parent, a]: [Vec3; 2],
    length: f32,
    c: f32,
    p: Vec3,
) -> Vec3 {
    let along = (p - parent) / length;
    let (h, s) = (along.dot(n) + CLEAR_OF_ROUNDING, n.dot(a));
    let sine2 = 1.0 - s * s;
    let (x, y) = ((h - c * s) / sine2, (c - h * s) / sine2);
    let left = 1.0 - (x * h + y * c);
    if along.dot(a) >= c || sine2 <= NO_CONE || left <= 0.0 {
        return p;
    }
    let across = n.cross(a);
    let side = if across.dot(along) < 0.0 { -1.0 } else { 1.0 };
    let u = n * x + a * y + across * (side * (left / sine2).sqrt());
    let found = parent + u * length;
    let clear = |field: &FieldObstacle<'_>| field.field.distance_at(found) >= field.skin;
    let inside = around.colliders.iter().any(|c| c.inside(found).is_some());
    if inside || !around.field.is_none_or(clear) { p } else { found }
}

fn collide(
    colliders: &[StepCollider],
    parent: Vec3,
    length: f32,
    ahead: Vec3,
    mut p: Vec3,
) -> (Vec3, Option<Touch>) {
    let mut touch: Option<Touch> = None;
    for _round in 0..3 {
        let mut hit = false;
        for (number, collider) in colliders.iter().enumerate() {
            let Some((n, distance)) = collider.inside(p) else { continue };
            hit = true;
            let depth = touch.map_or(0.0, |t| t.depth).max(-distance);
            touch = Some(Touch {
                normal: n,
                depth,
                velocity: collider.velocity_at(p),
                friction: collider.friction,
                what: noted(&touch, number),
            });
            p = onto_plane(parent, length, p, ahead, n, distance);
        }
        if !hit {
            return (p, touch);
        }
    }
    if colliders.iter().any(|c| c.inside(p).is_some()) {
        p = resolve_on_sphere(colliders.iter(), parent, length, p).0;
    }
    (p, touch)
}

/// What has been touched, the last first.
fn noted(touch: &Option<Touch>, what: usize) -> [Option<usize>; 2] {
    match touch.map(|t| t.what) {
        Some([Some(newest), older]) if newest == what => [Some(newest), older],
        Some([newest, _]) => [Some(what), newest],
        None => [Some(what), None],
    }
}

/// Moves a particle on its length sphere out of a distance field, onto the plane through the nearest
/// point of the surface, a few times.
fn leave_field(
    obstacle: &FieldObstacle<'_>,
    number: usize,
    parent: Vec3,
    length: f32,
    ahead: Vec3,
    mut p: Vec3,
    touch: &mut Option<Touch>,
) -> Vec3 {
    for _round in 0..FIELD_ROUNDS {
        let sample = obstacle.field.sample(p);
        let distance = sample.distance - obstacle.skin;
        if distance >= 0.0 {
            break;
        }
        *touch = Some(Touch {
            normal: sample.gradient,
            depth: touch.map_or(0.0, |t| t.depth).max(-distance),
            velocity: sample.velocity,
            friction: obstacle.friction,
            what: noted(touch, number),
        });
        p = onto_plane(parent, length, p, ahead, sample.gradient, distance);
    }
    p
}

fn onto_plane(parent: Vec3, length: f32, p: Vec3, ahead: Vec3, n: Vec3, distance: f32) -> Vec3 {
    let along = (p - parent) * (1.0 / length);
    let height = distance + (parent - p).dot(n);
    let lift = (-height * (1.0 / length)).clamp(-1.0, 1.0);
    let mut tangent = along - n * along.dot(n);
    if tangent.length() <= 1e-3 {
        tangent = ahead - n * ahead.dot(n);
    }
    if tangent.length() <= 1e-3 {
        tangent = Vec3::new(n.y, n.z, n.x).cross(n);
    }
    let scale = (1.0 - lift * lift).max(0.0).sqrt() / tangent.length().max(1e-12);
    let u = n * lift + tangent * scale;
    parent + u * (length / u.length().max(1e-12))
}

fn brake_of(touch: &Touch, moved: Vec3, inverse_dt: f32) -> Vec3 {
    let relative = moved * inverse_dt - touch.velocity;
    let across = touch.normal * relative.dot(touch.normal);
    let sliding = relative - across;
    let most = touch.friction * touch.depth * inverse_dt;
    across + sliding * (most / sliding.length().max(1e-9)).min(1.0)
}
