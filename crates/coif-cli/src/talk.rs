//! Progress and messages (stderr), and output of data (stdout).

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;
use crate::units;

/// Writes a line to stderr; errors of writing are ignored, since nothing may be reading it.
pub(crate) fn print_message(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Printer of messages to stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk {
    quiet: bool,
}

impl Talk {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Prints a message.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            print_message(text);
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: impl std::fmt::Display) {
        self.say(format_args!("warning: {text}"));
    }

    /// A spinner during work of unknown length. Only on a terminal.
    pub(crate) fn working(&self, what: &str) -> Working {
        let bar = ProgressBar::with_draw_target(None, self.target());
        bar.set_style(style("{spinner} {msg}"));
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Working(bar)
    }

    /// A progress bar for `total` frames. Only on a terminal, and only if it takes longer than [`PATIENCE`].
    pub(crate) fn progress(&self, what: &str, total: u64) -> Progress {
        self.progress_of(what, "frame", total)
    }

    /// A progress bar for `total` things.
    pub(crate) fn progress_of(&self, what: &str, unit: &'static str, total: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let started = Instant::now();
        let per_frame = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            if state.pos() > 0 {
                let ms = started.elapsed().as_secs_f64() * 1e3 / state.pos() as f64;
                // Errors of drawing the bar are ignored: stderr may be closed.
                let _ = write!(out, "{} a {unit}", units::milliseconds(ms));
            }
        };
        bar.set_style(
            style(&format!(
                "{{msg}} {{bar:30}} {unit} {{pos}}/{{len}}  {{per_frame}}  {{eta}} left"
            ))
            .with_key("per_frame", per_frame),
        );
        bar.set_message(what.to_owned());
        Progress { bar, target: Some(self.target()), started }
    }

    fn target(&self) -> ProgressDrawTarget {
        if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A spinner, removed when dropped.
pub(crate) struct Working(ProgressBar);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A progress bar, removed when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Where to draw, until the bar is shown.
    target: Option<ProgressDrawTarget>,
    started: Instant,
}

/// Time before the bar is shown.
const PATIENCE: Duration = Duration::from_millis(600);

impl Progress {
    /// Advances by one frame.
    pub(crate) fn advance(&mut self) {
        if self.started.elapsed() > PATIENCE {
            self.show();
        }
        self.bar.inc(1);
    }

    /// Shows the bar now.
    pub(crate) fn show(&mut self) {
        if let Some(target) = self.target.take() {
            self.bar.set_draw_target(target);
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    /// Prints a warning above the bar.
    pub(crate) fn warn(&self, talk: &Talk, text: impl std::fmt::Display) {
        self.bar.suspend(|| talk.warn(text));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Writes data to stdout. If its reader has closed the pipe, the program ends without a message.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(e) => Err(Failure::new(
            format!("cannot write to the standard output: {e}"),
            "check where the output is sent, and whether there is room",
        )),
    }
}

/// Writes one JSON document to stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = String::new();
    match serde_json::to_string_pretty(value) {
        // Writing to a string cannot fail.
        Ok(json) => {
            let _ = writeln!(text, "{json}");
        }
        Err(e) => {
            let hint = "this is a defect of coif: please report it";
            return Err(Failure::new(format!("cannot write JSON: {e}"), hint));
        }
    }
    print(&text)
}
