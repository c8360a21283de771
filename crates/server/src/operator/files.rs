//! Operations on the store's files: backup, export, import. They need no server; a backup can be made while one runs.

use crate::config::Config;
use crate::durable::{self, DurableError};
use chat::{Store, StoreError};
use clap::{Args, Subcommand};
use messenger::now;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{ExchangeError, OpenError, SqliteOptions, SqliteStore};

/// What can be done with the store.
#[derive(Subcommand, Debug)]
pub(crate) enum StoreCommand {
    /// Export all communities, including keys, as one JSON record per line
    Export {
        /// The file, which must not exist; or - for standard output
        file: PathBuf,
    },
    /// Import an export into the store; no server may be running in the data directory
    Import {
        /// The file, or - for standard input
        file: PathBuf,
    },
    /// Rewrite the SQLite file without deleted data
    Compact,
}

/// A copy of the SQLite file, also while the server runs.
#[derive(Args, Debug)]
pub(crate) struct BackupCommand {
    /// The file, which must not exist
    file: PathBuf,
}

/// Why an operation failed.
#[derive(Debug)]
pub(crate) enum FilesError {
    /// The store could not be opened.
    Open(OpenError),
    /// The store reported a problem.
    Store(StoreError),
    /// An export or import failed.
    Exchange(ExchangeError),
    /// A file could not be read or written.
    File { path: PathBuf, error: io::Error },
    /// The file to be written is there already.
    Exists { path: PathBuf },
    /// The store is a PostgreSQL database, which has its own tools for copies.
    Database,
    /// There is no SQLite file.
    NoFile { path: PathBuf },
    /// A server uses the data directory.
    Running { folder: PathBuf },
    /// The data directory could not be locked.
    Folder(DurableError),
}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilesError::Open(error) => error.fmt(f),
            FilesError::Store(trouble) => trouble.fmt(f),
            FilesError::Exchange(error) => error.fmt(f),
            FilesError::File { path, error } => write!(f, "{}: {error}", path.display()),
            FilesError::Exists { path } => {
                write!(f, "{}: the file exists already: name another one, or remove it first", path.display())
            }
            FilesError::Database => f.write_str(
                "`store.url` is a PostgreSQL database: copy it with pg_dump or `throng store export`",
            ),
            FilesError::NoFile { path } => write!(
                f,
                "{}: file not found: specify the server's data directory with --data-dir or its configuration with \
                 --config",
                path.display()
            ),
            FilesError::Running { folder } => write!(
                f,
                "{}: a running server uses this directory and would not notice imported data: stop it first",
                folder.display()
            ),
            FilesError::Folder(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FilesError {}

impl From<OpenError> for FilesError {
    fn from(error: OpenError) -> Self {
        FilesError::Open(error)
    }
}

impl From<StoreError> for FilesError {
    fn from(trouble: StoreError) -> Self {
        FilesError::Store(trouble)
    }
}

impl From<ExchangeError> for FilesError {
    fn from(error: ExchangeError) -> Self {
        FilesError::Exchange(error)
    }
}

/// Runs the command and returns a message.
pub(crate) fn run(config: &Config, command: &StoreCommand) -> Result<String, FilesError> {
    match command {
        StoreCommand::Export { file } => export(config, file),
        StoreCommand::Import { file } => import(config, file),
        StoreCommand::Compact => {
            existing(config)?.compact()?;
            Ok("the store was compacted\n".to_owned())
        }
    }
}

/// Makes a backup and returns a message.
pub(crate) fn back_up(config: &Config, command: &BackupCommand) -> Result<String, FilesError> {
    SqliteStore::backup_of(&existing_file(config)?, &command.file)?;
    Ok(format!("{}: consistent backup completed and synced to disk\n", command.file.display()))
}

fn export(config: &Config, file: &Path) -> Result<String, FilesError> {
    let store: Arc<dyn Store> = match config.store.database() {
        Some(database) => store::open(Some(database), &config.data_dir)?,
        None => Arc::new(existing(config)?),
    };
    let mut progress = Progress::new();
    if file.as_os_str() == "-" {
        let mut output = BufWriter::new(io::stdout().lock());
        store::export(&*store, now(), &mut output, |count| progress.tell(count))?;
        return Ok(String::new());
    }
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => FilesError::Exists { path: file.to_owned() },
        _ => FilesError::File { path: file.to_owned(), error },
    };
    // It has the keys of the communities' sites.
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(failed)?;
    let written = (|| {
        let mut output = BufWriter::new(made);
        let count = store::export(&*store, now(), &mut output, |count| progress.tell(count))?;
        output.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
        Ok(count)
    })();
    if written.is_err() {
        // Half an export must not be taken for a whole one. What failed is told; that this fails too adds nothing.
        _ = std::fs::remove_file(file);
    }
    written.map(|count| format!("{}: {count} records\n", file.display()))
}

fn import(config: &Config, file: &Path) -> Result<String, FilesError> {
    let _lock = lock(&config.data_dir)?;
    let store: Arc<dyn Store> = store::open(config.store.database(), &config.data_dir)?;
    let mut progress = Progress::new();
    let failed = |error| FilesError::File { path: file.to_owned(), error };
    let count = if file.as_os_str() == "-" {
        store::import(&*store, now(), &mut io::stdin().lock(), |count| progress.tell(count))?
    } else {
        let mut input = BufReader::new(File::open(file).map_err(failed)?);
        store::import(&*store, now(), &mut input, |count| progress.tell(count))?
    };
    Ok(format!("{count} records imported\n"))
}

/// Opens the store without creating it or migrating its tables: a server of an older version may be using it.
fn existing(config: &Config) -> Result<SqliteStore, FilesError> {
    Ok(SqliteStore::open_current(existing_file(config)?)?)
}

fn existing_file(config: &Config) -> Result<SqliteOptions, FilesError> {
    if config.store.url.is_some() {
        return Err(FilesError::Database);
    }
    let path = config.data_dir.join(store::FILE_NAME);
    if !path.exists() {
        return Err(FilesError::NoFile { path });
    }
    Ok(SqliteOptions::new(path))
}

/// Locks the folder: a server caches what an import changes. No server starts there until the file is closed.
fn lock(data_dir: &Path) -> Result<File, FilesError> {
    durable::lock(data_dir).map_err(|error| match error {
        DurableError::InUse { path } => FilesError::Running { folder: path },
        DurableError::Store(_)
        | DurableError::Secret { .. }
        | DurableError::Exposed { .. }
        | DurableError::Malformed { .. }
        | DurableError::NotAName { .. }
        | DurableError::Default(_)
        | DurableError::System(_) => FilesError::Folder(error),
    })
}

/// Reports progress periodically if standard error is a terminal.
struct Progress {
    is_terminal: bool,
    told: u64,
}

impl Progress {
    const EVERY: u64 = 10_000;

    fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), told: 0 }
    }

    fn tell(&mut self, count: u64) {
        if self.is_terminal && count >= self.told + Self::EVERY {
            self.told = count;
            // A failure to report progress is no reason to stop.
            let _ = write!(io::stderr(), "\r{count} records");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.told > 0 {
            let _ = writeln!(io::stderr());
        }
    }
}
