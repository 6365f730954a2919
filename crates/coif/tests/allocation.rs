//! A step allocates nothing once its memory has been made, and neither does reading a frame (`grow`, velocities,
//! health, quads of strips): for every model and contact, on one thread and on two. Neither does a frame of a body that is
//! driven, with wind, gravity, colliders, pins and style that change, a jump, and positions written to the caller's memory.
//!
//! The counter is that of the whole process, so there is one test and nothing beside it.

#[path = "all/scene/mod.rs"]
mod scene;

use std::alloc::System;
use std::sync::{Arc, Barrier};

use coif::body::distance_field;
use coif::body::{Body, Collider, Motion, Pose, Shape};
use coif::contact::{ContactSettings, repulsion, stiction, strand_contact, volume};
use coif::groom::Groom;
use coif::grow::strips::StripMesh;
use coif::math::WorldTransform;
use coif::model::{ModelSettings, cantilever, follow_the_leader, hair_mesh, mass_spring};
use coif::simulation::{Anchor, BodyId, FreeCollider, Layout, Simulation, Surface, Wind, World};
use glam::{DVec3, Quat, Vec3, Vec4};
use scene::{RADIUS, Shake, ball, groom, other_value, simulation};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Steps that are counted: more than half of a swing.
const COUNTED: usize = 90;

/// Steps until all memory is there, where nothing is larger in one step than in another.
const FEW: usize = 3;

/// Steps of more than a swing: grids around hair and body have been as large as they get.
const SWING: usize = 200;

const SHAKE: Shake = Shake { angle: 0.8, height: 0.05 };

/// More strands than one task takes, with different numbers of points; fewer where they cost more, and tasks take less.
fn hair(model: &ModelSettings) -> Groom {
    let is_costly = [mass_spring::NAME, hair_mesh::NAME].contains(&model.name());
    groom(if is_costly { 100 } else { 300 }, |s| 5 + s % 8)
}

fn sphere() -> Vec<Collider> {
    let shape = Shape::Sphere { radius: RADIUS };
    vec![Collider::new(shape, Vec3::ZERO, Quat::IDENTITY, 0)]
}

/// Hair on a ball that shakes.
fn on_primitives(model: &ModelSettings) -> Simulation {
    simulation(hair(model), SHAKE, model)
}

/// A contact, if the model takes it.
fn contacts_for(model: &ModelSettings, contact: ContactSettings) -> Vec<ContactSettings> {
    contact.acts(model.capabilities().contact).map(|_| contact).into_iter().collect()
}

/// Hair on a ball that shakes, with stiction, repulsion and collision of single hairs. Lists of pairs have room for twice
/// what was there when they last grew: `strand_contact_allocation.rs` has hair that gets much denser than that.
fn with_single_hairs(model: &ModelSettings) -> Simulation {
    let body = Body::rigid(ball(), Arc::new(SHAKE)).expect("a valid body");
    let body = body.with_colliders(sphere()).expect("valid colliders");
    // Hairs are centimetres apart here, and so are these distances.
    let stiction =
        stiction::Settings { make: 0.025, break_: 0.035, rest: 0.025, ..Default::default() };
    let repulsion = repulsion::Settings { thickness: 0.01, ..Default::default() };
    let (stiction, repulsion) = (Some(stiction), Some(repulsion));
    let contact = strand_contact::Settings { stiction, repulsion, ..Default::default() };
    let contacts = contacts_for(model, contact.into());
    let world = World { contacts, ..World::default() };
    Simulation::new(Arc::new(hair(model)), Arc::new(body), model, world)
        .expect("a valid simulation")
}

/// The same with contact between hair, with the ball's own surface, and in the wind.
fn on_everything(model: &ModelSettings) -> Simulation {
    let body = Body::rigid(ball(), Arc::new(SHAKE)).expect("a valid body");
    let body = body.with_colliders(sphere()).expect("valid colliders");
    let field = distance_field::Settings { cell: 0.02, reach: 0.06, ..Default::default() };
    let world = World {
        surface: Some(Surface { field, ..Surface::default() }),
        contacts: contacts_for(model, volume::Settings::default().into()),
        wind: Wind { velocity: Vec3::X, gusts: 0.5, seed: 1 },
        ..World::default()
    };
    Simulation::new(Arc::new(hair(model)), Arc::new(body), model, world)
        .expect("a valid simulation")
}

