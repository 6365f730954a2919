//! Simulates a scene frame by frame, writes the frames and renders pictures; shared by `demo` and `simulate`.
//!
//! Every output is opened or probed before the first step, so that errors of the output are reported at once.

mod notices;
mod peaks;
mod resume;
mod series;
mod strips;
mod trouble;

use std::path::PathBuf;
use std::time::Instant;

use coif::contact::volume::VolumeReport;
use coif::contact::{self, strand_contact};
use coif::simulation::Stage;
use coif_io::Cache;
use coif_io::npz::{self, VelocitySource};
use coif_render::studio::{self, Studio};
use coif_scene::{Built, build};
use glam::Vec3;
use serde::Serialize;
use serde_json::{Map, Value};

use self::peaks::Peaks;
pub(crate) use self::series::Row;
use self::series::Series;
use self::strips::StripsFile;
use crate::failure::Failure;
use crate::interrupt;
use crate::picture_file::PictureFile;
use crate::source::Source;
use crate::talk::Talk;
use crate::target::{Target, Writer};

/// What to simulate, and the outputs.
pub(crate) struct Plan {
    pub(crate) source: Source,
    pub(crate) target: Option<PathBuf>,
    pub(crate) render: Option<PathBuf>,
    pub(crate) resume: bool,
    pub(crate) overwrite: bool,
}

/// The result. The keys are part of the interface of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) scene: String,
    pub(crate) model: String,
    pub(crate) strands: usize,
    pub(crate) points: usize,
    pub(crate) threads: usize,
    pub(crate) frames: u64,
    pub(crate) frames_simulated: u64,
    pub(crate) steps_per_second: u32,
    /// Time to simulate one frame, without pictures and files.
    pub(crate) ms_per_frame: f64,
    /// The same per stage.
    pub(crate) stages_ms: Map<String, Value>,
    pub(crate) render_ms_per_frame: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) stretch_max: f32,
    pub(crate) penetration_max_m: f32,
    /// Largest displacement from the groom to frame 1, beyond the rigid motion of the roots.
    pub(crate) first_frame_jump_m: f32,
    pub(crate) kinked_strands_max: usize,
    pub(crate) quarantined: usize,
    pub(crate) unresolved: u64,
    /// Substeps of the last step.
    pub(crate) substeps: u32,
    /// Iterations of the last step's solve, and its relative residual.
    pub(crate) solve_iterations: u32,
    pub(crate) solve_residual: f64,
    /// Results of contact between hairs, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contact: Option<ContactFigures>,
    pub(crate) non_finite: u64,
    pub(crate) state_hash: String,
    pub(crate) outputs: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// The health of every frame.
    pub(crate) series: Vec<Row>,
}

/// Results of contact between hairs: counts at the end, and the maxima over all steps of this run.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct ContactFigures {
    /// Pairs of near segments at the end.
    pub(crate) pairs: u64,
    /// Springs between hairs at the end.
    pub(crate) springs: u64,
    /// Maximum number of crossings left in a substep.
    pub(crate) crossings_left: u64,
    /// Maximum number of pairs left out in a substep because hair was too dense.
    pub(crate) dropped_pairs: u64,
    /// Whether any contact between single hairs is enabled.
    #[serde(skip)]
    pub(crate) has_strand_contact: bool,
    /// Contact on a grid, if it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) volume: Option<VolumeFigures>,
}

/// Results of contact on a grid in the last step of the run.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct VolumeFigures {
    pub(crate) cell_m: f32,
    /// Nodes along x, y and z.
    pub(crate) nodes: [u32; 3],
    /// Particles left out: not finite, or far away from all others.
    pub(crate) left_out: u64,
}

impl ContactFigures {
    /// The results in the report of the last step; `None` if there is no contact.
    fn new(report: &contact::Report) -> Option<Self> {
        let contact::Report { volume, strands, .. } = report;
        let has_strand_contact = strands.is_some();
        let strands = strands.or(volume.map(|_| strand_contact::Report::default()))?;
        let of_grid = |v: VolumeReport| {
            let VolumeReport { cell, nodes, left_out, .. } = v;
            VolumeFigures { cell_m: cell, nodes, left_out }
        };
        Some(Self {
            pairs: strands.pairs,
            springs: strands.springs,
            crossings_left: strands.worst.crossings_left,
            dropped_pairs: strands.worst.dropped_pairs,
            has_strand_contact,
            volume: volume.map(of_grid),
        })
    }
}

/// Builds a scene and prints its warnings.
pub(crate) fn build_scene(source: &Source, talk: &Talk) -> Result<Built, Failure> {
    let working = talk.working("growing hair and body");
    let (scene, folder) = (source.scene.clone(), source.folder.clone());
    let Some(built) = interrupt::run_interruptible(move || build(&scene, &folder))? else {
        return Err(Failure::Interrupted {
            message: "while growing hair; nothing was written".into(),
        });
    };
    let built = built?;
    drop(working);
    for warning in &built.warnings {
        talk.warn(warning);
    }
    Ok(built)
}

