//! Presets: each builds a scenario from command-line arguments, which prints as YAML and runs like any other.

mod c10k;
mod churn;
mod crowd;
mod fan_out;
mod hold;
mod http;
mod place;
mod request_line;
mod rooms;
mod storm;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use c10k::c10k;
pub use churn::churn;
pub use crowd::Talk;
pub use fan_out::fan_out;
pub use hold::{hold, hold_http};
pub use http::http;
pub use place::Place;
pub use rooms::{room, rooms};
pub use storm::{BACK, storm};

use crate::scenario::source::{Barrier, Phase, Rate, Time};

/// The barrier at which all users wait after they have arrived; nobody sends before.
const GATHERED: &str = "gathered";
/// Additional time that the users may take to gather, beyond the planned time.
const GATHERING_SLACK_SECONDS: f64 = 60.0;
/// How long messages in flight are waited for at the end of a run.
const DRAIN: Time = Time::seconds(5);

/// Why arguments do not make a valid scenario.
#[derive(Debug)]
pub enum PresetError {
    /// An invalid URL, or one with another scheme; what is allowed.
    Url(String, &'static str),
    /// A number that is too small or too large; what is allowed.
    Number(&'static str, String, &'static str),
    /// A file that could not be read.
    File(PathBuf, io::Error),
    /// An invalid request line: its position, and what is wrong with it.
    RequestLine(String, String),
    /// A file without any lines.
    EmptyFile(PathBuf),
}

impl fmt::Display for PresetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url, expected) => write!(f, "`{url}` is not {expected}"),
            Self::Number(flag, value, expected) => write!(f, "{flag} {value}: it must be {expected}"),
            Self::File(path, error) => write!(f, "{} cannot be read: {error}", path.display()),
            Self::RequestLine(place, why) => write!(f, "{place}: {why}"),
            Self::EmptyFile(path) => write!(f, "{} has no URL; one is expected on each line", path.display()),
        }
    }
}

impl std::error::Error for PresetError {}

/// Returns a phase in which a total of `users` arrive at an even rate.
fn gathering(users: u64, per_second: f64) -> Phase {
    Phase {
        name: Some("gathering".to_owned()),
        max_users: Some(users),
        ..Phase::constant(Rate { per_second })
    }
}

/// Returns the barrier for all users that have arrived and are still present; a user that could not connect delays
/// nobody.
fn gathered(users: u64, per_second: f64) -> Barrier {
    let seconds = users as f64 / per_second + GATHERING_SLACK_SECONDS;
    Barrier { name: GATHERED.to_owned(), users: None, timeout: Time::seconds(seconds.ceil() as u64) }
}

fn at_least_one(flag: &'static str, number: u64) -> Result<u64, PresetError> {
    if number == 0 { Err(PresetError::Number(flag, number.to_string(), "1 or more")) } else { Ok(number) }
}

/// Checks that a rate or a time is above 0 and finite.
fn above_zero(flag: &'static str, number: f64) -> Result<f64, PresetError> {
    if number.is_finite() && number > 0.0 {
        Ok(number)
    } else {
        Err(PresetError::Number(flag, number.to_string(), "above 0"))
    }
}
