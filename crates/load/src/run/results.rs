//! What a run leaves: the files of its folder, and the run as a report needs it.

use std::path::Path;

use super::error::RunError;
use crate::record::{FolderError, Histograms, RunFolder};
use crate::report::{self, ReportError};
use crate::statistics::wsdemo::C10k;
use crate::statistics::{RunFacts, Statistics, Summary};

/// A run that is over.
pub struct Results {
    /// Where everything is.
    pub folder: RunFolder,
    /// What a report needs.
    pub run: report::Run,
    /// Everything counted.
    pub statistics: Statistics,
    /// What could not be written although the run is whole, such as pictures on a machine without fonts.
    pub notices: Vec<String>,
}

/// Writes what the run was counted to.
pub(super) fn count(
    folder: RunFolder,
    statistics: Statistics,
    facts: &RunFacts,
    notices: Vec<String>,
) -> Result<Results, RunError> {
    let summary = folder.write_results(&statistics, facts)?;
    let run = report_run(&folder, &statistics, facts, summary)?;
    Ok(Results { folder, run, statistics, notices })
}

impl Results {
    /// Writes the report and its pictures.
    pub(super) fn write_report(&mut self) -> Result<(), RunError> {
        match report::write(self.folder.path(), &self.run) {
            Ok(_) => Ok(()),
            Err(error @ ReportError::NoFonts { .. }) => {
                self.notices.push(error.to_string());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A counted run as a report needs it; of one that was counted anew the C10K test's result is what its folder keeps.
///
/// # Errors
/// If that cannot be read.
pub fn report_run(
    folder: &RunFolder,
    statistics: &Statistics,
    facts: &RunFacts,
    summary: Summary,
) -> Result<report::Run, FolderError> {
    let wsdemo_term = match C10k::of_samples(statistics) {
        Some(result) => Some(result.to_string()),
        None => folder.read_wsdemo_term()?,
    };
    Ok(report::Run {
        configuration: configuration(folder.path()),
        summary,
        series: statistics.series(),
        histograms: Histograms::of(statistics, facts).distributions(),
        wsdemo_term,
    })
}

/// A run without an event log, from what its end left in its folder; `None` where that has no summary.
///
/// # Errors
/// If a file is there and cannot be read.
pub fn kept_run(folder: &RunFolder) -> Result<Option<report::Run>, FolderError> {
    let Some(summary) = folder.read_summary()? else { return Ok(None) };
    Ok(Some(report::Run {
        configuration: configuration(folder.path()),
        summary,
        series: folder.read_series()?,
        histograms: folder.read_histograms()?.unwrap_or_default().distributions(),
        wsdemo_term: folder.read_wsdemo_term()?,
    }))
}

fn configuration(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
