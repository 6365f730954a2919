//! `coif simulate`: simulates a scene.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use coif::simulation::Stage;
use coif::with_threads;

use super::threads;
use crate::failure::Failure;
use crate::run::{self, Outcome, Plan};
use crate::source::Source;
use crate::talk::{self, Talk};
use crate::units;

/// Simulate a scene: write its frames, make a film, or just measure
///
/// SCENE is a scene file (TOML) or the name of a built-in scene. Frame 0 is the start at time 0.
/// Without -o and --render nothing is written, only measured.
///
/// Every frame is measured: speed of the hair and of the body, kinetic energy, kinks, drift from the groom,
/// stretch, penetration. 'series' of --json has one object per frame, health.csv in the folder OUT one row.
/// Warnings at the end name hair that does not come to rest, folds, jumps at the start, leaves its groom or
/// moves too fast, with strand numbers and the key to try.
#[derive(Args)]
#[command(after_help = "Examples:
  coif simulate spin --render spin.mp4                 a built-in scene as a film
  coif simulate spin -o run                            every frame into the folder 'run'
  coif simulate spin -o run --resume                   continue after Ctrl-C or a crash
  coif simulate my.toml -o 'hair.####.obj'             numbered files for another program
  coif simulate my.toml -o end.hair                    the last frame only
  coif simulate my.toml -o run.npz                     positions and velocities for NumPy
  coif simulate strips-bob -o bob.glb                  a mesh that moves, for an engine
  coif simulate spin --set groom.style=bob --set body.speed=2 --render bob.gif

Keys for --set: 'coif scenes --reference'. A scene to start from: 'coif scenes demo > my.toml'.")]
pub(crate) struct Simulate {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Output of the hair: a folder (every frame, can be resumed), NAME.####.hair or NAME.%04d.obj
    /// (numbered files), one .hair or .obj file (the last frame), one .npz file (arrays of positions and
    /// velocities of every frame, for NumPy), or one .glb file (the strips of model cantilever as a textured
    /// mesh with all of its motion). A name whose last dot is not followed by letters is a folder: run_0.05
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Make a film (.mp4, .gif, .apng, NAME.####.png) or a picture of the last frame (.png)
    #[arg(short, long, value_name = "FILM", help_heading = "Output")]
    render: Option<PathBuf>,
    /// Continue the simulation in the folder OUT after its last complete frame
    #[arg(long, help_heading = "Output", conflicts_with = "overwrite")]
    resume: bool,
    /// Replace the simulation in the folder OUT
    #[arg(long, help_heading = "Output")]
    overwrite: bool,
    /// Print one JSON document on stdout
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Change a key of the scene, such as body.speed=2; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Scene")]
    sets: Vec<String>,
    /// Number of frames, the first one included
    #[arg(long, value_name = "N", help_heading = "Scene")]
    frames: Option<u32>,
    /// Threads; 0 is one per core. Results have the same bits for any number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = threads)]
    threads: usize,
}

impl Simulate {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        let mut sets = self.sets;
        sets.extend(self.frames.map(|n| format!("time.frames={n}")));
        let plan = Plan {
            source: Source::load(&self.scene, &sets)?,
            target: self.output,
            render: self.render,
            resume: self.resume,
            overwrite: self.overwrite,
        };
        let outcome = with_threads(self.threads, || run::run(plan, talk))??;
        if self.json { talk::print_json(&outcome) } else { talk::print(&summary(&outcome)) }
    }
}

/// The outcome in a few lines of text.
pub(crate) fn summary(outcome: &Outcome) -> String {
    let mut out = String::new();
    let o = outcome;
    let stages = Stage::ALL.iter().filter_map(|stage| {
        // Leave out stages that take no time.
        let ms = o.stages_ms.get(stage.name())?.as_f64().filter(|ms| *ms > 0.0)?;
        Some(format!("{} {}", stage.name(), units::milliseconds(ms)))
    });
    let stages: Vec<String> = stages.collect();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{}: {} strands, {} points, {}, {} threads",
        o.scene,
        units::count(o.strands as u64),
        units::count(o.points as u64),
        o.model,
        o.threads,
    );
    let _ = writeln!(
        out,
        "  {} frames in {}: {} a frame ({}){}",
        o.frames,
        units::seconds(o.seconds),
        units::milliseconds(o.ms_per_frame),
        stages.join(", "),
        o.render_ms_per_frame
            .map(|ms| format!(", picture {}", units::milliseconds(ms)))
            .unwrap_or_default(),
    );
    let _ = writeln!(
        out,
        "  stretch at most {:.2e}, penetration at most {}, quarantined {}, state {}",
        o.stretch_max,
        units::metres(o.penetration_max_m),
        o.quarantined,
        o.state_hash,
    );
    if let Some(c) = &o.contact {
        let [pairs, springs, left, dropped] =
            [c.pairs, c.springs, c.crossings_left, c.dropped_pairs].map(units::count);
        if c.has_strand_contact {
            let _ = writeln!(
                out,
                "  contact: {pairs} pairs of near segments, {springs} springs; at most {left} \
                 crossings left and {dropped} pairs left out in a substep"
            );
        }
        if let Some(grid) = &c.volume {
            let ([x, y, z], cell) = (grid.nodes, units::metres(grid.cell_m));
            let left_out = units::count(grid.left_out);
            let _ = writeln!(
                out,
                "  contact on a grid: {x} x {y} x {z} nodes in cells of {cell}; {left_out} particles left out"
            );
        }
    }
    if let Some(last) = o.series.last() {
        let _ = writeln!(
            out,
            "  {}: largest speed at the end {} relative to the scalp; {} kinked strands at most",
            if last.moving_points == 0 { "calm" } else { "moving" },
            units::speed(last.relative_speed_max_m_s),
            o.kinked_strands_max,
        );
    }
    for output in &o.outputs {
        let _ = writeln!(out, "  -> {output}");
    }
    if o.outputs.is_empty() {
        out.push_str("  nothing was written: add -o FOLDER or --render FILM\n");
    }
    out
}
