//! Samples taken on the controller's machine while agents play.

use crate::record::{RunFolder, SampleLog};
use crate::statistics::MachineSample;

/// Writes the samples taken on the controller's machine to the run's folder.
#[derive(Default)]
pub(super) struct Samples {
    log: Option<SampleLog>,
    /// Why samples are missing, if any are.
    pub(super) failed: Option<String>,
}

impl Samples {
    pub(super) fn of(folder: Option<&RunFolder>) -> Self {
        match folder.map(RunFolder::sample_log).transpose() {
            Ok(log) => Self { log, failed: None },
            Err(error) => Self { log: None, failed: Some(format!("the samples: {error}")) },
        }
    }

    pub(super) fn add(&mut self, second: u32, sample: &MachineSample) {
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.add(second, sample)) {
            self.failed.get_or_insert(format!("the samples: {error}"));
        }
    }
}