/// Simulates a scene as planned.
pub(crate) fn run(plan: Plan, talk: &Talk) -> Result<Outcome, Failure> {
    interrupt::listen();
    let started = Instant::now();
    let scene = &plan.source.scene;
    let fps = f64::from(scene.time.fps);

    // Check that all outputs can be written.
    let target = plan.target.as_deref().map(Target::parse).transpose()?;
    if plan.resume && !matches!(target, Some(Target::Cache(_))) {
        let message = "--resume needs -o with the folder of the simulation to continue";
        return Err(Failure::new(message, "add for instance: -o run"));
    }
    if let Some(Target::Strips(path)) = &target {
        strips::check(path, scene)?;
    }
    if let Some(target) = &target {
        target.probe(plan.resume, plan.overwrite)?;
    }
    let film_fps = scene.render.film_fps.map_or(fps, f64::from);
    let mut film = match &plan.render {
        Some(path) => {
            let mut renderer = studio::renderer(&scene.render)?;
            renderer.stop_when(interrupt::flag());
            Some((renderer, PictureFile::create(path, film_fps)?))
        }
        None => None,
    };

    // Grow hair and body, and start or resume.
    let built = build_scene(&plan.source, talk)?;
    let mut simulation = built.simulation()?;
    let mut peaks = Peaks::default();
    let mut checksums = Vec::new();
    let mut series = Series::default();
    let mut first = 0;
    let (mut strips_file, mut motion_file) = (None, None);
    let writer = match target {
        Some(Target::Cache(folder)) => {
            let scene = plan.source.portable();
            let (cache, next) = if plan.resume {
                resume::open(&folder, &scene, &mut simulation, &mut peaks, &mut checksums, talk)?
            } else {
                (Cache::create(&folder, &scene.to_toml(), plan.overwrite)?, 0)
            };
            first = next;
            series = Series::open(&cache, first, talk)?;
            Some(Writer::Cache(cache))
        }
        Some(Target::Sequence(sequence)) => Some(Writer::Sequence(sequence)),
        Some(Target::Last(path)) => Some(Writer::Last(path)),
        Some(Target::Strips(path)) => {
            strips_file = Some(StripsFile::start(&path, &simulation));
            None
        }
        Some(Target::Motion(path)) => {
            let (groom, frames) = (&built.groom, scene.time.frames.into());
            let file = npz::Writer::create(&path, groom, fps, frames, VelocitySource::Model)?;
            motion_file = Some((file, vec![Vec3::ZERO; groom.strands.point_count()]));
            None
        }
        None => None,
    };
    let mut camera = film.take().map(|(renderer, file)| {
        let studio = Studio::of_scene(renderer, &built);
        (studio, file)
    });

    // Simulate, write and render frame by frame.
    let frames = u64::from(scene.time.frames).max(first);
    let mut warnings = built.warnings.clone();
    let mut strands = built.groom.strands.clone();
    let (mut simulated, mut simulating, mut rendered, mut rendering) = (0u64, 0.0, 0u64, 0.0);
    let mut progress = talk.progress("simulating", frames);
    for frame in 0..frames {
        let is_last = frame + 1 == frames;
        let wants_picture = camera.as_ref().is_some_and(|(_, file)| is_last || file.is_film());
        if frame < first {
            // An earlier run has simulated this frame: only its picture may be missing.
            if wants_picture && let Some(Writer::Cache(cache)) = &writer {
                let done = cache.read_frame(frame)?;
                strands.positions_mut().copy_from_slice(done.strands.positions());
            }
        } else {
            // Simulate and measure the frame.
            let clock = Instant::now();
            let time = frame as f64 / fps;
            simulation.advance_to(time);
            let health = simulation.health();
            peaks.add(frame, time, &health);
            peaks.add_pins(time, simulation.report());
            strands.positions_mut().copy_from_slice(simulation.grow());
            simulating += clock.elapsed().as_secs_f64();
            simulated += 1;
            let unusual = notices::of(&simulation, &built);
            note(&mut warnings, unusual, |text| progress.warn(talk, text));
            // Write the frame.
            if let Some(writer) = &writer {
                let written = writer.write(frame, is_last, &built.groom, strands.positions())?;
                // A format stores the same of every frame, and the notes name the file.
                if simulated == 1 {
                    note(&mut warnings, written.dropped, |text| progress.warn(talk, text));
                }
                checksums.extend(written.checksum);
            }
            if let Some(file) = &mut strips_file {
                file.push(&simulation);
            }
            if let Some((file, velocities)) = &mut motion_file {
                simulation.velocities(velocities);
                file.push(frame, strands.positions(), velocities)?;
            }
            // Write the row before the checkpoint, which requires it.
            series.push(Row::new(frame, time, &health))?;
            if let Some(Writer::Cache(cache)) = &writer {
                resume::keep(cache, frame, is_last, &simulation, &peaks, &checksums)?;
            }
        }
        // Render the frame.
        if wants_picture && let Some((studio, file)) = &mut camera {
            let clock = Instant::now();
            let image = studio.shoot(&built.groom, &strands, frame as f64 / fps, 0.0);
            if interrupt::requested() && matches!(image, Err(coif_render::Error::Stopped)) {
                return Err(stopped(frame, frames, writer.as_ref(), file.kept()));
            }
            file.push(image?)?;
            rendering += clock.elapsed().as_secs_f64();
            rendered += 1;
        }
        // Stop on request after a complete frame.
        progress.advance();
        if interrupt::requested() && !is_last {
            let pictures = camera.as_ref().and_then(|(_, file)| file.kept());
            return Err(stopped(frame, frames, writer.as_ref(), pictures));
        }
    }
    drop(progress);
    let trouble = trouble::of(scene, built.groom.strands.strand_count(), &peaks);
    note(&mut warnings, trouble, |text| talk.warn(text));

    // Complete the files and collect the results.
    let mut outputs = Vec::new();
    if let Some(file) = strips_file
        && !file.finish(fps, studio::hair_color(&scene.render, &built.groom))?
    {
        return Err(stopped(frames.saturating_sub(1), frames, None, None));
    }
    if let Some((file, _)) = motion_file {
        file.finish()?;
    }
    if let Some(path) = &plan.target {
        outputs.push(path.display().to_string());
    }
    if let Some((_, file)) = camera {
        outputs.push(file.finish()?.display().to_string());
    }
    let per_frame = |seconds: f64, frames: u64| seconds * 1e3 / frames.max(1) as f64;
    let stages_ms = Stage::ALL.iter().map(|&stage| {
        let spent = simulation.timers().spent(stage).as_secs_f64();
        (stage.name().to_owned(), Value::from(per_frame(spent, simulated)))
    });
    let outcome = Outcome {
        scene: plan.source.name.clone(),
        model: simulation.model_name().into(),
        strands: built.groom.strands.strand_count(),
        points: built.groom.strands.point_count(),
        threads: rayon::current_num_threads(),
        frames,
        frames_simulated: simulated,
        steps_per_second: simulation.world().steps_per_second,
        ms_per_frame: per_frame(simulating, simulated),
        stages_ms: stages_ms.collect(),
        render_ms_per_frame: (rendered > 0).then(|| per_frame(rendering, rendered)),
        seconds: started.elapsed().as_secs_f64(),
        stretch_max: peaks.stretch,
        penetration_max_m: peaks.penetration_m,
        first_frame_jump_m: peaks.jump.distance_m,
        kinked_strands_max: peaks.kinked.count,
        quarantined: simulation.report().quarantined.len(),
        unresolved: simulation.report().unresolved,
        substeps: simulation.report().substeps,
        solve_iterations: simulation.report().solve.iterations,
        solve_residual: simulation.report().solve.residual,
        contact: ContactFigures::new(&simulation.report().contact),
        non_finite: peaks.non_finite,
        state_hash: format!("{:016x}", simulation.state_hash()),
        outputs,
        warnings,
        series: series.rows,
    };
    warn_about_non_finite(&outcome, &simulation.report().quarantined, talk);
    Ok(outcome)
}

