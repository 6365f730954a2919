//! A whole step in plain code: the reference of the scenes that `ftl` measures.
//!
//! Distance field, roots, hair and contact one after the other, each by a straightforward implementation, on one
//! thread.

use coif::body::TriangleMesh;
use coif::body::distance_field::DistanceField;
use coif::body::distance_field::plain::PlainDistanceField;
use coif::collide::SKIN;
use coif::contact::volume::plain::{Particle, PlainVolume};
use coif::math::RigidTransform;
use coif::model::follow_the_leader::plain::PlainFollowTheLeader;
use coif::model::{Environment, FieldObstacle, ModelSettings};
use coif::simulation::World;
use coif_scene::Built;
use glam::Vec3;

use super::seconds;
use crate::Error;

/// A scene of `follow-the-leader` with a distance field, simulated by the plain versions.
pub(super) struct PlainScene<'a> {
    built: &'a Built,
    world: World,
    hair: PlainFollowTheLeader,
    contact: Option<PlainVolume>,
    particles: Vec<Particle>,
    velocities: Vec<Vec3>,
    positions: Vec<Vec3>,
    mesh: TriangleMesh,
    steps: u64,
    /// The field that hair samples. It has the same values as the plain field, which is only timed.
    field: DistanceField,
}

impl<'a> PlainScene<'a> {
    /// `None` if the scene has another model, or no distance field.
    pub(super) fn new(built: &'a Built) -> Result<Option<Self>, Error> {
        let world = built.world();
        let (ModelSettings::FollowTheLeader(settings), Some(surface)) =
            (&built.scene.model, &world.surface)
        else {
            return Ok(None);
        };
        let groom = &built.groom;
        let mesh = built.body.rest().clone();
        let field = DistanceField::new(&mesh.triangles, &surface.field)?;
        let hair = PlainFollowTheLeader::new(groom, settings, world.dt(), world.gravity);
        let mut contact = built.scene.volume.as_ref().map(PlainVolume::new).transpose()?;
        let mut particles = Vec::with_capacity(groom.strands.point_count());
        for (s, line) in groom.strands.iter().enumerate() {
            for (i, &position) in line.iter().enumerate() {
                let gap = |a: usize, b: usize| {
                    line.get(a).zip(line.get(b)).map_or(0.0, |(a, b)| a.distance(*b))
                };
                let length = 0.5 * (gap(i, i.wrapping_sub(1)) + gap(i, i + 1));
                let mass = length * groom.fibre.mass_per_length(groom.fibre.radius);
                let free = i >= groom.embedded[s] as usize;
                let (motion, velocity) = (Vec3::ZERO, Vec3::ZERO);
                particles.push(Particle { position, motion, velocity, mass, free });
            }
        }
        if let Some(contact) = &mut contact {
            contact.rest(&particles);
        }
        let points = particles.len();
        Ok(Some(Self {
            built,
            world,
            hair,
            contact,
            particles,
            velocities: vec![Vec3::ZERO; points],
            positions: vec![Vec3::ZERO; points],
            mesh,
            steps: 0,
            field,
        }))
    }

    /// Advances by one step; returns its time in seconds.
    pub(super) fn step(&mut self) -> Result<f64, Error> {
        let dt = self.world.dt();
        self.steps += 1;
        let time = self.steps as f64 / f64::from(self.world.steps_per_second);
        let body = &self.built.body;
        // Pose the body, and build the field around it.
        let mut built = Ok(PlainDistanceField::default());
        let mut velocity = Vec::new();
        let Some(surface) = &self.world.surface else { return Ok(0.0) };
        let mut spent = seconds(|| {
            let now = body.positions_at(time);
            let moved = now.iter().zip(&self.mesh.positions);
            velocity = moved.map(|(now, before)| (*now - *before) / dt).collect();
            self.mesh.positions = now;
            let mesh = &self.mesh;
            built = PlainDistanceField::build(
                &mesh.triangles,
                &mesh.positions,
                &velocity,
                &surface.field,
            );
        });
        built?;
        self.field.rebuild(&self.mesh.positions, &velocity);
        let obstacle = FieldObstacle {
            friction: surface.friction,
            restitution: surface.restitution,
            ..FieldObstacle::new(&self.field, SKIN)
        };
        spent += seconds(|| {
            // Pose the roots.
            let on = |mesh: &TriangleMesh, triangle: usize, weights: [f32; 3]| {
                let [a, b, c] = mesh.corners(triangle);
                a * weights[0] + b * weights[1] + c * weights[2]
            };
            let world_from_rest: Vec<RigidTransform> = (self.built.groom.roots.iter())
                .map(|root| {
                    let triangle = root.triangle as usize;
                    let frame = self.mesh.triangle_frame(triangle);
                    let rotation = (frame * root.rest_frame.conjugate()).normalize();
                    let place = on(&self.mesh, triangle, root.barycentric);
                    let rest = on(body.rest(), triangle, root.barycentric);
                    RigidTransform { rotation, translation: place - rotation * rest }
                })
                .collect();
            // Move the hair.
            self.hair.step(&Environment {
                time,
                dt,
                gravity: self.world.gravity,
                wind: &self.world.wind,
                world_from_rest: &world_from_rest,
                colliders: &[],
                field: Some(obstacle),
                gusts: Default::default(),
                pins: Default::default(),
            });
            // Apply contact between hairs.
            if let Some(contact) = &mut self.contact {
                self.hair.positions(&mut self.positions);
                self.hair.velocities(&mut self.velocities);
                let now = self.positions.iter().zip(&self.velocities);
                for (particle, (&position, &velocity)) in self.particles.iter_mut().zip(now) {
                    *particle = Particle { position, motion: velocity, velocity, ..*particle };
                }
                contact.apply(&mut self.particles, dt);
                self.hair.set_velocities(self.particles.iter().map(|p| p.velocity));
            }
        });
        Ok(spent)
    }
}
