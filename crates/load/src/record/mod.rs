//! The files of a run, and reading them again.
//!
//! Owns the run folder, the event log and the collector, the thread through which every observation of a run passes to
//! the statistics and the log. It does not itself count anything, and never decides what a figure means.

mod collector;
mod ending;
mod folder;
mod histograms;
mod log_reader;
mod log_thread;
mod log_writer;
mod recount;
mod row;
mod series_csv;
mod series_reader;
#[cfg(test)]
mod tests;

pub use collector::{BATCHES_MAX, Collected, Collector, CollectorConfig, CollectorHandle, LiveRow};
pub use ending::summary;
pub use folder::{AGENT_FILES, FolderError, RunFolder, SampleLog};
pub use histograms::Histograms;
pub use log_reader::{EventLog, LogError, Part, Rows};
pub use log_thread::{FLUSH_INTERVAL, LogWritten};
pub use log_writer::{FRAME_TEXT_BYTES, LogForm, LogWriter};
pub use recount::{Recount, RecountError, recount, recount_with};
pub use row::{HEADER, Names, Row, RowError};
