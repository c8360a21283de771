//! The `stampede` binary: parses the command line and runs the requested command.

use clap::Parser;
use load::cli::Cli;
use load::commands::{self, Exit};

fn main() -> Exit {
    commands::run(Cli::parse())
}
