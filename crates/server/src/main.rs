//! The `throng` binary: configuration, wiring, HTTP, administration, metrics, drain.
//! Must never contain a hot path: messages are handled by `gateway`.

mod admin;
mod asking;
mod budget;
mod capacity;
mod cli;
mod config;
mod doctor;
mod durable;
mod file_watch;
mod health;
mod lobby;
mod logging;
mod operator;
mod page;
mod rest;
mod retention;
mod serve;
mod signals;
mod status;
mod supervise;
mod tls;
mod top;
mod whole_file;
mod wiring;

use clap::{Parser, Subcommand};
use cli::{Cli, Command, ConfigCommand, Operating, Settings};
use config::{ConfigErrors, Loaded};
use doctor::Found;
use operator::{Asking, Commanded};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// Returns memory to the system after a storm of joins: docs/decisions/0060.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The command line or the configuration is invalid.
const EXIT_USAGE: u8 = 2;
/// The command failed.
const EXIT_FAILURE: u8 = 1;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(settings) => {
            with_configuration(settings, |loaded| match serve::serve(&loaded.config) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => fail(EXIT_FAILURE, &error),
            })
        }
        Command::Top(flags) => {
            with_configuration(flags.settings, |loaded| match top::show(&loaded.config, &flags.options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) if error.is_end_of_reader() => ExitCode::SUCCESS,
                Err(error) => fail(EXIT_FAILURE, &error),
            })
        }
        Command::Doctor(flags) => with_configuration(flags.settings, |loaded| {
            let options = doctor::Options { clients: flags.clients, json: flags.json };
            match doctor::examine(&loaded.config, &options) {
                Ok(Found { text, stops: false }) => say(&text),
                Ok(Found { text, stops: true }) => {
                    say(&text);
                    ExitCode::from(EXIT_FAILURE)
                }
                Err(error) => fail(EXIT_FAILURE, &error),
            }
        }),
        Command::Community(flags) => operate(flags),
        Command::Key(flags) => operate(flags),
        Command::Person(flags) => operate(flags),
        Command::Room(flags) => operate(flags),
        Command::Ban(flags) => operate(flags),
        Command::Webhook(flags) => operate(flags),
        Command::Authorizer(flags) => operate(flags),
        Command::Stats(flags) => command(flags.settings, &flags.asking, &flags.command),
        Command::Store(flags) => with_configuration(flags.settings, |loaded| {
            answer(operator::files::run(&loaded.config, &flags.command))
        }),
        Command::Backup(flags) => with_configuration(flags.settings, |loaded| {
            answer(operator::files::back_up(&loaded.config, &flags.command))
        }),
        Command::Config(ConfigCommand::Check(settings)) => {
            with_configuration(settings, |_| say("the configuration is valid\n"))
        }
        Command::Config(ConfigCommand::Print(settings)) => {
            with_configuration(settings, |loaded| say(&loaded.print()))
        }
        Command::Config(ConfigCommand::Default) => say(&config::default_file()),
        Command::Version => say(concat!("throng ", env!("CARGO_PKG_VERSION"), "\n")),
    }
}

fn operate<C: Subcommand + Commanded>(flags: Operating<C>) -> ExitCode {
    command(flags.settings, &flags.asking, &flags.command)
}

fn command(settings: Settings, asking: &Asking, wanted: &dyn Commanded) -> ExitCode {
    with_configuration(settings, |loaded| match operator::command(&loaded.config, asking, wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_end_of_reader() => ExitCode::SUCCESS,
        Err(error) => fail(EXIT_FAILURE, &error),
    })
}

fn answer(done: Result<String, impl Display>) -> ExitCode {
    match done {
        Ok(text) => say(&text),
        Err(error) => fail(EXIT_FAILURE, &error),
    }
}

fn with_configuration(settings: Settings, act: impl FnOnce(&Loaded) -> ExitCode) -> ExitCode {
    let loaded = settings.sources().and_then(|sources| Loaded::from_sources(&sources));
    match loaded {
        Ok(loaded) => act(&loaded),
        Err(ConfigErrors(errors)) => {
            for error in &errors {
                fail(EXIT_USAGE, error);
            }
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Writes to standard output. A reader that has closed the pipe, such as `head`, is not a failure.
fn say(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(EXIT_FAILURE, &error),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

fn fail(code: u8, error: &dyn Display) -> ExitCode {
    // Even if standard error cannot be written, there is still the exit code.
    let _ = writeln!(io::stderr(), "throng: {error}");
    ExitCode::from(code)
}
