//! `coif bench`: measures speed.

mod table;

use clap::Args;
use coif_lab::bench::{ALL, Setting};
use coif_scene::suggestion;

use self::table::table;
use super::threads;
use crate::failure::Failure;
use crate::talk::{self, Talk};

/// Measure speed, each figure with a reference
///
/// Medians over a second of motion in steady state, or over several runs of static measurements, with the fastest
/// beside them. Run it on an idle machine.
#[derive(Args)]
#[command(after_help = "Examples:
  coif bench
  coif bench ftl --quick
  coif bench mass-spring --row full-head-100k
  coif bench --json > speed.json

Benchmarks: ftl, mass-spring, cantilever, hair-mesh, volume, distance-field, drive, crowd, render")]
pub(crate) struct Bench {
    /// Only this benchmark
    name: Option<String>,
    /// Only this row; some take minutes and are measured only if they are named here
    #[arg(long, value_name = "ROW", requires = "name")]
    row: Option<String>,
    /// A tenth of the hair, and fewer repetitions of static measurements
    #[arg(long)]
    quick: bool,
    /// Measure on one thread and on N; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = threads)]
    threads: usize,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
}

impl Bench {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        if let Some(name) = &self.name
            && ALL.iter().all(|b| b.name != name)
        {
            return Err(unknown("benchmark", name, ALL.iter().map(|b| (b.name, b.about))));
        }
        let threads = if self.threads == 0 { rayon::current_num_threads() } else { self.threads };
        let setting = Setting { quick: self.quick, threads, row: self.row };
        let mut rows = Vec::new();
        for benchmark in ALL.iter().filter(|b| self.name.as_deref().is_none_or(|n| n == b.name)) {
            let working = talk.working(&format!("{}: {}", benchmark.name, benchmark.about));
            rows.extend(benchmark.run(&setting)?);
            drop(working);
        }
        if let Some(row) = &setting.row
            && rows.is_empty()
        {
            let hint = "'coif bench NAME' lists the rows of a benchmark; '--quick' has fewer";
            return Err(Failure::new(format!("there is no row '{row}'"), hint));
        }
        if self.json { talk::print_json(&rows) } else { talk::print(&table(&rows)) }
    }
}

/// The error for a name that is not in a registry, with the names in it.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Failure {
    let names: Vec<&str> = all.clone().map(|(n, _)| n).collect();
    let meant = suggestion(name, &names);
    let list: Vec<String> = all.map(|(n, about)| format!("{n} ({about})")).collect();
    Failure::new(format!("there is no {what} '{name}'"), format!("{meant}{}", list.join("; ")))
}
