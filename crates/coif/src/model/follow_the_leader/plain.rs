//! The same passes, one strand after the other over arrays of structures: what one would write
//! first. Tests hold the lanes against it, and `coif bench` measures the speed-up over it.

use glam::{Mat3, Vec3};

use super::articulated::BEND;
use super::collider::StepCollider;
use super::on_sphere::resolve_on_sphere;
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
            let scale = settings.correction.powf(1.0 / last as f32);
            let particles = (0..=last).map(|i| Particle {
                position: line[i],
                velocity: Vec3::ZERO,
                tension: 0.0,
                rest: line[i],
                length: length(i),
                reaction: if i > 1 { scale * mass(i) / (mass(i - 1) * length(i)) } else { 0.0 },
            });
            Strand {
                particles: particles.collect(),
                embedded,
                shape,
                root: RigidTransform::IDENTITY,
            }
        });
        Self { settings: settings.clone(), strands: strands.collect() }
    }

    /// Advances all strands by `env.dt`.
    pub fn step(&mut self, env: &Environment<'_>) {
        let colliders: Vec<StepCollider> =
            env.colliders.iter().map(|c| StepCollider::new(c, env.dt)).collect();
        let pass = Pass::new(&self.settings, env.dt, env.gravity);
        for (strand, root) in self.strands.iter_mut().zip(env.world_from_rest) {
            let wind = env.wind.velocity_at(strand.particles[0].position, env.time);
            step_strand(strand, root, wind, &pass, &colliders, env.field.as_ref());
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

/// What the pass from tip to root leaves a particle for the pass from root to tip (`articulated.rs`).
#[derive(Clone, Copy, Default)]
struct Left {
    inverse: Mat3,
    g: Vec3,
    rhs: Vec3,
    segment: Vec3,
    stiffness: f32,
}

/// Eliminates the particles from the tip.
fn tip_to_root(strand: &Strand, root: &RigidTransform, pass: &Pass) -> Vec<Left> {
    let outer = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
    let diagonal = |d: f32| Mat3::from_diagonal(Vec3::splat(d));
    let (spring, damper) = (pass.style.spring, pass.style.damper);
    let motion = *root * strand.root.inverse();
    let shift = |x: Vec3| motion.point(x) - x;
    let mut left = vec![Left::default(); strand.particles.len()];
    let (mut carried, mut push) = (Mat3::ZERO, Vec3::ZERO);
    // How far a segment's direction is from the groomed one, and will be by its velocity.
    let off = |i: usize| {
        let [inner, outer] = [i - 1, i].map(|i| strand.particles[i]);
        let carried = motion.point(outer.position) - motion.point(inner.position);
        (root.direction(strand.shape.step[i]) - carried) / outer.length
    };
    let soon = |i: usize| {
        if i == 0 || i == strand.particles.len() {
            return Vec3::ZERO;
        }
        let [inner, outer] = [i - 1, i].map(|i| strand.particles[i]);
        let turns = (outer.velocity - inner.velocity) * pass.dt
            - (shift(outer.position) - shift(inner.position));
        off(i) - turns / outer.length
    };
    // What the joint at the start of a segment weighs.
    let joint = |i: usize| match i {
        i if (2..strand.particles.len()).contains(&i) => {
            strand.particles[i].length.min(strand.particles[i - 1].length)
        }
        _ => 0.0,
    };
    for i in (1..strand.particles.len()).rev() {
        let [inner, particle] = [i - 1, i].map(|i| strand.particles[i]);
        let (x, mass) = (particle.position, strand.shape.mass[i]);
        let shifted = shift(x);
        let segment = (x - inner.position) + (shifted - shift(inner.position));
        let e = segment / particle.length;
        let rhs = (particle.velocity * pass.dt + pass.gravity * (pass.dt * pass.dt) - shifted)
            * mass
            + root.direction(strand.shape.goal[i])
            + (root.translation - x - shifted) * (mass * spring)
            + push;
        let link = strand.shape.link;
        let bend = link * spring * BEND / particle.length;
        let joints = [joint(i) * bend, joint(i + 1) * bend];
        let stiffness =
            (particle.tension.max(0.0) + link * (spring + damper) + 2.0 * (joints[0] + joints[1]))
                / particle.length;
        let turn = off(i) * (link * spring)
            + (off(i) * 2.0 - soon(i) - soon(i - 1)) * joints[0]
            + (off(i) * 2.0 - soon(i) - soon(i + 1)) * joints[1];
        let across = turn - e * e.dot(turn);
        let inertia = carried + diagonal(mass * (1.0 + spring + damper));
        let inverse = (inertia + diagonal(stiffness)).inverse();
        let g = inverse * e;
        let mg = inertia * g;
        let sum = rhs + across;
        push = inverse * sum * stiffness - across + mg * (g.dot(sum) / e.dot(g));
        carried = inverse * inertia * stiffness + outer(mg, mg) * (1.0 / e.dot(g));
        left[i] = Left { inverse, g, rhs: rhs + turn, segment, stiffness };
    }
    left
}

/// The passes of `articulated.rs` or of `one_way.rs`, one particle at a time.
fn step_strand(
    strand: &mut Strand,
    root: &RigidTransform,
    wind: Vec3,
    pass: &Pass,
    colliders: &[StepCollider],
    field: Option<&FieldObstacle<'_>>,
) {
    let dt = pass.dt;
    let fall = pass.gravity * (dt * dt);
    let carried_on = pass.carried_on / dt;
    let blow = wind * (1.0 - pass.carried_on);
    let count = strand.particles.len();
    let left = if pass.backward { tip_to_root(strand, root, pass) } else { Vec::new() };
    let x_root = strand.particles[0].position;
    let mut parent = root.point(strand.particles[0].rest);
    let mut grandparent = parent - (strand.particles[1].position - x_root);
    let motion = *root * strand.root.inverse();
    let mut displaced = parent - motion.point(x_root);
    strand.particles[0].velocity = (parent - x_root) * (1.0 / dt);
    strand.particles[0].position = parent;
    for i in 1..count {
        let particle = strand.particles[i];
        let (x, v) = (particle.position, particle.velocity);
        let mut way;
        if let Some(left) = left.get(i) {
            // Find the best place behind the leader, at right angles to the segment.
            let e = left.segment / particle.length;
            let free = left.inverse * (left.rhs + displaced * left.stiffness) - displaced;
            let pull = free.dot(e) / e.dot(left.g);
            strand.particles[i].tension = pull;
            way = left.segment + free - left.g * pull;
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
        // Keep the angle with the segment before (eq. 11).
        if pass.bend.is_on() && i > 1 {
            let before = strand.particles[i - 1].length;
            let mut limit = pass.bend;
            if pass.backward {
                limit = BendLimit::of_cosine(limit.cos.min(strand.shape.turn[i]));
            }
            way = unbend(&limit, parent - grandparent, before, way, distance);
        }
        let mut p = parent + way * (particle.length / distance);
        let mut brake = Vec3::ZERO;
        if i >= strand.embedded {
            let ahead = (parent - grandparent) * (1.0 / particle.length);
            let (found, mut touch) = collide(colliders, parent, particle.length, ahead, p);
            p = found;
            if let Some(field) = field {
                p = leave_field(field, parent, particle.length, ahead, p, &mut touch);
            }
            brake = touch.map_or(Vec3::ZERO, |t| brake_of(&t, p - x, 1.0 / dt));
        } else {
            p = root.point(particle.rest);
        }
        strand.particles[i].position = p;
        strand.particles[i].velocity = (p - x) * carried_on + blow - brake;
        if let Some(left) = left.get(i) {
            displaced += p - parent - left.segment;
        } else {
            strand.particles[i - 1].tension = (distance - particle.length) * particle.reaction;
        }
        (grandparent, parent) = (parent, p);
    }
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
        for collider in colliders {
            let Some((n, distance)) = collider.inside(p) else { continue };
            hit = true;
            let depth = touch.map_or(0.0, |t| t.depth).max(-distance);
            touch = Some(Touch {
                normal: n,
                depth,
                velocity: collider.velocity_at(p),
                friction: collider.friction,
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

/// Moves a particle on its length sphere out of a distance field, onto the plane through the nearest
/// point of the surface, a few times.
fn leave_field(
    obstacle: &FieldObstacle<'_>,
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
