//! `compare`: two runs.

use super::exit::{Done, Exit};
use super::output::{say, say_json};
use super::report::recounted;
use crate::cli::Compare;
use crate::report::{self, Tolerance};

pub(super) fn compare(flags: &Compare) -> Done {
    let before = recounted(&flags.before)?;
    let after = recounted(&flags.after)?;
    let tolerance = Tolerance { relative: flags.tolerance / 100.0, ..Tolerance::default() };
    let comparison = report::compare(&before.run, &after.run, tolerance);
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
