//! `compare`: compares two runs.

use super::exit::{Done, Exit};
use super::output::{say, say_json};
use super::report::again;
use crate::cli::Compare;
use crate::report::{self, Tolerance};

pub(super) fn compare(flags: &Compare) -> Done {
    let before = again(&flags.before)?.run()?;
    let after = again(&flags.after)?.run()?;
    let tolerance = Tolerance { relative: flags.tolerance / 100.0, ..Tolerance::default() };
    let comparison = report::compare(&before, &after, tolerance);
    if flags.json {
        say_json(&comparison)?;
    } else {
        say(&comparison.text())?;
    }
    Ok(match comparison.exit_code() {
        0 => Exit::Success,
        1 => Exit::Missed,
        2.. => Exit::Invalid,
    })
}
