//! `coif demo`: simulates and renders the built-in demo scene.

use std::path::PathBuf;

use clap::Args;
use coif::with_threads;

use super::{simulate, size, threads};
use crate::failure::Failure;
use crate::run::{self, Plan};
use crate::source::Source;
use crate::talk::{self, Talk};

/// Simulate and render the built-in demo scene, and print the path of the film
#[derive(Args)]
#[command(after_help = "Examples:
  coif demo
  coif demo --strands 2000 --frames 30 --size 480x270     fewer and smaller
  coif demo --set groom.style=ponytail --set body.motion=walk -o ponytail.mp4")]
pub(crate) struct Demo {
    /// The film: .mp4, .gif, .apng or NAME.####.png
    #[arg(short, long, value_name = "FILM")]
    output: Option<PathBuf>,
    /// Number of frames
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Number of strands
    #[arg(long, value_name = "N")]
    strands: Option<u32>,
    /// Size of the film in pixels
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Change a key of the scene, such as body.motion=spin; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Threads; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = threads)]
    threads: usize,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
}

/// Extension of the films that this build of the program writes by default.
const FILM: &str = if cfg!(feature = "mp4") { "mp4" } else { "gif" };

impl Demo {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        let mut sets = self.sets;
        sets.extend(self.frames.map(|n| format!("time.frames={n}")));
        sets.extend(self.strands.map(|n| format!("groom.strands={n}")));
        if let Some((width, height)) = self.size {
            sets.push(format!("render.width={width}"));
            sets.push(format!("render.height={height}"));
        }
        let film = self.output.unwrap_or_else(|| PathBuf::from(format!("coif-demo.{FILM}")));
        let plan = Plan {
            source: Source::load("demo", &sets)?,
            target: None,
            render: Some(film.clone()),
            resume: false,
            overwrite: false,
        };
        talk.say(format_args!("{}", plan.source.scene.title));
        let outcome = with_threads(self.threads, || run::run(plan, talk))??;
        if self.json {
            return talk::print_json(&outcome);
        }
        talk::print(&simulate::summary(&outcome))?;
        let path = std::path::absolute(&film).unwrap_or(film);
        talk::print(&format!(
            "\nThe film is {}\n\nWhat to try next:\n  \
             coif demo --set groom.style=ponytail --set body.motion=walk -o walk.{FILM}\n  \
             coif scenes                          what else there is\n  \
             coif scenes demo > my.toml           a scene file to change\n  \
             coif simulate my.toml --render my.{FILM}\n",
            path.display()
        ))
    }
}
