//! `check`, `import` and `schema`: scenarios without playing them.

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::output::{say, say_json};
use crate::cli::Check;
use crate::scenario;

pub(super) fn check(flags: &Check) -> Done {
    let written = Written::read(&flags.scenario, &flags.set)?;
    let plan = written.job()?.plan;
    let steps: usize = plan.sessions.iter().map(|session| session.steps.len()).sum();
    say(&format!(
        "{}: {} phases, {} sessions, {steps} steps; the scenario is right\n",
        flags.scenario.display(),
        plan.load.phases.len(),
        plan.sessions.len()
    ))?;
    Ok(Exit::Success)
}

pub(super) fn schema() -> Done {
    say_json(&scenario::schema())?;
    Ok(Exit::Success)
}