/// Hair on a ball whose vertices are given at frames.
fn on_frames(model: &ModelSettings) -> Simulation {
    let mesh = ball();
    let frames = (0..90).map(|frame| {
        let pose = SHAKE.world_from_rest(0, f64::from(frame) / 30.0);
        mesh.positions.iter().map(|&p| pose.point(p)).collect()
    });
    let body = Body::sampled(mesh.triangles.clone(), frames.collect(), 30.0).expect("a valid body");
    let body = body.with_colliders(sphere()).expect("valid colliders");
    let world = World::default();
    Simulation::new(Arc::new(hair(model)), Arc::new(body), model, world)
        .expect("a valid simulation")
}

/// Sets a scene for a model.
type Start = fn(&ModelSettings) -> Simulation;

/// Lets each of two threads take work from the other once: the first time makes memory.
fn acquaint_two_threads() {
    let (there, back) = (Barrier::new(2), Barrier::new(2));
    rayon::join(
        || there.wait(),
        || {
            there.wait();
            rayon::join(|| back.wait(), || back.wait());
        },
    );
}

/// Whether its model takes pins.
fn takes_pins(sim: &Simulation) -> bool {
    ![cantilever::NAME, hair_mesh::NAME].contains(&sim.model_name())
}

/// A game's frame: everything changes, and everything is read.
fn game_frame(
    sim: &mut Simulation,
    (styles, other): (&[ModelSettings; 2], BodyId),
    frame: usize,
    out: &mut Memory,
) {
    let t = frame as f64 / 60.0;
    let swing = t.sin();
    let pose = WorldTransform {
        rotation: Quat::from_rotation_y(swing as f32),
        translation: DVec3::new(swing, 0.1 * t.cos(), 0.0),
    };
    sim.set_gravity(Vec3::new(0.1 * swing as f32, -9.81, 0.0)).expect("finite");
    let velocity = Vec3::X * (2.0 + swing as f32);
    sim.set_wind(Wind { velocity, gusts: 0.5, seed: 1 }).expect("a valid wind");
    // A skull that grows and shrinks, a shoulder that is there every other frame, and a ball that comes by.
    let skull = Shape::Sphere { radius: RADIUS * (1.0 + 0.02 * swing as f32) };
    let skull = Collider::new(skull, Vec3::ZERO, Quat::IDENTITY, 0);
    let shoulder = Shape::Sphere { radius: 0.05 };
    let shoulder = Collider::new(shoulder, Vec3::new(0.12, -0.2, 0.0), Quat::IDENTITY, 0);
    sim.set_colliders(&[skull, shoulder][..1 + frame % 2]).expect("valid colliders");
    let ball = FreeCollider {
        id: 1,
        shape: Shape::Sphere { radius: 0.04 },
        world_from_shape: WorldTransform::from_translation(DVec3::new(0.3, -0.1, swing)),
        friction: 0.2,
    };
    sim.set_free_colliders(&[ball; 2][..1]).expect("a valid collider");
    // Another character comes by, too.
    let at = WorldTransform::from_translation(DVec3::new(-0.3, -0.1, swing));
    sim.set_body_pose(other, Pose::Rigid(at)).expect("a valid pose");
    if sim.model_name() == follow_the_leader::NAME {
        sim.set_model(&styles[frame % 2]).expect("parameters of this model");
    }
    // A hand that holds some hair, other hair every frame.
    if takes_pins(sim) {
        let hand = WorldTransform::from_translation(DVec3::new(0.1 * swing, 0.0, 0.0));
        sim.set_pin_pose(1, hand).expect("a pose");
        if frame.is_multiple_of(4) {
            sim.unpin_all();
        }
        for strand in (frame % 7..100).step_by(9) {
            sim.pin(strand, 4, Anchor::Pose(1)).expect("a point that moves");
            sim.pin(strand, 3, Anchor::Bone(0)).expect("a point that moves");
        }
    }
    let dt = [1.0 / 60.0, 1.0 / 144.0, 1.0 / 37.0][frame % 3];
    if frame % 30 == 29 {
        sim.teleport_to(Pose::Rigid(pose)).expect("a valid pose");
    }
    match frame % 2 {
        0 => sim.drive(Pose::Rigid(pose), dt),
        _ => sim.drive(Pose::Bones(&[pose.into()]), dt),
    }
    .expect("a valid pose");
    sim.positions(&mut out.x);
    sim.write_positions(Layout { stride: 5, offset: 1 }, &mut out.rows).expect("enough room");
    sim.write_velocities(Layout::PACKED, &mut out.rows).expect("enough room");
    sim.write_positions_vec4(1.0, &mut out.fours).expect("enough room");
}

