//! When users arrive: arrival phases, and users with their own start time.

use super::document::Element;
use super::findings::Findings;
use crate::scenario::source::{Phase, Rate, Time};

/// Maximum number of repetitions of a load.
const LOOP_MAX: u64 = 100_000;

/// The element `load`, read before the sessions are known.
#[derive(Default)]
pub(super) struct Load<'d> {
    /// In the order in which they run.
    pub(super) phases: Vec<PhaseRead<'d>>,
    pub(super) users: Vec<UserRead<'d>>,
    pub(super) rounds: u32,
    pub(super) duration: Option<Time>,
}

/// A phase without weights.
pub(super) struct PhaseRead<'d> {
    number: u64,
    pub(super) phase: Phase,
    /// The elements `session_setup`.
    pub(super) setups: Vec<Element<'d>>,
}

/// A user with its own start time.
pub(super) struct UserRead<'d> {
    pub(super) element: Element<'d>,
    /// The session's name; a trailing `*` matches any suffix.
    pub(super) session: &'d str,
    /// Time since the start of the run.
    pub(super) start: Time,
}

pub(super) fn read<'d>(root: Element<'d>, findings: &mut Findings) -> Load<'d> {
    let mut load = Load { rounds: 1, ..Load::default() };
    let Some(element) = root.child("load") else {
        findings.problem(root, None, "there is no `load`", None);
        return load;
    };
    load.duration = duration(element, findings);
    load.rounds = rounds(element, findings);
    findings.supported(element, ending(&load));
    for child in element.children() {
        match child.name() {
            "arrivalphase" => load.phases.extend(phase(child, findings)),
            _ => load.users.extend(user(child, findings)),
        }
    }
    load.phases.sort_by_key(|phase| phase.number);
    for pair in load.phases.windows(2) {
        if let [first, second] = pair
            && first.number == second.number
        {
            let message = format!("there are two phases {}", first.number);
            findings.problem(element, None, message, None);
        }
    }
    if element.children().next().is_none() {
        findings.problem(element, None, "there is no `arrivalphase` and no `user`", None);
    }
    load
}

fn ending(load: &Load<'_>) -> String {
    let rounds = if load.rounds > 1 { format!("{} rounds; ", load.rounds) } else { String::new() };
    match load.duration {
        Some(duration) => format!("{rounds}the run ends after {duration}, whatever the users are doing"),
        None => format!("{rounds}the run ends when the last user has finished"),
    }
}

fn duration(element: Element<'_>, findings: &mut Findings) -> Option<Time> {
    let unit = findings.unit_seconds(element);
    let amount = findings.count(element, "duration")?;
    findings.time(element, "duration", amount as f64 * unit)
}

fn rounds(element: Element<'_>, findings: &mut Findings) -> u32 {
    match findings.whole(element, "loop") {
        Some(repeats) if repeats > LOOP_MAX => {
            findings.problem(element, Some("loop"), format!("at most {LOOP_MAX}"), None);
            1
        }
        Some(repeats) => u32::try_from(repeats + 1).unwrap_or(1),
        None => 1,
    }
}

fn phase<'d>(element: Element<'d>, findings: &mut Findings) -> Option<PhaseRead<'d>> {
    findings.required(element, "phase");
    findings.required(element, "duration");
    let number = findings.whole(element, "phase");
    let duration = duration(element, findings);
    let wait_for_users = findings.flag(element, "wait_all_sessions_end");
    let Some(users) = element.child("users") else {
        findings.problem(element, None, "there are no `users`", None);
        return None;
    };
    let rate = rate(users, findings);
    let users_max = findings.whole(users, "maxnumber");
    let (number, duration, rate) = (number?, duration?, rate?);
    findings.supported(element, format!("phase {number} of {duration}"));
    let come =
        users_max.map_or(f64::INFINITY, |most| most as f64).min(duration.0.as_secs_f64() * rate.per_second);
    let come = come.round() as u64;
    let mut phase = Phase { wait_for_users, ..Phase::default() };
    if come == 0 {
        findings.approximated(users, None, "a pause", "less than half a user would come in this time");
        phase.pause = Some(duration);
    } else {
        let text = format!("{come} users at {rate}, with exponential intervals");
        findings.supported(users, text);
        phase.duration = Some(duration);
        phase.poisson = Some(rate);
        phase.max_users = Some(come);
    }
    let setups = element.children().filter(|child| child.name() == "session_setup").collect();
    Some(PhaseRead { number, phase, setups })
}

/// Returns users per second from `arrivalrate` or `interarrival`.
fn rate(users: Element<'_>, findings: &mut Findings) -> Option<Rate> {
    let unit = findings.unit_seconds(users);
    let (attribute, per_second) = match (users.attribute("arrivalrate"), users.attribute("interarrival")) {
        (Some(_), None) => ("arrivalrate", findings.number(users, "arrivalrate")? / unit),
        (None, Some(_)) => ("interarrival", 1.0 / (findings.number(users, "interarrival")? * unit)),
        (Some(_), Some(_)) | (None, None) => {
            findings.problem(users, None, "users have `arrivalrate` or `interarrival`: exactly one", None);
            return None;
        }
    };
    if !(per_second.is_finite() && per_second > 0.0) {
        findings.problem(users, Some(attribute), "it must be above 0", None);
        return None;
    }
    Some(Rate::per_second(per_second))
}

fn user<'d>(element: Element<'d>, findings: &mut Findings) -> Option<UserRead<'d>> {
    let session = findings.required(element, "session");
    let unit = findings.unit_seconds(element);
    let start = findings.number(element, "start_time").unwrap_or(0.0) * unit;
    let start = findings.time(element, "start_time", start);
    Some(UserRead { element, session: session?, start: start? })
}
