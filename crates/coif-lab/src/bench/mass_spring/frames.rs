//! Whole frames of a head of hair, and their times by piece.
//!
//! Measurement starts at the maximum speed of the head, with the hair at rest, so that there is contact from the first
//! frame on. The median of the frames after the first is reported (the slower of two). The full head, which takes
//! minutes per frame, swings for some frames without contact between hairs; then contact is enabled, and the second
//! frame is reported, on all threads only.

use coif::body::MovingCollider;
use coif::contact::{Chains, StrandContact};
use coif::math::RigidTransform;
use coif::model::mass_spring::MassSpring;
use coif::model::{Environment, Model, ModelSettings, StepReport};
use coif::simulation::{World, hash_positions};
use coif::with_threads;
use coif_scene::Built;
use coif_scene::motion::HEAD;
use glam::Vec3;

use super::super::{Detail, Row, Setting};
use super::watch::{Clock, PIECES, Watched};
use crate::Error;

/// A head of hair.
struct Case {
    name: &'static str,
    /// The built-in scene that it is taken from.
    scene: &'static str,
    strands: usize,
    /// Time of the maximum speed of the head (s).
    start: f64,
    /// Frames without contact before that.
    swings: u32,
    /// Frames after the first, of which the median is reported.
    frames: usize,
    when: When,
}

/// When a case is measured.
enum When {
    Always,
    UnlessQuick,
    IfNamed,
}

const CASES: [Case; 4] = [
    Case {
        name: "long-straight-1k",
        scene: "long-straight-10k",
        strands: 1000,
        start: 10.0 / 9.0,
        swings: 0,
        frames: 6,
        when: When::Always,
    },
    Case {
        name: "long-straight-5k",
        scene: "long-straight-10k",
        strands: 5000,
        start: 10.0 / 9.0,
        swings: 0,
        frames: 2,
        when: When::UnlessQuick,
    },
    Case {
        name: "long-straight-10k",
        scene: "long-straight-10k",
        strands: 10_000,
        start: 10.0 / 9.0,
        swings: 0,
        frames: 1,
        when: When::UnlessQuick,
    },
    Case {
        name: "full-head-100k",
        scene: "full-head-100k",
        strands: 100_000,
        start: 0.3,
        swings: 18,
        frames: 1,
        when: When::IfNamed,
    },
];

/// Time per particle and frame (s): `selle2008` table 2, "straight long (10k)", 38 minutes for a
/// million.
const PAPER: f64 = 38.0 * 60.0 / 1e6;

pub(super) fn run(setting: &Setting) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    for case in &CASES {
        let wanted = match (&setting.row, &case.when) {
            (Some(row), _) => row == case.name,
            (None, When::Always) => true,
            (None, When::UnlessQuick) => !setting.quick,
            (None, When::IfNamed) => false,
        };
        if !wanted {
            continue;
        }
        let strands = if setting.quick { case.strands / 10 } else { case.strands };
        let built = head(case.scene, strands)?;
        let thread_counts = match case.when {
            When::IfNamed => vec![setting.threads],
            _ => setting.thread_counts(),
        };
        for threads in thread_counts {
            let (row, mut detail) = with_threads(threads, || measure(case, &built, threads))??;
            let smallest = rows.iter().find(|r| r.threads == threads);
            detail.growth = smallest.map(|r| row.ns_per_particle_step / r.ns_per_particle_step);
            rows.push(Row { detail: Some(detail), ..row });
        }
    }
    Ok(rows)
}

fn head(scene: &str, strands: usize) -> Result<Built, Error> {
    Ok(crate::built_in(scene, &[format!("groom.strands={strands}")])?.1)
}

fn measure(case: &Case, built: &Built, threads: usize) -> Result<(Row, Detail), Error> {
    let world = built.world();
    let swings = f64::from(case.swings) * f64::from(world.dt());
    let mut drive = Drive::new(built, &world, case.start - swings)?;
    for _ in 0..case.swings {
        drive.pose();
        drive.step();
    }
    let clock = Clock::new();
    let strands = built.scene.has_strand_contact().then(|| built.scene.strands.clone());
    let chains = Chains::of_strands(&built.groom);
    let contact = StrandContact::new(&chains, &strands.unwrap_or_default())?;
    drive.model.set_contact(Some(Box::new(Watched { contact, clock: clock.clone() })));
    let (mut frames, mut iterations) = (Vec::new(), 0);
    for index in 0..=case.frames {
        drive.pose();
        let pieces = clock.measure(|| drive.step());
        let spent = pieces.iter().sum::<f64>();
        // The first frame allocates, and is not reported.
        if index > 0 {
            frames.push((spent, pieces, drive.report.substeps));
        }
        iterations = iterations.max(drive.report.solve.iterations);
    }
    // Report one frame, so that its pieces add up to its time.
    frames.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (frame, pieces, substeps) = frames[frames.len() / 2];
    let fastest = frames[0].0;
    let particles = drive.model.particle_count();
    let mut positions = vec![Vec3::ZERO; built.groom.strands.point_count()];
    drive.model.positions(&mut positions);
    let strands = built.groom.strands.strand_count();
    let quick = strands < case.strands;
    let row = Row {
        name: if quick { format!("{}-quick", case.name) } else { case.name.into() },
        strands,
        particles,
        threads,
        ns_per_particle_step: frame * 1e9 / particles as f64,
        ns_per_particle_step_min: fastest * 1e9 / particles as f64,
        ms_per_frame: frame * 1e3,
        reference_ratio: PAPER * particles as f64 / frame,
        reference: "the paper's own figure per particle, four machines of 2008",
        memory_limit_ns: None,
        state_hash: format!("{:016x}", hash_positions(&positions)),
        detail: None,
    };
    let detail = Detail {
        seconds_per_frame: frame,
        fractions: PIECES.into_iter().zip(pieces.map(|piece| piece / frame)).collect(),
        substeps_per_frame: substeps,
        max_iterations: iterations,
        peak_memory_bytes: peak_memory(),
        pairs_per_particle: Some(clock.pairs() as f64 / particles as f64),
        growth: None,
    };
    Ok((row, detail))
}

