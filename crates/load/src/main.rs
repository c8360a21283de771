//! The `stampede` binary: the command line, and what it asks for.

use clap::Parser;
use load::cli::Cli;
use load::commands::{self, Exit};

fn main() -> Exit {
    commands::run(Cli::parse())
}
