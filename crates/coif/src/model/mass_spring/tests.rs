//! Stiffness of a strand compared with beam theory, and lanes with the reference implementation.

use glam::{DVec3, Quat, Vec3};

use super::link::dense_stiffness;
use super::springs::bending_stiffness;
use super::strand::{Material, Strand};
use super::*;
use crate::environment::Wind;
use crate::groom::{Fibre, Strands};
use crate::math::dense::solve_positive_definite;

fn straight(segments: usize, length: f32) -> Vec<Vec3> {
    (0..=segments).map(|i| Vec3::X * (length * i as f32 / segments as f32)).collect()
}

fn strand(line: &[Vec3]) -> (Strand, f64) {
    strand_with(line, 1.0.into())
}

/// A strand whose stiffness relative to the fibre is a ramp, and the bending stiffness (N m^2) of the fibre.
fn strand_with(line: &[Vec3], stiffness: Ramp) -> (Strand, f64) {
    let fibre = Fibre::default();
    let radius = vec![fibre.radius; line.len()];
    let unit = UnitStiffness::new(0.5);
    let material = Material { fibre: &fibre, radius: &radius, unit: &unit };
    let settings = Settings { hold_shape: false, stiffness, ..Settings::default() };
    let bending = bending_stiffness(&fibre, fibre.radius.into());
    (Strand::new(line, 1, &material, &settings, Vec3::NEG_Y * 9.81), bending)
}

/// Displacements of a strand under small forces.
fn deflect(strand: &Strand, force: &[DVec3]) -> Vec<DVec3> {
    let pinned = strand.pinned_at_root;
    let links = strand.links(&strand.position);
    let mut matrix = dense_stiffness(links, strand.position.len(), pinned);
    let mut rhs: Vec<f64> = force[pinned..].iter().flat_map(|f| f.to_array()).collect();
    assert!(solve_positive_definite(&mut matrix, &mut rhs));
    let zero = vec![DVec3::ZERO; pinned];
    zero.into_iter().chain(rhs.chunks_exact(3).map(DVec3::from_slice)).collect()
}

/// A horizontal strand under a small load at its tip and under its own small weight: `F L^3 / (3 EI)`
/// and `q L^4 / (8 EI)`, for any number of segments and any direction.
#[test]
fn a_clamped_strand_bends_like_a_beam() {
    for segments in [10, 20, 40] {
        let tolerance = if segments == 10 { 0.06 } else { 0.04 };
        let (strand, bending) = strand(&straight(segments, 0.1));
        let tip = strand.position.len() - 1;
        for side in [DVec3::Y, DVec3::Z, DVec3::new(0.0, 0.6, -0.8)] {
            let mut force = vec![DVec3::ZERO; tip + 1];
            force[tip] = side * 1e-9;
            let found = deflect(&strand, &force)[tip].dot(side);
            let truth = 1e-9 * 1e-3 / (3.0 * bending);
            println!("{segments} segments, load at the tip: {:.4}", found / truth);
            assert!((found / truth - 1.0).abs() < tolerance, "{segments}: {}", found / truth);
            let force: Vec<DVec3> = strand.weight.iter().map(|w| side * *w).collect();
            let found = deflect(&strand, &force)[tip].dot(side);
            let per_length = strand.weight.iter().sum::<f64>() / 0.1;
            let truth = per_length * 1e-4 / (8.0 * bending);
            println!("{segments} segments, own weight: {:.4}", found / truth);
            assert!((found / truth - 1.0).abs() < tolerance, "{segments}: {}", found / truth);
        }
    }
}

