//! Log lines on standard error. What is logged is said where it happens; secrets are never handed to a log line.

use crate::config::{LogConfig, LogFormat};
use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

/// Starts logging for the whole process.
pub(crate) fn start(config: &LogConfig) {
    // What it says the bus says, with what can be done about it.
    let filter = EnvFilter::new(format!("async_nats=off,{}", config.level));
    // A line that cannot be written, as on a full disk, is lost. Saying so on standard error would be a panic of whoever
    // logged.
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    match config.format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_target(false).with_ansi(wants_colours()).init(),
    }
}

/// Colours are for a terminal whose user did not turn them off (the NO_COLOR convention).
fn wants_colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
