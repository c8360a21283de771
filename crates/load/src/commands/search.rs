//! `search`: finds the largest load at which the conditions still hold.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::output::{say, say_json};
use crate::cli;
use crate::live::Stop;
use crate::run::{self, Settings, Show, Signals};
use crate::search::{Answer, Limit, Outcome, Rules, Search};
use crate::statistics::ThresholdResult;

/// One run of the search, for JSON output.
#[derive(Serialize)]
struct Step {
    load: u64,
    outcome: &'static str,
    folder: String,
    thresholds: Vec<ThresholdResult>,
}

/// The whole search, for JSON output.
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
    if flags.run.print_scenario {
        say(&written(flags, flags.from)?.scenario.to_yaml())?;
        return Ok(Exit::Success);
    }
    let signals = Signals::catch().map_err(Failure::failed)?;
    let (began, within) = (Instant::now(), flags.within.map(Duration::from_secs));
    let mut search = Search::new(rules);
    let mut steps = Vec::new();
    while let Some(load) = search.next_load() {
        if within.is_some_and(|within| began.elapsed() >= within) {
            search.time_is_over();
            break;
        }
        let (outcome, step) = attempt(flags, load, &signals)?;
        eprintln!("{load:>12}  {:<8} {}", step.outcome, measured(&step));
        steps.push(step);
        match outcome {
            Some(outcome) => search.record(load, outcome),
            None => search.stop(),
        }
        if signals.stop() != Stop::No {
            search.stop();
        }
    }
    let answer = search.answer();
    let exit = judge(&answer);
    if flags.run.json {
        say_json(&Report { answer, steps })?;
    } else {
        say(&format!("{answer}\n"))?;
    }
    Ok(exit)
}

/// Returns the exit status of a search.
fn judge(answer: &Answer) -> Exit {
    match answer.limit {
        Limit::Generator => Exit::Invalid,
        Limit::Server | Limit::Range | Limit::NothingHeld | Limit::Trials | Limit::Stopped | Limit::Time => {
            match answer.held {
                None => Exit::Missed,
                Some(_) => Exit::Success,
            }
        }
    }
}

/// Plays one load; the outcome is `None` if the run was stopped, which says nothing about the load.
fn attempt(flags: &cli::Search, load: u64, signals: &Signals) -> Result<(Option<Outcome>, Step), Failure> {
    let job = written(flags, load)?.job()?;
    let settings = Settings { show: Show::Nothing, ..Settings::new(&flags.run, &job.plan) };
    let results = run::run(&job, &settings, signals).map_err(Failure::failed)?;
    let summary = &results.run.summary;
    let (outcome, word) = if matches!(summary.ended_by.as_str(), "stopped" | "aborted") {
        (None, "stopped")
    } else if !summary.verdict.valid {
        (Some(Outcome::Invalid), "invalid")
    } else if summary.thresholds.iter().all(|threshold| threshold.passed) {
        (Some(Outcome::Held), "held")
    } else {
        (Some(Outcome::Failed), "failed")
    };
    let folder = results.folder.path().display().to_string();
    Ok((outcome, Step { load, outcome: word, folder, thresholds: summary.thresholds.clone() }))
}

/// Returns the scenario with this load.
fn written(flags: &cli::Search, load: u64) -> Result<Written, Failure> {
    let mut set = flags.run.overrides.set.clone();
    set.push((flags.vary.clone(), load.to_string()));
    let mut written = Written::read(&flags.scenario, &set)?;
    // The search has its own conditions, which replace the scenario's thresholds.
    written.scenario.thresholds.0.clone_from(&flags.until);
    Ok(written.with(&flags.run.overrides))
}

fn measured(step: &Step) -> String {
    let one = |threshold: &ThresholdResult| format!("{} ({})", threshold.text, threshold.measured_in_words());
    step.thresholds.iter().map(one).collect::<Vec<_>>().join(", ")
}
