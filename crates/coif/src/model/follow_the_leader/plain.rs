//! The same pass, one strand after the other over arrays of structures: what one would write
//! first. Tests hold the lanes against it, and `coif bench` measures the speed-up over it.

use glam::Vec3;

use super::collider::StepCollider;
use super::on_sphere::resolve_on_sphere;
use super::rest::{RestShape, transport};
use super::{Pass, Settings};
use crate::groom::Groom;
use crate::math::RigidTransform;
use crate::model::Environment;

/// A particle as one structure.
#[derive(Debug, Clone, Copy)]
struct Particle {
    position: Vec3,
    velocity: Vec3,
    rest: Vec3,
    goal: Vec3,
    pull: f32,
    drag: f32,
    length: f32,
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
    direction: Vec3,
    normal: Vec3,
    root: RigidTransform,
}

/// Follow-The-Leader without lanes and without threads.
pub struct PlainFollowTheLeader {
    settings: Settings,
    strands: Vec<Strand>,
}

impl PlainFollowTheLeader {
    /// Copies a valid groom; see [`super::FollowTheLeader::new`].
    pub fn new(groom: &Groom, settings: &Settings, dt: f32, gravity: Vec3) -> Self {
        let pass = Pass {
            dt,
            gravity: if settings.hold_shape { gravity } else { Vec3::ZERO },
            correction: settings.correction,
            damping: settings.damping,
        };
        let strands = groom.strands.iter().zip(&groom.embedded).map(|(line, &embedded)| {
            let embedded = (embedded as usize).clamp(1, line.len() - 1);
            let shape = RestShape::new(line, embedded, &pass, settings.style_time);
            let particles = (0..line.len()).map(|i| Particle {
                position: line[i],
                velocity: shape.velocity[i],
                rest: line[i],
                goal: shape.goal[i],
                pull: shape.pull[i],
                drag: shape.drag[i],
                length: if i > 0 { line[i].distance(line[i - 1]) } else { 0.0 },
            });
            Strand {
                particles: particles.collect(),
                embedded,
                direction: shape.direction,
                normal: shape.normal,
                root: RigidTransform::IDENTITY,
            }
        });
        Self { settings: settings.clone(), strands: strands.collect() }
    }

    /// Advances all strands by `env.dt`.
    pub fn step(&mut self, env: &Environment<'_>) {
        let colliders: Vec<StepCollider> =
            env.colliders.iter().map(|c| StepCollider::new(c, env.dt)).collect();
        let dt = env.dt;
        let carried_on = 1.0 / (1.0 + self.settings.damping * dt);
        for (strand, root) in self.strands.iter_mut().zip(env.world_from_rest) {
            let wind = env.wind.velocity_at(strand.particles[0].position, env.time);
            let push = env.gravity * dt + wind * (self.settings.damping * dt);
            let mut x_before = strand.particles[0].position;
            let mut parent = root.point(strand.particles[0].rest);
            let mut u = root.direction(strand.direction);
            let mut normal = root.direction(strand.normal);
            let mut u_before = strand.root.direction(strand.direction);
            let mut normal_before = strand.root.direction(strand.normal);
            strand.root = *root;
            let mut brake = Vec3::ZERO;
            strand.particles[0].position = parent;
            let count = strand.particles.len();
            for i in 1..count {
                let particle = strand.particles[i];
                let x = particle.position;
                let free = i >= strand.embedded;
                let (p, d, next_brake) = if free {
                    // Predict (eq. 1), pull towards the style, project on the length sphere (3.1).
                    let predicted = x + (particle.velocity + push) * carried_on * dt;
                    let goal = particle.goal;
                    let target = parent + in_frame(u, normal, goal);
                    let target_before = x_before + in_frame(u_before, normal_before, goal);
                    let along_with = x + (target - target_before);
                    let styled = predicted
                        + (target - predicted) * particle.pull
                        + (along_with - predicted) * particle.drag;
                    let way = styled - parent;
                    let distance = way.length();
                    let direction = if distance > 1e-9 { way * (1.0 / distance) } else { u };
                    let p = parent + direction * particle.length;
                    let d = p - styled;
                    let (p, touch) = collide(&colliders, parent, particle.length, u, p);
                    let brake = touch.map_or(Vec3::ZERO, |t| brake_of(&t, p - x, 1.0 / dt));
                    (p, d, brake)
                } else {
                    (root.point(particle.rest), Vec3::ZERO, Vec3::ZERO)
                };
                // Finish the predecessor's velocity (eq. 9).
                strand.particles[i - 1].velocity =
                    (parent - x_before - d * self.settings.correction) * (1.0 / dt) - brake;
                strand.particles[i].position = p;
                if free {
                    let next = (p - parent) * (1.0 / particle.length);
                    normal = transport(normal, u, next);
                    u = next;
                    let next_before = (x - x_before) * (1.0 / particle.length);
                    normal_before = transport(normal_before, u_before, next_before);
                    u_before = next_before;
                }
                (x_before, parent, brake) = (x, p, next_brake);
            }
            strand.particles[count - 1].velocity = (parent - x_before) * (1.0 / dt) - brake;
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

fn in_frame(along: Vec3, normal: Vec3, v: Vec3) -> Vec3 {
    along * v.x + normal * v.y + along.cross(normal) * v.z
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
        p = resolve_on_sphere(colliders, parent, length, p).0;
    }
    (p, touch)
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