/// A moment about the axis rotates the tip by `M L / GJ`, one across it by `M L / EI`.
#[test]
fn moments_rotate_the_tip_like_that_of_a_rod() {
    for segments in [10, 20, 40] {
        let (strand, bending) = strand(&straight(segments, 0.1));
        let n = strand.position.len();
        let last = [n - 3, n - 2, n - 1].map(|i| strand.position[i]);
        let centre = (last[0] + last[1] + last[2]) / 3.0;
        for (axis, stiffness, name) in [
            (DVec3::X, 0.5 * bending, "twist"),
            (DVec3::Y, bending, "bend"),
            (DVec3::Z, bending, "bend"),
        ] {
            let arms = last.map(|p| p - centre);
            let inertia: f64 = arms.iter().map(|r| axis.cross(*r).length_squared()).sum();
            let mut force = vec![DVec3::ZERO; n];
            for (i, r) in arms.into_iter().enumerate() {
                force[n - 3 + i] = axis.cross(r) * (1e-10 / inertia);
            }
            let moved = deflect(&strand, &force);
            let work: f64 = moved.iter().zip(&force).map(|(u, f)| u.dot(*f)).sum();
            let found = work / 1e-10;
            let truth = 1e-10 * 0.1 / stiffness;
            println!("{segments} segments, {name}: {:.4}", found / truth);
            // Tolerance: the stiffness of the first joint is exact only for a force at the tip.
            assert!((found / truth - 1.0).abs() < 0.03, "{segments} {name}: {}", found / truth);
        }
    }
}

/// A helix of this radius and pitch (m) along -y.
fn helix([radius, pitch]: [f64; 2], turns: usize, per_turn: usize) -> Vec<Vec3> {
    let angles = (0..=per_turn * turns).map(|i| std::f64::consts::TAU * i as f64 / per_turn as f64);
    let point =
        |t: f64| DVec3::new(radius * t.cos(), -pitch * t / std::f64::consts::TAU, radius * t.sin());
    angles.map(|t| point(t).as_vec3()).collect()
}

/// A close-coiled helix that hangs by its own weight W is a spring of twisted wire: it gets longer by
/// `W / (2 k)`, `k = G d^4 / (8 D^3 n)`.
#[test]
fn a_curl_under_its_weight_is_a_helical_spring() {
    let (radius, pitch, turns) = (0.005f64, 0.002f64, 6usize);
    // Curly hair, and hair that is straight enough for extra particles.
    for per_turn in [10usize, 14, 24] {
        let line = helix([radius, pitch], turns, per_turn);
        let (strand, _) = strand(&line);
        assert_eq!(strand.position.len() > line.len() + 3, per_turn == 24);
        let force: Vec<DVec3> = strand.weight.iter().map(|w| DVec3::NEG_Y * *w).collect();
        let moved = deflect(&strand, &force);
        let found = -moved[moved.len() - 1].y;
        let (fibre, weight) = (Fibre::default(), strand.weight.iter().sum::<f64>());
        let wire = 2.0 * f64::from(fibre.radius);
        let stiffness = f64::from(fibre.shear_modulus) * wire.powi(4)
            / (8.0 * (2.0 * radius).powi(3) * turns as f64);
        let truth = 0.5 * weight / stiffness;
        println!("{per_turn} points a turn, own weight: {:.4}", found / truth);
        assert!((found / truth - 1.0).abs() < 0.12, "{per_turn}: {}", found / truth);
    }
}

/// Under a force at the end of its wire it also bends out of the planes of three points, for which curly hair without
/// extra particles is slightly too stiff.
#[test]
fn a_curl_has_the_compliance_of_a_helical_spring() {
    let (radius, pitch, turns) = (0.01f64, 0.002f64, 5usize);
    for per_turn in [10usize, 14] {
        let line = helix([radius, pitch], turns, per_turn);
        let (strand, bending) = strand(&line);
        assert!(strand.position.len() < line.len() + 3, "it is curly all along");
        let n = strand.position.len();
        let mut force = vec![DVec3::ZERO; n];
        force[n - 1] = DVec3::NEG_Y * 1e-9;
        let found = -deflect(&strand, &force)[n - 1].y;
        // A force at the wire, not at the axis: the moment about a point of the wire at the angle t is
        // F R |2 sin(t/2)|, of which `F R (1 - cos t)` twists and `F R sin t` bends.
        let whole = std::f64::consts::TAU * turns as f64;
        let steps = 20_000;
        let truth: f64 = (0..steps)
            .map(|i| whole * (i as f64 + 0.5) / steps as f64)
            .map(|t| (1.0 - t.cos()).powi(2) / (0.5 * bending) + t.sin().powi(2) / bending)
            .sum::<f64>()
            * whole
            / steps as f64
            * 1e-9
            * radius.powi(3);
        println!("{per_turn} points a turn: {:.4}", found / truth);
        assert!((found / truth - 1.0).abs() < 0.15, "{per_turn}: {}", found / truth);
    }
}

