//! Single hairs after `selle2008` figure 10 (b) and (c): a twisted hair winds around itself without passing through itself,
//! and a hair that is pulled across another sticks and slips.

use std::f64::consts::TAU;

use coif::contact::{Chains, StrandContact, repulsion, stiction, strand_contact};
use coif::groom::{Fibre, Groom, Strands};
use coif::math::RigidTransform;
use coif::model::mass_spring::linking::writhe;
use coif::model::mass_spring::{FarEnd, MassSpring, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::Wind;
use glam::Vec3;

/// Thick hair with moduli so low that it moves as fast as human hair.
fn fibre() -> Fibre {
    Fibre { radius: 2.5e-4, young_modulus: 1e8, shear_modulus: 2.5e7, ..Fibre::default() }
}

struct Run {
    model: MassSpring,
    poses: Vec<RigidTransform>,
    position: Vec<Vec3>,
    lengths: Vec<f32>,
    steps: u32,
}

impl Run {
    fn new(lines: &[Vec<Vec3>], far_end: FarEnd, contact: &strand_contact::Settings) -> Self {
        let mut strands = Strands::new();
        lines.iter().for_each(|line| strands.push(line));
        let groom = Groom::new(strands, fibre());
        let settings =
            Settings { hold_tips: true, far_end, damping: 20.0.into(), ..Settings::default() };
        let mut model = MassSpring::new(&groom, &settings, Vec3::ZERO).expect("a valid model");
        let contact =
            StrandContact::new(&Chains::of_strands(&groom), contact).expect("valid contact");
        model.set_contact(Some(Box::new(contact)));
        let position = groom.strands.positions().to_vec();
        let lengths = position.windows(2).map(|p| p[0].distance(p[1])).collect();
        Self {
            model,
            poses: vec![RigidTransform::IDENTITY; lines.len()],
            position,
            lengths,
            steps: 0,
        }
    }

    /// One sixtieth of a second.
    fn step(&mut self) {
        let env = Environment {
            time: 0.0,
            dt: 1.0 / 60.0,
            gravity: Vec3::ZERO,
            wind: &Wind::default(),
            world_from_rest: &self.poses,
            colliders: &[],
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        let mut report = StepReport::default();
        self.model.step(&env, &mut report);
        assert!(report.quarantined.is_empty());
        self.model.positions(&mut self.position);
        self.steps += 1;
    }

    fn time(&self) -> f64 {
        f64::from(self.steps) / 60.0
    }

    /// Largest stretch of a segment of the first strand, of `points` points.
    fn stretch(&self, points: usize) -> f32 {
        let pairs = self.position[..points].windows(2).zip(&self.lengths);
        pairs.map(|(p, l)| (p[0].distance(p[1]) / l - 1.0).abs()).fold(0.0, f32::max)
    }
}

fn upright(points: usize, length: f32, bulge: f32) -> Vec<Vec3> {
    let fraction = |i: usize| i as f32 / (points - 1) as f32;
    let out = |u: f32| bulge * (std::f32::consts::PI * u).sin().powi(2);
    (0..points).map(fraction).map(|u| Vec3::new(0.0, length * u, out(u))).collect()
}

/// Twist plus writhe equals the turns of the end at all times; a pass through itself would change the sum by two turns.
/// Twist becomes writhe: first a loop, then a coil of two strands. No segment stretches beyond its limit while the hair
/// snaps into the loop.
#[test]
fn a_twisted_hair_winds_up_and_never_passes_through_itself() {
    let points = 121;
    let far_end = FarEnd { approach: 0.02, twist: 12.0, until: 2.6, ..FarEnd::default() };
    let firm = repulsion::Settings {
        thickness: 0.8e-3,
        stiffness: 100.0,
        firm: true,
        ..repulsion::Settings::default()
    };
    let contact = strand_contact::Settings {
        repulsion: Some(firm),
        collision: Some(Default::default()),
        ..strand_contact::Settings::NONE
    };
    let mut run = Run::new(&[upright(points, 0.15, 0.0)], far_end, &contact);
    let (mut worst, mut max_writhe, mut stretch) = (0.0f64, 0.0f64, 0.0f32);
    for _ in 0..190 {
        run.step();
        let given = 12.0 * run.time().min(2.6) / TAU;
        let wound = -writhe(&run.position);
        let twist = -run.model.twist_of(0) / TAU;
        worst = worst.max((twist + wound - given).abs());
        max_writhe = max_writhe.max(wound);
        stretch = stretch.max(run.stretch(points));
    }
    println!("linking number off by {worst:e}, writhe {max_writhe}, stretch {stretch}");
    assert!(worst < 0.01, "{worst}");
    assert!(max_writhe > 2.5, "{max_writhe}");
    assert!(stretch < 0.0105, "{stretch}");
}

/// A hair that slides across another pulls it aside by more than 5 mm, until its spring breaks and it returns within a
/// twentieth of a second.
#[test]
fn a_hair_pulled_across_another_sticks_and_slips() {
    let points = 61;
    let slide = Vec3::new(0.012, 0.0, 6e-4);
    let far_end = FarEnd { first: 1, slide, ..FarEnd::default() };
    let contact = strand_contact::Settings {
        stiction: Some(stiction::Settings {
            make: 0.5e-3,
            rest: 0.4e-3,
            break_: 1.5e-3,
            stiffness: 0.4,
            springs: 1,
            ..stiction::Settings::default()
        }),
        ..strand_contact::Settings::NONE
    };
    let upright_hair = upright(points, 0.12, 0.01);
    let lying: Vec<Vec3> =
        (0..points).map(|i| Vec3::new(0.003 * (i as f32 - 30.0), 0.06, 0.0104)).collect();
    let mut run = Run::new(&[upright_hair.clone(), lying], far_end, &contact);
    let mut aside = Vec::new();
    for _ in 0..240 {
        run.step();
        let ends = run.position[points].x + 0.09;
        assert!((f64::from(ends) - 0.012 * run.time()).abs() < 1e-5, "the ends slide: {ends}");
        assert!(
            run.position[points - 1].distance(upright_hair[points - 1]) < 1e-6,
            "the first is pinned"
        );
        aside.push(run.position[points / 2].x);
    }
    let farthest = aside.iter().copied().fold(0.0, f32::max);
    let jump = aside.windows(4).map(|w| w[0] - w[3]).fold(0.0, f32::max);
    println!("drawn aside by {farthest} m, back by {jump} m at once, {} in the end", aside[239]);
    assert!(farthest > 5e-3, "{farthest}");
    assert!(jump > 0.6 * farthest, "{jump} of {farthest}");
    assert!(aside[239].abs() < 0.2 * farthest, "{}", aside[239]);
}
