//! Generates a run directory with an event log of any size, for measuring the time and memory that `stampede report`
//! takes: `cargo run --release --package load --example generated_log -- DIR MEBIBYTES [zstd]`.
//!
//! The size is that of the CSV text. One second of the run has 100,000 sends and receipts in rooms of 16.

#![allow(clippy::print_stdout)]

#[path = "../benches/stream/folder.rs"]
mod folder;
#[path = "../benches/stream/mod.rs"]
mod stream;

use std::error::Error;
use std::path::PathBuf;

use load::record::LogForm;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let parent = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let mebibytes: u64 = arguments.next().ok_or("how many MiB?")?.parse()?;
    let form = if arguments.next().as_deref() == Some("zstd") { LogForm::Zstd } else { LogForm::Csv };
    let (folder, rows) = folder::write(&parent, form, mebibytes << 20)?;
    println!("{} ({rows} rows)", folder.path().display());
    Ok(())
}