fn mixed_groom() -> Groom {
    let mut strands = Strands::new();
    for s in 0..19 {
        let a = s as f32 * 0.7;
        let start = Vec3::new(a.cos(), 1.0, a.sin()) * 0.1;
        let count = 9 + s % 4;
        let bend = |i: f32| Vec3::new(a.cos() * i, 0.3 * i - 2.0 * i * i, a.sin() * i);
        let curl =
            |i: f32| Vec3::new((80.0 * i).cos(), -0.6 * 80.0 * i / 9.0, (80.0 * i).sin()) * 0.008;
        let line = (0..count)
            .map(|i| i as f32 * 0.009)
            .map(|t| start + if s % 3 == 0 { curl(t) } else { bend(t) });
        strands.push(&line.collect::<Vec<_>>());
    }
    Groom::new(strands, Fibre::default())
}

fn environment<'a>(
    dt: f32,
    gravity: Vec3,
    wind: &'a Wind,
    poses: &'a [RigidTransform],
) -> Environment<'a> {
    Environment {
        time: 0.0,
        dt,
        gravity,
        wind,
        world_from_rest: poses,
        colliders: &[],
        field: None,
        gusts: Default::default(),
        pins: Default::default(),
    }
}

/// Lanes with a direct solver agree with double precision and an iterative solver.
#[test]
fn lanes_agree_with_the_reference_implementation() {
    let groom = mixed_groom();
    let poses = vec![RigidTransform::IDENTITY; 19];
    let gravity = Vec3::new(3.0, -9.81, 1.0);
    let constant = Settings { hold_shape: false, shortest_substep: 1e-3, ..Settings::default() };
    let ramps =
        Settings { stiffness: ramp(2.0, 0.5), damping: ramp(30.0, 2.0), ..constant.clone() };
    let updates = [VelocityUpdate::BackwardEuler, VelocityUpdate::Trapezoidal];
    for (update, settings) in updates.into_iter().flat_map(|u| [(u, &constant), (u, &ramps)]) {
        let settings = Settings { velocity_update: update, ..settings.clone() };
        let mut model = MassSpring::new(&groom, &settings, gravity).unwrap();
        let mut plain = plain::PlainHair::new(&groom, &settings, gravity).unwrap();
        let mut found = vec![Vec3::ZERO; groom.strands.point_count()];
        for step in 1..=20 {
            model.step(
                &environment(1e-3, gravity, &Wind::default(), &poses),
                &mut StepReport::default(),
            );
            plain.advance(1e-3, gravity.as_dvec3());
            model.positions(&mut found);
            let truth = plain.positions();
            let worst = found
                .iter()
                .zip(&truth)
                .map(|(a, b)| a.as_dvec3().distance(*b))
                .fold(0.0, f64::max);
            let moved = truth
                .iter()
                .zip(groom.strands.positions())
                .map(|(a, b)| a.distance(b.as_dvec3()))
                .fold(0.0, f64::max);
            println!("{update:?} {step}: {worst:e} of {moved:e}");
            assert!(worst < 2e-7 + 1e-2 * moved, "{update:?} {step}: {worst} of {moved}");
        }
    }
}

/// Hair that falls without air and without damping gains at most 2 % of the largest kinetic energy in total energy, and
/// loses at most 70 % of it.
#[test]
fn gain_and_loss_of_energy_are_bounded() {
    let mut groom = mixed_groom();
    groom.fibre.damping = 0.0;
    let gravity = Vec3::new(0.0, -9.81, 4.0);
    for (update, min_fraction) in
        [(VelocityUpdate::Trapezoidal, 0.3), (VelocityUpdate::BackwardEuler, 0.3)]
    {
        let settings = Settings {
            hold_shape: false,
            damping: 0.0.into(),
            velocity_update: update,
            ..Settings::default()
        };
        let mut plain = plain::PlainHair::new(&groom, &settings, gravity).unwrap();
        let start = plain.energy(gravity.as_dvec3());
        let mut highest = f64::NEG_INFINITY;
        let mut dissipated = 0.0f64;
        let mut fallen = 0.0f64;
        for _ in 0..150 {
            plain.advance(1e-3, gravity.as_dvec3());
            let energy = plain.energy(gravity.as_dvec3());
            highest = highest.max(energy - start);
            fallen = fallen.max(plain.kinetic_energy());
            dissipated = start - energy;
        }
        println!("{update:?}: highest {highest:e}, lost {dissipated:e}, of {fallen:e}");
        assert!(highest < 0.02 * fallen, "{update:?}: {highest:e} of {fallen:e}");
        assert!(
            dissipated < (1.0 - min_fraction) * fallen,
            "{update:?}: {dissipated:e} of {fallen:e}"
        );
    }
}

