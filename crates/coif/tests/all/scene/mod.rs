//! Small scenes for the tests of this crate: hair on a ball that rotates and translates.

use std::sync::Arc;

use coif::body::{Body, Collider, Motion, Shape, TriangleMesh};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::ModelSettings;
use coif::params::{Kind, Param, Value};
use coif::simulation::{Simulation, World};
use glam::{Quat, Vec3};

/// Radius of the ball (m).
pub(crate) const RADIUS: f32 = 0.1;

/// Rotation about y and translation along y, both in proportion to `1 - cos(9 t)`.
pub(crate) struct Shake {
    /// Amplitude of the rotation (rad).
    pub(crate) angle: f32,
    /// Amplitude of the translation (m).
    pub(crate) height: f32,
}

impl Motion for Shake {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        let swing = (1.0 - (time * 9.0).cos()) as f32;
        RigidTransform {
            rotation: Quat::from_rotation_y(self.angle * swing),
            translation: Vec3::Y * (self.height * swing),
        }
    }
}

/// Evenly spread directions on the upper part of a ball.
pub(crate) fn directions(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |i| {
        let y = 1.0 - 1.2 * (i as f32 + 0.5) / count as f32;
        let angle = i as f32 * 2.399_963;
        let r = (1.0 - y * y).sqrt();
        Vec3::new(r * angle.cos(), y, r * angle.sin())
    })
}

/// A ball of triangles, latitude by longitude.
pub(crate) fn ball() -> TriangleMesh {
    TriangleMesh::ellipsoid(Vec3::splat(RADIUS), 16, 24)
}

/// Hair that leaves the ball, bends over and hangs down, with strands of different point counts.
pub(crate) fn groom(strands: usize, points: impl Fn(usize) -> usize) -> Groom {
    let mut all = Strands::new();
    for (s, n) in directions(strands).enumerate() {
        let mut p = n * RADIUS * 1.002;
        let mut d = n;
        let count = points(s);
        let step = 0.2 / (count - 1) as f32;
        let mut line = vec![p];
        for _ in 1..count {
            // Bend outwards, towards x where hair is vertical, and down.
            let aside = Vec3::new(d.x, 0.0, d.z).normalize_or(Vec3::X);
            d = (d + (Vec3::NEG_Y + aside * d.y.max(0.0)) * (12.0 * step)).normalize();
            p += d * step;
            // Move the point out of the ball.
            if p.length() < RADIUS * 1.01 {
                p = p.normalize() * RADIUS * 1.01;
            }
            line.push(p);
        }
        all.push(&line);
    }
    let mut groom = Groom::new(all, Fibre::default());
    groom.bind(&ball()).expect("a valid scene");
    groom
}

/// A simulation of this groom on a moving ball.
pub(crate) fn simulation(groom: Groom, motion: Shake, model: &ModelSettings) -> Simulation {
    let sphere = Shape::Sphere { radius: RADIUS };
    let body = Body::rigid(ball(), Arc::new(motion))
        .expect("a valid scene")
        .with_colliders(vec![Collider::new(sphere, Vec3::ZERO, Quat::IDENTITY, 0)])
        .expect("a valid scene");
    Simulation::new(Arc::new(groom), Arc::new(body), model, World::default())
        .expect("a valid scene")
}

/// A valid value of a parameter other than `now`; none for a count of zero, and for kinds without an obvious one.
pub(crate) fn other_value(param: &Param, now: &Value) -> Option<Value> {
    let number = |v: f32| {
        let other = if v == 0.0 { 0.1 } else { 0.7 * v };
        let (min, max) = (param.min as f32, param.max as f32);
        if (min..=max).contains(&other) { other } else { (v + 0.1 * (max - v)).clamp(min, max) }
    };
    Some(match (param.kind, now) {
        (_, Value::Number(v)) => Value::Number(number(*v)),
        (_, Value::Ramp(ramp)) => Value::Ramp(number(ramp.at(0.0)).into()),
        (_, Value::Switch(v)) => Value::Switch(!v),
        (_, Value::Count(v)) if *v == 0 => return None,
        (_, Value::Count(v)) => Value::Count((v + 1).min(param.max as u64)),
        (Kind::Choice { names, .. }, Value::Choice(word)) => {
            Value::Choice(names.iter().find(|name| *name != word)?)
        }
        _ => return None,
    })
}
