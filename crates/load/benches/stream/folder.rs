//! Generates a run directory with an event log of any size, without a run.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use load::observe::{Kind, Observation};
use load::record::{LogForm, LogWriter, RunFolder};
use load::statistics::RunFacts;

use super::stream::{Named, Stream, USERS};

/// Members of a room.
const RECEIVERS: u32 = 16;
/// Average length of a row's text.
const ROW_BYTES: u64 = 90;

/// Writes the directory under `parent`, with this many bytes of CSV text; returns it with the log's rows.
pub(crate) fn write(
    parent: &Path,
    form: LogForm,
    text_bytes: u64,
) -> Result<(RunFolder, u64), Box<dyn Error>> {
    let folder = RunFolder::create(parent, "generated")?;
    let (rows, seconds) = write_log(&folder, form, text_bytes)?;
    folder.write_facts(&RunFacts {
        format: RunFacts::FORMAT,
        scenario: "generated".to_owned(),
        seconds,
        ended_by: "finished".to_owned(),
        log_rows: rows,
        ..RunFacts::default()
    })?;
    Ok((folder, rows))
}

/// Returns the number of rows, and the length of the run in seconds.
fn write_log(folder: &RunFolder, form: LogForm, text_bytes: u64) -> Result<(u64, f64), Box<dyn Error>> {
    let file = folder.create_log(form)?.ok_or("a log has a file")?;
    let mut writer = LogWriter::new(file, form, Arc::new(Named))?;
    let mut stream = Stream::new(true, RECEIVERS);
    writer.add(&Observation { count: USERS, ..Observation::of_nobody(Kind::Arrival, 0) })?;
    let mut last_ns = 0;
    while let Some(seen) = stream.next() {
        if writer.rows() * ROW_BYTES >= text_bytes {
            stream.stop();
        }
        last_ns = seen.at;
        writer.add(&seen)?;
    }
    writer.add(&Observation { count: USERS, ..Observation::of_nobody(Kind::Finish, last_ns) })?;
    writer.flush()?;
    Ok((writer.rows(), last_ns as f64 / 1e9))
}
