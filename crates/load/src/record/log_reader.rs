//! Reads the event log, whole or in parts, each as a stream of rows.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zstd::stream::read::Decoder;
use zstd::zstd_safe;

use super::log_writer::{FRAME_TEXT_BYTES, LogForm};
use super::row::{self, Row, RowError};

/// Maximum length of a line, in bytes; names are shorter than this.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Read buffer size, in bytes.
const READ_BYTES: usize = 256 * 1024;
/// Size of the window in which frame boundaries are searched, in bytes. Our frames are shorter than half of it; a log
/// that was recompressed with longer frames is read as one part.
const SEARCH_BYTES: usize = 4 * FRAME_TEXT_BYTES;

/// Why an event log cannot be read.
#[derive(Debug)]
pub enum LogError {
    /// The folder contains neither of the two possible log files.
    NoLog(PathBuf),
    /// The file cannot be read, or a frame is corrupted.
    File(PathBuf, io::Error),
    /// A line is not a valid row: the file, the line's number within the part that was read, and the error.
    Row(PathBuf, u64, RowError),
}

impl Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLog(folder) => write!(
                f,
                "{} has no event log (events.csv.zst or events.csv): the run was recorded with `--event-log \
                 none`, or this is not a run folder",
                folder.display()
            ),
            Self::File(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Row(path, line, error) => {
                write!(f, "{}, line {line} of the current frame: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for LogError {}

/// The event log of a run folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventLog {
    path: PathBuf,
    form: LogForm,
}

/// A section of an event log that begins and ends at a row boundary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    log: EventLog,
    from: u64,
    to: u64,
}

impl EventLog {
    /// Finds the log in this folder.
    ///
    /// # Errors
    /// [`LogError::NoLog`].
    pub fn find(folder: &Path) -> Result<Self, LogError> {
        [LogForm::Zstd, LogForm::Csv]
            .into_iter()
            .filter_map(|form| Some(Self { path: folder.join(form.file_name()?), form }))
            .find(|log| log.path.is_file())
            .ok_or_else(|| LogError::NoLog(folder.to_owned()))
    }

    /// Returns all rows.
    ///
    /// # Errors
    /// [`LogError::File`].
    pub fn rows(&self) -> Result<Rows, LogError> {
        self.whole().rows()
    }

    /// Returns the whole log as one part.
    #[must_use]
    pub fn whole(&self) -> Part {
        Part { log: self.clone(), from: 0, to: u64::MAX }
    }

    /// Splits the log into at most `wanted` parts of about the same length, in order.
    ///
    /// # Errors
    /// [`LogError::File`].
    pub fn parts(&self, wanted: usize) -> Result<Vec<Part>, LogError> {
        let cuts = match self.form {
            LogForm::Zstd => self.frame_starts(wanted),
            LogForm::Csv | LogForm::None => self.line_starts(wanted),
        };
        let mut cuts = cuts.map_err(|error| self.error(error))?;
        cuts.insert(0, 0);
        cuts.push(u64::MAX);
        cuts.dedup();
        Ok(cuts.windows(2).map(|cut| Part { log: self.clone(), from: cut[0], to: cut[1] }).collect())
    }

    /// Finds the first line that begins after each of the offsets that split the file evenly.
    fn line_starts(&self, wanted: usize) -> io::Result<Vec<u64>> {
        let mut file = BufReader::new(File::open(&self.path)?);
        let mut starts = Vec::new();
        for place in even_cuts(file.get_ref().metadata()?.len(), wanted) {
            file.seek(SeekFrom::Start(place))?;
            let rest = (&mut file).take(LINE_BYTES_MAX).skip_until(b'\n')?;
            starts.push(place + rest as u64);
        }
        Ok(starts)
    }

    /// Finds the first frame that begins at or after each of the offsets that split the file evenly.
    fn frame_starts(&self, wanted: usize) -> io::Result<Vec<u64>> {
        let mut file = File::open(&self.path)?;
        let mut cuts = even_cuts(file.metadata()?.len(), wanted).peekable();
        let mut starts = Vec::new();
        let mut window = Vec::new();
        // File offset of the window.
        let mut at = 0_u64;
        while cuts.peek().is_some() {
            let wanted_bytes = (SEARCH_BYTES - window.len()) as u64;
            if (&mut file).take(wanted_bytes).read_to_end(&mut window)? == 0 {
                break;
            }
            let mut begin = 0;
            while let Ok(bytes) = zstd_safe::find_frame_compressed_size(&window[begin..]) {
                if cuts.next_if(|cut| *cut <= at + begin as u64).is_some() {
                    starts.push(at + begin as u64);
                }
                begin += bytes;
            }
            if begin == 0 {
                // No frame ends within the window: the log is truncated or was not written by us.
                break;
            }
            window.drain(..begin);
            at += begin as u64;
        }
        Ok(starts)
    }

    fn error(&self, error: io::Error) -> LogError {
        LogError::File(self.path.clone(), error)
    }
}

/// Returns the offsets that split a file of this length into `parts` parts, without 0.
fn even_cuts(bytes: u64, parts: usize) -> impl Iterator<Item = u64> {
    let parts = parts.max(1) as u64;
    (1..parts).map(move |part| (u128::from(bytes) * u128::from(part) / u128::from(parts)) as u64)
}

impl Part {
    /// Returns the rows of this part.
    ///
    /// # Errors
    /// [`LogError::File`].
    pub fn rows(&self) -> Result<Rows, LogError> {
        let open = || {
            let mut file = File::open(&self.log.path)?;
            file.seek(SeekFrom::Start(self.from))?;
            let bytes = BufReader::with_capacity(READ_BYTES, file.take(self.to - self.from));
            let text: Box<dyn Read + Send> = match self.log.form {
                LogForm::Zstd => Box::new(Decoder::with_buffer(bytes)?),
                LogForm::Csv | LogForm::None => Box::new(bytes),
            };
            Ok(BufReader::with_capacity(READ_BYTES, text))
        };
        let text = open().map_err(|error| self.log.error(error))?;
        Ok(Rows { text, line: Vec::new(), lines: 0, is_torn: false, log: self.log.clone() })
    }
}

/// A stream of rows. A row that was cut off when the writing process ended is skipped, and so is the rest of an
/// unfinished frame; everything before it is complete.
pub struct Rows {
    text: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    lines: u64,
    is_torn: bool,
    log: EventLog,
}

impl Rows {
    /// Returns the next row; `None` at the end.
    ///
    /// # Errors
    /// [`LogError::File`] and [`LogError::Row`].
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, LogError> {
        if !self.next_line().map_err(|error| self.log.error(error))? {
            return Ok(None);
        }
        row::read(&self.line)
            .map(Some)
            .map_err(|error| LogError::Row(self.log.path.clone(), self.lines, error))
    }

    /// Returns whether something at the end was cut off and skipped.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Returns the number of lines read.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads the next line that is a row; returns `false` at the end.
    fn next_line(&mut self) -> io::Result<bool> {
        loop {
            self.line.clear();
            match (&mut self.text).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line) {
                Ok(_) => {}
                // zstd reports an incomplete frame this way.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.is_torn = true;
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
            if self.line.pop_if(|last| *last == b'\n').is_none() {
                if self.line.len() as u64 >= LINE_BYTES_MAX {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a line exceeds the maximum length of a row",
                    ));
                }
                self.is_torn |= !self.line.is_empty();
                return Ok(false);
            }
            self.lines += 1;
            if self.line.as_slice() != row::HEADER.trim_end().as_bytes() {
                return Ok(true);
            }
        }
    }
}
