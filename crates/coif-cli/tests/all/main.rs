//! All black-box tests of the program `coif` in one program, a module per subject.

mod cli_bad_input;
mod cli_files;
mod cli_health;
mod cli_numbers;
mod cli_rest;
mod cli_simulate;
mod program;
