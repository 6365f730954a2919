//! A body that moves by several cells of its distance field in one step, and hair that takes the step
//! in substeps: collision uses the surface at the end of each substep (`selle2008` 5.1).
//!
//! The reference is the same hair with steps as short as the substeps, and a field for each of them.

use std::sync::Arc;

use coif::body::distance_field::{self, DistanceField};
use coif::body::{Body, Motion, TriangleMesh};
use coif::collide::SKIN;
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::{
    Environment, FieldMotion, FieldObstacle, ModelSettings, StepReport, explicit_spring,
    mass_spring,
};
use coif::simulation::{Simulation, Surface, Wind, World};
use glam::{Quat, Vec3};

/// Steps per second, substeps per step, and number of steps of a test.
const STEPS_PER_SECOND: u32 = 60;
const SUBSTEPS: u32 = 16;
const STEPS: u32 = 6;

/// Edge of a cell (m).
const CELL: f32 = 0.01;

/// A bar that is at rest for one step, then turns about y and moves, at constant velocities.
#[derive(Clone, Copy)]
struct Sweep {
    /// Angular velocity (rad/s).
    turn: f32,
    /// Velocity of the centre (m/s).
    along: Vec3,
}

impl Motion for Sweep {
    fn bones(&self) -> usize {
        2
    }
    /// The second bone is the plate that hair hangs from.
    fn world_from_rest(&self, bone: usize, time: f64) -> RigidTransform {
        let since = (time as f32 - 1.0 / STEPS_PER_SECOND as f32).max(0.0);
        if bone == 1 {
            return RigidTransform::IDENTITY;
        }
        let rotation = Quat::from_rotation_y(self.turn * since);
        RigidTransform { rotation, translation: self.along * since }
    }
}

/// A bar of 30 cm along x, 7 cm thick, and a plate above it; and the bone of each vertex.
fn mesh() -> (TriangleMesh, Vec<u16>) {
    let mut mesh = crate::scene::ball();
    mesh.positions.iter_mut().for_each(|p| *p *= Vec3::new(1.5, 0.35, 0.35));
    let bar = mesh.positions.len();
    let corner = |x: f32, z: f32| Vec3::new(x, 0.1, z);
    let (a, b) = (0.3, 0.2);
    mesh.positions.extend([corner(-a, -b), corner(a, -b), corner(a, b), corner(-a, b)]);
    let first = bar as u32;
    mesh.triangles.push([first, first + 1, first + 2]);
    mesh.triangles.push([first, first + 2, first + 3]);
    let bones = (0..mesh.positions.len()).map(|v| u16::from(v >= bar)).collect();
    (mesh, bones)
}

fn field_settings() -> distance_field::Settings {
    distance_field::Settings { cell: CELL, ..Default::default() }
}

/// Hair that hangs beside the bar, in its path on both sides.
fn hair() -> Groom {
    let mut strands = Strands::new();
    for i in 0..24 {
        let (side, out) = (if i % 2 == 0 { 1.0 } else { -1.0 }, 0.05 + 0.0035 * i as f32);
        let place = Vec3::new(side * out, 0.1, -side * (0.05 + 0.01 * (i % 5) as f32));
        strands.push(&(0..20).map(|k| place + Vec3::NEG_Y * (0.01 * k as f32)).collect::<Vec<_>>());
    }
    let mut groom = Groom::new(strands, Fibre::default());
    groom.bind(&mesh().0).expect("a valid groom");
    groom
}

/// Models that divide 1/60 s into `split` steps, with [`SUBSTEPS`] substeps in all.
fn models(split: u32) -> [ModelSettings; 2] {
    let substep = 1.001 / (STEPS_PER_SECOND * SUBSTEPS) as f32;
    [
        ModelSettings::MassSpring(mass_spring::Settings {
            longest_substep: substep,
            shortest_substep: substep,
            ..Default::default()
        }),
        ModelSettings::ExplicitSpring(explicit_spring::Settings {
            stretch_modulus: 5e4.into(),
            substeps: SUBSTEPS / split,
            ..Default::default()
        }),
    ]
}

