//! Collision of hair with the body against analytic results, for all models but `cantilever`: restitution relative to the
//! surface, and Coulomb friction. On a plane and on a distance field with the same surface, at rest and moving.

use coif::body::distance_field::{self, DistanceField};
use coif::body::{MovingCollider, Shape};
use coif::collide::SKIN;
use coif::environment::{Environment, FieldMotion, FieldObstacle, Wind};
use coif::groom::hair_mesh::HairMesh;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::hair_mesh::{self, MeshDynamics, MeshEnvironment};
use coif::model::{
    Model, ModelSettings, StepReport, explicit_spring, follow_the_leader, mass_spring,
    position_based,
};
use coif::params::Ramp;
use glam::{Quat, Vec3, Vec3A};

use crate::shapes::cuboid;

const DT: f32 = 1e-3;
const GRAVITY: f32 = 9.81;

/// Kinds of ground; both have the surface y = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ground {
    Plane,
    Field,
}

/// The ground: height, constant velocity, friction.
struct Surface {
    ground: Ground,
    velocity: Vec3,
    friction: f32,
    at: Vec3,
    /// At the start and the end of a step.
    fields: [DistanceField; 2],
}

/// Half of the size of the box in the field (m).
const HALF: Vec3 = Vec3::new(0.25, 0.05, 0.25);

impl Surface {
    fn new(ground: Ground, velocity: Vec3, friction: f32) -> Self {
        let field = || {
            let settings = distance_field::Settings { cell: 0.01, ..Default::default() };
            DistanceField::new(&cuboid(HALF).triangles, &settings).expect("valid settings")
        };
        let mut out =
            Self { ground, velocity, friction, at: Vec3::ZERO, fields: [field(), field()] };
        out.place();
        out
    }

    /// Builds the field where the surface is.
    fn place(&mut self) {
        if self.ground == Ground::Field {
            let top = self.at - Vec3::Y * HALF.y;
            let mesh = cuboid(HALF).moved(|p| p + top);
            self.fields[1].rebuild(&mesh.positions, &[self.velocity; 8]);
        }
    }

    /// Moves by a step, and passes its environment to a closure.
    fn step(&mut self, look: impl FnOnce(&[MovingCollider], Option<FieldObstacle<'_>>)) {
        let before = self.at;
        self.at += self.velocity * DT;
        self.fields.swap(0, 1);
        self.place();
        let [start, end] = [before, self.at].map(RigidTransform::from_translation);
        let friction = self.friction;
        match self.ground {
            Ground::Plane => {
                look(&[MovingCollider { shape: Shape::Plane, friction, start, end }], None);
            }
            Ground::Field => {
                let [start, end] = &self.fields;
                let fastest = self.velocity.length();
                let motion = Some(FieldMotion { start, fastest });
                let ground = FieldObstacle::new(end, SKIN);
                look(&[], Some(FieldObstacle { motion, friction, ..ground }));
            }
        }
    }
}

/// Hair that collides with the ground: a strand, or a hair mesh.
trait Hair {
    /// One step of [`DT`] under gravity.
    fn step(&mut self, surface: &mut Surface, gravity: Vec3);
    /// Mean velocity (m/s) of the points that collide with the ground.
    fn velocity(&self) -> Vec3;
    /// Mean velocity (m/s) of the hair that slides on it.
    fn mean_velocity(&self) -> Vec3 {
        self.velocity()
    }
}

/// A strand along x at a height over the ground. Its tip is measured: the strand is too long for the pinned root to affect
/// it within a test.
struct Strand {
    model: Box<dyn Model>,
    points: usize,
}

impl Strand {
    fn new(settings: &ModelSettings, height: f32) -> Self {
        let line: Vec<Vec3> =
            (0..=20).map(|i| Vec3::new(0.02 * i as f32 - 0.2, height, 0.0)).collect();
        let mut strands = Strands::new();
        strands.push(&line);
        let groom = Groom::new(strands, Fibre::default());
        let model = settings.build(&groom, DT, Vec3::ZERO).expect("a valid strand");
        Self { model, points: line.len() }
    }
}

impl Hair for Strand {
    fn step(&mut self, surface: &mut Surface, gravity: Vec3) {
        surface.step(|colliders, field| {
            let env = Environment {
                time: 0.0,
                dt: DT,
                gravity,
                wind: &Wind::default(),
                world_from_rest: &[RigidTransform::IDENTITY],
                colliders,
                field,
                gusts: Default::default(),
                pins: Default::default(),
            };
            let mut report = StepReport::default();
            self.model.step(&env, &mut report);
            assert!(report.quarantined.is_empty() && report.unresolved == 0);
        });
    }

