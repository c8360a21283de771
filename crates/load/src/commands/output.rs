//! Standard output, which carries only the requested output.

use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

use super::exit::Failure;
use crate::report::Style;

/// Writes to standard output; a closed pipe, as after `head`, is not an error.
pub(super) fn say(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes pretty-printed JSON to standard output.
pub(super) fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    say(&format!("{text}\n"))
}

/// Uses colours on a terminal unless `NO_COLOR` is set (no-color.org).
pub(super) fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stdout().is_terminal() { Style::Coloured } else { Style::Plain }
}
