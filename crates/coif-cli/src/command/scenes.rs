//! `coif scenes`: lists the built-in scenes and the keys of a scene file.

use std::fmt::Write as _;

use clap::Args;
use coif_scene::{builtin, suggestion};

use crate::failure::Failure;
use crate::talk;

/// List the built-in scenes, or print one to start from
#[derive(Args)]
#[command(after_help = "Examples:
  coif scenes                      the list
  coif scenes spin > my.toml       a scene file to change; run it with 'coif simulate my.toml'
  coif scenes --reference          every key of a scene file")]
pub(crate) struct Scenes {
    /// Print this scene
    name: Option<String>,
    /// Print every key of a scene file with its values, unit, default and meaning
    #[arg(long, conflicts_with = "name")]
    reference: bool,
}

impl Scenes {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.reference {
            return talk::print(&coif_scene::file::reference());
        }
        match self.name {
            None => talk::print(&list()),
            Some(name) => match builtin::text(&name) {
                Some(text) => talk::print(text),
                None => Err(unknown(&name)),
            },
        }
    }
}

fn list() -> String {
    let mut out = String::new();
    let width = builtin::names().map(str::len).max().unwrap_or(0);
    for name in builtin::names() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:width$}  {}", builtin::one_line(name).unwrap_or_default());
    }
    out
}

fn unknown(name: &str) -> Failure {
    let all: Vec<&str> = builtin::names().collect();
    Failure::new(
        format!("there is no built-in scene '{name}'"),
        format!("{}built-in scenes: {}", suggestion(name, &all), all.join(", ")),
    )
}
