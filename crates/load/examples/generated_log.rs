//! Writes the folder of a run that never was, with an event log of any size, for timing `stampede report` and seeing what
//! memory it takes: `cargo run --release --package load --example generated_log -- DIR MEBIBYTES [zstd]`.
//!
//! The size is that of the CSV text. A second of the run is 100,000 sends and receipts in rooms of 16.

#![allow(clippy::print_stdout)]

#[path = "../benches/stream/mod.rs"]
mod stream;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use load::observe::{Kind, Observation};
use load::record::{LogForm, LogWriter, RunFolder};
use load::statistics::RunFacts;
use stream::{Named, Stream, USERS};

/// Members of a room.
const RECEIVERS: u32 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let parent = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let mebibytes: u64 = arguments.next().ok_or("how many MiB?")?.parse()?;
    let form = if arguments.next().as_deref() == Some("zstd") { LogForm::Zstd } else { LogForm::Csv };
    let folder = RunFolder::create(&parent, "generated")?;
    let (rows, seconds) = write_log(&folder, form, mebibytes << 20)?;
    folder.write_facts(&RunFacts {
        format: RunFacts::FORMAT,
        scenario: "generated".to_owned(),
        seconds,
        ended_by: "finished".to_owned(),
        log_rows: rows,
        ..RunFacts::default()
    })?;
    println!("{}", folder.path().display());
    Ok(())
}

/// Returns how many rows there are, and how long the run was.
fn write_log(folder: &RunFolder, form: LogForm, text_bytes: u64) -> Result<(u64, f64), Box<dyn Error>> {
    /// Of a row's text, as it is on average.
    const ROW_BYTES: u64 = 90;
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
