//! `floor`: measures the performance of the kernel alone on this machine.

use super::exit::{Done, Exit, Failure};
use super::output::{say, say_json};
use crate::cli::Floor;
use crate::floor;

pub(super) fn floor(flags: &Floor) -> Done {
    if flags.json {
        say_json(&floor::report(flags.connections).map_err(Failure::failed)?)?;
    } else {
        say(&floor::table(flags.connections).map_err(Failure::failed)?)?;
    }
    Ok(Exit::Success)
}