/// The hash of hair after twenty steps of a rotating scalp.
fn hash_after_turning(model: &mut MassSpring, groom: &Groom) -> u64 {
    for step in 0..20 {
        let rotation = Quat::from_rotation_y(0.02 * step as f32);
        let poses = vec![RigidTransform { rotation, translation: Vec3::ZERO }; 19];
        let wind = Wind::default();
        let env = environment(1.0 / 240.0, Vec3::NEG_Y * 9.81, &wind, &poses);
        model.step(&env, &mut StepReport::default());
    }
    let mut positions = vec![Vec3::ZERO; groom.strands.point_count()];
    model.positions(&mut positions);
    crate::math::hash_positions(&positions)
}

/// The machine's instruction set and the baseline of its architecture give the same bits.
#[test]
fn instruction_sets_agree_to_the_bit() {
    let groom = mixed_groom();
    let gravity = Vec3::NEG_Y * 9.81;
    let run = |level: Level| {
        let mut model = MassSpring::new(&groom, &Settings::default(), gravity).unwrap();
        model.level = level;
        hash_after_turning(&mut model, &groom)
    };
    assert_eq!(run(Level::new()), run(Level::baseline()));
}

/// Numbers from 0 to 1 that depend on a seed only. Not [`crate::math::Random`]: of other draws of few points some are
/// far softer than the fibre where segments differ by 20 times (`docs/limits.md`).
fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// A circular arc of `length` over the angle `bend`, with segments that differ by up to `ratio`.
fn uneven_arc(seed: u64, points: usize, length: f32, bend: f32, ratio: f32) -> Vec<Vec3> {
    let mut random = noise(seed);
    let weights: Vec<f32> = (1..points).map(|_| ratio.powf(random())).collect();
    let total: f32 = weights.iter().sum();
    let mut along = 0.0;
    let mut line = vec![Vec3::ZERO];
    for weight in weights {
        along += weight / total;
        let angle = bend * along;
        let place = if bend < 1e-3 {
            Vec3::X * (length * along)
        } else {
            Vec3::new(angle.sin(), 0.0, 1.0 - angle.cos()) * (length / bend)
        };
        line.push(place);
    }
    line
}

/// Displacement of the tip of a hair along a force on it, per newton (m/N): Castigliano's theorem, the
/// integral of the squared bending moment over `EI` and of the squared twisting moment over `GJ`.
fn tip_compliance(line: &[DVec3], side: DVec3, bending: f64, twisting: f64) -> f64 {
    const PIECES: usize = 8;
    let tip = line[line.len() - 1];
    let segment = |ends: &[DVec3]| {
        let (along, length) = (ends[1] - ends[0]).normalize_and_length();
        let piece = |k: usize| {
            let at = ends[0].lerp(ends[1], (k as f64 + 0.5) / PIECES as f64);
            let moment = (tip - at).cross(side);
            let twist = moment.dot(along);
            let bend = moment.length_squared() - twist * twist;
            bend / bending + twist * twist / twisting
        };
        length / PIECES as f64 * (0..PIECES).map(piece).sum::<f64>()
    };
    line.windows(2).map(segment).sum()
}

