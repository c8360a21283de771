//! Moves a store's contents into another store, as lines of JSON.
//!
//! Each line is one record with the community that it is `of`. The lines are in the order that an import needs.

use chat::verbs::{Communities, Export, Import};
use chat::{
    Ask as _, By, Call, CommunityId, Entropy, Failure, Moment, Store, limits::PAGE_MAX, rows::Record,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, Write};

/// Maximum length of a line, in bytes: no export writes longer ones.
const LINE_BYTES_MAX: u64 = 4 << 20;

#[derive(Serialize, Deserialize)]
struct Line {
    of: CommunityId,
    #[serde(flatten)]
    record: Record,
}

/// Why an export or import stopped.
#[derive(Debug)]
pub enum ExchangeError {
    /// Reading or writing the lines failed.
    Io(io::Error),
    /// A line, counted from 1, is not a valid record.
    Line(u64, String),
    /// The store failed.
    Store(Failure),
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line(number, error) => write!(f, "line {number} is not a valid record: {error}"),
            Self::Store(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for ExchangeError {}

impl From<io::Error> for ExchangeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Failure> for ExchangeError {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

/// Writes every record of every community that is not being erased, and returns their number. `progress` is called with
/// the number written so far.
///
/// # Errors
/// What was written by then is not a complete export.
pub fn export(
    store: &dyn Store,
    now: Moment,
    to: &mut dyn Write,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExchangeError> {
    let mut count = 0;
    let mut after = None;
    loop {
        let listed = store.ask(Communities { after, limit: PAGE_MAX })?;
        for community in listed.rows.iter().filter(|community| community.erasing.is_none()) {
            export_community(store, now, &community.id, to, &mut |more| {
                count += more;
                progress(count);
            })?;
        }
        after = listed.next;
        if after.is_none() {
            to.flush()?;
            return Ok(count);
        }
    }
}

fn export_community(
    store: &dyn Store,
    now: Moment,
    community: &CommunityId,
    to: &mut dyn Write,
    written: &mut dyn FnMut(u64),
) -> Result<(), ExchangeError> {
    let mut after = None;
    loop {
        let part = store.ask(call(community, now).ask(Export { person: None, after }))?;
        let count = part.records.len() as u64;
        for record in part.records {
            let line = Line { of: community.clone(), record };
            serde_json::to_writer(&mut *to, &line).map_err(io::Error::from)?;
            to.write_all(b"\n")?;
        }
        written(count);
        after = part.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Imports an export into a store, and returns the number of its records. It can be repeated after an error: existing
/// records are handled.
///
/// # Errors
/// What was read by then is in the store.
pub fn import(
    store: &dyn Store,
    now: Moment,
    from: &mut dyn BufRead,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExchangeError> {
    let mut batch = Batch::default();
    let mut number = 0;
    loop {
        let mut text = String::new();
        let read = io::Read::take(&mut *from, LINE_BYTES_MAX).read_line(&mut text)?;
        if read == 0 {
            batch.put(store, now)?;
            return Ok(number);
        }
        number += 1;
        let line: Line =
            serde_json::from_str(&text).map_err(|error| ExchangeError::Line(number, error.to_string()))?;
        if batch.is_full_for(&line.of) {
            batch.put(store, now)?;
            progress(number);
        }
        batch.add(line);
    }
}

/// Records of one community for one transaction.
#[derive(Default)]
struct Batch {
    community: Option<CommunityId>,
    records: Vec<Record>,
}

impl Batch {
    fn is_full_for(&self, community: &CommunityId) -> bool {
        self.records.len() >= PAGE_MAX || self.community.as_ref().is_some_and(|own| own != community)
    }

    fn add(&mut self, line: Line) {
        self.community = Some(line.of);
        self.records.push(line.record);
    }

    fn put(&mut self, store: &dyn Store, now: Moment) -> Result<(), ExchangeError> {
        if let Some(community) = self.community.take() {
            let records = std::mem::take(&mut self.records);
            store.ask(call(&community, now).ask(Import { records }))?;
        }
        Ok(())
    }
}

/// Neither verb creates an id, so no entropy is needed.
fn call(community: &CommunityId, now: Moment) -> Call {
    Call { community: community.clone(), by: By::Service, now, entropy: Entropy([0; 16]) }
}
