//! Log lines on standard error. Secrets are never passed to a log line.

use crate::config::{LogConfig, LogFormat};
use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

/// Starts logging for the whole process.
pub(crate) fn start(config: &LogConfig) {
    // The bus reports the same problems itself, with their remedies.
    let filter = EnvFilter::new(format!("async_nats=off,{}", config.level));
    // A line that cannot be written, for example because the disk is full, is lost. Reporting that on standard error
    // would panic in the code that logs.
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    match config.format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_target(false).with_ansi(wants_colours()).init(),
    }
}

/// Returns whether to use colours: on a terminal, unless the user turned them off (the NO_COLOR convention).
fn wants_colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