    fn velocity(&self) -> Vec3 {
        let mut velocities = vec![Vec3::ZERO; self.points];
        self.model.velocities(&mut velocities);
        velocities[self.points - 1]
    }
}

/// A hair mesh of one bundle along x. The end away from the roots is measured; its lower side collides with the ground.
struct Mesh {
    hair: MeshDynamics,
    columns: usize,
    far: Vec<usize>,
    lower: Vec<usize>,
}

impl Mesh {
    fn new(settings: &hair_mesh::Settings, height: f32) -> Self {
        // Rotate the bundle from the y axis to the x axis.
        let mut mesh = HairMesh::block([1, 1], 15, Vec3::new(0.01, 0.3, 0.01), false);
        for p in mesh.columns.positions_mut() {
            *p = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2) * *p;
        }
        let lowest = mesh.positions().iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        for p in mesh.columns.positions_mut() {
            *p += Vec3::new(-0.15, height - lowest, 0.0);
        }
        let at = mesh.positions();
        let far: Vec<usize> = (0..at.len()).filter(|&v| at[v].x > 0.05).collect();
        let lower = far.iter().copied().filter(|&v| at[v].y < height + 1e-3).collect();
        let hair = MeshDynamics::new(&mesh, settings, Vec3::ZERO).expect("a valid mesh");
        Self { hair, columns: mesh.column_count(), far, lower }
    }

    fn mean_of(&self, vertices: &[usize]) -> Vec3 {
        let v = self.hair.velocities();
        let sum: Vec3A = vertices.iter().map(|&i| v[i]).sum();
        Vec3::from(sum) / vertices.len() as f32
    }
}

impl Hair for Mesh {
    fn step(&mut self, surface: &mut Surface, gravity: Vec3) {
        let (hair, columns) = (&mut self.hair, self.columns);
        surface.step(|colliders, field| {
            let wind = Wind::default();
            let env = MeshEnvironment {
                time: 0.0,
                dt: DT,
                gravity,
                wind: &wind,
                gusts: Default::default(),
                colliders,
                field,
            };
            let roots = vec![RigidTransform::IDENTITY; columns];
            let report = hair.step(&env, &roots, &mut vec![false; columns]);
            assert!(report.broken == 0 && report.inside == 0);
        });
    }

    fn velocity(&self) -> Vec3 {
        self.mean_of(&self.lower)
    }

    fn mean_velocity(&self) -> Vec3 {
        self.mean_of(&self.far)
    }
}

/// Creates hair at a height (m) over the ground.
type MakeHair = Box<dyn Fn(f32) -> Box<dyn Hair>>;

/// Limp hair without drag, with the names of its models.
fn models(restitution: f32) -> Vec<(&'static str, MakeHair)> {
    let (limp, still) = (f32::INFINITY, 0.0f32);
    let strands = [
        ModelSettings::PositionBased(position_based::Settings {
            style_time: limp.into(),
            damping: still.into(),
            hold_shape: false,
            restitution,
            ..Default::default()
        }),
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            style_time: limp.into(),
            damping: still.into(),
            hold_shape: false,
            restitution,
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            restitution,
            ..follow_the_leader::Settings::limp()
        }),
        ModelSettings::MassSpring(mass_spring::Settings {
            damping: still.into(),
            hold_shape: false,
            restitution,
            ..Default::default()
        }),
    ];
    let mesh = hair_mesh::Settings {
        damping: still.into(),
        hold_shape: false,
        restitution,
        // A low threshold speed of regularised friction, with hardly any creep.
        creep_speed: 1e-3,
        ..Default::default()
    };
    let mut out: Vec<(&'static str, MakeHair)> = Vec::new();
    for settings in strands {
        let name = settings.name();
        out.push((name, Box::new(move |height| Box::new(Strand::new(&settings, height)))));
    }
    out.push((hair_mesh::NAME, Box::new(move |height| Box::new(Mesh::new(&mesh, height)))));
    out
}