/// What a game reads into.
struct Memory {
    x: Vec<Vec3>,
    rows: Vec<f32>,
    fours: Vec<Vec4>,
}

/// Allocations of a simulation that is driven by vertices.
fn allocations_by_vertices(model: &ModelSettings) -> usize {
    let (mut sim, mut positions) = (on_primitives(model), ball().positions);
    let mut frames = |count: usize| {
        for frame in 0..count {
            positions.iter_mut().for_each(|p| p.x += 1e-3);
            let world_from_mesh = WorldTransform::from_translation(DVec3::Y * frame as f64 * 1e-3);
            let pose = Pose::Vertices { positions: &positions, world_from_mesh };
            sim.drive(pose, 0.011).expect("a valid pose");
            sim.grow();
        }
    };
    frames(20);
    let region = Region::new(GLOBAL);
    frames(20);
    region.change().allocations + region.change().reallocations
}

/// Parameters that a model cannot take up in place: by them it is laid out, and built anew.
const BUILT_ANEW: [(&str, &[&str]); 6] = [
    (
        "follow-the-leader",
        &["hold_shape", "correction", "correction_form", "bend_limit", "ends", "backward"],
    ),
    ("position-based", &[]),
    ("explicit-spring", &[]),
    ("mass-spring", &["stiffness", "hold_shape", "longest_substep", "straight_below", "hold_tips"]),
    ("cantilever", &["layer_distance", "wisp_radius", "segments", "layers"]),
    (
        "hair-mesh",
        &[
            "bulk_density",
            "along_modulus",
            "across_modulus",
            "shear_modulus",
            "bulk_modulus",
            "bending",
            "stiffness",
            "hold_shape",
            "seam_strength",
            "seam_gap",
        ],
    ),
];

/// The parameters of a model that allocate when they change a second time.
fn parameters_that_allocate(model: &ModelSettings) -> Vec<&'static str> {
    let params = model.params().params();
    let mut allocate = Vec::new();
    for param in params {
        let now = model.params().get(param.name);
        let Some(value) = now.and_then(|now| other_value(param, &now)) else { continue };
        let mut other = model.clone();
        other.params_mut().set(param.name, value).expect("in range");
        let mut sim = on_primitives(model);
        let mut change = |settings: &ModelSettings| {
            let is_taken = sim.set_model(settings).is_ok();
            sim.step();
            is_taken
        };
        let is_taken = change(&other) & change(model) & change(&other);
        let region = Region::new(GLOBAL);
        let is_taken = is_taken & change(model) & change(&other);
        let made = region.change();
        if !is_taken || made.allocations + made.reallocations > 0 {
            allocate.push(param.name);
        }
    }
    allocate
}

/// Allocations of a driven simulation in frames in which everything changes.
fn allocations_of_frames(model: &ModelSettings) -> usize {
    let mut sim = on_primitives(model);
    let body = Arc::new(Body::still(ball()).expect("a valid body"));
    let field = distance_field::Settings { cell: 0.02, reach: 0.06, ..Default::default() };
    let surface = Surface { field, ..Surface::default() };
    let other = sim.add_body(body, &surface).expect("a valid body");
    let points = sim.groom().strands.point_count();
    let mut out = Memory {
        x: vec![Vec3::ZERO; points],
        rows: vec![0.0; 5 * points + 1],
        fours: vec![Vec4::ZERO; points],
    };
    let styles = [0.2, 0.3].map(|time| {
        let style_time = time.into();
        ModelSettings::FollowTheLeader(follow_the_leader::Settings {
            style_time,
            ..Default::default()
        })
    });
    (0..60).for_each(|frame| game_frame(&mut sim, (&styles, other), frame, &mut out));
    let region = Region::new(GLOBAL);
    (60..120).for_each(|frame| game_frame(&mut sim, (&styles, other), frame, &mut out));
    let change = region.change();
    assert!(sim.report().quarantined.is_empty(), "{}", model.name());
    change.allocations + change.reallocations
}

