//! Writes the event log.

use std::io::{self, Write};

use zstd::bulk::Compressor;

use super::row::{self, Names};
use crate::observe::{NO_LABEL, NO_ROOM, Observation};

/// Amount of text in a zstd frame, in bytes. A frame is closed earlier when it is a second old.
pub const FRAME_TEXT_BYTES: usize = 1024 * 1024;
/// The zstd level: the fastest still compresses such text to about a sixth.
const LEVEL: i32 = 1;

/// Format of the event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogForm {
    /// No log.
    None,
    /// Plain text.
    Csv,
    /// Text in zstd frames, each of which begins at a row.
    #[default]
    Zstd,
}

impl LogForm {
    /// Returns the log's file name in a run folder; `None` if there is no log.
    #[must_use]
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Csv => Some("events.csv"),
            Self::Zstd => Some("events.csv.zst"),
        }
    }
}

impl std::str::FromStr for LogForm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => Ok(Self::None),
            "csv" => Ok(Self::Csv),
            "zstd" => Ok(Self::Zstd),
            other => Err(format!("unknown event log format `{other}`: use `none`, `csv` or `zstd`")),
        }
    }
}

/// Formats observations as lines, and lines as complete frames.
///
/// Only [`LogWriter::flush`] writes, and always whole lines: however the process ends, what was flushed can be read.
pub struct LogWriter<W> {
    out: W,
    compressor: Option<Compressor<'static>>,
    text: Vec<u8>,
    frame: Vec<u8>,
    names: NameCache,
    rows: u64,
    bytes: u64,
}

impl<W: Write> LogWriter<W> {
    /// Creates a log that begins with the header. [`LogForm::None`] writes nothing.
    ///
    /// # Errors
    /// If zstd cannot allocate memory.
    pub fn new(out: W, form: LogForm, names: std::sync::Arc<dyn Names>) -> io::Result<Self> {
        let compressor = match form {
            LogForm::None | LogForm::Csv => None,
            LogForm::Zstd => {
                let mut compressor = Compressor::new(LEVEL)?;
                compressor.include_checksum(true)?;
                Some(compressor)
            }
        };
        let text = row::HEADER.as_bytes().to_vec();
        Ok(Self { out, compressor, text, frame: Vec::new(), names: NameCache::new(names), rows: 0, bytes: 0 })
    }

    /// Adds a row; writes when a frame is full.
    ///
    /// # Errors
    /// Like [`LogWriter::flush`].
    pub fn add(&mut self, seen: &Observation) -> io::Result<()> {
        let (room, label, source) = self.names.of(seen);
        row::write(seen, room, label, source, &mut self.text);
        self.rows += 1;
        if self.text.len() >= FRAME_TEXT_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what has been added as a complete frame.
    ///
    /// # Errors
    /// The error of the file, such as a full disk. What could not be written is dropped.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let written = match &mut self.compressor {
            None => self.out.write_all(&self.text).map(|()| self.text.len()),
            Some(compressor) => {
                self.frame.clear();
                self.frame.reserve(zstd::zstd_safe::compress_bound(self.text.len()));
                let frame = &mut self.frame;
                compressor
                    .compress_to_buffer(&self.text, frame)
                    .and_then(|bytes| self.out.write_all(&self.frame).map(|()| bytes))
            }
        };
        self.text.clear();
        self.bytes += written? as u64;
        self.out.flush()
    }

    /// Returns the number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Caches names, so that a row does not need a lookup through [`Names`].
struct NameCache {
    names: std::sync::Arc<dyn Names>,
    rooms: Vec<Option<Box<str>>>,
    labels: Vec<Option<Box<str>>>,
    sources: Vec<Option<Box<str>>>,
}

impl NameCache {
    fn new(names: std::sync::Arc<dyn Names>) -> Self {
        Self { names, rooms: Vec::new(), labels: Vec::new(), sources: Vec::new() }
    }

    /// Returns the names of room, label and source; empty for those that the observation does not have.
    fn of(&mut self, seen: &Observation) -> (&str, &str, &str) {
        let Self { names, rooms, labels, sources } = self;
        let room = match seen.room {
            NO_ROOM => "",
            room => cached(rooms, room as usize, "room", || names.room(room)),
        };
        let label = match seen.label {
            NO_LABEL => "",
            label => cached(labels, usize::from(label), "label", || names.label(label)),
        };
        let source = cached(sources, usize::from(seen.source), "source", || names.source(seen.source));
        (room, label, source)
    }
}

/// Returns the name at this index. If there is no name, uses the index instead, since an empty name would mean that the
/// observation has none.
fn cached<'a>(
    cache: &'a mut Vec<Option<Box<str>>>,
    index: usize,
    what: &str,
    name: impl FnOnce() -> Option<String>,
) -> &'a str {
    if index >= cache.len() {
        cache.resize(index + 1, None);
    }
    cache[index].get_or_insert_with(|| {
        let name = name().filter(|name| !name.is_empty());
        name.unwrap_or_else(|| format!("{what} {index}")).into_boxed_str()
    })
}