/// Without gravity, hair rebounds at the restitution times its approach speed, relative to the ground. Tolerance 0.002: no
/// other force acts on the tip in the step of the collision.
#[test]
fn hair_rebounds_at_a_fraction_of_its_approach_speed() {
    for restitution in [0.0, 0.5, 0.9] {
        // Without restitution Follow-The-Leader stops at the surface within a few steps: the first removes four fifths of
        // the approach velocity.
        let few = |name: &str| name == follow_the_leader::NAME && restitution == 0.0;
        for (name, hair) in models(restitution).into_iter().filter(|(name, _)| !few(name)) {
            for ground in [Ground::Plane, Ground::Field] {
                for rises in [0.0, 0.3, -0.2] {
                    let velocity = Vec3::new(0.0, rises, 0.0);
                    let mut surface = Surface::new(ground, velocity, 0.0);
                    let mut hair = hair(5e-3 + SKIN);
                    // Accelerate the hair to this speed in one step.
                    let speed = 0.5;
                    hair.step(&mut surface, Vec3::NEG_Y * (speed / DT));
                    let relative = |hair: &dyn Hair| hair.velocity().y - rises;
                    let mut before = relative(&*hair);
                    let mut found = None;
                    for _ in 0..40 {
                        hair.step(&mut surface, Vec3::ZERO);
                        let after = relative(&*hair);
                        if after - before > 0.5 * speed {
                            found = Some(-after / before);
                            break;
                        }
                        before = after;
                    }
                    let found = found.expect("a collision");
                    println!(
                        "{name}, {ground:?} at {rises} m/s: {found:.3} for {restitution}, \
                         approach {:.3} m/s",
                        -before
                    );
                    assert!(-before > 0.4 * speed, "{name}: {before}");
                    assert!((found - restitution).abs() < 2e-3, "{name} {ground:?}: {found}");
                }
            }
        }
    }
}

/// Hair that bounces comes to rest on the ground and stays there.
#[test]
fn hair_that_rebounds_comes_to_rest() {
    for (name, hair) in models(0.5) {
        for ground in [Ground::Plane, Ground::Field] {
            let mut surface = Surface::new(ground, Vec3::ZERO, 0.3);
            let mut hair = hair(1e-3 + SKIN);
            (0..400).for_each(|_| hair.step(&mut surface, Vec3::NEG_Y * GRAVITY));
            let fastest = (0..100).map(|_| {
                hair.step(&mut surface, Vec3::NEG_Y * GRAVITY);
                hair.velocity().length()
            });
            let fastest = fastest.fold(0.0, f32::max);
            println!("{name}, {ground:?}: {fastest:.1e} m/s");
            // Less than the change of velocity by gravity in a step.
            assert!(fastest < GRAVITY * DT, "{name} {ground:?}: {fastest}");
        }
    }
}

/// The speed of sliding hair relative to the ground decreases by friction times gravity. Tolerance 5 %: internal forces of
/// the strand act on its tip.
#[test]
fn sliding_hair_decelerates_by_friction_times_gravity() {
    for friction in [0.1, 0.3] {
        for (name, hair) in models(0.0) {
            for ground in [Ground::Plane, Ground::Field] {
                for slides in [0.0, 0.2] {
                    let mut surface = Surface::new(ground, Vec3::ZERO, friction);
                    let mut hair = hair(SKIN);
                    let down = Vec3::NEG_Y * GRAVITY;
                    (0..100).for_each(|_| hair.step(&mut surface, down));
                    // Set either the hair or the ground in motion.
                    surface.velocity = Vec3::Z * slides;
                    let jolt = if slides == 0.0 { 0.2 } else { 0.0 };
                    hair.step(&mut surface, down + Vec3::Z * (jolt / DT));
                    let before = hair.mean_velocity().z - slides;
                    let steps = 20;
                    (0..steps).for_each(|_| hair.step(&mut surface, down));
                    let after = hair.mean_velocity().z - slides;
                    let slowed = (before.abs() - after.abs()) / (steps as f32 * DT);
                    let truth = friction * GRAVITY;
                    println!(
                        "{name}, {ground:?} at {slides} m/s, friction {friction}: {slowed:.3} m/s^2, \
                         truth {truth:.3}"
                    );
                    assert!(before * after > 0.0, "{name}: it slides all the time");
                    assert!((slowed / truth - 1.0).abs() < 0.05, "{name} {ground:?}: {slowed}");
                }
            }
        }
    }
}

/// In an oblique impact the tangential velocity changes by friction times the change of the normal velocity, which is
/// `1 + restitution` times the approach speed.
#[test]
fn the_tangential_impulse_is_friction_times_the_normal_impulse() {
    let friction = 0.3;
    for restitution in [0.0, 0.5] {
        // Half of the mass of straight mass-spring hair is in extra particles, which do not collide and keep their
        // velocity in the step of the impact. Follow-The-Leader resolves an impact within a few steps.
        let others = [mass_spring::NAME, follow_the_leader::NAME];
        let models = models(restitution).into_iter().filter(|(name, _)| !others.contains(name));
        for (name, hair) in models {
            for ground in [Ground::Plane, Ground::Field] {
                let mut surface = Surface::new(ground, Vec3::ZERO, friction);
                let mut hair = hair(5e-3 + SKIN);
                hair.step(&mut surface, Vec3::new(0.0, -0.5, 1.0) / DT);
                let mut before = hair.velocity();
                let mut found = None;
                for _ in 0..40 {
                    hair.step(&mut surface, Vec3::ZERO);
                    let after = hair.velocity();
                    if after.y - before.y > 0.25 {
                        found = Some((before.z - after.z) / -before.y);
                        break;
                    }
                    before = after;
                }
                let (found, truth) = (found.expect("a collision"), friction * (1.0 + restitution));
                println!(
                    "{name}, {ground:?}, restitution {restitution}: {found:.3}, truth {truth:.3}"
                );
                // Tolerance: elastic forces act along the ground in the same step.
                assert!((found / truth - 1.0).abs() < 0.05, "{name} {ground:?}: {found} {truth}");
            }
        }
    }
}

