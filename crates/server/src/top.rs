//! `throng top`: a live view of a running server. On a terminal it is a full-screen view, redrawn at each interval;
//! elsewhere, or with `--once` or `--json`, it prints lines.

mod look;
mod scrape;
mod screen;
mod tables;

use crate::asking::Server;
use crate::config::Config;
use look::Looks;
use scrape::{ScrapeError, StatusLimits, status};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// What is asked.
#[derive(clap::Args, Debug)]
pub(crate) struct TopOptions {
    /// URL of the administration listener, such as http://127.0.0.1:4001 [default: from the configuration]
    url: Option<String>,
    /// File with the token of the administration API [default: admin-token in the data directory]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Seconds between samples
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Take two samples, print everything and exit
    #[arg(long)]
    once: bool,
    /// Print JSON: one object per sample
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "write a number of seconds from 0.1 to 3600".to_owned())
}

/// Why there is nothing to show.
#[derive(Debug)]
pub(crate) enum TopError {
    /// The server could not be asked.
    Scrape(ScrapeError),
    /// The terminal or the output failed.
    Output(io::Error),
}

impl fmt::Display for TopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopError::Scrape(error) => error.fmt(f),
            TopError::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for TopError {}

impl TopError {
    /// Returns whether the reader closed the pipe, as `head` does, which is not a failure.
    pub(crate) fn is_end_of_reader(&self) -> bool {
        matches!(self, TopError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<io::Error> for TopError {
    fn from(error: io::Error) -> TopError {
        TopError::Output(error)
    }
}

/// Shows the server until the user quits.
pub(crate) fn show(config: &Config, options: &TopOptions) -> Result<(), TopError> {
    let server = Server::of(config, options.url.as_deref(), options.token_file.as_deref());
    let server = server.map_err(|error| TopError::Scrape(ScrapeError::Ask(error)))?;
    let mut looks = Looks::default();
    // A failure of the first request is an error; later ones are displayed and retried.
    looks.take(status(&server, StatusLimits::ALL).map_err(TopError::Scrape)?);
    match (options.once, options.json || !is_terminal()) {
        (true, _) => {
            thread::sleep(options.interval);
            looks.take(status(&server, StatusLimits::ALL).map_err(TopError::Scrape)?);
            say(&text(&looks, options.json, Detail::All)?)
        }
        (false, true) => follow(&server, &mut looks, options),
        (false, false) => screen::run(&server, &mut looks, options.interval).map_err(TopError::Output),
    }
}

/// How much of a reading is printed.
enum Detail {
    All,
    /// One line of figures.
    Line,
}

/// Prints a line per reading, until the reader of the output is gone.
fn follow(server: &Server, looks: &mut Looks, options: &TopOptions) -> Result<(), TopError> {
    loop {
        thread::sleep(options.interval);
        match status(server, StatusLimits::ALL) {
            Ok(status) => {
                looks.take(status);
                say(&text(looks, options.json, Detail::Line)?)?;
            }
            Err(error) => {
                // One failed request is no reason to stop.
                let _ = writeln!(io::stderr(), "throng: {error}");
            }
        }
    }
}

fn text(looks: &Looks, json: bool, detail: Detail) -> Result<String, TopError> {
    let look = looks.last();
    match (json, detail) {
        (true, Detail::All) => Ok(serde_json::to_string_pretty(look).map_err(io::Error::other)? + "\n"),
        (true, Detail::Line) => Ok(serde_json::to_string(look).map_err(io::Error::other)? + "\n"),
        (false, Detail::All) => Ok(tables::all(look, &looks.busy)),
        (false, Detail::Line) => Ok(tables::line(look) + "\n"),
    }
}

fn say(text: &str) -> Result<(), TopError> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(TopError::Output)
}

fn is_terminal() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
