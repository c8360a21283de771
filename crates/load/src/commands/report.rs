//! `report`: everything again from the event logs.

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

/// One run's summary as it is; those of several as an array.
fn say_summaries(runs: &[Run]) -> Result<(), Failure> {
    match runs {
        [run] => say_json(&run.summary),
        several => say_json(&several.iter().map(|run| &run.summary).collect::<Vec<&Summary>>()),
    }
}

/// That a run is not valid weighs more than that it missed a threshold.
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

/// A run that is over, looked at again.
pub(super) enum Again {
    /// Counted anew from its event log.
    Counted(RunFolder, Box<Recount>),
    /// It was run without an event log: what its end wrote.
    Kept(Box<Run>),
    /// Its event log is not whole: what its end wrote, and what the log still tells.
    Partial(RunFolder, Box<Run>, Box<Recount>),
}

/// Counts a run anew from its event log; where it was run without one, or the log tells less than the run's end knew,
/// takes what it wrote at its end.
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
                        "stampede: {}: {shortfall}: what the run's end wrote stays, and is what is shown here",
                        path.display()
                    );
                    Ok(Again::Partial(folder, Box::new(kept), counted))
                }
                (Some(shortfall), None) => {
                    eprintln!("stampede: {}: {shortfall}: the figures go as far as it does", path.display());
                    Ok(Again::Counted(folder, counted))
                }
                (None, _) => {
                    if counted.is_torn {
                        let text = "the event log's last line was cut off and is left out";
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
    /// As a report needs it.
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

    /// As a report needs it; what was counted anew is written into the folder, which a run that was killed has not done.
    /// What tells less than what is there is written beside it.
    fn write(self) -> Result<Run, Failure> {
        match &self {
            Self::Counted(folder, counted) => {
                folder.write_results(&counted.statistics, &counted.facts).map_err(Failure::failed)?;
            }
            Self::Partial(folder, _, counted) => {
                let summary = record::summary(&counted.statistics, &counted.facts);
                let path = folder.write_summary_of_log(&summary).map_err(Failure::failed)?;
                eprintln!("stampede: what the log still tells is in {}", path.display());
            }
            Self::Kept(_) => {}
        }
        self.run()
    }
}

/// Pictures that need a font are left out with a word where the machine has none.
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
