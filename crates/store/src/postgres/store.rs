//! The PostgreSQL store: its connections and their threads.

use super::connection::{Reconnecting, connect};
use super::migrations::migrate;
use super::options::PostgresOptions;
use crate::open_error::OpenError;
use crate::workers::Workers;
use chat::{Request, Store};

/// The oldest supported version, as `server_version_num`.
const VERSION_MIN: i32 = 150_000;

/// A store in a PostgreSQL database. Several servers may share it.
///
/// Dropping it waits for requests that were submitted before.
pub struct PostgresStore {
    epoch: String,
    workers: Workers,
}

impl PostgresStore {
    /// Connects, and migrates the tables to this program's version.
    ///
    /// # Errors
    /// The tables are newer than this program, or the server is too old or unreachable.
    pub fn open(options: PostgresOptions) -> Result<Self, OpenError> {
        let mut client = connect(&options)?;
        let version: i32 = client.value("SELECT current_setting('server_version_num')::int")?;
        if version < VERSION_MIN {
            return Err(OpenError::Unsupported { found: version, oldest: VERSION_MIN });
        }
        let epoch = migrate(&mut client)?;
        let mut workers = Workers::new(options.queue_max);
        let other = connect(&options)?;
        let writer = |client| Reconnecting::new(options.clone(), Some(client));
        workers.start_writers([writer(client), writer(other)])?;
        for _ in 0..options.readers.max(1) {
            // It connects on first use.
            workers.start_reader(Reconnecting::new(options.clone(), None))?;
        }
        workers.start_long_reader(Reconnecting::new(options.clone(), None))?;
        Ok(Self { epoch, workers })
    }
}

impl Store for PostgresStore {
    fn epoch(&self) -> &str {
        &self.epoch
    }

    fn submit(&self, request: Request) {
        self.workers.submit(request);
    }
}
