//! Bodies besides the one that the hair grows on, for every model: hair between a head and a second body stays out of
//! both, with the same bits for any number of threads and after a restart.

use std::sync::Arc;

use coif::body::distance_field::{self, DistanceField};
use coif::body::{Body, Collider, Motion, Pose, Shape, TriangleMesh};
use coif::groom::Groom;
use coif::math::{RigidTransform, WorldTransform};
use coif::model::ModelSettings;
use coif::simulation::{BodyId, Simulation, Surface, World};
use glam::{DVec3, Quat, Vec3};

use crate::scene::{RADIUS, ball, groom};

/// Radii of the second body (m): its widest part is beside the head.
const RADII: Vec3 = Vec3::new(0.05, 0.12, 0.07);

/// Distance between the two bodies when they are nearest (m).
const GAP: f32 = 0.01;

/// Edge of a cell of their fields (m).
const CELL: f32 = 0.01;

/// How deep hair may be inside of a body (m): a tenth of a cell, as with one field (`drive.rs`).
const DEEP: f32 = 0.1 * CELL;

/// Frames of a sixtieth of a second until the second body is beside the head, and until it has left.
const BESIDE: usize = 60;
const GONE: usize = 120;

fn models() -> impl Iterator<Item = ModelSettings> {
    ModelSettings::NAMES.iter().map(|name| ModelSettings::by_name(name).expect("a model"))
}

fn other_mesh() -> TriangleMesh {
    TriangleMesh::ellipsoid(RADII, 16, 24)
}

/// The second body goes past at half a metre per second, turning.
struct PassesBy;

impl PassesBy {
    fn at(time: f64) -> WorldTransform {
        let turn = 0.3 * (2.0 * time).sin();
        let aside = f64::from(RADIUS + RADII.x + GAP);
        WorldTransform {
            rotation: Quat::from_rotation_x(turn as f32),
            translation: DVec3::new(aside, -0.08, 0.5 * (time - 1.0)),
        }
    }
}

impl Motion for PassesBy {
    fn bones(&self) -> usize {
        1
    }
    fn world_from_rest(&self, _bone: usize, time: f64) -> RigidTransform {
        Self::at(time).relative_to(DVec3::ZERO)
    }
}

fn surface() -> Surface {
    let field = distance_field::Settings { cell: CELL, reach: 0.06, ..Default::default() };
    Surface { field, ..Surface::default() }
}

fn hair() -> Groom {
    groom(60, |s| 9 + s % 4)
}

/// Hair on a ball, which is a distance field or a collider.
fn head(model: &ModelSettings, with_field: bool) -> Simulation {
    let body = Body::still(ball()).expect("a valid body");
    let skull = Collider::new(Shape::Sphere { radius: RADIUS }, Vec3::ZERO, Quat::IDENTITY, 0);
    let colliders = if with_field { vec![] } else { vec![skull] };
    let body = Arc::new(body.with_colliders(colliders).expect("a valid collider"));
    let world = World { surface: with_field.then(surface), ..World::default() };
    Simulation::new(Arc::new(hair()), body, model, world).expect("a valid simulation")
}

/// The same with a second body whose poses are set frame by frame.
fn head_and_body(model: &ModelSettings, with_field: bool) -> (Simulation, BodyId) {
    let mut sim = head(model, with_field);
    let body = Arc::new(Body::still(other_mesh()).expect("a valid body"));
    let id = sim.add_body(body, &surface()).expect("a valid body");
    sim.set_body_pose(id, Pose::Rigid(PassesBy::at(0.0))).expect("a valid pose");
    (sim, id)
}

/// Advances by frames at which head and second body have their poses.
fn drive(sim: &mut Simulation, other: Option<BodyId>, frames: std::ops::Range<usize>) {
    for frame in frames {
        if let Some(other) = other {
            let pose = PassesBy::at((frame + 1) as f64 / 60.0);
            sim.set_body_pose(other, Pose::Rigid(pose)).expect("a valid pose");
        }
        let still = WorldTransform::IDENTITY;
        sim.drive(Pose::Rigid(still), 1.0 / 60.0).expect("a valid pose");
    }
}

