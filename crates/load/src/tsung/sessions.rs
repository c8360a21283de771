//! Sessions: which ones run, for how many users, and their steps.

use std::collections::{BTreeMap, BTreeSet};

use super::document::Element;
use super::findings::Findings;
use super::load::{Load, PhaseRead};
use super::machines::Server;
use super::options::Options;
use super::substitution::variables_used;
use super::values::Feeders;
use super::variables::Variables;
use crate::draw::Distribution;
use crate::scenario::source::{Action, Pause, Phase, Scenario, Session, Step, Target, Time};
use crate::scenario::suggestion;

/// Maximum number of phases of a load with start times, with its rounds unrolled.
const PHASES_MAX: usize = 1000;
/// Maximum number of distinct sessions and start times of single users.
const STARTS_MAX: usize = 1000;

const TYPES: &[&str] = &[
    "ts_websocket",
    "ts_http",
    "ts_raw",
    "ts_jabber",
    "ts_mqtt",
    "ts_amqp",
    "ts_pgsql",
    "ts_mysql",
    "ts_ldap",
    "ts_webdav",
    "ts_fs",
    "ts_shell",
    "ts_job",
];

/// Supported session types.
pub(super) const PLAYED: &[&str] = &["ts_websocket", "ts_http"];

/// Reads one session's steps.
pub(super) struct SessionReader<'r, 'd> {
    pub(super) findings: &'r mut Findings,
    pub(super) options: &'r Options,
    pub(super) servers: &'r [Server],
    pub(super) feeders: &'r mut Feeders,
    pub(super) session: Element<'d>,
    pub(super) variables: Variables,
    /// Variables that the session reads anywhere.
    pub(super) used: BTreeSet<&'d str>,
    /// Depth of loops and branches around the current element.
    pub(super) nesting: usize,
    /// Feeders whose first row has been used.
    pub(super) fed: BTreeSet<String>,
    /// The server named by the last absolute URL, if there are several.
    pub(super) origin: Option<String>,
}

/// A session's attributes.
struct Head<'d> {
    element: Element<'d>,
    name: &'d str,
    kind: &'d str,
    /// Weight or probability, if given.
    share: Option<f64>,
}

/// Adds targets, sessions, feeders and phases to the scenario.
pub(super) fn read(
    root: Element<'_>,
    options: &Options,
    servers: &[Server],
    load: Load<'_>,
    scenario: &mut Scenario,
    findings: &mut Findings,
) {
    let Some(element) = root.child("sessions") else {
        findings.problem(root, None, "there are no `sessions`", None);
        return;
    };
    findings.supported(element, "what users do");
    let heads = heads(element, findings);
    check_shares(&heads, &load, findings);
    let users = users(&heads, &load, findings);
    let mut phases = phases(&heads, &load.phases, findings);
    let played = played(&heads, &phases, &users);
    let mut feeders = Feeders::default();
    for head in &heads {
        if !is_playable(head, &played, findings) {
            phases.iter_mut().for_each(|phase| {
                phase.weights.remove(head.name);
            });
            continue;
        }
        let reader = SessionReader {
            findings,
            options,
            servers,
            feeders: &mut feeders,
            session: head.element,
            variables: Variables::default(),
            used: variables_used(head.element),
            nesting: 0,
            fed: BTreeSet::new(),
            origin: None,
        };
        let steps = reader.read();
        let weight = head.share.unwrap_or(1.0);
        scenario.sessions.push(Session { name: head.name.to_owned(), weight, steps });
    }
    let is_http = heads.iter().all(|head| head.kind != "ts_websocket");
    targets(servers, is_http, scenario);
    scenario.feeders = feeders.into_map();
    scenario.duration = load.duration;
    scenario.rounds = load.rounds;
    scenario.phases = phases;
    start_users(users, root, scenario, findings);
    check_weights(element, scenario, findings);
}

fn heads<'d>(sessions: Element<'d>, findings: &mut Findings) -> Vec<Head<'d>> {
    let mut heads: Vec<Head<'d>> = Vec::new();
    for element in sessions.children() {
        let name = findings.required(element, "name");
        findings.required(element, "type");
        let kind = findings.word(element, "type", TYPES);
        let share = share(element, findings);
        let (Some(name), Some(kind)) = (name, kind) else { continue };
        if heads.iter().any(|head| head.name == name) {
            findings.problem(element, Some("name"), format!("there is a session `{name}` already"), None);
        }
        heads.push(Head { element, name, kind, share });
    }
    if heads.is_empty() {
        findings.problem(sessions, None, "there is no `session`", None);
    }
    heads
}

