//! Contact between single hairs: stick and slip, the force at which springs break, no crossings, and conservation of
//! momentum.

use crate::tangle::{Tangle, tangle};
use coif::contact::crossing::first_crossing;
use coif::contact::segments::Segments;
use coif::contact::strand_contact::Settings;
use coif::contact::{
    Chains, ContactSpring, HairContact, Place, StrandContact, broad_phase, edge_collision,
    repulsion, stiction,
};
use coif::groom::{Fibre, Groom, Strands};
use glam::Vec3;

/// A straight hair of `count` points with this middle and length (m).
fn line(middle: Vec3, direction: Vec3, length: f32, count: usize) -> Vec<Vec3> {
    let step = length / (count - 1) as f32;
    (0..count).map(|i| middle + direction * (i as f32 * step - 0.5 * length)).collect()
}

fn two(a: &[Vec3], b: &[Vec3]) -> Groom {
    let mut strands = Strands::new();
    strands.push(a);
    strands.push(b);
    Groom::new(strands, Fibre::default())
}

fn only_stiction() -> Settings {
    Settings { repulsion: None, collision: None, ..Settings::default() }
}

/// A hair that is pulled across a pinned hair sticks by one spring, slips when the spring reaches its breaking length, and
/// sticks again: `selle2008` figure 10 (c).
#[test]
fn hair_sticks_and_slips() {
    let stiction = stiction::Settings { springs: 1, ..Default::default() };
    let (make, break_) = (stiction.make, stiction.break_);
    let settings = Settings { stiction: Some(stiction), ..only_stiction() };
    let gap = 0.8 * make;
    let groom = two(
        &line(Vec3::ZERO, Vec3::X, 0.06, 2),
        &line(Vec3::new(-0.01, gap, 0.0), Vec3::Z, 0.02, 2),
    );
    let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
    let mut position = groom.strands.positions().to_vec();
    let velocity = vec![Vec3::ZERO; position.len()];
    let step = 10e-6;
    // Displacement between two slips: from right above the pinned hair to the breaking length of the spring.
    let travel = (break_ * break_ - gap * gap).sqrt();
    let mut since_slip = 0.0;
    let mut slips = 0;
    for i in 0..2000 {
        contact.find(&position, &velocity, 1e-3);
        let report = contact.report();
        assert_eq!(report.springs, 1, "step {i}");
        if report.changed.1 > 0 {
            slips += 1;
            assert!((since_slip - travel).abs() < 2.0 * step, "{since_slip} {travel}");
            since_slip = 0.0;
        }
        position[2].x += step;
        position[3].x += step;
        since_slip += step;
    }
    let expected = (2000.0 * step / travel) as i32;
    println!("{slips} slips over 20 mm, expected {expected}");
    assert!((slips - expected).abs() <= 1, "{slips} {expected}");
}

/// Between the distances `make` and `break_` an existing spring is kept, and none is made.
#[test]
fn springs_have_hysteresis() {
    let settings = only_stiction();
    let stiction = settings.stiction.clone().unwrap();
    let groom = two(&line(Vec3::ZERO, Vec3::X, 0.02, 2), &line(Vec3::Y * 0.02, Vec3::Z, 0.02, 2));
    let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
    let mut springs_at = |height: f32| {
        let mut position = groom.strands.positions().to_vec();
        position[2].y = height;
        position[3].y = height;
        contact.find(&position, &[Vec3::ZERO; 4], 1e-3);
        contact.springs().len()
    };
    let between = 0.5 * (stiction.make + stiction.break_);
    assert_eq!(springs_at(between), 0);
    assert_eq!(springs_at(0.9 * stiction.make), 1);
    assert_eq!(springs_at(between), 1);
    assert_eq!(springs_at(1.01 * stiction.break_), 0);
    assert_eq!(springs_at(between), 0);
}

