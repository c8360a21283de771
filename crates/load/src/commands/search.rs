//! `search`: the largest load that still holds.

use serde::Serialize;

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::output::{say, say_json};
use crate::cli;
use crate::run::{self, Settings, Show, Signals};
use crate::search::{Answer, Outcome, Rules, Search};

/// One run of the search, for machines.
#[derive(Serialize)]
struct Step {
    load: f64,
    outcome: &'static str,
    folder: String,
    thresholds: Vec<crate::statistics::ThresholdResult>,
}

/// The whole search, for machines.
#[derive(Serialize)]
struct Report {
    answer: Answer,
    steps: Vec<Step>,
}

pub(super) fn search(flags: &cli::Search) -> Done {
    let rules = Rules {
        from: flags.from,
        to: flags.to,
        factor: flags.factor,
        precision: flags.precision / 100.0,
        repeats: flags.repeats,
    };
    rules.check().map_err(Failure::usage)?;
    let signals = Signals::catch().map_err(Failure::failed)?;
    let mut search = Search::new(rules);
    let mut steps = Vec::new();
    while let Some(load) = search.next_load() {
        let (outcome, step) = attempt(flags, load, &signals)?;
        if signals.stop() != crate::live::Stop::No {
            break;
        }
        eprintln!("{:>12.0}  {:<8} {}", load, step.outcome, measured(&step));
        search.record(load, outcome);
        steps.push(step);
    }
    let answer = search.answer();
    let exit = if answer.held.is_some() { Exit::Success } else { Exit::Missed };
    if flags.run.json {
        say_json(&Report { answer, steps })?;
    } else {
        say(&format!("{answer}\n"))?;
    }
    Ok(exit)
}

fn attempt(flags: &cli::Search, load: f64, signals: &Signals) -> Result<(Outcome, Step), Failure> {
    let mut set = flags.run.overrides.set.clone();
    set.push((flags.vary.clone(), format!("{}", load.round())));
    let mut written = Written::read(&flags.scenario, &set)?;
    // The search has conditions of its own; the scenario's thresholds are another question.
    written.scenario.thresholds.0.clone_from(&flags.until);
    let job = written.with(&flags.run.overrides).job()?;
    let settings = Settings { show: Show::Nothing, ..Settings::new(&flags.run, &job.plan) };
    let results = run::run(&job, &settings, signals).map_err(Failure::failed)?;
    let summary = &results.run.summary;
    let (outcome, word) = if !summary.verdict.valid {
        (Outcome::Invalid, "invalid")
    } else if summary.thresholds.iter().all(|threshold| threshold.passed) {
        (Outcome::Held, "held")
    } else {
        (Outcome::Failed, "failed")
    };
    let folder = results.folder.path().display().to_string();
    Ok((outcome, Step { load, outcome: word, folder, thresholds: summary.thresholds.clone() }))
}

fn measured(step: &Step) -> String {
    let one = |threshold: &crate::statistics::ThresholdResult| {
        let measured = threshold.measured.map_or("nothing".to_owned(), |value| format!("{value:.3}"));
        format!("{} (measured {measured})", threshold.text)
    };
    step.thresholds.iter().map(one).collect::<Vec<_>>().join(", ")
}
