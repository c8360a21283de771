//! `doctor`: the machine and the targets, before a run.

use super::exit::{Done, Exit, Failure};
use super::output::{say, say_json, style};
use crate::cli::Doctor;
use crate::doctor::{self, Colours, Examination, State, TargetAddress};
use crate::presets::Place;
use crate::report::Style;
use crate::scenario::Context;
use crate::scenario::source::{Action, Many, Phase, Scenario, Session, Target};

pub(super) fn doctor(flags: &Doctor) -> Done {
    let (targets, sources) = targets_and_sources(flags)?;
    let examination = Examination::of_this_machine(flags.clients, &targets, &sources, None);
    if flags.json {
        say_json(&examination)?;
    } else {
        let mut text = Vec::new();
        let colours = match style() {
            Style::Plain => Colours::Off,
            Style::Coloured => Colours::On,
        };
        doctor::print(&mut text, &examination, colours).map_err(Failure::failed)?;
        say(&String::from_utf8_lossy(&text))?;
    }
    Ok(if examination.diagnosis.state() == State::Stop { Exit::Missed } else { Exit::Success })
}

/// The flags' words mean what they mean in a scenario.
fn targets_and_sources(
    flags: &Doctor,
) -> Result<(Vec<TargetAddress>, crate::scenario::plan::Sources), Failure> {
    let urls =
        if flags.targets.is_empty() { vec!["ws://127.0.0.1:4000".to_owned()] } else { flags.targets.clone() };
    for url in &urls {
        Place::web_socket(url).or_else(|_| Place::http(url)).map_err(Failure::usage)?;
    }
    let scenario = Scenario {
        targets: urls.iter().map(|url| Target { url: url.clone(), weight: 1.0 }).collect(),
        source_addresses: Many(flags.sources.clone()),
        phases: vec![Phase::burst(1)],
        sessions: vec![Session {
            name: "nobody".to_owned(),
            weight: 1.0,
            steps: vec![Action::Connect(Default::default()).into()],
        }],
        ..Scenario::default()
    };
    let context = Context { file_name: "", base_dir: std::path::Path::new("") };
    let plan = scenario.compile(&context).map_err(Failure::usage)?;
    let targets =
        if flags.targets.is_empty() { Vec::new() } else { plan.targets.iter().map(Into::into).collect() };
    Ok((targets, plan.sources))
}
