//! `doctor`: examines the machine and the targets before a run.

use std::collections::BTreeMap;
use std::path::Path;

use super::exit::{Done, Exit, Failure};
use super::output::{say, say_json, style};
use crate::agent::{Agents, Controller, Request};
use crate::cli::Doctor;
use crate::doctor::{self, Colours, Examination, State, TargetAddress};
use crate::presets::Place;
use crate::report::Style;
use crate::scenario::Context;
use crate::scenario::source::{Action, Many, Phase, Scenario, Session, Target, Tls};

pub(super) fn doctor(flags: &Doctor) -> Done {
    let scenario = scenario(flags)?;
    let examined = match Agents::new(&flags.agents, flags.token.as_deref(), flags.agent_ca.as_deref()) {
        None => vec![(None, here(flags, &scenario)?)],
        Some(agents) => away(flags, &scenario, &agents)?,
    };
    if flags.json {
        say_all_json(&examined)?;
    } else {
        examined.iter().try_for_each(|(agent, examination)| say_one(agent.as_deref(), examination))?;
    }
    let stops = |(_, examination): &Examined| examination.diagnosis.state() == State::Stop;
    Ok(if examined.iter().any(stops) { Exit::Missed } else { Exit::Success })
}

/// An examined machine, with its agent's address if it is another machine.
type Examined = (Option<String>, Examination);

fn here(flags: &Doctor, scenario: &Scenario) -> Result<Examination, Failure> {
    let context = Context { file_name: "", base_dir: Path::new("") };
    let plan = scenario.compile(&context).map_err(Failure::usage)?;
    let mut targets: Vec<TargetAddress> = match flags.targets.is_empty() {
        true => Vec::new(),
        false => plan.targets.iter().map(Into::into).collect(),
    };
    match targets.first_mut() {
        Some(first) => (first.pid, first.metrics) = (flags.pid, flags.scrape.clone()),
        None if flags.pid.is_some() || flags.scrape.is_some() => {
            return Err(Failure::usage("--pid and --scrape require the URL of a target"));
        }
        None => {}
    }
    let tls = doctor::trust(&plan).map_err(Failure::usage)?;
    Ok(doctor::examine(flags.clients, &targets, &plan.sources, tls.as_ref()))
}

fn away(flags: &Doctor, scenario: &Scenario, agents: &Agents) -> Result<Vec<Examined>, Failure> {
    if flags.pid.is_some() || flags.scrape.is_some() {
        return Err(Failure::usage(
            "--pid and --scrape are read from this machine and cannot be combined with --agents",
        ));
    }
    let mut controller = Controller::connect(agents).map_err(Failure::failed)?;
    let yaml = scenario.to_yaml();
    let request = Request {
        clients: Some(flags.clients),
        looks_at_targets: !flags.targets.is_empty(),
        ..Request::play(&yaml, Path::new(""), 0)
    };
    controller.prepare(&request).map_err(Failure::failed)?;
    let own = |(agent, examination): (&str, &Examination)| (Some(agent.to_owned()), examination.clone());
    Ok(controller.doctor().into_iter().map(own).collect())
}

fn say_one(agent: Option<&str>, examination: &Examination) -> Result<(), Failure> {
    let mut text = Vec::new();
    let colours = match style() {
        Style::Plain => Colours::Off,
        Style::Coloured => Colours::On,
    };
    doctor::print(&mut text, examination, colours).map_err(Failure::failed)?;
    if let Some(agent) = agent {
        say(&format!("agent {agent}\n"))?;
    }
    say(&String::from_utf8_lossy(&text))
}

/// Prints one machine's examination alone, or several keyed by their agents' addresses.
fn say_all_json(examined: &[Examined]) -> Result<(), Failure> {
    match examined {
        [(None, examination)] => say_json(examination),
        several => {
            let named =
                several.iter().map(|(agent, examination)| (agent.as_deref().unwrap_or(""), examination));
            say_json(&named.collect::<BTreeMap<_, _>>())
        }
    }
}

/// Builds a scenario from the targets and sources in the flags, so that they are interpreted as in any scenario.
fn scenario(flags: &Doctor) -> Result<Scenario, Failure> {
    let urls =
        if flags.targets.is_empty() { vec!["ws://127.0.0.1:4000".to_owned()] } else { flags.targets.clone() };
    for url in &urls {
        Place::web_socket(url).or_else(|_| Place::http(url)).map_err(Failure::usage)?;
    }
    Ok(Scenario {
        targets: urls.iter().map(|url| Target { url: url.clone(), weight: 1.0 }).collect(),
        source_addresses: Many(flags.sources.clone()),
        tls: Tls {
            ca: flags.ca.as_ref().map(|file| file.to_string_lossy().into_owned()),
            insecure: flags.insecure,
        },
        phases: vec![Phase::burst(1)],
        sessions: vec![Session {
            name: "nobody".to_owned(),
            weight: 1.0,
            steps: vec![Action::Connect(Default::default()).into()],
        }],
        ..Scenario::default()
    })
}
