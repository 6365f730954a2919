//! A custom model: particles on springs to the groom, with collision (`cargo run -p coif --example own_model`).

use std::sync::Arc;

use coif::body::{Body, Collider, Shape, TriangleMesh};
use coif::contact::Access;
use coif::glam::{Quat, Vec3};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::math::bytes::{Reader, put_floats};
use coif::model::{Capabilities, Environment, Model, StepReport};
use coif::simulation::{Simulation, Wind, World};

/// Independent particles, each on a damped spring to its groomed position in the frame of the root.
struct Wobble {
    rest: Strands,
    x: Strands,
    v: Vec<Vec3>,
}
/// Squared frequency of the spring (1/s^2), and its damping (1/s).
const SPRING: f32 = 400.0;
const DAMPING: f32 = 8.0;

impl Model for Wobble {
    fn name(&self) -> &'static str {
        "wobble"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { contact: Access::NONE, ..Capabilities::STRANDS }
    }
    fn step(&mut self, env: &Environment<'_>, _report: &mut StepReport) {
        for (s, root) in env.world_from_rest.iter().enumerate() {
            for (k, i) in self.rest.points_of(s).enumerate() {
                let (goal, dt) = (root.point(self.rest.strand(s)[k]), env.dt);
                let x = &mut self.x.positions_mut()[i];
                let air = env.air_at(*x);
                let pull = (goal - *x) * SPRING + (air - self.v[i]) * DAMPING;
                let old = *x;
                *x += (self.v[i] + pull * dt) * dt;
                for collider in env.colliders {
                    let surface = collider.project_point(*x);
                    *x = if surface.distance < 0.0 { surface.point } else { *x };
                }
                *x = if k == 0 { goal } else { *x };
                self.v[i] = (*x - old) / dt;
            }
        }
    }
    fn reset(&mut self, world_from_rest: &[RigidTransform]) {
        self.v.fill(Vec3::ZERO);
        self.x = self.rest.clone();
        for (s, root) in world_from_rest.iter().enumerate() {
            self.x.strand_mut(s).iter_mut().for_each(|x| *x = root.point(*x));
        }
    }
    fn teleport(&mut self, from: &[RigidTransform], to: &[RigidTransform]) {
        for (s, (from, to)) in from.iter().zip(to).enumerate() {
            let carry = *to * from.inverse();
            self.x.strand_mut(s).iter_mut().for_each(|x| *x = carry.point(*x));
        }
    }
    fn positions(&self, out: &mut [Vec3]) {
        out.copy_from_slice(self.x.positions());
    }
    fn velocities(&self, out: &mut [Vec3]) {
        out.copy_from_slice(&self.v);
    }
    fn save(&self, out: &mut Vec<u8>) {
        put_floats(out, self.x.positions().iter().chain(&self.v).flat_map(|p| p.to_array()));
    }
    fn restore(&mut self, bytes: &[u8], _roots: &[RigidTransform]) -> coif::Result<()> {
        let short = coif::Error::BadCheckpoint("it is cut off".into());
        let mut numbers = Reader(bytes).floats(6 * self.v.len()).ok_or(short)?;
        for p in self.x.positions_mut().iter_mut().chain(&mut self.v) {
            *p = Vec3::from_array([0; 3].map(|_| numbers.next().unwrap_or_default()));
        }
        Ok(())
    }
}

fn main() -> coif::Result<()> {
    let corners = [[-0.1, -0.1], [0.0, 0.1], [0.1, -0.1]].map(|[x, z]| Vec3::new(x, 0.1, z));
    let scalp = TriangleMesh { positions: corners.to_vec(), triangles: vec![[0, 1, 2]] };
    let mut strands = Strands::new();
    strands.push(&(0..10).map(|i| Vec3::new(0.0, 0.1 + 0.02 * i as f32, 0.0)).collect::<Vec<_>>());
    let mut groom = Groom::new(strands, Fibre::default());
    groom.bind(&scalp)?;
    let skull = Collider::new(Shape::Sphere { radius: 0.1 }, Vec3::ZERO, Quat::IDENTITY, 0);
    let body = Body::still(scalp)?.with_colliders(vec![skull])?;
    let (rest, v) = (groom.strands.clone(), vec![Vec3::ZERO; 10]);
    let model = Wobble { x: rest.clone(), v, rest };
    let (groom, body, world) = (Arc::new(groom), Arc::new(body), World::default());
    let mut sim = Simulation::with_model(groom, body, Box::new(model), world)?;
    sim.set_wind(Wind { velocity: Vec3::X * 3.0, ..Wind::default() })?;
    sim.advance_to(2.0);
    // In equilibrium the spring balances the drag: displacement 8 * 3 / 400 m.
    assert!((sim.grow()[9].x - DAMPING * 3.0 / SPRING).abs() < 1e-4);
    Ok(())
}
