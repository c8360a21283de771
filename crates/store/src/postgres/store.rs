//! The store: its connections at work.

use super::connection::{Reconnecting, connect};
use super::migrations::migrate;
use super::options::PostgresOptions;
use crate::open_error::OpenError;
use crate::workers::Workers;
use chat::{Request, Store};

/// The oldest version that is supported, as `server_version_num`.
const VERSION_MIN: i32 = 150_000;

/// The messenger in a PostgreSQL database. Several servers may share it.
///
/// Dropping it waits for what was submitted before.
pub struct PostgresStore {
    epoch: String,
    workers: Workers,
}

impl PostgresStore {
    /// Connects, and brings the tables to this program's version.
    ///
    /// # Errors
    /// The tables are newer than this program, the server is too old or away.
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
            // It connects when it is first asked.
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
