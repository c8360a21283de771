//! `stampede hold`: opens a number of connections, keeps them, and measures what each costs the server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{Place, PresetError, Talk, above_zero, at_least_one, gathered, gathering};
use crate::cli::Hold;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Feeder, Http, Loop, Nothing, Order, Pause, Scenario, Session, Step, Target, Time,
};

/// The feeder with the URLs of waiting requests, and its column.
const URLS: &str = "urls";
const URL: &str = "url";
/// What a base URL is.
const BASE: &str = "a server alone, such as http://127.0.0.1:4000: with --http, paths are in the file";
/// Minimum time between two requests of one client.
const AGAIN: Pause = Pause(Distribution::Constant(1.0));
/// A client without a connection after this time has met a server that accepts no more; same limit as for WebSockets.
const CONNECT_TIMEOUT: Time = Time::seconds(10);

/// WebSockets: all users connect, enter the room, wait for each other, and stay for the given time.
///
/// # Errors
/// A [`PresetError`].
pub fn hold(flags: &Hold) -> Result<Scenario, PresetError> {
    let url = flags.url.as_deref().unwrap_or_default();
    let talk = Talk::at(url, flags.dialect)?;
    let (clients, rate) = crowd(flags)?;
    let mut steps = talk.enter(&flags.topic);
    steps.extend([
        Action::Barrier(gathered(clients, rate)).into(),
        Action::Think(Pause(Distribution::Constant(flags.seconds as f64))).into(),
        Action::Stay(Nothing {}).into(),
    ]);
    Ok(Scenario { target: Some(talk.target()), ..scenario(flags, clients, rate, steps) })
}

/// Waiting HTTP requests: each user takes a URL from the file, requests it and waits for the response, however long it
/// takes, then repeats.
///
/// # Errors
/// A [`PresetError`].
pub fn hold_http(flags: &Hold, file: &Path) -> Result<Scenario, PresetError> {
    let (clients, rate) = crowd(flags)?;
    let text = fs::read_to_string(file).map_err(|error| PresetError::File(file.to_owned(), error))?;
    let base = flags.url.as_deref().map(base).transpose()?;
    let targets = targets(base.as_ref(), &text)?;
    if targets.is_empty() {
        return Err(PresetError::EmptyFile(file.to_owned()));
    }
    let targets = targets.into_iter().map(|url| Target { url, weight: 1.0 }).collect();
    let seconds = (clients as f64 / rate).ceil() as u64 + flags.seconds;
    let request = Http {
        get: Some(format!("{{{{{URLS}.{URL}}}}}")),
        connect_timeout: Some(CONNECT_TIMEOUT),
        timeout: Time::seconds(seconds + 60),
        ..Http::default()
    };
    let wait = Action::Http(request).into();
    let steps = vec![
        // A server that refuses is not asked again at once; one that has let the request wait is.
        Action::Loop(Loop { steps: vec![Action::Pace(AGAIN).into(), wait], ..Loop::default() }).into(),
    ];
    let file = fs::canonicalize(file).map_err(|error| PresetError::File(file.to_owned(), error))?;
    let feeder = Feeder {
        file: file.to_string_lossy().into_owned(),
        order: Order::Sequential,
        separator: '\t',
        columns: vec![URL.to_owned()],
    };
    Ok(Scenario {
        targets,
        feeders: BTreeMap::from([(URLS.to_owned(), feeder)]),
        duration: Some(Time::seconds(seconds)),
        ..scenario(flags, clients, rate, steps)
    })
}

/// Returns the server that the paths in a file are of.
fn base(url: &str) -> Result<Place, PresetError> {
    let place = Place::http(url)?;
    // A line's path is from the server's root: nothing would come of another one here.
    if place.path == "/" { Ok(place) } else { Err(PresetError::Url(url.to_owned(), BASE)) }
}

/// Returns the servers named in a file: each line has a full URL or, if there is a base URL, a path.
fn targets(base: Option<&Place>, text: &str) -> Result<BTreeSet<String>, PresetError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let target = |line: &str| match base {
        Some(base) if line.starts_with('/') => Ok(base.target.clone()),
        Some(_) | None => Place::http(line).map(|place| place.target),
    };
    lines.map(target).collect()
}

fn crowd(flags: &Hold) -> Result<(u64, f64), PresetError> {
    Ok((at_least_one("--clients", flags.clients)?, above_zero("--rate", flags.rate)?))
}

fn scenario(flags: &Hold, clients: u64, rate: f64, steps: Vec<Step>) -> Scenario {
    Scenario {
        name: "hold".to_owned(),
        description: Some(format!("{clients} connections, held for {} s", flags.seconds)),
        phases: vec![gathering(clients, rate)],
        sessions: vec![Session { name: "idler".to_owned(), weight: 1.0, steps }],
        ..Scenario::default()
    }
}
