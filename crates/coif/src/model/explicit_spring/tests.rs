use super::*;
use crate::environment::Wind;
use crate::groom::{Fibre, Strands};
use crate::math::RigidTransform;

/// A limp straight strand of equal segments of 1 cm, groomed along x.
fn chain(points: usize) -> Groom {
    let line: Vec<Vec3> = (0..points).map(|i| Vec3::X * 0.01 * i as f32).collect();
    let mut strands = Strands::new();
    strands.push(&line);
    Groom::new(strands, Fibre::default())
}

fn limp(substeps: u32) -> Settings {
    Settings {
        stretch_damping: 0.0,
        substeps,
        style_time: f32::INFINITY.into(),
        damping: 0.0.into(),
        hold_shape: false,
        ..Settings::default()
    }
}

/// Runs a chain in longitudinal vibration, and returns its largest stretch.
fn stretch_of(settings: &Settings, steps: usize, dt: f32) -> f32 {
    let groom = chain(20);
    let mut model = ExplicitSpring::unchecked(&groom, settings, 1.0 / 240.0, Vec3::ZERO);
    // Start with alternating displacements, the fastest vibration.
    for (i, p) in model.chains.position.iter_mut().enumerate().skip(1) {
        p.x += if i % 2 == 0 { 1e-5 } else { -1e-5 };
    }
    let mut report = StepReport::default();
    let mut worst = 0.0f32;
    for _ in 0..steps {
        let env = Environment {
            time: 0.0,
            dt,
            gravity: Vec3::ZERO,
            wind: &Wind::default(),
            world_from_rest: &[RigidTransform::IDENTITY],
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        model.step(&env, &mut report);
        let segments = model.chains.position.windows(2);
        let stretch = segments.map(|w| (w[0].distance(w[1]) / 0.01 - 1.0).abs());
        worst = stretch.fold(worst, f32::max);
        if !report.quarantined.is_empty() {
            return f32::INFINITY;
        }
    }
    worst
}

/// The stability limit is that of the theory, with and without damping: vibrations are bounded 2 % below it and grow 2 %
/// above it.
#[test]
fn the_stability_limit_is_sharp() {
    let groom = chain(20);
    for stretch_damping in [0.0, 2e-4] {
        let settings = Settings { stretch_damping, ..limp(1) };
        let model = ExplicitSpring::unchecked(&groom, &settings, 1.0 / 240.0, Vec3::ZERO);
        let springs = &model.springs;
        let stiffest =
            Stiffest::of(model.chains.ranges(), &springs.inverse_mass, &springs.stiffness);
        let (w2, t) = (stiffest.rate_squared, f64::from(stretch_damping));
        let limit = ((t * t + 4.0 / w2).sqrt() - t) as f32;
        let (below, above) =
            (stretch_of(&settings, 3000, limit * 0.98), stretch_of(&settings, 3000, limit * 1.02));
        println!("damping {stretch_damping} s: stretch {below} below, {above} above the limit");
        assert!(below < 0.05, "{below}");
        assert!(above > 0.5, "{above}");
        assert_eq!(stiffest.substeps(limit * 0.999, stretch_damping, 1.0), 1);
        assert_eq!(stiffest.substeps(limit * 6.999, stretch_damping, 1.0), 7);
    }
}

#[test]
fn too_few_substeps_are_refused_with_the_number_needed() {
    let groom = chain(20);
    let dt = 1.0 / 240.0;
    // Waves of sqrt(5e5 / 1320) = 19.5 m/s travel 8.1 cm in a step, 8.1 segments.
    let refused = ExplicitSpring::new(&groom, &limp(8), dt, Vec3::ZERO).err();
    assert!(matches!(refused, Some(Error::Unstable { needed: 9, substeps: 8, .. })), "{refused:?}");
    assert!(ExplicitSpring::new(&groom, &limp(9), dt, Vec3::ZERO).is_ok());
    // The automatic number has a safety factor of 0.8.
    let auto = Settings { substeps: 0, ..limp(1) };
    let model = ExplicitSpring::new(&groom, &auto, dt, Vec3::ZERO);
    assert!(matches!(model.map(|m| m.substeps()), Ok(11)));
    let rigid = Settings { stretch_modulus: 1e12.into(), ..auto };
    let refused = ExplicitSpring::new(&groom, &rigid, dt, Vec3::ZERO).err();
    assert!(matches!(refused, Some(Error::Unstable { needed: 11469.., .. })), "{refused:?}");
}

/// The ends of a spring get opposite forces along it.
#[test]
fn a_spring_force_is_axial_and_restoring() {
    let (a, b) = (Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.4, -0.1, 0.5));
    let still = [Vec3::ZERO; 2];
    let force = spring_force([a, b], still, 0.5, [3.0, 0.1]);
    let opposite = spring_force([b, a], still, 0.5, [3.0, 0.1]);
    assert!((force + opposite).length() < 1e-6);
    assert!(force.cross(b - a).length() < 1e-6 && force.dot(b - a) > 0.0);
    // Only the velocity along the spring is damped.
    let across = (b - a).any_orthogonal_vector();
    let turning = spring_force([a, b], [Vec3::ZERO, across], 0.5, [3.0, 0.1]);
    assert!((turning - force).length() < 1e-6);
    let parting = spring_force([a, b], [Vec3::ZERO, b - a], 0.5, [3.0, 0.1]);
    assert!((parting - force).dot(b - a) > 0.0);
}