/// A hair that is pulled off another detaches at the force of one spring of the breaking length.
#[test]
fn hair_pulls_off_at_the_force_of_its_spring() {
    let settings = only_stiction();
    let stiction = settings.stiction.clone().unwrap();
    let groom = two(
        &line(Vec3::ZERO, Vec3::X, 0.02, 2),
        &line(Vec3::Y * stiction.make * 0.98, Vec3::Z, 0.03, 4),
    );
    let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
    let mut position = groom.strands.positions().to_vec();
    let mut velocity = vec![Vec3::ZERO; position.len()];
    let inverse_mass = Segments::new(&Chains::of_strands(&groom), 1.0).inverse_mass().to_vec();
    let expected = stiction.stiffness * (stiction.break_ - stiction.rest);
    let dt = 1e-4;
    let mut pull = 0.0;
    let mut free_at = None;
    for i in 0..60_000 {
        // Pull slowly on the two points around the contact, with strong damping.
        pull = 2.0 * expected * i as f32 / 60_000.0;
        for p in [4, 5] {
            velocity[p] = velocity[p] * 0.9 + Vec3::Y * (0.5 * pull * inverse_mass[p] * dt);
        }
        for pinned in [0, 1, 2, 3] {
            velocity[pinned] = Vec3::ZERO;
        }
        contact.apply(&position, &mut velocity, dt);
        for p in [4, 5] {
            position[p] += velocity[p] * dt;
        }
        if contact.springs().is_empty() {
            free_at = Some(pull);
            break;
        }
    }
    let free_at = free_at.expect("the hair detaches");
    println!("free at {free_at:e} N, expected {expected:e} N, pulled to {pull:e} N");
    assert!((free_at / expected - 1.0).abs() < 0.05, "{free_at} {expected}");
}

#[test]
fn no_segment_has_more_springs_than_allowed() {
    for springs in [1, 3, 8] {
        let Tangle { groom, velocity } = tangle(400, 6, 0.01);
        let stiction = stiction::Settings { springs, ..Default::default() };
        let settings = Settings { stiction: Some(stiction.clone()), ..only_stiction() };
        let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
        let mut position = groom.strands.positions().to_vec();
        for _ in 0..20 {
            contact.find(&position, &velocity, 1e-3);
            position.iter_mut().zip(&velocity).for_each(|(x, v)| *x += *v * 1e-4);
            let mut count = vec![0; position.len()];
            for spring in contact.springs() {
                for segment in spring.segments {
                    count[segment as usize] += 1;
                }
                let difference = spring.difference(&position);
                assert!(difference.length() < stiction.break_ * 1.5);
            }
            assert!(contact.springs().len() > 50);
            assert!(count.iter().all(|&n| n <= springs), "{springs}");
            assert!(contact.springs().is_sorted_by(|x, y| x.segments < y.segments));
        }
    }
}

/// Two hairs on a collision course pass through each other only without collision.
#[test]
fn colliding_hairs_do_not_pass_through_each_other() {
    for speed in [1.0, 20.0] {
        for (direction, name) in
            [(Vec3::Z, "across"), (Vec3::new(1.0, 0.0, 0.02).normalize(), "along")]
        {
            let dt = 1.0 / 240.0;
            let half = 0.4 * speed * dt;
            let groom = two(
                &line(Vec3::Y * half, Vec3::X, 0.1, 21),
                &line(Vec3::new(0.001, -half, 0.0), direction, 0.1, 21),
            );
            let start = groom.strands.positions().to_vec();
            let passes = |collision: Option<edge_collision::Settings>| {
                let settings =
                    Settings { stiction: None, repulsion: None, collision, ..Settings::default() };
                let mut contact =
                    StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
                let motion = |i: usize| if i < 21 { Vec3::NEG_Y } else { Vec3::Y } * speed;
                let mut velocity: Vec<Vec3> = (0..42).map(motion).collect();
                let mut end: Vec<Vec3> =
                    start.iter().zip(&velocity).map(|(x, v)| *x + *v * dt).collect();
                contact.find(&start, &velocity, dt);
                contact.collide(&start, &mut end, &mut velocity, dt);
                let report = contact.report().collision;
                let of = |x: &[Vec3], s: usize| [x[s], x[s + 1]];
                let crossings = (0..20)
                    .flat_map(|a| (21..41).map(move |b| (a, b)))
                    .filter(|&(a, b)| {
                        let (x, y) = (of(&start, a), of(&start, b));
                        first_crossing(x, of(&end, a), y, of(&end, b)).is_some()
                    })
                    .count();
                println!("{name}, {speed} m/s: {report:?}, {crossings} crossings");
                (crossings, report)
            };
            let (crossings, _) = passes(None);
            assert!(crossings > 0);
            let collision = edge_collision::Settings { rounds: 20, ..Default::default() };
            let (crossings, report) = passes(Some(collision));
            assert!(report.collided > 0);
            assert_eq!((crossings, report.left), (0, 0));
        }
    }
}