/// Models of strands with this ramp of `friction`, limp and without drag.
fn models_with_friction(friction: &Ramp) -> [ModelSettings; 4] {
    let (limp, still) = (f32::INFINITY, 0.0f32);
    [
        ModelSettings::PositionBased(position_based::Settings {
            style_time: limp.into(),
            damping: still.into(),
            hold_shape: false,
            friction: friction.clone(),
            ..Default::default()
        }),
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            style_time: limp.into(),
            damping: still.into(),
            hold_shape: false,
            friction: friction.clone(),
            ..Default::default()
        }),
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            friction: friction.clone(),
            ..follow_the_leader::Settings::limp()
        }),
        // Low stiffness: bending waves travel less than 5 mm in the time of a test, instead of 3 cm.
        ModelSettings::MassSpring(mass_spring::Settings {
            stiffness: 1e-3.into(),
            damping: still.into(),
            hold_shape: false,
            friction: friction.clone(),
            ..Default::default()
        }),
    ]
}

/// Velocities (m/s) of a strand on the ground, `steps` steps after the ground has begun to slide.
fn dragged(settings: &ModelSettings, ground: Ground, friction: f32, steps: usize) -> Vec<Vec3> {
    let mut surface = Surface::new(ground, Vec3::ZERO, friction);
    let mut hair = Strand::new(settings, SKIN);
    let down = Vec3::NEG_Y * GRAVITY;
    (0..50).for_each(|_| hair.step(&mut surface, down));
    surface.velocity = Vec3::Z * 0.5;
    (0..steps).for_each(|_| hair.step(&mut surface, down));
    let mut velocities = vec![Vec3::ZERO; hair.points];
    hair.model.velocities(&mut velocities);
    velocities
}

/// The friction of hair is a factor on that of the body at each place. On sliding ground the half of a strand without
/// friction stays at rest, and the half with twice the friction accelerates by twice friction times gravity. Tolerance
/// 5 %, away from the middle: the halves act on each other.
#[test]
fn each_place_of_a_strand_has_its_own_friction() {
    let ramp = Ramp::new(&[[0.499, 0.0], [0.501, 2.0]]).expect("two places");
    let (friction, steps) = (0.2, 20);
    let truth = 2.0 * friction * GRAVITY * steps as f32 * DT;
    for settings in models_with_friction(&ramp) {
        for ground in [Ground::Plane, Ground::Field] {
            let name = settings.name();
            let found = dragged(&settings, ground, friction, steps);
            println!("{name}, {ground:?}: {} and {} m/s for {truth}", found[5].z, found[15].z);
            let off = |points: std::ops::RangeInclusive<usize>, truth: f32| {
                points.map(|i| (found[i].z - truth).abs()).fold(0.0, f32::max)
            };
            assert!(off(1..=7, 0.0) < 0.05 * truth, "{name} {ground:?}: {found:?}");
            assert!(off(13..=20, truth) < 0.05 * truth, "{name} {ground:?}: {found:?}");
        }
    }
}

/// A friction of 1 as a ramp and as a number gives the same bits, as does twice the friction of hair or of the body.
#[test]
fn friction_of_hair_is_a_factor_on_that_of_the_body() {
    // Differs from 1 only at the root, which is pinned.
    let table = Ramp::new(&[[0.0, 7.0], [1e-3, 1.0]]).expect("two places");
    let [one, by_place, twice] = [1.0.into(), table, 2.0.into()].map(|r| models_with_friction(&r));
    for i in 0..one.len() {
        let name = one[i].name();
        let plain = dragged(&one[i], Ground::Plane, 0.2, 20);
        assert!(plain[20].z > 0.01, "{name}");
        assert_eq!(plain, dragged(&by_place[i], Ground::Plane, 0.2, 20), "{name}");
        let double = dragged(&one[i], Ground::Plane, 0.4, 20);
        assert_eq!(double, dragged(&twice[i], Ground::Plane, 0.2, 20), "{name}");
    }
}