/// The surface for substeps before the end of a step.
#[derive(Clone, Copy, PartialEq)]
enum FieldTiming {
    /// That at the end of the step.
    End,
    /// That at the end of the step, moved back by its velocity.
    Carried,
    /// Interpolated between the start and the end of the step.
    Between,
}

/// Positions at the end of every step of 1/60 s. Asserts that no particle is inside of the body then.
fn swept(model: &ModelSettings, sweep: Sweep, timing: FieldTiming, split: u32) -> Vec<Vec<Vec3>> {
    let (groom, gravity) = (hair(), World::default().gravity);
    let (mesh, bones) = mesh();
    let rate = STEPS_PER_SECOND * split;
    let dt = 1.0 / rate as f32;
    let mut model = model.build(&groom, dt, gravity).expect("a valid model");
    let field = || DistanceField::new(&mesh.triangles, &field_settings()).expect("valid settings");
    let (mut start, mut end) = (field(), field());
    let poses = vec![RigidTransform::IDENTITY; groom.strands.strand_count()];
    let at = |step: u32| -> Vec<Vec3> {
        let time = f64::from(step) / f64::from(rate);
        let poses = [0, 1].map(|bone| sweep.world_from_rest(bone, time));
        let places = mesh.positions.iter().zip(&bones);
        places.map(|(&p, &bone)| poses[usize::from(bone)].point(p)).collect()
    };
    end.rebuild(&at(0), &[]);
    let (mut report, mut found) = (StepReport::default(), Vec::new());
    let mut positions = vec![Vec3::ZERO; groom.strands.point_count()];
    for step in 1..=STEPS * split {
        let (before, now) = (at(step - 1), at(step));
        let mut velocities: Vec<Vec3> =
            now.iter().zip(&before).map(|(now, before)| (*now - *before) / dt).collect();
        let fastest = velocities.iter().map(|v| v.length()).fold(0.0, f32::max);
        if timing == FieldTiming::End {
            velocities.fill(Vec3::ZERO);
        }
        std::mem::swap(&mut start, &mut end);
        start.set_velocities(&velocities);
        end.rebuild(&now, &velocities);
        let motion =
            (timing == FieldTiming::Between).then_some(FieldMotion { start: &start, fastest });
        let field = FieldObstacle { motion, friction: 0.3, ..FieldObstacle::new(&end, SKIN) };
        let env = Environment {
            time: f64::from(step) / f64::from(rate),
            dt,
            gravity,
            wind: &Wind::default(),
            world_from_rest: &poses,
            colliders: &[],
            field: Some(field),
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut report);
        if step % split == 0 {
            model.positions(&mut positions);
            let inside = |p: &&Vec3| end.distance_at(**p) < 0.0;
            assert_eq!(positions.iter().filter(inside).count(), 0, "step {step}");
            found.push(positions.clone());
        }
    }
    assert!(report.quarantined.is_empty());
    found
}

/// Root mean square of the distances (cells) over all steps.
fn difference(found: &[Vec<Vec3>], truth: &[Vec<Vec3>]) -> f32 {
    let pairs = found.iter().flatten().zip(truth.iter().flatten());
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count): (f64, f64), (a, b)| {
        (sum + f64::from(a.distance_squared(*b)), count + 1.0)
    });
    (sum / count).sqrt() as f32 / CELL
}

/// The bar moves by up to five cells in a step.
const SWEEPS: [(&str, Sweep); 3] = [
    ("moves", Sweep { turn: 0.0, along: Vec3::new(0.3, 0.0, -3.0) }),
    ("turns", Sweep { turn: 20.0, along: Vec3::ZERO }),
    ("both", Sweep { turn: 15.0, along: Vec3::new(0.5, 0.0, 1.0) }),
];

