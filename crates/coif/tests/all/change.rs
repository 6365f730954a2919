//! Changes between two steps, for every model: gravity, wind, parameters, colliders. Positions do not jump, and the groom
//! remains the rest shape.

use std::sync::Arc;

use coif::body::{Body, Collider, Pose, Shape};
use coif::math::WorldTransform;
use coif::model::{ModelSettings, hair_mesh, mass_spring};
use coif::params::Value;
use coif::simulation::{FreeCollider, Layout, Simulation, Wind, World};
use glam::{DVec3, Quat, Vec3, Vec4};

use crate::scene::{RADIUS, Shake, ball, groom, other_value, simulation};

const STILL: Shake = Shake { angle: 0.0, height: 0.0 };

const SHAKE: Shake = Shake { angle: 0.8, height: 0.05 };

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn models() -> impl Iterator<Item = ModelSettings> {
    ModelSettings::NAMES.iter().map(|name| ModelSettings::by_name(name).expect("a model"))
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// Largest displacement of a point in some steps after a change, relative to a twin without the change.
fn jump(model: &ModelSettings, steps: usize, change: impl Fn(&mut Simulation)) -> f32 {
    let mut sims = [0, 1].map(|_| simulation(groom(40, |_| 10), SHAKE, model));
    sims.iter_mut().for_each(|sim| sim.advance_to(0.3));
    let before = sims[1].state_hash();
    change(&mut sims[1]);
    assert_eq!(sims[1].state_hash(), before, "{}: a change moves nothing by itself", model.name());
    sims.iter_mut().for_each(|sim| (0..steps).for_each(|_| sim.step()));
    farthest(sims[0].strands().positions(), sims[1].strands().positions())
}

/// In the next step a change of gravity acts as an acceleration, and wind with at most its speed.
#[test]
fn gravity_and_wind_change_without_a_jump() {
    let dt = 1.0 / 240.0f32;
    for model in models() {
        let name = model.name();
        let moved = jump(&model, 1, |sim| sim.set_gravity(Vec3::ZERO).expect("finite"));
        // A step displaces hair by g dt^2, and by a small multiple of it where strands are coupled or turn about a contact.
        // A cantilever has no inertia: within a step it falls at g over its damping.
        let fall = match &model {
            ModelSettings::Cantilever(settings) => dt.max(1.0 / settings.damping.at(0.0)),
            _ => dt,
        };
        assert!(moved < 4.0 * 9.81 * fall * dt, "{name}: {moved} m");
        let later = jump(&model, 4, |sim| sim.set_gravity(Vec3::ZERO).expect("finite"));
        assert!(later > 9.81 * dt * dt, "{name}: {later} m");
        let wind = Wind { velocity: Vec3::X * 5.0, ..Wind::default() };
        let moved = jump(&model, 1, |sim| sim.set_wind(wind.clone()).expect("a valid wind"));
        assert!(moved < 5.0 * dt, "{name}: {moved} m");
        let later = jump(&model, 4, |sim| sim.set_wind(wind.clone()).expect("a valid wind"));
        assert!(later > 1e-5, "{name}: {later} m");
    }
    let mut sim = simulation(groom(5, |_| 5), STILL, &ModelSettings::default());
    assert!(sim.set_gravity(Vec3::NAN).is_err());
    assert!(sim.set_wind(Wind { velocity: Vec3::X * 1e4, ..Wind::default() }).is_err());
    assert_eq!((sim.world().gravity, sim.world().wind.velocity), (GRAVITY, Vec3::ZERO));
}

/// Gusts are continuous where the mean wind or the origin changes, after a long time too: the velocity of the air changes
/// in proportion to the mean wind. A restart continues with the same bits.
#[test]
fn gusts_are_continuous_where_wind_or_origin_change() {
    let wind = |velocity: Vec3| Wind { velocity, gusts: 0.8, seed: 3 };
    let start = || {
        let mut sim = simulation(groom(20, |_| 6), STILL, &ModelSettings::default());
        sim.set_wind(wind(Vec3::X * 4.0)).expect("a wind");
        sim.teleport(1000.0);
        sim
    };
    let places = [Vec3::ZERO, Vec3::new(0.3, -0.2, 0.1), Vec3::new(-1.7, 0.4, 2.2)];
    let mut sim = start();
    let air = |sim: &Simulation| places.map(|p| sim.air_at(p));
    let farthest = |a: [Vec3; 3], b: [Vec3; 3]| farthest(&a, &b);
    // The wind turns and grows a little in each of 300 steps.
    let (mut jump, mut drift, mut spread) = (0.0f32, 0.0f32, 0.0f32);
    for step in 0..300 {
        let before = air(&sim);
        let angle = 0.01 * step as f32;
        let velocity = Vec3::new(angle.cos(), 0.0, angle.sin()) * (4.0 + angle);
        let changed = sim.world().wind.velocity.distance(velocity);
        sim.set_wind(wind(velocity)).expect("a wind");
        jump = jump.max(farthest(before, air(&sim)) / changed.max(1e-3));
        let before = air(&sim);
        sim.step();
        drift = drift.max(farthest(before, air(&sim)));
        spread = spread.max((air(&sim)[0] - velocity).length());
    }
    println!("air changes by {jump:.2} of the change of the wind, by {drift:.2} m/s in a step");
    // The mean wind, and 0.8 times the gusts: noise of up to 1 along the wind, and of up to (1, 0.5, 1), length 1.5.
    assert!(jump < 1.0 + 0.8 * (1.0 + 1.5), "{jump}");
    assert!(spread > 1.0, "there are gusts: {spread} m/s");
    let (before, saved) = (air(&sim), sim.checkpoint());
    let by = DVec3::new(500.0, -20.0, 300.0);
    sim.drive(Pose::Rigid(WorldTransform::IDENTITY), 0.0).expect("a pose");
    sim.set_origin(by).expect("an origin");
    let after = places.map(|p| sim.air_at(p - by.as_vec3()));
    // Positions 600 m away are rounded by 3e-5 m; gusts have scales of 0.35 m and 0.15 m.
    assert!(farthest(before, after) < 0.01, "{before:?} {after:?}");
    let mut resumed = start();
    resumed.set_wind(wind(Vec3::new(1.0, 2.0, 3.0))).expect("a wind");
    resumed.restore(&saved).expect("its own checkpoint");
    let mut whole = start();
    whole.restore(&saved).expect("its own checkpoint");
    for sim in [&mut whole, &mut resumed] {
        sim.set_wind(wind(Vec3::Z * 5.0)).expect("a wind");
    }
    assert_ne!(air(&whole), air(&resumed), "gusts depend on the earlier wind");
    let mut again = start();
    again.restore(&saved).expect("its own checkpoint");
    again.set_wind(wind(Vec3::Z * 5.0)).expect("a wind");
    assert_eq!(air(&whole), air(&again));
}

/// The rest shape remains in equilibrium with the gravity for which the model was built: hair rises under less gravity,
/// sinks under more, and returns to the groom under the original one.
#[test]
fn changed_gravity_is_a_force_against_the_old_balance() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(40, |_| 10), STILL, &model);
        sim.advance_to(1.0);
        let height = |sim: &Simulation| {
            let strands = sim.strands();
            (0..40).map(|s| strands.strand(s)[9].y).sum::<f32>() / 40.0
        };
        let (rest, at_rest) = (sim.strands(), height(&sim));
        sim.set_gravity(0.7 * GRAVITY).expect("finite");
        sim.advance_to(2.0);
        let risen = height(&sim) - at_rest;
        sim.set_gravity(1.3 * GRAVITY).expect("finite");
        sim.advance_to(3.0);
        let sunk = height(&sim) - at_rest;
        sim.set_gravity(GRAVITY).expect("finite");
        sim.advance_to(6.0);
        let off = farthest(rest.positions(), sim.strands().positions());
        println!("{name}: {risen:.4} m up, {sunk:.4} m down, {off:.4} m beside the groom again");
        assert!(risen > 1e-3 && sunk < -1e-3, "{name}: {risen} m up, {sunk} m");
        // Static friction keeps hair on the ball away from the groom, by less than a tenth of its length.
        assert!(off < 0.02, "{name}: {off} m");
    }
}

