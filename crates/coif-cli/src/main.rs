//! The program `coif`: parses the arguments, runs one command, and turns its result into an exit code: 0 success, 1 a
//! check failed, 2 an error, 130 interrupted.
//!
//! Data goes to stdout, messages to stderr. One file per command in `command/`.

mod command;
mod failure;
mod frames;
mod interrupt;
mod motion;
mod picture_file;
mod run;
mod source;
mod talk;
mod target;
mod units;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::talk::Talk;

/// Hair and fur simulation: one groom, one body, one scene file.
#[derive(Parser)]
#[command(name = "coif", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "First steps:\n  coif demo\n  coif scenes\n  coif simulate spin --render spin.mp4\n\n\
    Exit codes: 0 success, 1 a check failed, 2 an error. Data goes to stdout, messages to stderr."
)]
struct Arguments {
    /// Print only errors on stderr
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Demo(command::demo::Demo),
    Simulate(command::simulate::Simulate),
    Sweep(command::sweep::Sweep),
    Render(command::render::Render),
    Inspect(command::inspect::Inspect),
    Convert(command::convert::Convert),
    Scenes(command::scenes::Scenes),
    Bench(command::bench::Bench),
    Validate(command::validate::Validate),
}

/// Output of `coif` without a command.
const OVERVIEW: &str = "\
Coif: hair and fur simulation

  coif demo                              simulates the demo scene and renders it as a film
  coif scenes                            the built-in scenes; 'coif scenes spin' prints one
  coif simulate SCENE --render out.mp4   simulate a scene file or a built-in scene
  coif simulate SCENE -o run             ... and write every frame into the folder 'run'
  coif sweep SCENE --set K=a,b,c -o t.csv   a table of figures over the values of keys
  coif render run -o picture.png         pictures and films of a run, a groom or a scene
  coif inspect FILE                      the content of a groom, mesh, run or scene
  coif convert IN OUT                    converts between .hair and .obj; .npz and .csv of a run
  coif bench, coif validate              speed and physical correctness

'coif COMMAND --help' explains each command.
";

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse_arguments(&error),
    };
    let talk = Talk::new(arguments.quiet);
    let result = match arguments.command {
        None => talk::print(OVERVIEW),
        Some(Command::Demo(demo)) => demo.run(&talk),
        Some(Command::Simulate(simulate)) => simulate.run(&talk),
        Some(Command::Sweep(sweep)) => sweep.run(&talk),
        Some(Command::Render(render)) => render.run(&talk),
        Some(Command::Inspect(inspect)) => inspect.run(&talk),
        Some(Command::Convert(convert)) => convert.run(&talk),
        Some(Command::Scenes(scenes)) => scenes.run(),
        Some(Command::Bench(bench)) => bench.run(&talk),
        Some(Command::Validate(validate)) => validate.run(&talk),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}

/// Prints the parser's message. Help and the version are answers; the rest are errors, which get a hint like all other
/// errors.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render();
    let text =
        if std::io::stderr().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    let text =
        text.trim_end().replace("For more information, try", "hint: for more information, try");
    talk::print_message(&text);
    if !text.contains("hint: ") {
        talk::print_message(
            "hint: 'coif --help' lists the commands, 'coif COMMAND --help' what each takes",
        );
    }
    ExitCode::from(2)
}
