//! `stampede http`: Siege's job.

use std::collections::BTreeSet;

use super::{Place, PresetError, above_zero, at_least_one};
use crate::cli;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Http, Loop, Numbers, Pause, Phase, Scenario, Session, Step, Target, Time,
};

/// How long one answer may take.
const TIMEOUT: Time = Time::seconds(30);

/// So many users ask for the URLs in turn, each with a pause of its own before each request.
///
/// # Errors
/// A [`PresetError`].
pub fn http(flags: &cli::Http, users: u64) -> Result<Scenario, PresetError> {
    let users = at_least_one("--concurrent", users)?;
    let places: Vec<Place> = flags.urls.iter().map(|url| Place::http(url)).collect::<Result<_, _>>()?;
    let targets: BTreeSet<&str> = places.iter().map(|place| place.target.as_str()).collect();
    let mut steps: Vec<Step> = Vec::new();
    for url in &flags.urls {
        if flags.delay != 0.0 {
            let delay = above_zero("--delay", flags.delay)?;
            steps.push(Action::Think(Pause(Distribution::Uniform(0.0, delay))).into());
        }
        steps.push(get(url.clone(), TIMEOUT));
    }
    let times = flags.repetitions.map(|times| Numbers(Distribution::Constant(times as f64)));
    let seconds = at_least_one("--seconds", flags.seconds)?;
    Ok(Scenario {
        name: "http".to_owned(),
        description: Some(format!("{users} users, {} URLs", flags.urls.len())),
        targets: targets.into_iter().map(|url| Target { url: url.to_owned(), weight: 1.0 }).collect(),
        phases: vec![Phase { name: Some("siege".to_owned()), ..Phase::burst(users) }],
        duration: times.is_none().then(|| Time::seconds(seconds)),
        sessions: vec![Session {
            name: "visitor".to_owned(),
            weight: 1.0,
            steps: vec![Action::Loop(Loop { times, steps, ..Loop::default() }).into()],
        }],
        ..Scenario::default()
    })
}

/// One request for a URL.
pub(super) fn get(url: String, timeout: Time) -> Step {
    Action::Http(Http { get: Some(url), timeout, ..Http::default() }).into()
}
