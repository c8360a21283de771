//! What a run leaves: the files of its folder, and the run as a report needs it.

use std::path::Path;

use super::error::RunError;
use crate::record::{Histograms, RunFolder};
use crate::report::{self, ReportError};
use crate::statistics::wsdemo::C10k;
use crate::statistics::{RunFacts, Statistics};

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
    folder.write_results(&statistics, facts)?;
    let run = report_run(folder.path(), &statistics, facts);
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

/// A counted run as a report needs it.
#[must_use]
pub fn report_run(folder: &Path, statistics: &Statistics, facts: &RunFacts) -> report::Run {
    let configuration =
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    report::Run {
        configuration,
        summary: statistics.summary(facts),
        series: statistics.series(),
        histograms: Histograms::of(statistics, facts).distributions(),
        wsdemo_term: C10k::of_samples(statistics).map(|result| result.to_string()),
    }
}
