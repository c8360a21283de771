//! The thread that writes the event log.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::log_writer::{LogForm, LogWriter};
use super::row::Names;
use crate::observe::Observation;

/// Maximum number of batches queued for the log; beyond it the collector blocks.
const BATCHES_MAX: usize = 1024;
/// Maximum time for which a row waits until its frame is closed and written.
pub const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// The result of writing an event log.
#[derive(Debug, Default)]
pub struct LogWritten {
    /// Rows written.
    pub rows: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Why the log ends before the run, if it does. The run continues without it.
    pub error: Option<io::Error>,
}

/// A running log. Dropping it closes the log as well.
pub(super) struct LogThread {
    /// `None` once it has been told to stop.
    batches: Option<SyncSender<Vec<Observation>>>,
    thread: Option<JoinHandle<LogWritten>>,
}

impl LogThread {
    pub(super) fn start(file: File, form: LogForm, names: Arc<dyn Names>) -> io::Result<Self> {
        let mut writer = LogWriter::new(file, form, names)?;
        // Write the header to the file before anything can go wrong.
        writer.flush()?;
        let (sender, batches) = sync_channel(BATCHES_MAX);
        let thread =
            thread::Builder::new().name("event-log".to_owned()).spawn(move || write(writer, &batches))?;
        Ok(Self { batches: Some(sender), thread: Some(thread) })
    }

    /// Passes observations to the log; returns how long this was blocked.
    pub(super) fn add(&self, observations: Vec<Observation>) -> Duration {
        let Some(batches) = &self.batches else { return Duration::ZERO };
        match batches.try_send(observations) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => Duration::ZERO,
            Err(TrySendError::Full(observations)) => {
                let since = Instant::now();
                // Only a panic can end the thread before the sender is dropped, and `finish` passes it on.
                let _ = batches.send(observations);
                since.elapsed()
            }
        }
    }

    pub(super) fn finish(mut self) -> LogWritten {
        self.batches = None;
        let thread = self.thread.take().expect("it is taken here and when dropped only");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(mut writer: LogWriter<File>, batches: &Receiver<Vec<Observation>>) -> LogWritten {
    let mut flushed = Instant::now();
    let mut error = None;
    loop {
        let until_flush = FLUSH_INTERVAL.saturating_sub(flushed.elapsed());
        let done = match batches.recv_timeout(until_flush) {
            // After an error, batches are still received: the run does not wait for a full disk.
            Ok(_) if error.is_some() => Ok(()),
            Ok(observations) => observations.iter().try_for_each(|seen| writer.add(seen)),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        error = error.or(done.err());
        if flushed.elapsed() >= FLUSH_INTERVAL {
            error = error.or(writer.flush().err());
            flushed = Instant::now();
        }
    }
    if error.is_none() {
        error = writer.flush().err();
    }
    LogWritten { rows: writer.rows(), bytes: writer.bytes(), error }
}