/// In a dense tangle at high speed most crossings are resolved after a few rounds, and the rest are counted.
#[test]
fn a_fast_tangle_is_mostly_resolved() {
    let Tangle { groom, velocity } = tangle(300, 10, 0.03);
    let settings = Settings { stiction: None, repulsion: None, ..Settings::default() };
    let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
    let start = groom.strands.positions();
    let dt = 1e-3;
    let mut velocity: Vec<Vec3> = velocity.iter().map(|v| *v * 3.0).collect();
    let mut end: Vec<Vec3> = start.iter().zip(&velocity).map(|(x, v)| *x + *v * dt).collect();
    contact.find(start, &velocity, dt);
    contact.collide(start, &mut end, &mut velocity, dt);
    let report = contact.report().collision;
    println!("{report:?}");
    assert!(report.collided > 100);
    assert!(report.left * 5 < report.collided, "{report:?}");
    assert!(end.iter().chain(&velocity).all(|v| v.is_finite()));
}

/// Repulsion and collision conserve the momentum of free points, and do not move pinned points.
#[test]
fn momentum_is_conserved() {
    let a = line(Vec3::Y * 5e-5, Vec3::X, 0.1, 11);
    let b = line(Vec3::Y * -5e-5, Vec3::new(0.3, 0.0, 1.0).normalize(), 0.08, 11);
    let groom = two(&a, &b);
    let settings = Settings { stiction: None, ..Settings::default() };
    let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
    let inverse_mass = contact.segments().inverse_mass().to_vec();
    let mut velocity: Vec<Vec3> = (0..22)
        .map(|i| if i < 11 { Vec3::new(0.2, -1.0, 0.1) } else { Vec3::new(-0.3, 0.7, 0.2) })
        .collect();
    let before = velocity.clone();
    contact.apply(groom.strands.positions(), &mut velocity, 1e-3);
    let momentum = |v: &[Vec3]| -> Vec3 {
        v.iter().zip(&inverse_mass).filter(|(_, w)| **w > 0.0).map(|(v, w)| *v / *w).sum()
    };
    let size: f32 = inverse_mass.iter().filter(|w| **w > 0.0).map(|w| 1.0 / w).sum();
    let change = (momentum(&velocity) - momentum(&before)).length() / size;
    println!("mean change of velocity {change:e} m/s");
    assert!(change < 1e-6, "{change}");
    assert!(contact.report().contacts > 0);
    assert!(velocity[5] != before[5]);
    assert_eq!((velocity[0], velocity[11]), (before[0], before[11]));
}

