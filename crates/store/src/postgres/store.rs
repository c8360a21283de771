//! The store: a writer's connection and thread, readers' connections and threads, their queues.

use super::connection::{Reconnecting, connect};
use super::errors::trouble;
use super::migrations::migrate;
use crate::group;
use crate::opening::OpenError;
use crate::queue::Queue;
use crate::threads::Threads;
use chat::{Request, Store};
use std::fmt;
use std::sync::Arc;

/// The oldest version that is supported, as `server_version_num`.
const VERSION_MIN: i32 = 150_000;

/// Where the database is and how much of it the store may use.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, or the key-value form; see PostgreSQL's manual, 34.1.1.
    pub url: String,
    /// Connections that read; one more writes.
    pub readers: usize,
    /// Requests that wait, for the writer and for the readers each.
    pub queue_max: usize,
}

impl fmt::Debug for PostgresOptions {
    /// Without the URL, which may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("PostgresOptions");
        options.field("readers", &self.readers).field("queue_max", &self.queue_max).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// For that database, everything else by default.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), readers: 4, queue_max: 10_000 }
    }
}

/// The messenger in a PostgreSQL database. Several servers may share it.
///
/// Dropping it waits for what was submitted before.
pub struct PostgresStore {
    epoch: String,
    writes: Arc<Queue<Request>>,
    reads: Arc<Queue<Request>>,
    // Dropped last: its threads end when the queues are closed.
    _threads: Threads<Request>,
}

impl PostgresStore {
    /// Connects, and brings the tables to this program's version.
    ///
    /// # Errors
    /// The tables are newer than this program, the server is too old or away.
    pub fn open(options: PostgresOptions) -> Result<Self, OpenError> {
        let mut client = connect(&options)?;
        let version = client.query_one("SELECT current_setting('server_version_num')::int", &[]);
        let version: i32 = version.and_then(|row| row.try_get(0)).map_err(|error| trouble(&error))?;
        if version < VERSION_MIN {
            return Err(OpenError::Unsupported { found: version, oldest: VERSION_MIN });
        }
        let epoch = migrate(&mut client)?;
        let writes = Arc::new(Queue::new(options.queue_max));
        let reads = Arc::new(Queue::new(options.queue_max));
        let mut threads = Threads::new([writes.clone(), reads.clone()]);
        let mut writer = Reconnecting::new(options.clone(), Some(client));
        threads.start("store-writer", &writes, move |queue| {
            while let Some(requests) = queue.take(group::REQUESTS_MAX) {
                group::run(&mut writer, requests);
            }
        })?;
        for _ in 0..options.readers.max(1) {
            // It connects when it is first asked.
            let mut reader = Reconnecting::new(options.clone(), None);
            threads.start("store-reader", &reads, move |queue| {
                while let Some(requests) = queue.take(1) {
                    group::run(&mut reader, requests);
                }
            })?;
        }
        Ok(Self { epoch, writes, reads, _threads: threads })
    }
}

impl Store for PostgresStore {
    fn epoch(&self) -> &str {
        &self.epoch
    }

    fn submit(&self, request: Request) {
        let queue = match request {
            Request::Append(_) | Request::Write(_) => &self.writes,
            Request::Read(_) => &self.reads,
        };
        if let Err((request, trouble)) = queue.push(request) {
            request.refuse(trouble);
        }
    }
}
