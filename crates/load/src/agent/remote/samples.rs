//! What is sampled on the controller's machine while agents play.

use crate::record::{RunFolder, SampleLog};
use crate::statistics::MachineSample;

/// What was sampled on the controller's machine, as the run's folder keeps it.
#[derive(Default)]
pub(super) struct Samples {
    log: Option<SampleLog>,
    /// Why not all of it is there, if so.
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