fn share(element: Element<'_>, findings: &mut Findings) -> Option<f64> {
    if element.attribute("probability").is_some() && element.attribute("weight").is_some() {
        findings.problem(element, Some("weight"), "`probability` and `weight` do not go together", None);
        return None;
    }
    findings.number(element, "probability").or_else(|| findings.number(element, "weight"))
}

/// Checks that a file uses either probabilities or weights, and that each session has one unless each phase sets them.
fn check_shares(heads: &[Head<'_>], load: &Load<'_>, findings: &mut Findings) {
    let setups = load.phases.iter().flat_map(|phase| phase.setups.iter().copied());
    let elements: Vec<Element<'_>> = heads.iter().map(|head| head.element).chain(setups).collect();
    let first_with = |attribute| elements.iter().find(|element| element.attribute(attribute).is_some());
    if let (Some(probability), Some(weight)) = (first_with("probability"), first_with("weight"))
        && probability.line() != weight.line()
    {
        let message = format!(
            "`weight` here and `probability` in line {}: a file uses one of them",
            probability.line()
        );
        findings.problem(*weight, Some("weight"), message, None);
    }
    let each_phase_says = load.phases.iter().all(|phase| !phase.setups.is_empty());
    for head in heads.iter().filter(|head| head.share.is_none() && !each_phase_says) {
        if ["probability", "weight"].iter().all(|attribute| head.element.attribute(attribute).is_none()) {
            findings.problem(head.element, None, "`probability` or `weight` is missing", None);
        }
    }
}

/// Single users, by session and start time.
type Users<'d> = BTreeMap<(&'d str, Time), u64>;

fn users<'d>(heads: &[Head<'d>], load: &Load<'d>, findings: &mut Findings) -> Users<'d> {
    let mut users = Users::new();
    for user in &load.users {
        let names: Vec<&str> = match user.session.strip_suffix('*') {
            Some(prefix) => {
                heads.iter().map(|head| head.name).filter(|name| name.starts_with(prefix)).collect()
            }
            None => heads.iter().map(|head| head.name).filter(|name| *name == user.session).collect(),
        };
        if names.is_empty() {
            let help = suggestion(user.session, heads.iter().map(|head| head.name));
            let message = format!("there is no session `{}`", user.session);
            findings.problem(user.element, Some("session"), message, help);
        }
        let text = format!("one user of {} at {}", names.join(", "), user.start);
        if user.start.0.is_zero() {
            findings.supported(user.element, text);
        } else {
            let why = "it is a user from the begin, and thinks until its time has come";
            findings.approximated(user.element, None, text, why);
        }
        for name in names {
            *users.entry((name, user.start)).or_default() += 1;
        }
    }
    users
}

fn phases(heads: &[Head<'_>], read: &[PhaseRead<'_>], findings: &mut Findings) -> Vec<Phase> {
    read.iter()
        .map(|read| {
            let mut phase = read.phase.clone();
            for setup in &read.setups {
                let share = share(*setup, findings);
                let Some(name) = findings.required(*setup, "name") else { continue };
                if heads.iter().all(|head| head.name != name) {
                    let help = suggestion(name, heads.iter().map(|head| head.name));
                    findings.problem(*setup, Some("name"), format!("there is no session `{name}`"), help);
                    continue;
                }
                match share {
                    Some(share) => {
                        findings.supported(*setup, format!("weight {share} of {name} in this phase"));
                        phase.weights.insert(name.to_owned(), share);
                    }
                    None if setup.attribute("probability").is_none()
                        && setup.attribute("weight").is_none() =>
                    {
                        findings.problem(*setup, None, "`probability` or `weight` is missing", None);
                    }
                    None => {}
                }
            }
            if let Some(setup) = read.setups.first()
                && phase.weights.values().all(|weight| *weight <= 0.0)
            {
                let message = "nobody would play anything in this phase: its shares come to 0";
                findings.problem(*setup, None, message, None);
            }
            phase
        })
        .collect()
}