#[test]
fn substeps_collide_with_a_fast_body_at_their_own_time() {
    for (model, fine) in models(1).into_iter().zip(models(SUBSTEPS)) {
        for (name, sweep) in SWEEPS {
            let truth = swept(&fine, sweep, FieldTiming::Between, SUBSTEPS);
            let [end, carried, between] =
                [FieldTiming::End, FieldTiming::Carried, FieldTiming::Between]
                    .map(|timing| difference(&swept(&model, sweep, timing, 1), &truth));
            println!(
                "{}, {name}: error {end:.3} cells with the end alone, {carried:.3} carried back, \
                 {between:.3} between",
                model.name()
            );
            assert!(end > 2.0, "the bar hits nothing: {end}");
            assert!(between < 0.5 && between < 0.12 * end, "{between} {end}");
            if sweep.turn != 0.0 {
                assert!(between < 0.9 * carried, "{between} {carried}");
            }
        }
    }
}

/// The same scene as a simulation.
fn simulation(model: &ModelSettings, sweep: Sweep) -> Simulation {
    let (mesh, bones) = mesh();
    let only = |bone: u16| [(bone, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
    let weights = bones.into_iter().map(only).collect();
    let body = Body::skinned(mesh, weights, Arc::new(sweep)).expect("a valid body");
    let surface = Surface { field: field_settings(), ..Surface::default() };
    let world =
        World { steps_per_second: STEPS_PER_SECOND, surface: Some(surface), ..World::default() };
    Simulation::new(Arc::new(hair()), Arc::new(body), model, world).expect("a valid simulation")
}

#[test]
fn a_simulation_keeps_the_field_of_the_previous_step() {
    for model in models(1) {
        for (name, sweep) in SWEEPS {
            let mut sim = simulation(&model, sweep);
            let found: Vec<Vec<Vec3>> = (0..STEPS)
                .map(|_| {
                    sim.step();
                    assert!(sim.health().penetration_max <= 0.0, "{name}: {:?}", sim.health());
                    sim.strands().positions().to_vec()
                })
                .collect();
            let [between, carried] = [FieldTiming::Between, FieldTiming::Carried]
                .map(|timing| difference(&found, &swept(&model, sweep, timing, 1)));
            println!("{}, {name}: {between:e} cells, {carried:e} if carried back", model.name());
            assert!(between < 0.02 && between < 0.2 * carried, "{between} {carried}");
        }
    }
}

/// A checkpoint does not contain the field at the start of a step: it is rebuilt from the pose.
#[test]
fn a_resumed_sweep_goes_on_with_the_same_bits() {
    for model in models(1) {
        let sweep = SWEEPS[2].1;
        let mut whole = simulation(&model, sweep);
        (0..3).for_each(|_| whole.step());
        let saved = whole.checkpoint();
        let early = whole.state_hash();
        (0..3).for_each(|_| whole.step());
        // Restore into a simulation at its start, and into one that is past the checkpoint.
        let mut fresh = simulation(&model, sweep);
        let mut late = simulation(&model, sweep);
        (0..5).for_each(|_| late.step());
        for resumed in [&mut fresh, &mut late] {
            resumed.restore(&saved).expect("a valid checkpoint");
            assert_eq!(resumed.state_hash(), early);
            (0..3).for_each(|_| resumed.step());
            assert_eq!(resumed.state_hash(), whole.state_hash(), "{}", model.name());
        }
    }
}

/// After a teleport the surface has no motion from the old pose.
#[test]
fn a_teleport_is_no_motion() {
    for model in models(1) {
        let sweep = Sweep { turn: 0.0, along: Vec3::new(0.0, 0.0, -3.0) };
        let mut sim = simulation(&model, sweep);
        sim.step();
        let before = sim.strands();
        // The bar jumps from one side of the hair to beyond the other.
        sim.teleport(0.2);
        sim.step();
        let moved = sim
            .strands()
            .positions()
            .iter()
            .zip(before.positions())
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        assert!(moved < 0.1 * CELL, "{}: {moved}", model.name());
    }
}
