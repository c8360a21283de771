//! `stampede http`: HTTP load like Siege's.

use std::collections::BTreeSet;

use super::request_line::RequestLine;
use super::{Place, PresetError, above_zero, at_least_one};
use crate::cli;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Http, Loop, Named, Numbers, Pause, Phase, Scenario, Session, Step, Target, Time,
};

/// Time limit of one response.
const TIMEOUT: Time = Time::seconds(30);

/// A fixed number of users make the requests in turn, each with a random pause before each request.
///
/// # Errors
/// A [`PresetError`].
pub fn http(flags: &cli::Http, users: u64) -> Result<Scenario, PresetError> {
    let users = at_least_one("--concurrent", users)?;
    let requests = requests(flags)?;
    let places: Vec<Place> =
        requests.iter().map(|request| Place::http(&request.url)).collect::<Result<_, _>>()?;
    let targets: BTreeSet<&str> = places.iter().map(|place| place.target.as_str()).collect();
    let description = format!("{users} users, {} requests in turn", requests.len());
    let mut steps: Vec<Step> = Vec::new();
    for request in requests {
        if flags.delay != 0.0 {
            let delay = above_zero("--delay", flags.delay)?;
            steps.push(Action::Think(Pause(Distribution::Uniform(0.0, delay))).into());
        }
        steps.push(step(request, flags));
    }
    let times = flags.repetitions.map(|times| Numbers(Distribution::Constant(times as f64)));
    let seconds = at_least_one("--seconds", flags.seconds)?;
    Ok(Scenario {
        name: "http".to_owned(),
        description: Some(description),
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

/// Returns the requests of the command line, then those of the file.
fn requests(flags: &cli::Http) -> Result<Vec<RequestLine>, PresetError> {
    let given = flags.urls.iter().map(|line| RequestLine::parse(line, "URL"));
    let mut requests: Vec<RequestLine> = given.collect::<Result<_, _>>()?;
    if let Some(file) = &flags.file {
        requests.extend(RequestLine::read_all(file)?);
    }
    Ok(requests)
}

/// Returns one request; arguments fill in what its line does not specify.
fn step(request: RequestLine, flags: &cli::Http) -> Step {
    let RequestLine { url, method, body } = request;
    // A line with a method is complete; one without a method has no body.
    let body = if method.is_none() { flags.data.clone() } else { body };
    let default = if body.is_some() { "POST" } else { "GET" };
    let method = method.or_else(|| flags.method.clone()).unwrap_or_else(|| default.to_owned());
    let http = match method.as_str() {
        "GET" => Http { get: Some(url), ..Http::default() },
        "POST" => Http { post: Some(url), ..Http::default() },
        _ => Http { method: Some(method), url: Some(url), ..Http::default() },
    };
    let mut headers = Named::default();
    if body.is_some() {
        headers.0.push(("Content-Type".to_owned(), flags.content_type.clone()));
    }
    Action::Http(Http { body, headers, timeout: TIMEOUT, ..http }).into()
}