/// This model with a softer hold on its groom: a quarter of the stiffness, or a style time of 0.8 s.
fn softer(model: &ModelSettings) -> ModelSettings {
    let mut soft = model.clone();
    let (name, value) = match model.name() {
        mass_spring::NAME | hair_mesh::NAME => ("stiffness", 0.25),
        _ => ("style_time", 0.8),
    };
    soft.params_mut().set(name, Value::Number(value)).expect("in range");
    assert_ne!(soft, *model);
    soft
}

/// Changed stiffness keeps the groom: hair at rest stays at rest, and moving hair does not jump.
#[test]
fn parameters_change_without_a_jump_and_keep_the_groom() {
    for model in models() {
        let name = model.name();
        let soft = softer(&model);
        let moved = jump(&model, 1, |sim| sim.set_model(&soft).expect("parameters of this model"));
        // From this step on the elastic force differs; it was at most that of the shake, about ten g.
        assert!(moved < 1e-3, "{name}: {moved} m");
        let drift = |change: bool| {
            let mut sim = simulation(groom(40, |_| 10), STILL, &model);
            sim.advance_to(0.5);
            if change {
                sim.set_model(&soft).expect("parameters of this model");
            }
            sim.advance_to(1.5);
            sim.health().drift.max
        };
        let (hard, soft) = (drift(false), drift(true));
        println!("{name}: {hard:.2e} m beside the groom, {soft:.2e} m after it got softer");
        assert!(soft < hard + 1e-3, "{name}: {hard} m, {soft} m");
        for other in models().filter(|other| other.name() != name) {
            let mut sim = simulation(groom(10, |_| 6), STILL, &model);
            assert!(sim.set_model(&other).is_err(), "{name}");
        }
    }
}