#[test]
fn a_step_and_a_look_allocate_nothing() {
    let scenes: [(&str, Start, usize); 4] = [
        ("primitives", on_primitives, FEW),
        ("frames", on_frames, FEW),
        ("surface and volume", on_everything, SWING),
        ("single hairs", with_single_hairs, SWING),
    ];
    let mut found = Vec::new();
    // Both pools live to the end: threads end asynchronously, which frees memory.
    let pool = |threads: usize| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = builder.build().expect("a pool");
        // Wait until all threads run: starting one takes memory, too.
        pool.broadcast(|_| ());
        (threads, pool)
    };
    for (threads, pool) in &[pool(1), pool(2)] {
        let threads = *threads;
        pool.install(|| {
            if threads == 2 {
                acquaint_two_threads();
            }
            for model in ModelSettings::NAMES {
                let settings = ModelSettings::by_name(model).expect("a model");
                // What a frame makes, it makes on one thread as well.
                if threads == 1 {
                    let made =
                        allocations_of_frames(&settings) + allocations_by_vertices(&settings);
                    println!("{model}, driven: {made} in 80 frames");
                    let built_anew = parameters_that_allocate(&settings);
                    let named = BUILT_ANEW.iter().find(|(name, _)| name == model);
                    if named.is_none_or(|(_, named)| *named != built_anew) {
                        found.push(format!("{model} is built anew for {built_anew:?}"));
                    }
                    if made > 0 {
                        found.push(format!("{model}, driven: {made} allocations"));
                    }
                }
                for (scene, start, warm_up) in scenes {
                    let mut sim = start(&settings);
                    let points = sim.groom().strands.point_count();
                    let (mut x, mut v) = (vec![Vec3::ZERO; points], vec![Vec3::ZERO; points]);
                    let mut mesh = sim.strips().map(StripMesh::new).unwrap_or_default();
                    let mut step = || {
                        sim.step();
                        // Once without, once with the kept result of `grow`.
                        sim.positions(&mut x);
                        sim.grow();
                        sim.positions(&mut x);
                        sim.velocities(&mut v);
                        if let Some(lanes) = sim.strip_lanes() {
                            mesh.follow_lanes(&lanes);
                        }
                        assert_eq!(sim.health().non_finite, 0);
                    };
                    (0..warm_up).for_each(|_| step());
                    let mut count = || {
                        let region = Region::new(GLOBAL);
                        (0..COUNTED).for_each(|_| step());
                        region.change()
                    };
                    let mut change = count();
                    // Threads that take work from each other allocate now and then, asynchronously:
                    // repeat. Allocations of a step itself would also occur on one thread.
                    for _ in 0..2 {
                        if threads == 2 && change.allocations + change.reallocations > 0 {
                            change = count();
                        }
                    }
                    assert!(sim.report().quarantined.is_empty(), "{model}, {scene}");
                    let contact = sim.report().contact.strands;
                    assert!(contact.is_none_or(|c| c.springs > 100), "{model}: {contact:?}");
                    let made = change.allocations + change.reallocations;
                    println!("{model}, {scene}, {threads} threads: {made} in {COUNTED} steps");
                    if made > 0 {
                        found.push(format!("{model}, {scene}, {threads} threads: {change:?}"));
                    }
                }
            }
        });
    }
    assert!(found.is_empty(), "{found:#?}");
    // The counter does count.
    let region = Region::new(GLOBAL);
    on_primitives(&ModelSettings::default()).step();
    assert!(region.change().allocations > 0);
}
