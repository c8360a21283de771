//! The results of a run: the files in its folder, and the run in the form that a report needs.

use std::path::Path;

use super::error::RunError;
use crate::record::{FolderError, Histograms, RunFolder};
use crate::report::{self, ReportError};
use crate::statistics::wsdemo::C10k;
use crate::statistics::{RunFacts, Statistics, Summary};

/// A finished run.
pub struct Results {
    /// The run's folder.
    pub folder: RunFolder,
    /// The input of a report.
    pub run: report::Run,
    /// All statistics.
    pub statistics: Statistics,
    /// Files that could not be written although the run is complete, such as charts on a machine without fonts.
    pub notices: Vec<String>,
}

/// Writes the results of a run into its folder.
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
    /// Writes the report and its charts.
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

/// Returns a run in the form that a report needs. If it was recounted from the event log, the C10K result is read from
/// the run's folder.
///
/// # Errors
/// If that result cannot be read.
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

/// Loads a run without an event log from the files written at its end; `None` if there is no summary.
///
/// # Errors
/// If a file exists but cannot be read.
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