/// Deepest free point inside of a mesh in a pose (m), by a field of its own.
fn depth(sim: &Simulation, mesh: &TriangleMesh, pose: &WorldTransform) -> f32 {
    let pose = pose.relative_to(DVec3::ZERO);
    let positions: Vec<Vec3> = mesh.positions.iter().map(|p| pose.point(*p)).collect();
    let mut field = DistanceField::new(&mesh.triangles, &surface().field).expect("valid settings");
    field.rebuild(&positions, &vec![Vec3::ZERO; positions.len()]);
    let strands = sim.strands();
    let free = (0..strands.strand_count()).flat_map(|s| &strands.strand(s)[2..]);
    free.map(|p| -field.distance_at(*p)).fold(0.0, f32::max)
}

/// Hair between two bodies stays out of both, with a head that is a field and with one that is a collider, and the
/// second body moves it: without it, hair is where it passes.
#[test]
fn hair_stays_out_of_a_head_and_a_body_that_passes_by() {
    let mut failed = Vec::new();
    for model in models() {
        let name = model.name();
        for with_field in [true, false] {
            let (mut sim, other) = head_and_body(&model, with_field);
            let mut without = head(&model, with_field);
            let (mut in_other, mut in_head, mut in_way) = (0.0f32, 0.0f32, 0.0f32);
            let mut by_health = 0.0f32;
            for frame in 0..GONE {
                drive(&mut sim, Some(other), frame..frame + 1);
                drive(&mut without, None, frame..frame + 1);
                let pose = PassesBy::at((frame + 1) as f64 / 60.0);
                in_other = in_other.max(depth(&sim, &other_mesh(), &pose));
                in_head = in_head.max(depth(&sim, &ball(), &WorldTransform::IDENTITY));
                in_way = in_way.max(depth(&without, &other_mesh(), &pose));
                by_health = by_health.max(sim.health().penetration_max);
            }
            // The body has left: hair falls back to where it is without it, but for what friction holds.
            drive(&mut sim, Some(other), GONE..GONE + 240);
            drive(&mut without, None, GONE..GONE + 240);
            let (now, free) = (sim.strands(), without.strands());
            let pairs = now.positions().iter().zip(free.positions());
            let off = pairs.map(|(a, b)| a.distance(*b)).sum::<f32>() / free.point_count() as f32;
            println!(
                "{name}, field {with_field}: {:.3} mm in the other, {:.3} mm in the head, health {:.3} mm; \
                 {:.1} mm without; mean {:.2} mm beside its place afterwards",
                1e3 * in_other,
                1e3 * in_head,
                1e3 * by_health,
                1e3 * in_way,
                1e3 * off
            );
            if in_other > DEEP || in_head > DEEP || by_health > DEEP {
                failed.push((name, with_field, in_other, in_head, by_health));
            }
            assert!(in_way > 0.02, "{name}: the second body passes through no hair");
            assert!(off < 5e-3, "{name}: {off} m beside its place");
            assert!(sim.report().quarantined.is_empty(), "{name}");
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Threads and a restart while hair lies on the second body.
#[test]
fn two_bodies_give_the_same_bits() {
    for model in models() {
        let name = model.name();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| {
                let (mut sim, other) = head_and_body(&model, true);
                drive(&mut sim, Some(other), 0..BESIDE + 15);
                sim.state_hash()
            })
        };
        let one = run(1);
        assert_eq!(run(2), one, "{name}: threads");
        let (mut first, other) = head_and_body(&model, true);
        drive(&mut first, Some(other), 0..BESIDE);
        // The pose at the end of the next frame is set already.
        let next = Pose::Rigid(PassesBy::at((BESIDE + 1) as f64 / 60.0));
        first.set_body_pose(other, next).expect("a valid pose");
        let saved = first.checkpoint();
        let (mut resumed, other) = head_and_body(&model, true);
        resumed.restore(&saved).expect("its own checkpoint");
        assert_eq!(resumed.state_hash(), first.state_hash(), "{name}");
        drive(&mut resumed, Some(other), BESIDE..BESIDE + 15);
        assert_eq!(resumed.state_hash(), one, "{name}: from a checkpoint");
        // Of another number of bodies it is refused.
        assert!(head(&model, true).restore(&saved).is_err(), "{name}");
        assert!(resumed.restore(&head(&model, true).checkpoint()).is_err(), "{name}");
        for cut in [saved.len() / 3, saved.len() / 2, saved.len() - 1] {
            assert!(resumed.restore(&saved[..cut]).is_err(), "{name}");
        }
    }
}

/// A body that follows its own animation is where one is that is set to the same poses; removing it leaves hair as if it
/// had never been there.
#[test]
fn bodies_follow_their_own_animation_and_can_be_removed() {
    for model in models() {
        let name = model.name();
        let mut own = head(&model, true);
        let body = Body::rigid(other_mesh(), Arc::new(PassesBy)).expect("a valid body");
        let id = own.add_body(Arc::new(body), &surface()).expect("a valid body");
        let (mut set, other) = head_and_body(&model, true);
        for frame in 0..30 {
            own.advance_to(f64::from(frame + 1) / 60.0);
            // A pose per step: the same path.
            for step in 1..=4 {
                let pose = PassesBy::at(f64::from(4 * frame + step) / 240.0);
                set.set_body_pose(other, Pose::Rigid(pose)).expect("a valid pose");
                set.step();
            }
        }
        let (a, b) = (own.strands(), set.strands());
        let pairs = a.positions().iter().zip(b.positions());
        let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Rounding of poses, which moves the grid of the field: less than a tenth of a cell.
        println!("{name}: {off:.1e} m between animation and poses");
        assert!(off < DEEP, "{name}: {off} m");
        // A body far away, added and removed, changes nothing.
        let (mut with, mut without) = (head(&model, true), head(&model, true));
        let far = Arc::new(Body::still(other_mesh()).expect("a valid body"));
        let far = with.add_body(far, &surface()).expect("a valid body");
        let away = Pose::Rigid(WorldTransform::from_translation(DVec3::X * 5.0));
        with.set_body_pose(far, away).expect("a valid pose");
        with.advance_to(0.2);
        without.advance_to(0.2);
        assert_eq!(with.state_hash(), without.state_hash(), "{name}: a body far away");
        with.remove_body(far).expect("a body that is there");
        assert!(with.remove_body(far).is_err() && own.set_body_pose(far, away).is_ok());
        own.remove_body(id).expect("a body that is there");
        own.advance_to(0.6);
        assert!(own.report().quarantined.is_empty(), "{name}");
    }
}

/// A second pose before a frame replaces the first; a body without a new pose stands; positions are relative to an origin
/// that moves.
#[test]
fn poses_replace_each_other_and_move_with_the_origin() {
    let model = ModelSettings::default();
    let start = || {
        let (mut sim, other) = head_and_body(&model, true);
        drive(&mut sim, Some(other), 0..BESIDE);
        (sim, other)
    };
    let ((mut once, a), (mut twice, b)) = (start(), start());
    let wrong = Pose::Rigid(WorldTransform::from_translation(DVec3::Y * 3.0));
    twice.set_body_pose(b, wrong).expect("a valid pose");
    for (sim, id) in [(&mut once, a), (&mut twice, b)] {
        drive(sim, Some(id), BESIDE..BESIDE + 6);
    }
    assert_eq!(once.state_hash(), twice.state_hash());
    let nowhere = Pose::Rigid(WorldTransform::from_translation(DVec3::splat(f64::NAN)));
    assert!(once.set_body_pose(a, nowhere).is_err());
    // Nearby, with another origin: the same but for rounding.
    let shift = DVec3::new(1.0, 0.0, -2.0);
    twice.set_origin(shift).expect("a finite origin");
    for (sim, id) in [(&mut once, a), (&mut twice, b)] {
        drive(sim, Some(id), BESIDE + 6..BESIDE + 9);
        drive(sim, None, 0..3);
    }
    // The same frames without the second body.
    let mut without = head(&model, true);
    drive(&mut without, None, 0..BESIDE + 12);
    let mean_off = |other: &Simulation, shift: Vec3| {
        let (a, b) = (once.strands(), other.strands());
        let pairs = a.positions().iter().zip(b.positions());
        pairs.map(|(a, b)| a.distance(*b + shift)).sum::<f32>() / a.point_count() as f32
    };
    let [off, effect] = [mean_off(&twice, shift.as_vec3()), mean_off(&without, Vec3::ZERO)];
    println!("mean {off:.1e} m with another origin, {effect:.1e} m without the body");
    // The grid of the field lies elsewhere, which changes distances by less than a tenth of a cell, and where hair is
    // pressed against the body: at about a tenth of the points.
    assert!(off < 0.1 * DEEP, "{off} m");
    assert!(effect > 10.0 * off, "{effect} m");
}
