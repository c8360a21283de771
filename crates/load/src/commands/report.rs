//! `report`: recomputes reports from the event logs.

use std::path::Path;

use super::exit::{Done, Exit, Failure};
use super::output::{say, say_json, style};
use super::run::judge;
use crate::cli;
use crate::record::{self, LogError, Recount, RecountError, RunFolder, recount};
use crate::report::{self, ReportError, Run};
use crate::run::{kept_run, report_run};
use crate::statistics::Summary;

pub(super) fn report(flags: &cli::Report) -> Done {
    let mut runs = Vec::new();
    for folder in &flags.runs {
        let run = again(folder)?.write()?;
        written(report::write(folder, &run))?;
        if !flags.json {
            say(&format!("{}\n", report::text(&run, style())))?;
        }
        runs.push(run);
    }
    if flags.json {
        say_summaries(&runs)?;
    }
    if runs.len() > 1 {
        let output = flags.output.as_deref().unwrap_or(Path::new("."));
        for path in written(report::write_configurations(output, &runs))? {
            eprintln!("{}", path.display());
        }
    }
    Ok(gravest(runs.iter().map(|run| judge(&run.summary))))
}

/// Prints one run's summary as an object, those of several runs as an array.
fn say_summaries(runs: &[Run]) -> Result<(), Failure> {
    match runs {
        [run] => say_json(&run.summary),
        several => say_json(&several.iter().map(|run| &run.summary).collect::<Vec<&Summary>>()),
    }
}

/// Returns the most severe status: an invalid run outweighs a missed threshold.
fn gravest(exits: impl Iterator<Item = Exit>) -> Exit {
    let weight = |exit: &Exit| match exit {
        Exit::Success => 0,
        Exit::Missed => 1,
        Exit::Invalid => 2,
        Exit::Usage => 3,
        Exit::Failure => 4,
    };
    exits.max_by_key(weight).unwrap_or(Exit::Success)
}

/// A finished run, loaded again.
pub(super) enum Again {
    /// Recounted from its event log.
    Counted(RunFolder, Box<Recount>),
    /// Run without an event log: the results written at its end.
    Kept(Box<Run>),
    /// The event log is incomplete: the results written at the run's end, and what the log still contains.
    Partial(RunFolder, Box<Run>, Box<Recount>),
}

/// Recounts a run from its event log; if it has none, or the log contains less than the run knew at its end, uses the
/// results written then.
pub(super) fn again(path: &Path) -> Result<Again, Failure> {
    let folder = RunFolder::open(path).map_err(Failure::usage)?;
    match recount(path) {
        Ok(counted) => {
            let counted = Box::new(counted);
            let shortfall = counted.shortfall();
            let kept = match shortfall {
                Some(_) => kept_run(&folder).map_err(Failure::usage)?,
                None => None,
            };
            match (shortfall, kept) {
                (Some(shortfall), Some(kept)) => {
                    eprintln!(
                        "stampede: {}: {shortfall}: keeping the files written at the end of the run, which \
                         are shown here",
                        path.display()
                    );
                    Ok(Again::Partial(folder, Box::new(kept), counted))
                }
                (Some(shortfall), None) => {
                    eprintln!(
                        "stampede: {}: {shortfall}: the figures cover only what was kept",
                        path.display()
                    );
                    Ok(Again::Counted(folder, counted))
                }
                (None, _) => {
                    if counted.is_torn {
                        let text = "the last line of the event log was cut off and is ignored";
                        eprintln!("stampede: {}: {text}", path.display());
                    }
                    Ok(Again::Counted(folder, counted))
                }
            }
        }
        Err(RecountError::Log(no_log @ LogError::NoLog(_))) => match kept_run(&folder) {
            Ok(Some(run)) => Ok(Again::Kept(Box::new(run))),
            Ok(None) => Err(Failure::usage(format!("{no_log}; nor has it a summary.json"))),
            Err(error) => Err(Failure::usage(error)),
        },
        Err(error) => Err(Failure::usage(error)),
    }
}

impl Again {
    /// Returns the run in the form that a report needs.
    pub(super) fn run(self) -> Result<Run, Failure> {
        match self {
            Self::Counted(folder, counted) => {
                let Recount { statistics, facts, .. } = &*counted;
                let summary = record::summary(statistics, facts);
                report_run(&folder, statistics, facts, summary).map_err(Failure::usage)
            }
            Self::Kept(run) | Self::Partial(_, run, _) => Ok(*run),
        }
    }

    /// Like [`Self::run`], but also writes recounted results into the folder, since a run that was killed has not done
    /// so. Results from an incomplete log are written to a separate file beside the existing ones.
    fn write(self) -> Result<Run, Failure> {
        match &self {
            Self::Counted(folder, counted) => {
                folder.write_results(&counted.statistics, &counted.facts).map_err(Failure::failed)?;
            }
            Self::Partial(folder, _, counted) => {
                let summary = record::summary(&counted.statistics, &counted.facts);
                let path = folder.write_summary_of_log(&summary).map_err(Failure::failed)?;
                eprintln!("stampede: wrote the results of the incomplete log to {}", path.display());
            }
            Self::Kept(_) => {}
        }
        self.run()
    }
}

/// Where the machine has no fonts, charts that need one are skipped with a message.
fn written(result: Result<Vec<std::path::PathBuf>, ReportError>) -> Result<Vec<std::path::PathBuf>, Failure> {
    match result {
        Ok(paths) => Ok(paths),
        Err(error @ ReportError::NoFonts { .. }) => {
            eprintln!("stampede: {error}");
            Ok(Vec::new())
        }
        Err(error) => Err(Failure::failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_end_as_the_gravest_of_them() {
        use Exit::{Invalid, Missed, Success};
        for (exits, expected) in [
            (vec![Success], Success),
            (vec![Success, Missed, Success], Missed),
            (vec![Invalid, Missed], Invalid),
        ] {
            assert_eq!(gravest(exits.iter().copied()), expected, "{exits:?}");
        }
    }
}