/// Returns the names of the sessions that any user runs.
fn played(heads: &[Head<'_>], phases: &[Phase], users: &Users<'_>) -> BTreeSet<String> {
    let mut played: BTreeSet<String> = users.keys().map(|(name, _)| (*name).to_owned()).collect();
    for phase in phases {
        if phase.weights.is_empty() {
            let drawn = heads.iter().filter(|head| head.share.unwrap_or(1.0) > 0.0);
            played.extend(drawn.map(|head| head.name.to_owned()));
        } else {
            let drawn = phase.weights.iter().filter(|(_, weight)| **weight > 0.0);
            played.extend(drawn.map(|(name, _)| name.clone()));
        }
    }
    played
}

/// Adds remarks on a session, and returns whether it becomes part of the scenario.
fn is_playable(head: &Head<'_>, played: &BTreeSet<String>, findings: &mut Findings) -> bool {
    let name = head.name;
    if !PLAYED.contains(&head.kind) {
        let help = "sessions of type ts_websocket and ts_http are played";
        if played.contains(name) {
            let message = format!("session `{name}` is of type {}, which is not played", head.kind);
            let help = format!("{help}; give it the probability 0 to leave it out");
            findings.problem(head.element, Some("type"), message, Some(help));
        } else {
            findings.unsupported(
                head.element,
                Some("type"),
                format!("session {name}, which nobody plays"),
                help,
            );
        }
        return false;
    }
    findings.supported(head.element, format!("session {name}"));
    if findings.word(head.element, "persistent", &["true", "false"]) == Some("true") {
        let what_to_do =
            "a connection that the server closes ends the session; open a new one by a `connect`";
        findings.unsupported(head.element, Some("persistent"), "connecting again by itself", what_to_do);
    }
    let why = "what the server sends by itself is always read and counted";
    findings.approximated_attributes(head.element, &[("bidi", "no choice", why)]);
    true
}

fn targets(servers: &[Server], is_http: bool, scenario: &mut Scenario) {
    let url = |server: &Server| format!("{}://{}:{}", scheme(server, is_http), server.host, server.port);
    match servers {
        [server] => scenario.target = Some(url(server)),
        servers => {
            scenario.targets =
                servers.iter().map(|server| Target { url: url(server), weight: server.weight }).collect();
        }
    }
}

fn scheme(server: &Server, is_http: bool) -> &'static str {
    match (is_http, server.is_encrypted) {
        (true, false) => "http",
        (true, true) => "https",
        (false, false) => "ws",
        (false, true) => "wss",
    }
}

/// Adds single users: all arrive at once before the first phase, and each thinks until its start time.
fn start_users(users: Users<'_>, root: Element<'_>, scenario: &mut Scenario, findings: &mut Findings) {
    if users.is_empty() {
        return;
    }
    let rounds = scenario.rounds as usize;
    if users.len() > STARTS_MAX || rounds.saturating_mul(scenario.phases.len()) > PHASES_MAX {
        let message = format!(
            "at most {STARTS_MAX} different start times, and {PHASES_MAX} phases in all rounds beside them"
        );
        findings.problem(root.child("load").unwrap_or(root), None, message, None);
        return;
    }
    // These users arrive once, not in each round.
    let rounds: Vec<Phase> = std::iter::repeat_n(scenario.phases.clone(), rounds).flatten().collect();
    scenario.rounds = 1;
    scenario.phases.clear();
    for ((name, start), count) in users {
        let Some(session) = scenario.sessions.iter().find(|session| session.name == name) else { continue };
        let mut starting = session.name.clone();
        if !start.0.is_zero() {
            starting = format!("{name} at {start}");
            let think = Action::Think(Pause(Distribution::Constant(start.0.as_secs_f64())));
            let steps = std::iter::once(Step::from(think)).chain(session.steps.iter().cloned()).collect();
            scenario.sessions.push(Session { name: starting.clone(), weight: 0.0, steps });
        }
        let weights = BTreeMap::from([(starting.clone(), 1.0)]);
        scenario.phases.push(Phase { name: Some(starting), weights, ..Phase::burst(count) });
    }
    scenario.phases.extend(rounds);
}

/// Reports a problem if there are no weights to choose by.
fn check_weights(sessions: Element<'_>, scenario: &mut Scenario, findings: &mut Findings) {
    if scenario.sessions.is_empty() || scenario.sessions.iter().any(|session| session.weight > 0.0) {
        return;
    }
    if scenario.phases.iter().all(|phase| !phase.weights.is_empty()) {
        // These weights are never used, but a scenario must have some.
        scenario.sessions.iter_mut().for_each(|session| session.weight = 1.0);
    } else {
        findings.problem(sessions, None, "all probabilities are 0: nobody would play anything", None);
    }
}
