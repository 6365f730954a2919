//! `coif sweep`: simulates a scene with every combination of some values, and writes a table.

mod plot;
mod table;
mod values;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use coif::with_threads;
use coif_io::RowFile;

use self::plot::Chart;
use self::values::{List, combinations};
use super::threads;
use crate::failure::Failure;
use crate::interrupt;
use crate::run::{self, Plan};
use crate::source::Source;
use crate::talk::{self, Talk};
use crate::target::{ending, probe_file};
use crate::units;

/// Simulate a scene with every combination of some values, and write a table of figures
///
/// Every --set gives a list of values for a key. The table (CSV) has one row per combination, in a fixed order: the
/// values, then the figures of 'coif simulate --json' (time per frame, stretch, penetration, kinks, drift, speeds,
/// state_hash, ...). A combination that fails is a row with its message in the last column.
///
/// A row is written as soon as it is known. After Ctrl-C the same command continues: rows that are already in the table
/// are kept, unless the scene has changed (scene_hash; files that the scene names are not part of it).
#[derive(Args)]
#[command(after_help = "Examples:
  coif sweep spin --set model.damping=0.5,1,2 -o damping.csv
  coif sweep bob --set groom.points=15,30,60 --set time.steps_per_second=60,240 -o cost.csv --plot cost.svg
  coif sweep spin --set 'wind.velocity=[1,0,0],[5,0,0]' --frames 60 -o wind.csv
  coif sweep spin --set model.name=follow-the-leader,mass-spring -o models.csv --plot m.svg --figure stretch_max

Keys for --set: 'coif scenes --reference'.")]
pub(crate) struct Sweep {
    /// Scene file or name of a built-in scene
    scene: String,
    /// A key and its values; may be repeated. Commas inside brackets or quotes do not separate values
    #[arg(long = "set", value_name = "KEY=A,B,C", required = true)]
    sets: Vec<String>,
    /// The table
    #[arg(short, long, value_name = "TABLE.csv")]
    output: PathBuf,
    /// Plot a figure over the first key with several values, one line per combination of the others
    #[arg(long, value_name = "PLOT.svg")]
    plot: Option<PathBuf>,
    /// The figure of the plot: a column of the table
    #[arg(long, value_name = "COLUMN", default_value = "ms_per_frame", requires = "plot",
          value_parser = clap::builder::PossibleValuesParser::new(table::FIGURES))]
    figure: String,
    /// Replace a table of other keys, and simulate all rows again
    #[arg(long)]
    overwrite: bool,
    /// Number of frames, the first one included
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Threads of each simulation; 0 is one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = threads)]
    threads: usize,
}

/// A combination of values.
struct Case<'a> {
    values: Vec<&'a str>,
    /// The scene, or why there is none.
    source: Result<Source, Failure>,
    /// The start of its row.
    start: String,
}