/// Hair bends like a rod for any distribution of points along it. Tolerance: with levers as in even hair, a straight joint
/// of segments with any ratio bends within 12 % and twists within 18 % of the exact value (computed for
/// single joints), and even hair of few points has an error of 6 %.
#[test]
fn stiffness_does_not_depend_on_the_distribution_of_points() {
    for (points, bend) in [(5, 0.0), (5, 0.7), (12, 0.0), (12, 0.7), (17, 3.0), (60, 3.0)] {
        for ratio in [1.0, 4.0, 20.0] {
            for seed in 1..=4 {
                let line = uneven_arc(seed, points, 0.2, bend, ratio);
                let (strand, bending) = strand(&line);
                let tip = strand.position.len() - 1;
                let line: Vec<DVec3> = line.iter().map(|p| p.as_dvec3()).collect();
                for side in [DVec3::Y, DVec3::Z] {
                    let mut force = vec![DVec3::ZERO; tip + 1];
                    force[tip] = side * 1e-9;
                    let found = deflect(&strand, &force)[tip].dot(side) / 1e-9;
                    let over = found / tip_compliance(&line, side, bending, 0.5 * bending);
                    println!("{points} points, bent by {bend}, {ratio} times: {over:.3}");
                    assert!((over - 1.0).abs() < 0.2, "{points} {bend} {ratio} {seed}: {over}");
                }
            }
        }
    }
}

fn ramp(root: f32, tip: f32) -> Ramp {
    Ramp::new(&[[0.0, root], [1.0, tip]]).unwrap()
}

/// With a stiffness that varies linearly from `a` at the root to `b` at the tip, the integrals of beam theory have closed
/// forms: the deflection of the tip of a clamped beam is `F / EI` times the integral of `(L - x)^2 / (a + (b - a) x / L)`,
/// and its rotation by a moment along it `M / GJ` times the integral of `1 / (a + (b - a) x / L)`. Tolerance: that of an
/// even beam.
#[test]
fn a_strand_with_a_ramp_of_stiffness_bends_and_twists_like_such_a_beam() {
    let length = 0.1f64;
    for (a, b) in [(4.0f64, 0.25f64), (0.25, 4.0), (1.0, 0.1)] {
        let (strand, bending) = strand_with(&straight(40, length as f32), ramp(a as f32, b as f32));
        let n = strand.position.len();
        // With r = a + d t: (1 - t)^2 / r = (b - r)^2 / (d^2 r), with the antiderivative r^2 / 2 - 2 b r + b^2 ln r.
        let d = b - a;
        let inner = |r: f64| 0.5 * r * r - 2.0 * b * r + b * b * r.ln();
        let bent = length.powi(3) * (inner(b) - inner(a)) / d.powi(3) / bending;
        for side in [DVec3::Y, DVec3::Z] {
            let mut force = vec![DVec3::ZERO; n];
            force[n - 1] = side * 1e-9;
            let found = deflect(&strand, &force)[n - 1].dot(side) / 1e-9;
            println!("{a} to {b}: bends {:.4} of what it should", found / bent);
            assert!((found / bent - 1.0).abs() < 0.04, "{a} to {b}: {}", found / bent);
        }
        let turned = length * (b / a).ln() / d / (0.5 * bending);
        let last = [n - 3, n - 2, n - 1].map(|i| strand.position[i]);
        let centre = (last[0] + last[1] + last[2]) / 3.0;
        let arms = last.map(|p| p - centre);
        let inertia: f64 = arms.iter().map(|r| DVec3::X.cross(*r).length_squared()).sum();
        let mut force = vec![DVec3::ZERO; n];
        for (i, r) in arms.into_iter().enumerate() {
            force[n - 3 + i] = DVec3::X.cross(r) * (1e-10 / inertia);
        }
        let moved = deflect(&strand, &force);
        let found = moved.iter().zip(&force).map(|(u, f)| u.dot(*f)).sum::<f64>() / 1e-20;
        println!("{a} to {b}: twists {:.4} of what it should", found / turned);
        assert!((found / turned - 1.0).abs() < 0.04, "{a} to {b}: {}", found / turned);
    }
}