/// Keeps and prints each warning once.
fn note(warnings: &mut Vec<String>, new: Vec<String>, say: impl Fn(&str)) {
    for text in new {
        if !warnings.contains(&text) {
            say(&text);
            warnings.push(text);
        }
    }
}

/// The message after Ctrl-C.
fn stopped(frame: u64, frames: u64, writer: Option<&Writer>, pictures: Option<String>) -> Failure {
    let hair = match writer {
        Some(Writer::Cache(cache)) => Some(format!(
            "the frames so far are in {}; --resume continues",
            cache.folder().display()
        )),
        Some(Writer::Sequence(_)) => Some("the files of these frames are complete".into()),
        _ => None,
    };
    let kept: Vec<String> = hair.into_iter().chain(pictures).collect();
    let kept = if kept.is_empty() { "nothing was written".to_owned() } else { kept.join("; ") };
    Failure::Interrupted { message: format!("after frame {frame} of {frames}; {kept}") }
}

/// Warns about strands and values that are not finite.
fn warn_about_non_finite(outcome: &Outcome, quarantined: &[u32], talk: &Talk) {
    if !quarantined.is_empty() {
        let first: Vec<String> = quarantined.iter().take(5).map(u32::to_string).collect();
        talk.warn(format_args!(
            "{} times a strand went non-finite and was put back on its rest shape, first strands: {}",
            quarantined.len(),
            first.join(", ")
        ));
    }
    if outcome.non_finite > 0 {
        talk.warn(format_args!("{} values are not finite", outcome.non_finite));
    }
}