/// A parameter that is changed in place has the effect of a model built with it, to rounding.
#[test]
fn a_changed_model_is_the_model_with_those_parameters() {
    for model in models() {
        let name = model.name();
        let soft = softer(&model);
        let mut built = simulation(groom(30, |s| 6 + s % 5), STILL, &soft);
        let mut changed = simulation(groom(30, |s| 6 + s % 5), STILL, &model);
        changed.set_model(&soft).expect("parameters of this model");
        for sim in [&mut built, &mut changed] {
            sim.set_wind(Wind { velocity: Vec3::X * 3.0, ..Wind::default() }).expect("a wind");
            sim.advance_to(0.25);
        }
        let off = farthest(built.strands().positions(), changed.strands().positions());
        println!("{name}: {off:.1e} m");
        assert!(off < 1e-4, "{name}: {off} m");
    }
}

/// After a change of any parameter of any model, moving hair continues as with a model that was built with the new value
/// and restored from the same state. An unsupported change is refused and leaves the state as it was.
#[test]
fn every_parameter_changes_as_if_the_model_had_been_built_with_it() {
    let (mut changed, mut effective, mut refused) = (0, 0, Vec::new());
    for model in models() {
        let name = model.name();
        let start = |settings: &ModelSettings| {
            let mut sim = simulation(groom(20, |s| 6 + s % 5), STILL, settings);
            sim.set_wind(Wind { velocity: Vec3::X * 3.0, ..Wind::default() }).expect("a wind");
            sim
        };
        let mut before = start(&model);
        before.advance_to(0.1);
        let (state, hash) = (before.checkpoint(), before.state_hash());
        let mut unchanged = start(&model);
        unchanged.restore(&state).expect("a checkpoint of the same hair");
        unchanged.advance_to(0.2);
        for param in model.params().params() {
            let now = model.params().get(param.name);
            let Some(value) = now.and_then(|now| other_value(param, &now)) else { continue };
            let mut other = model.clone();
            other.params_mut().set(param.name, value).expect("in range");
            assert_ne!(other, model, "{name} {}", param.name);
            let mut sim = start(&model);
            sim.restore(&state).expect("a checkpoint of the same hair");
            if let Err(error) = sim.set_model(&other) {
                refused.push(format!("{name} {}: {error}", param.name));
                assert_eq!(sim.state_hash(), hash, "{name} {}", param.name);
                continue;
            }
            let mut built = start(&other);
            built.restore(&state).expect("as many particles");
            for sim in [&mut sim, &mut built] {
                sim.advance_to(0.2);
            }
            let off = farthest(sim.strands().positions(), built.strands().positions());
            println!("{name} {}: {off:.1e} m", param.name);
            // Hair moves by centimetres; a different layout in memory changes the rounding.
            assert!(off < 1e-4, "{name} {}: {off} m", param.name);
            changed += 1;
            effective += u32::from(sim.state_hash() != unchanged.state_hash());
        }
    }
    println!("{changed} parameters changed, {effective} with an effect; refused: {refused:#?}");
    // Some have no effect in this scene: friction and seams without contact, accuracy, pinned tips.
    assert!(changed > 60 && effective > 30, "{changed} {effective}");
}

