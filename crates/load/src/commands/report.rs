//! `report`: everything again from the event logs.

use std::path::Path;

use super::exit::{Done, Exit, Failure};
use super::output::{say, say_json, style};
use crate::cli::Report;
use crate::record::{RunFolder, recount};
use crate::report::{self, ReportError};
use crate::run::report_run;

/// A run, counted anew.
pub(super) struct Recounted {
    pub(super) run: report::Run,
}

pub(super) fn report(flags: &Report) -> Done {
    let mut runs = Vec::new();
    for folder in &flags.runs {
        let Recounted { run } = recounted(folder)?;
        written(report::write(folder, &run))?;
        if flags.json {
            say_json(&run.summary)?;
        } else {
            say(&format!("{}\n{}\n", folder.display(), report::text(&run, style())))?;
        }
        runs.push(run);
    }
    if runs.len() > 1 {
        let output = flags.output.as_deref().unwrap_or(Path::new("."));
        for path in written(report::write_configurations(output, &runs))? {
            eprintln!("{}", path.display());
        }
    }
    Ok(Exit::Success)
}

/// Counts a run anew from its event log; where it was run without one, from what it wrote at its end.
pub(super) fn recounted(folder: &Path) -> Result<Recounted, Failure> {
    let counted = recount(folder).map_err(Failure::usage)?;
    if counted.is_torn {
        eprintln!("stampede: {}: the event log's last line was cut off and is left out", folder.display());
    }
    let path = RunFolder::open(folder).map_err(Failure::usage)?;
    Ok(Recounted { run: report_run(path.path(), &counted.statistics, &counted.facts) })
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
