//! The ready-made runs: each is a scenario, built from flags, that prints as YAML and is played as any other.

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

/// What all users wait for after they have come; nobody talks before.
const GATHERED: &str = "gathered";
/// How much longer than planned the crowd may take to gather.
const GATHERING_SLACK_SECONDS: f64 = 60.0;
/// How long the messages of a run that ends may be on their way.
const DRAIN: Time = Time::seconds(5);

/// Why flags make no scenario.
#[derive(Debug)]
pub enum PresetError {
    /// A URL that is none, or has another scheme; what it may be.
    Url(String, &'static str),
    /// A number that is too small or too large; what it may be.
    Number(&'static str, String, &'static str),
    /// A file that cannot be read.
    File(PathBuf, io::Error),
    /// A line that is no request: where it stands, and what is wrong with it.
    RequestLine(String, String),
    /// A file without a line.
    EmptyFile(PathBuf),
}

impl fmt::Display for PresetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url, expected) => write!(f, "`{url}` is not {expected}"),
            Self::Number(flag, value, expected) => write!(f, "{flag} {value}: must be {expected}"),
            Self::File(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::RequestLine(place, why) => write!(f, "{place}: {why}"),
            Self::EmptyFile(path) => write!(f, "{} contains no URLs; write one per line", path.display()),
        }
    }
}

impl std::error::Error for PresetError {}

/// Evenly arriving users, so many in all.
fn gathering(users: u64, per_second: f64) -> Phase {
    Phase {
        name: Some("gathering".to_owned()),
        max_users: Some(users),
        ..Phase::constant(Rate { per_second })
    }
}

/// The barrier at which all users meet that have come and are still there: who could not connect holds nobody up.
fn gathered(users: u64, per_second: f64) -> Barrier {
    let seconds = users as f64 / per_second + GATHERING_SLACK_SECONDS;
    Barrier { name: GATHERED.to_owned(), users: None, timeout: Time::seconds(seconds.ceil() as u64) }
}

fn at_least_one(flag: &'static str, number: u64) -> Result<u64, PresetError> {
    if number == 0 { Err(PresetError::Number(flag, number.to_string(), "1 or more")) } else { Ok(number) }
}

/// A rate or a time that must be above 0 and finite.
fn above_zero(flag: &'static str, number: f64) -> Result<f64, PresetError> {
    if number.is_finite() && number > 0.0 {
        Ok(number)
    } else {
        Err(PresetError::Number(flag, number.to_string(), "above 0"))
    }
}
