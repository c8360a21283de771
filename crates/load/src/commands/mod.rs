//! The commands of the command line, and the exit status of each.

mod agent;
mod chat;
mod compare;
mod doctor;
mod exit;
mod floor;
mod job;
mod output;
mod preset;
mod report;
mod run;
mod scenario;
mod search;

pub use exit::Exit;

use crate::cli::{Cli, Command};

/// Runs the command.
#[must_use]
pub fn run(cli: Cli) -> Exit {
    let done = match cli.command {
        Command::Run(flags) => run::run(&flags),
        Command::Check(flags) => scenario::check(&flags),
        Command::Schema => scenario::schema(),
        Command::C10k(flags) => preset::c10k(&flags),
        Command::Hold(flags) => preset::hold(&flags),
        Command::Fanout(flags) => preset::fan_out(&flags),
        Command::Rooms(flags) => preset::rooms(&flags),
        Command::Churn(flags) => preset::churn(&flags),
        Command::Storm(flags) => preset::storm(&flags),
        Command::Http(flags) => preset::http(&flags),
        Command::Chat(flags) => chat::chat(&flags),
        Command::Search(flags) => search::search(&flags),
        Command::Floor(flags) => floor::floor(&flags),
        Command::Doctor(flags) => doctor::doctor(&flags),
        Command::Agent(flags) => agent::agent(flags),
        Command::Report(flags) => report::report(&flags),
        Command::Compare(flags) => compare::compare(&flags),
        Command::Import(flags) => scenario::import(&flags),
    };
    done.unwrap_or_else(exit::Failure::tell)
}