/// Repulsion stops the approach, and separates by at most its fraction of the depth per step.
#[test]
fn repulsion_is_soft() {
    let repulsion = repulsion::Settings { stiffness: 1e3, rounds: 50, ..Default::default() };
    let (thickness, fraction) = (repulsion.thickness, repulsion.fraction);
    let settings = Settings {
        stiction: None,
        collision: None,
        repulsion: Some(repulsion),
        ..Settings::default()
    };
    let dt = 1e-3;
    for approach in [0.0, 0.5] {
        let groom = two(
            &line(Vec3::Y * 0.25 * thickness, Vec3::X, 0.03, 4),
            &line(Vec3::Y * -0.25 * thickness, Vec3::Z, 0.03, 4),
        );
        let mut contact = StrandContact::new(&Chains::of_strands(&groom), &settings).unwrap();
        let mut velocity: Vec<Vec3> =
            (0..8).map(|i| Vec3::Y * if i < 4 { -approach } else { approach }).collect();
        let position = groom.strands.positions();
        contact.find(position, &velocity, dt);
        contact.repel(position, &mut velocity, dt);
        // The hairs are in contact in their middles.
        let speed = 0.5 * (velocity[1] + velocity[2] - velocity[5] - velocity[6]).y;
        let max_speed = fraction * 0.5 * thickness / dt;
        println!("approach {approach} m/s: {speed} m/s, at most {max_speed} m/s");
        assert!((speed / max_speed - 1.0).abs() < 0.02, "{speed} {max_speed}");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let Tangle { groom, mut velocity } = tangle(1500, 8, 0.03);
            let mut contact =
                StrandContact::new(&Chains::of_strands(&groom), &Settings::default()).unwrap();
            let mut position = groom.strands.positions().to_vec();
            for _ in 0..10 {
                contact.apply(&position, &mut velocity, 1e-3);
                position.iter_mut().zip(&velocity).for_each(|(x, v)| *x += *v * 1e-3);
            }
            let report = contact.report();
            assert!(report.springs > 100 && report.contacts > 10, "{report:?}");
            let bits = |v: &Vec3| v.to_array().map(f32::to_bits);
            (position.iter().map(bits).collect::<Vec<_>>(), contact.springs().to_vec(), report)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

/// A restored checkpoint continues with the same bits.
#[test]
fn a_checkpoint_goes_on_with_the_same_bits() {
    let Tangle { groom, mut velocity } = tangle(300, 8, 0.02);
    let mut contact =
        StrandContact::new(&Chains::of_strands(&groom), &Settings::default()).unwrap();
    let mut position = groom.strands.positions().to_vec();
    let step = |contact: &mut StrandContact, position: &mut [Vec3], velocity: &mut [Vec3]| {
        contact.apply(position, velocity, 1e-3);
        position.iter_mut().zip(velocity).for_each(|(x, v)| *x += *v * 1e-3);
    };
    (0..5).for_each(|_| step(&mut contact, &mut position, &mut velocity));
    let mut bytes = Vec::new();
    contact.save(&mut bytes);
    bytes.extend_from_slice(b"rest");
    let mut other = StrandContact::new(&Chains::of_strands(&groom), &Settings::default()).unwrap();
    assert!(other.restore(&bytes[..bytes.len() / 2]).is_none());
    assert_eq!(other.restore(&bytes), Some(&b"rest"[..]));
    assert_eq!(other.springs(), contact.springs());
    let (mut x, mut v) = (position.clone(), velocity.clone());
    for _ in 0..5 {
        step(&mut contact, &mut position, &mut velocity);
        step(&mut other, &mut x, &mut v);
    }
    assert!(x == position && v == velocity);
}

#[test]
fn non_finite_values_do_not_spread() {
    let Tangle { groom, mut velocity } = tangle(100, 8, 0.01);
    let mut contact =
        StrandContact::new(&Chains::of_strands(&groom), &Settings::default()).unwrap();
    let mut position = groom.strands.positions().to_vec();
    contact.apply(&position, &mut velocity, 1e-3);
    position[20] = Vec3::NAN;
    velocity[45] = Vec3::INFINITY;
    contact.apply(&position, &mut velocity, 1e-3);
    contact.apply(&position, &mut velocity, 1e-3);
    let bad = velocity.iter().filter(|v| !v.is_finite()).count();
    assert!(bad <= 2, "{bad}");
    // Arrays of the wrong size, and steps of length zero, change nothing.
    let before = velocity.clone();
    contact.apply(&position[1..], &mut velocity, 1e-3);
    contact.apply(&position, &mut velocity, 0.0);
    assert_eq!(format!("{before:?}"), format!("{velocity:?}"));
}

#[test]
fn invalid_settings_are_refused_by_name() {
    let groom = tangle(2, 3, 0.01).groom;
    let fails = |settings: Settings, what: &str| {
        let message = StrandContact::new(&Chains::of_strands(&groom), &settings)
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(message.contains(what), "{message}");
    };
    let with = |change: fn(&mut stiction::Settings)| {
        let mut stiction = stiction::Settings::default();
        change(&mut stiction);
        Settings { stiction: Some(stiction), ..Settings::default() }
    };
    fails(with(|s| s.make = f32::NAN), "make");
    fails(with(|s| s.make = -1.0), "make");
    fails(with(|s| s.break_ = s.make), "break");
    fails(with(|s| s.rest = f32::INFINITY), "rest");
    fails(with(|s| s.springs = 0), "springs");
    fails(with(|s| s.springs = 1_000_000), "springs");
    fails(with(|s| s.stiffness = -1.0), "stiffness");
    fails(with(|s| s.damping = f32::NAN), "damping");
    let repulsion = repulsion::Settings { thickness: 0.0, ..Default::default() };
    fails(Settings { repulsion: Some(repulsion), ..Settings::default() }, "thickness");
    let collision = edge_collision::Settings { rounds: 0, ..Default::default() };
    fails(Settings { collision: Some(collision), ..Settings::default() }, "rounds");
    let detection = broad_phase::Settings { margin: f32::NAN, ..Default::default() };
    fails(Settings { detection, ..Settings::default() }, "margin");
    fails(Settings { mass_scale: 0.0, ..Settings::default() }, "mass_scale");
    for wetness in [-1.0, 0.0, 0.3, 1.0, 7.0, f32::NAN] {
        assert!(Settings::wet(wetness).validate().is_ok());
    }
    assert_eq!(Settings::wet(0.0), Settings::default());
}

/// Wet hair clumps: the tips of parallel strands come nearer to each other than those of dry hair.
#[test]
fn wet_hair_clumps() {
    let width = |wetness: f32| {
        // A bundle of hairs, 0.8 mm from each other.
        let mut strands = Strands::new();
        for i in 0..25 {
            let place = Vec3::new((i % 5) as f32, 0.0, (i / 5) as f32) * 0.8e-3;
            strands.push(&line(place, Vec3::Y, 0.03, 7));
        }
        let groom = Groom::new(strands, Fibre::default());
        let mut contact =
            StrandContact::new(&Chains::of_strands(&groom), &Settings::wet(wetness)).unwrap();
        let mut position = groom.strands.positions().to_vec();
        let mut velocity = vec![Vec3::ZERO; position.len()];
        for _ in 0..200 {
            contact.apply(&position, &mut velocity, 1e-3);
            for ((x, v), p) in position.iter_mut().zip(&mut velocity).zip(0..) {
                *v *= if p % 7 == 0 { 0.0 } else { 0.95 };
                *x += *v * 1e-3;
            }
        }
        let tips = || position.iter().skip(6).step_by(7);
        let mean: Vec3 = tips().sum::<Vec3>() / 25.0;
        tips().map(|tip| (*tip - mean).length()).sum::<f32>() / 25.0
    };
    let (dry, wet) = (width(0.0), width(1.0));
    println!("mean distance of tips from their middle: dry {dry}, wet {wet}");
    assert!(wet < 0.7 * dry, "{dry} {wet}");
}

/// Forces at (chain, arc length) equal those of the springs in place, magnitude, direction, stiffness and damping.
#[test]
fn forces_on_chains_equal_those_of_the_springs() {
    let Tangle { groom, .. } = tangle(60, 12, 0.01);
    let position = groom.strands.positions();
    let chains = Chains::of_strands(&groom);
    let mut contact = StrandContact::new(&chains, &Settings::default()).unwrap();
    // Permute the strands: chains keep their indices.
    let order: Vec<u32> =
        (0..chains.count()).rev().flat_map(|c| chains.points_of(c)).map(|p| p as u32).collect();
    contact.arrange(&order);
    let position: Vec<Vec3> = order.iter().map(|&p| position[p as usize]).collect();
    let velocity: Vec<Vec3> = position.iter().map(|p| Vec3::new(p.y, p.z, -p.x)).collect();
    contact.find(&position, &velocity, 1.0 / 240.0);
    let (springs, mut forces) = (contact.springs().to_vec(), Vec::new());
    contact.forces(&position, &velocity, &mut forces);
    assert!(springs.len() > 5 && forces.len() == springs.len(), "{} springs", springs.len());
    for (spring, force) in springs.iter().zip(&forces) {
        for (end, place) in force.at.iter().enumerate() {
            // The place is on the segment of the spring, at its fraction.
            let first = order[spring.segments[end] as usize] as usize;
            assert!(chains.points_of(place.chain as usize).contains(&first));
            let [from, to] = [chains.arc_length()[first], chains.arc_length()[first + 1]];
            let at = (place.arc_length - from) / (to - from);
            assert!((at - spring.at[end]).abs() < 1e-3, "{at} {}", spring.at[end]);
        }
        let apart = spring.difference(&position);
        let rate = spring.difference(&velocity).dot(apart.normalize());
        let pull = spring.stiffness * (apart.length() - spring.rest) + spring.damping * rate;
        assert!((force.magnitude + pull).abs() <= 1e-5 * pull.abs() + 1e-12);
        assert!(force.direction.dot(apart) > 0.999 * apart.length());
        assert_eq!((force.stiffness, force.damping), (spring.stiffness, spring.damping));
    }
}

/// Forces for models whose unknowns are not points: each is minus the gradient of the energy of its spring, at (chain, arc
/// length); its stiffness and damping are minus the derivatives of its magnitude along its direction.
#[test]
fn forces_on_chains_are_gradients_of_the_energy_of_the_springs() {
    let Tangle { groom, .. } = tangle(80, 6, 0.004);
    let chains = Chains::of_strands(&groom);
    let settings = Settings { stiction: Some(stiction::Settings::default()), ..Settings::NONE };
    let mut contact = StrandContact::new(&chains, &settings).expect("valid settings");
    // Permute the points: strands from last to first.
    let strands = (0..groom.strands.strand_count()).rev();
    let order: Vec<u32> =
        strands.flat_map(|s| groom.strands.points_of(s)).map(|p| p as u32).collect();
    contact.arrange(&order);
    let start: Vec<Vec3> = order.iter().map(|&p| groom.strands.positions()[p as usize]).collect();
    let still = vec![Vec3::ZERO; start.len()];
    contact.find(&start, &still, 1e-3);
    let springs = contact.springs().to_vec();
    assert!(springs.len() > 50, "{}", springs.len());
    // Stretch the springs, and give the points velocities.
    let wave = |i: usize, k: f32| Vec3::new((k * i as f32).sin(), (2.0 * k * i as f32).cos(), k);
    let x: Vec<Vec3> = (0..start.len()).map(|i| start[i] + 2e-4 * wave(i, 0.7)).collect();
    let v: Vec<Vec3> = (0..start.len()).map(|i| 0.1 * wave(i, 1.3)).collect();
    let mut forces = Vec::new();
    contact.forces(&x, &v, &mut forces);
    let mut standing = Vec::new();
    contact.forces(&x, &still, &mut standing);
    assert_eq!(forces.len(), springs.len());

    // The points of contact around an arc length, with weights.
    let at = |place: &Place| {
        let points = chains.points_of(place.chain as usize);
        let arc = &chains.arc_length()[points.clone()];
        let i = arc.partition_point(|s| *s <= place.arc_length).clamp(1, arc.len() - 1) - 1;
        let t = (place.arc_length - arc[i]) / (arc[i + 1] - arc[i]);
        let number = |p: usize| order.iter().position(|&o| o as usize == p).expect("a point");
        [(number(points.start + i), 1.0 - t), (number(points.start + i + 1), t)]
    };
    // The energy of a spring (J) with its points here, in double precision.
    let length = |spring: &ContactSpring, x: &[glam::DVec3]| {
        let place = |k: usize| {
            let (s, t) = (spring.segments[k] as usize, f64::from(spring.at[k]));
            x[s] * (1.0 - t) + x[s + 1] * t
        };
        place(0).distance(place(1))
    };
    let energy = |spring: &ContactSpring, x: &[glam::DVec3]| {
        let stretch = length(spring, x) - f64::from(spring.rest);
        0.5 * f64::from(spring.stiffness) * stretch * stretch
    };
    let mut x64: Vec<_> = x.iter().map(|p| p.as_dvec3()).collect();
    let (mut force_error, mut rate_error) = (0.0f64, 0.0f64);
    for ((spring, force), standing) in springs.iter().zip(&forces).zip(&standing) {
        let scale = f64::from(spring.stiffness) * 2e-4;
        // Compare the force on each point, by its weight at the place of contact.
        for (side, place) in [1.0, -1.0].into_iter().zip(&standing.at) {
            for (point, weight) in at(place) {
                for axis in 0..3 {
                    let step = 1e-7;
                    let mut moved = |by: f64| {
                        x64[point][axis] += by;
                        let energy = energy(spring, &x64);
                        x64[point][axis] -= by;
                        energy
                    };
                    let gradient = (moved(step) - moved(-step)) / (2.0 * step);
                    let found = side * standing.magnitude * standing.direction[axis] * weight;
                    force_error = force_error.max((f64::from(found) + gradient).abs() / scale);
                }
            }
        }
        // Displace one segment along the direction of the force, or change its velocity.
        let along = |value: &[Vec3], by: f32| {
            let mut value = value.to_vec();
            let first = spring.segments[0] as usize;
            value[first..=first + 1].iter_mut().for_each(|v| *v += force.direction * by);
            value
        };
        let magnitude = |x: &[Vec3], v: &[Vec3]| {
            let mut out = Vec::new();
            contact.forces(x, v, &mut out);
            let same = out.iter().zip(&springs).find(|(_, s)| s.segments == spring.segments);
            f64::from(same.expect("the same springs").0.magnitude)
        };
        let (step, faster) = (2e-5f32, 0.1f32);
        let stiffness = (magnitude(&along(&x, -step), &still)
            - magnitude(&along(&x, step), &still))
            / f64::from(2.0 * step);
        let damping = (magnitude(&x, &along(&v, -faster)) - magnitude(&x, &along(&v, faster)))
            / f64::from(2.0 * faster);
        for (found, truth) in [(stiffness, force.stiffness), (damping, force.damping)] {
            rate_error = rate_error.max((found / f64::from(truth) - 1.0).abs());
        }
    }
    println!("{} springs: forces to {force_error:.1e}, rates to {rate_error:.1e}", springs.len());
    // Single precision: positions are rounded to a nanometre, stretches are a tenth of a millimetre.
    assert!(force_error < 1e-4 && rate_error < 1e-3, "{force_error} {rate_error}");
}