fn sphere(radius: f32, place: Vec3) -> Collider {
    Collider::new(Shape::Sphere { radius }, place, Quat::IDENTITY, 0)
}

/// Colliders of the body are added, removed and reshaped: hair does not jump where it is not in contact with them, and is
/// outside of them afterwards.
#[test]
fn colliders_are_added_removed_and_reshaped() {
    for model in models() {
        let name = model.name();
        let far = [sphere(RADIUS, Vec3::ZERO), sphere(0.05, Vec3::new(0.0, -3.0, 0.0))];
        let moved = jump(&model, 1, |sim| sim.set_colliders(&far).expect("valid colliders"));
        assert!(moved < 1e-5, "{name}: {moved} m by a collider that is far away");
        let mut sim = simulation(groom(40, |_| 10), STILL, &model);
        sim.advance_to(0.3);
        // The skull grows by a tenth in a third of a second.
        for step in 0..80 {
            let radius = RADIUS * (1.0 + 0.1 * (step as f32 / 80.0));
            sim.set_colliders(&[sphere(radius, Vec3::Y * 0.02)]).expect("valid colliders");
            sim.step();
        }
        sim.advance_to(1.2);
        let strands = sim.strands();
        let inside = |p: &Vec3| RADIUS * 1.1 - p.distance(Vec3::Y * 0.02);
        // Skip points that are fixed to the scalp, and those whose segments are too short to leave the collider.
        let deepest =
            (0..40).flat_map(|s| strands.strand(s)[3..].iter().map(inside)).fold(0.0, f32::max);
        println!("{name}: {deepest:.1e} m inside of the skull that grew");
        assert!(deepest < 2e-3, "{name}: {deepest} m inside");
        sim.set_colliders(&[]).expect("no colliders");
        sim.advance_to(1.5);
        assert!(sim.report().quarantined.is_empty(), "{name}");
        assert!(sim.set_colliders(&[sphere(-1.0, Vec3::ZERO)]).is_err(), "{name}");
        assert!(sim.body().colliders().is_empty(), "{name}");
    }
}

fn free(id: u32, radius: f32, place: DVec3) -> FreeCollider {
    FreeCollider {
        id,
        shape: Shape::Sphere { radius },
        world_from_shape: WorldTransform::from_translation(place),
        friction: 0.3,
    }
}

