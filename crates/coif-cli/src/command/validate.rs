//! `coif validate`: checks the physics.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use coif::model::ModelSettings;
use coif_lab::validate::{ALL, Row};

use super::bench::unknown;
use crate::failure::Failure;
use crate::talk::{self, Talk};
use crate::target::probe_file;
use crate::units;

/// Check the physics against analytic and published results; exit code 1 if a row fails
#[derive(Args)]
#[command(after_help = "Examples:
  coif validate
  coif validate chain --plot plots
  coif validate cantilever --model mass-spring
  coif validate --json | jq '.[] | select(.pass | not)'

Checks: hold, length, chain, ftl, rope, cantilever, coil, twist, hair-mesh, level-set, strips")]
pub(crate) struct Validate {
    /// Only this check
    name: Option<String>,
    /// Only the rows of this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Write the plots (SVG) of each check into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
}

impl Validate {
    pub(crate) fn run(self, talk: &Talk) -> Result<(), Failure> {
        if let Some(name) = &self.name
            && ALL.iter().all(|c| c.name != name)
        {
            return Err(unknown("check", name, ALL.iter().map(|c| (c.name, c.about))));
        }
        if let Some(model) = &self.model
            && !ModelSettings::NAMES.contains(&model.as_str())
        {
            let expected = format!("models: {}", ModelSettings::NAMES.join(", "));
            return Err(Failure::new(format!("there is no model '{model}'"), expected));
        }
        if let Some(folder) = &self.plot {
            std::fs::create_dir_all(folder).map_err(|e| {
                let message = format!("{}: cannot create: {e}", folder.display());
                Failure::new(message, "choose a folder that can be written to")
            })?;
            probe_file(&folder.join("probe"))?;
        }
        let mut rows = Vec::new();
        for check in ALL.iter().filter(|c| self.name.as_deref().is_none_or(|n| n == c.name)) {
            let working = talk.working(&format!("{}: {}", check.name, check.about));
            let findings = check.run()?;
            drop(working);
            rows.extend(findings.rows);
            if let Some(folder) = &self.plot {
                for plot in &findings.plots {
                    let path = folder.join(plot.file_name(check.name));
                    coif_io::atomic::write_whole(&path, plot.svg().as_bytes())?;
                    talk.say(format_args!("-> {}", path.display()));
                }
            }
        }
        if let Some(model) = &self.model {
            rows.retain(|row| row.model == *model);
            if rows.is_empty() {
                let checks = self.name.as_deref().unwrap_or("these checks");
                let message = format!("{checks}: there are no rows of model '{model}'");
                return Err(Failure::new(message, "omit --model to see all rows"));
            }
        }
        if self.json {
            talk::print_json(&rows)?
        } else {
            talk::print(&table(&rows))?
        }
        if rows.iter().all(|r| r.pass) { Ok(()) } else { Err(Failure::CheckFailed) }
    }
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|r| r.name.len()).max().unwrap_or(0);
    for row in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{}  {:width$}  {} {}, reference {}, error {} (at most {})  [{}]",
            if row.pass { "pass" } else { "FAIL" },
            row.name,
            row.quantity,
            units::number(row.value),
            units::number(row.reference),
            units::number(row.error),
            row.tolerance,
            row.model,
        );
    }
    out
}