/// Peak memory of this process so far (bytes), if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Hair of a scene that is stepped directly, so that contact can be timed.
struct Drive<'a> {
    built: &'a Built,
    world: &'a World,
    model: MassSpring,
    report: StepReport,
    time: f64,
    /// Poses of the colliders at the start and at the end of the step.
    poses: [Vec<RigidTransform>; 2],
    colliders: Vec<MovingCollider>,
    roots: Vec<RigidTransform>,
}

impl<'a> Drive<'a> {
    /// Hair at rest on the pose of the head at the time `start` (s).
    fn new(built: &'a Built, world: &'a World, start: f64) -> Result<Self, Error> {
        let settings = match &built.scene.model {
            ModelSettings::MassSpring(settings) => settings.clone(),
            _ => coif::model::mass_spring::Settings::default(),
        };
        let mut drive = Self {
            built,
            world,
            model: MassSpring::new(&built.groom, &settings, world.gravity)?,
            report: StepReport::default(),
            time: start,
            poses: [Vec::new(), Vec::new()],
            colliders: Vec::new(),
            roots: Vec::new(),
        };
        drive.follow();
        drive.model.reset(&drive.roots);
        Ok(drive)
    }

    /// Advances the body by one step.
    fn pose(&mut self) {
        self.time += f64::from(self.world.dt());
        self.follow();
        let [start, end] = &self.poses;
        self.built.body.moving_colliders(start, end, &mut self.colliders);
    }

    /// Poses colliders and roots: all hair grows on the bone of the head.
    fn follow(&mut self) {
        self.poses.swap(0, 1);
        let body = &self.built.body;
        body.collider_poses_at(self.time, &mut self.poses[1]);
        let on_head = body.colliders().iter().zip(&self.poses[1]).find(|(c, _)| c.bone == HEAD);
        let head = on_head.map(|(c, pose)| *pose * c.world_from_shape.inverse());
        let strands = self.built.groom.strands.strand_count();
        self.roots = vec![head.unwrap_or(RigidTransform::IDENTITY); strands];
    }

    fn step(&mut self) {
        let env = Environment {
            time: self.time,
            dt: self.world.dt(),
            gravity: self.world.gravity,
            wind: &self.world.wind,
            world_from_rest: &self.roots,
            colliders: &self.colliders,
            field: None,
            gusts: Default::default(),
            pins: Default::default(),
        };
        self.model.step(&env, &mut self.report);
    }
}

#[cfg(test)]
mod tests {
    use coif::simulation::Simulation;

    use super::*;

    /// The model that is stepped directly agrees with the simulation of the same scene.
    #[test]
    fn the_head_moves_as_in_the_scene() {
        let built = head("long-straight-10k", 32).unwrap();
        let world = World { contacts: Vec::new(), ..built.world() };
        let mut drive = Drive::new(&built, &world, 0.0).unwrap();
        let (groom, body) = (built.groom.clone(), built.body.clone());
        let mut simulation =
            Simulation::new(groom, body, &built.scene.model, world.clone()).unwrap();
        let mut found = vec![Vec3::ZERO; built.groom.strands.point_count()];
        let mut truth = found.clone();
        for _ in 0..6 {
            drive.pose();
            drive.step();
            simulation.step();
        }
        drive.model.positions(&mut found);
        simulation.positions(&mut truth);
        let apart = found.iter().zip(&truth).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(apart < 1e-4, "{apart}");
    }

    #[test]
    fn fractions_add_up_to_the_whole() {
        let built = head("long-straight-10k", 40).unwrap();
        let (row, detail) = measure(&CASES[0], &built, 1).unwrap();
        assert_eq!((row.strands, row.name.as_str()), (40, "long-straight-1k-quick"));
        assert!((detail.fractions.values().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(
            detail.fractions.values().all(|fraction| *fraction > 0.0),
            "{:?}",
            detail.fractions
        );
        assert!(detail.substeps_per_frame >= 1);
    }
}