/// Free colliders displace hair; removing the first does not change the identity of the second. After both are removed
/// hair returns.
#[test]
fn free_colliders_displace_hair_until_removed() {
    for model in models() {
        let name = model.name();
        let mut sim = simulation(groom(60, |_| 10), STILL, &model);
        let pose = Pose::Rigid(WorldTransform::IDENTITY);
        (0..20).for_each(|_| sim.drive(pose, 1.0 / 60.0).expect("a valid pose"));
        let rest = sim.strands();
        let mut deepest = 0.0f32;
        for frame in 0..60 {
            // Move from the side into the hair, and stop there.
            let x = 0.30 - 0.15 * (f64::from(frame) / 40.0).min(1.0);
            let places = [DVec3::new(x, -0.05, 0.0), DVec3::new(-x, -0.05, 0.0)];
            let balls = [free(7, 0.05, places[0]), free(3, 0.05, places[1])];
            // Remove the first after half a second.
            let there = if frame < 30 { &balls[..] } else { &balls[1..] };
            sim.set_free_colliders(there).expect("valid colliders");
            sim.drive(pose, 1.0 / 60.0).expect("a valid pose");
            for ball in there.iter().filter(|_| !(30..=45).contains(&frame)) {
                let centre = ball.world_from_shape.translation.as_vec3();
                let inside = |p: &Vec3| 0.05 - p.distance(centre);
                deepest = sim.grow().iter().map(inside).fold(deepest, f32::max);
            }
        }
        let pushed = farthest(rest.positions(), sim.strands().positions());
        println!("{name}: pushed by {pushed:.3} m, {deepest:.1e} m inside at most");
        assert!(pushed > 5e-3, "{name}: {pushed} m");
        assert!(deepest < 3e-3, "{name}: {deepest} m inside");
        sim.set_free_colliders(&[]).expect("none");
        (0..240).for_each(|_| sim.drive(pose, 1.0 / 60.0).expect("a valid pose"));
        let left = farthest(rest.positions(), sim.strands().positions());
        assert!(left < 0.02, "{name}: {left} m beside its place");
        assert!(sim.report().quarantined.is_empty(), "{name}");
        let twice = [free(1, 0.1, DVec3::ZERO), free(1, 0.1, DVec3::ZERO)];
        assert!(sim.set_free_colliders(&twice).is_err(), "{name}");
        assert!(sim.set_free_colliders(&[free(1, 0.1, DVec3::NAN)]).is_err(), "{name}");
    }
}

/// Positions and velocities in the caller's layout equal those of the other accessors.
#[test]
fn positions_are_written_in_the_layout_of_the_caller() {
    for model in models() {
        let body = Body::still(ball()).expect("a body");
        let hair = Arc::new(groom(30, |s| 5 + s % 4));
        let mut sim = Simulation::new(hair, Arc::new(body), &model, World::default())
            .expect("a valid simulation");
        for dt in [0.01, 0.013] {
            sim.drive(Pose::Rigid(WorldTransform::IDENTITY), dt).expect("a valid pose");
        }
        let points = sim.groom().strands.point_count();
        let (mut x, mut v) = (vec![Vec3::ZERO; points], vec![Vec3::ZERO; points]);
        sim.positions(&mut x);
        sim.velocities(&mut v);
        let (mut rows, mut fours) = (vec![7.0; 8 * points], vec![Vec4::ZERO; points]);
        let layout = |offset| Layout { stride: 8, offset };
        sim.write_positions(layout(0), &mut rows).expect("enough room");
        sim.write_velocities(layout(4), &mut rows).expect("enough room");
        sim.write_positions_vec4(1.0, &mut fours).expect("enough room");
        for i in 0..points {
            assert_eq!(rows[8 * i..][..3], x[i].to_array());
            assert_eq!(rows[8 * i + 4..][..3], v[i].to_array());
            assert_eq!((rows[8 * i + 3], rows[8 * i + 7]), (7.0, 7.0));
            assert_eq!(fours[i], x[i].extend(1.0));
        }
        assert!(sim.write_positions(layout(0), &mut rows[1..][..8]).is_err());
        assert!(sim.write_positions_vec4(1.0, &mut fours[1..]).is_err());
    }
}
