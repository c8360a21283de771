//! `check`, `import` and `schema`: work on scenarios without playing them.

use std::fs;

use super::exit::{Done, Exit, Failure};
use super::job::{Written, import as read_tsung};
use super::output::{say, say_json};
use crate::cli::{Check, Import};
use crate::scenario;

pub(super) fn check(flags: &Check) -> Done {
    let written = Written::read(&flags.scenario, &flags.set)?;
    let plan = written.job()?.plan;
    let steps: usize = plan.sessions.iter().map(|session| session.steps.len()).sum();
    say(&format!(
        "{}: valid scenario with {} phases, {} sessions and {steps} steps\n",
        flags.scenario.display(),
        plan.load.phases.len(),
        plan.sessions.len()
    ))?;
    Ok(Exit::Success)
}

/// Prints the scenario and the report on each line; standard output has one of the two, never a mixture.
pub(super) fn import(flags: &Import) -> Done {
    let imported = read_tsung(&flags.configuration)?;
    let yaml = imported.scenario.to_yaml();
    match &flags.output {
        Some(path) => {
            let failed = |error| Failure::failed(format!("{}: {error}", path.display()));
            fs::write(path, yaml).map_err(failed)?;
        }
        None => say(&yaml)?,
    }
    match (flags.json, &flags.output) {
        (true, Some(_)) => say_json(&imported.report_as_json())?,
        (true, None) => eprintln!("{:#}", imported.report_as_json()),
        (false, _) => eprint!("{}", imported.report_as_text()),
    }
    Ok(Exit::Success)
}

pub(super) fn schema() -> Done {
    say_json(&scenario::schema())?;
    Ok(Exit::Success)
}
