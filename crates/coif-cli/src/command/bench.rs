//! `coif bench`: speed.

use clap::Args;

use super::threads;
use crate::bench::{ALL, Setting, table};
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::talk::{self, Talk};

/// Measure speed, each figure beside its plain reference in the same run
///
/// The minimum of several runs counts. Leave the machine alone meanwhile.
#[derive(Args)]
#[command(after_help = "Examples:
  coif bench
  coif bench ftl --quick
  coif bench --json > speed.json

Benchmarks: ftl, volume, distance-field, render")]
pub(crate) struct Bench {
    /// Only this benchmark
    name: Option<String>,
    /// A tenth of the hair and fewer repetitions
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
        let setting = Setting { quick: self.quick, threads };
        let mut rows = Vec::new();
        for benchmark in ALL.iter().filter(|b| self.name.as_deref().is_none_or(|n| n == b.name)) {
            let working = talk.working(&format!("{}: {}", benchmark.name, benchmark.about));
            rows.extend((benchmark.run)(&setting)?);
            drop(working);
        }
        if self.json { talk::print_json(&rows) } else { talk::print(&table(&rows)) }
    }
}

/// There is no such thing in a registry; this is what there is.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Failure {
    let meant = nearest(name, all.clone().map(|(n, _)| n));
    let meant = meant.map(|n| format!("did you mean '{n}'? ")).unwrap_or_default();
    let list: Vec<String> = all.map(|(n, about)| format!("{n} ({about})")).collect();
    Failure::new(format!("there is no {what} '{name}'"), format!("{meant}{}", list.join("; ")))
}