impl Sweep {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        with_threads(self.threads, || self.sweep(talk))?
    }

    fn sweep(&self, talk: &Talk) -> Result<(), Failure> {
        interrupt::listen();
        self.check_outputs()?;
        let lists: Vec<List> =
            self.sets.iter().map(|s| List::parse(s)).collect::<Result<_, _>>()?;
        if let Some(twice) =
            lists.iter().enumerate().find(|(i, l)| lists[..*i].iter().any(|m| m.key == l.key))
        {
            return Err(Failure::new(
                format!("--set {}: the key is given twice", twice.1.key),
                "write all of its values into one list",
            ));
        }
        let keys: Vec<&str> = lists.iter().map(|l| l.key.as_str()).collect();
        let mut cases: Vec<Case<'_>> =
            combinations(&lists)?.into_iter().map(|values| self.case(&keys, values)).collect();
        // A mistake in every combination is one of the command.
        if cases.iter().all(|case| case.source.is_err())
            && let Some(Case { source: Err(failure), .. }) = cases.pop()
        {
            return Err(failure);
        }

        // Keep the rows that an earlier run has written.
        let header = table::header(keys.iter().copied());
        let mut kept = self.earlier_rows(&header)?;
        let mut rows: Vec<Option<String>> =
            cases.iter().map(|case| kept.remove(&case.start)).collect();
        let mut out = RowFile::create(&self.output, &header)?;
        for row in rows.iter().flatten() {
            out.push(row)?;
        }
        let reused = rows.iter().flatten().count();
        if reused > 0 {
            talk.say(format_args!(
                "{}: {reused} of {} rows are kept",
                self.output.display(),
                rows.len()
            ));
        }

        // Simulate the others.
        let count = cases.len();
        let mut progress = talk.progress_of("sweeping", "row", (count - reused) as u64);
        progress.show();
        for (i, case) in cases.into_iter().enumerate() {
            if rows[i].is_some() {
                continue;
            }
            let row = match simulate(case.source) {
                Ok(outcome) => {
                    if !std::io::stderr().is_terminal() {
                        let ms = units::milliseconds(outcome.ms_per_frame);
                        talk.say(format_args!("row {} of {count}: {ms} a frame", i + 1));
                    }
                    table::row(&case.start, &outcome)
                }
                Err(Failure::Interrupted { .. }) => {
                    let done = rows.iter().flatten().count();
                    let message = format!(
                        "{done} of {count} rows are in {}; the same command continues",
                        self.output.display()
                    );
                    return Err(Failure::Interrupted { message });
                }
                Err(failure) => {
                    let pairs: Vec<String> =
                        keys.iter().zip(&case.values).map(|(k, v)| format!("{k}={v}")).collect();
                    let message = failure.message();
                    progress.warn(talk, format_args!("{}: {message}", pairs.join(" ")));
                    table::failed(&case.start, &message)
                }
            };
            out.push(&row)?;
            rows[i] = Some(row);
            progress.advance();
        }
        drop(progress);

        // Write the table in order: rows that were kept may have been between others.
        let rows: Vec<String> = rows.into_iter().flatten().collect();
        let text: String =
            std::iter::once(&header).chain(&rows).map(|line| format!("{line}\n")).collect();
        coif_io::atomic::write_whole(&self.output, text.as_bytes())?;
        let failed = rows.iter().filter(|row| !table::has_figures(row)).count();
        let mut said =
            format!("{}: {} rows", self.output.display(), units::count(rows.len() as u64));
        if failed > 0 {
            said.push_str(&format!(", {failed} of them with an error"));
        }
        said.push('\n');
        if let Some(path) = &self.plot {
            let chart = Chart { lists: &lists, rows: &rows, figure: &self.figure };
            coif_io::atomic::write_whole(path, chart.svg(&self.scene).as_bytes())?;
            said.push_str(&format!("  -> {}\n", path.display()));
        }
        talk::print(&said)
    }

    /// The scene of a combination, and the start of its row.
    fn case<'a>(&self, keys: &[&str], values: Vec<&'a str>) -> Case<'a> {
        let mut sets: Vec<String> =
            keys.iter().zip(&values).map(|(key, value)| format!("{key}={value}")).collect();
        sets.extend(self.frames.map(|n| format!("time.frames={n}")));
        let source = Source::load(&self.scene, &sets);
        let hash = source.as_ref().map(|s| scene_hash(&s.portable().to_toml())).unwrap_or_default();
        let start = table::start(&values, &hash);
        Case { values, source, start }
    }

    /// Refuses outputs that cannot be written or have the wrong extension.
    fn check_outputs(&self) -> Result<(), Failure> {
        let check = |path: &Path, expected: &str| {
            if ending(path) != expected {
                return Err(Failure::new(
                    format!("{}: expected a name that ends with .{expected}", path.display()),
                    format!("use for instance {}", path.with_extension(expected).display()),
                ));
            }
            probe_file(path)
        };
        check(&self.output, "csv")?;
        self.plot.as_deref().map_or(Ok(()), |path| check(path, "svg"))
    }

    /// The complete rows without errors of the table that exists, by their starts.
    fn earlier_rows(&self, header: &str) -> Result<BTreeMap<String, String>, Failure> {
        let Ok(text) = std::fs::read_to_string(&self.output) else { return Ok(BTreeMap::new()) };
        if self.overwrite || text.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        if lines.next() != Some(header) {
            return Err(Failure::new(
                format!(
                    "{}: holds something else than a table of these keys",
                    self.output.display()
                ),
                "choose another name, or replace it with --overwrite",
            ));
        }
        let keys = self.sets.len();
        let columns = table::cells(header).len();
        Ok(lines
            .filter(|row| table::has_figures(row))
            .filter_map(|row| {
                let cells = table::cells(row);
                let values: Vec<&str> = cells.get(..keys)?.iter().map(String::as_str).collect();
                let start = table::start(&values, cells.get(keys)?);
                (cells.len() == columns).then(|| (start, row.to_owned()))
            })
            .collect())
    }
}

/// Simulates without messages: the table has the number of warnings.
fn simulate(source: Result<Source, Failure>) -> Result<run::Outcome, Failure> {
    let plan =
        Plan { source: source?, target: None, render: None, resume: false, overwrite: false };
    run::run(plan, &Talk::new(true))
}

/// A hash of the text of a scene (FNV-1a).
fn scene_hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
