//! `run`: plays one scenario, here or on agents; also the way from any job to an exit status.

use std::io::IsTerminal;

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::output::{say, say_json, style};
use crate::cli;
use crate::cli::RunArguments;
use crate::report;
use crate::run::{self, Job, Results, Settings, Signals};
use crate::statistics::Summary;

pub(super) fn run(flags: &cli::Run) -> Done {
    let written = Written::read(&flags.scenario, &flags.run.overrides.set)?;
    play(written, &flags.run, |_| String::new())
}

/// Plays a scenario as the flags say and prints the results; the text from `more` follows the report.
pub(super) fn play(written: Written, flags: &RunArguments, more: impl FnOnce(&Results) -> String) -> Done {
    let written = written.with(&flags.overrides);
    if flags.print_scenario {
        say(&written.scenario.to_yaml())?;
        return Ok(Exit::Success);
    }
    let job = written.job()?;
    let settings = Settings::new(flags, &job.plan);
    play_job(&job, &settings, flags, more)
}

/// Plays a job and prints its results.
pub(super) fn play_job(
    job: &Job,
    settings: &Settings,
    flags: &RunArguments,
    more: impl FnOnce(&Results) -> String,
) -> Done {
    let signals = Signals::catch().map_err(Failure::failed)?;
    let results = run::run(job, settings, &signals).map_err(Failure::failed)?;
    tell(&results, flags, more)?;
    Ok(judge(&results.run.summary))
}

/// Returns the exit status for a run.
pub(super) fn judge(summary: &Summary) -> Exit {
    if !summary.verdict.valid {
        Exit::Invalid
    } else if summary.thresholds.iter().all(|threshold| threshold.passed) {
        Exit::Success
    } else {
        Exit::Missed
    }
}

fn tell(
    results: &Results,
    flags: &RunArguments,
    more: impl FnOnce(&Results) -> String,
) -> Result<(), Failure> {
    for notice in &results.notices {
        eprintln!("stampede: {notice}");
    }
    if flags.json {
        return say_json(&results.run.summary);
    }
    say(&report::text(&results.run, style()))?;
    say(&more(results))?;
    if std::io::stdout().is_terminal() {
        say(&format!("\nreport: {}\n", results.folder.path().join("report.html").display()))
    } else {
        eprintln!("report: {}", results.folder.path().join("report.html").display());
        Ok(())
    }
}