/// The same for a curl, which has other springs: its compliance relative to that of an even curl, by the integral over its
/// wire (see `a_curl_has_the_compliance_of_a_helical_spring`).
#[test]
fn a_curl_with_a_ramp_of_stiffness_has_the_compliance_of_its_wire() {
    let (radius, per_turn, turns) = (0.01f64, 10usize, 5usize);
    let whole = std::f64::consts::TAU * turns as f64;
    let line: Vec<Vec3> = (0..=per_turn * turns)
        .map(|i| whole * i as f64 / (per_turn * turns) as f64)
        .map(|t| DVec3::new(radius * t.cos(), -0.0003 * t, radius * t.sin()).as_vec3())
        .collect();
    let soft = |(a, b): (f32, f32)| {
        let stiffness = Ramp::new(&[[0.0, a], [1.0, b]]).unwrap();
        let (strand, _) = strand_with(&line, stiffness);
        assert!(strand.position.len() < line.len() + 3, "it is curly all along");
        let n = strand.position.len();
        let mut force = vec![DVec3::ZERO; n];
        force[n - 1] = DVec3::NEG_Y * 1e-9;
        -deflect(&strand, &force)[n - 1].y
    };
    let wire = |(a, b): (f32, f32)| {
        let steps = 20_000;
        let of = |i: usize| {
            let place = (i as f64 + 0.5) / steps as f64;
            // Angle from the end with the force.
            let t = whole * (1.0 - place);
            let relative = f64::from(a) + f64::from(b - a) * place;
            (2.0 * (1.0 - t.cos()).powi(2) + t.sin().powi(2)) / relative
        };
        (0..steps).map(of).sum::<f64>()
    };
    for ends in [(4.0, 0.5), (0.5, 4.0)] {
        let (found, truth) = (soft(ends) / soft((1.0, 1.0)), wire(ends) / wire((1.0, 1.0)));
        println!("{ends:?}: {found:.4} times as soft as an even curl, {truth:.4} by its wire");
        assert!((found / truth - 1.0).abs() < 0.05, "{ends:?}: {found} {truth}");
    }
}

/// Limp hanging hair in a steady wind W has the slope of the drag over the weight of the hair below: at the place s the
/// integral of the damping from s to L, times W, over `g (L - s)`. Tolerance: 1 % for the
/// squared slope (0.1) and 1 % for 40 segments.
#[test]
fn the_drag_of_each_place_is_that_of_its_ramp() {
    let line: Vec<Vec3> = (0..=40).map(|i| Vec3::NEG_Y * (0.3 * i as f32 / 40.0)).collect();
    let mut strands = Strands::new();
    strands.push(&line);
    let groom = Groom::new(strands, Fibre::default());
    for (root, tip) in [(2.0, 12.0), (12.0, 2.0)] {
        let settings = Settings {
            stiffness: 1e-3.into(),
            damping: ramp(root, tip),
            hold_shape: false,
            ..Settings::default()
        };
        let gravity = Vec3::NEG_Y * 9.81;
        let mut model = MassSpring::new(&groom, &settings, gravity).unwrap();
        let wind = Wind { velocity: Vec3::X * 0.1, ..Wind::default() };
        let poses = [RigidTransform::IDENTITY];
        for _ in 0..1200 {
            let env = environment(4e-3, gravity, &wind, &poses);
            model.step(&env, &mut StepReport::default());
        }
        let mut found = vec![Vec3::ZERO; line.len()];
        model.positions(&mut found);
        // The first segment is clamped.
        let mut aside = 0.0f32;
        for i in 2..=40 {
            // The mean damping below the middle of the segment is the value half-way to the tip.
            let place = (i as f32 - 0.5) / 40.0;
            let mean = root + (tip - root) * 0.5 * (place + 1.0);
            aside += 0.3 / 40.0 * mean * 0.1 / 9.81;
            let error = (found[i].x - aside) / aside;
            assert!(i < 5 || error.abs() < 0.02, "point {i}: {} for {aside}", found[i].x);
        }
        println!("damping {root} to {tip}: tip {:.5} m aside for {aside:.5}", found[40].x);
    }
}

/// A constant ramp gives the same bits as the number, without a table.
#[test]
fn a_constant_ramp_is_equal_to_the_number() {
    let groom = mixed_groom();
    let gravity = Vec3::NEG_Y * 9.81;
    let run = |stiffness: Ramp, damping: Ramp| {
        let settings = Settings { stiffness, damping, ..Settings::default() };
        let mut model = MassSpring::new(&groom, &settings, gravity).unwrap();
        let has_table = model.blocks.iter().any(|b| !b.drag.is_empty());
        (hash_after_turning(&mut model, &groom), has_table)
    };
    let number = run(1.0.into(), 4.0.into());
    assert_eq!(number, run(ramp(1.0, 1.0), ramp(4.0, 4.0)));
    assert!(!number.1);
    assert!(run(1.0.into(), ramp(4.0, 5.0)).1);
    assert_ne!(number.0, run(ramp(1.0, 1.1), 4.0.into()).0);
}
