//! Connections to the server, and transactions on them.

use super::client::{Client, Connection};
use super::errors::trouble;
use super::options::PostgresOptions;
use super::session::PostgresSession;
use super::tls::connector;
use crate::group::{Database, Kind};
use crate::sql::SqlRows;
use chat::rows::Found;
use chat::{Rows, StoreError, StoreErrorKind};
use std::time::Duration;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// The server cancels statements that take longer.
const STATEMENT_TIMEOUT_MS: u64 = 30_000;
/// The connection is given up when the other machine has not answered for this long.
const TCP_TIMEOUT_MS: u64 = 15_000;

/// A connection that is re-established after it was lost.
pub(super) struct Reconnecting {
    options: PostgresOptions,
    client: Option<Client>,
}

/// The outcome of a transaction.
struct Attempt {
    outcome: Found<()>,
    /// Whether the server is known to have begun it.
    has_begun: bool,
}

impl Reconnecting {
    pub(super) fn new(options: PostgresOptions, client: Option<Client>) -> Self {
        Self { options, client }
    }

    /// Connects if there is no connection. Returns whether it did.
    fn connect(&mut self) -> Result<bool, StoreError> {
        if self.client.as_ref().is_some_and(|client| !client.is_closed()) {
            return Ok(false);
        }
        self.client = None;
        self.client = Some(connect(&self.options)?);
        Ok(true)
    }

    fn attempt(&mut self, begin: &'static str, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Attempt {
        let Some(client) = &mut self.client else {
            let closed = StoreError::new(StoreErrorKind::Closed, "not connected");
            return Attempt { outcome: Err(closed), has_begun: false };
        };
        let mut session = PostgresSession::new(client, begin);
        let outcome = run(&mut SqlRows(&mut session)).and_then(|()| session.commit());
        let has_begun = session.has_begun();
        if outcome.is_err() {
            self.take_back();
        }
        Attempt { outcome, has_begun }
    }
}

impl Database for Reconnecting {
    /// If two transactions change one row, the later one must start over, and could lose again and again against a
    /// steady stream of others. So every writer holds a lock that conflicts only with a transaction that wants to write
    /// alone: that one waits until all current writers are done, and later writers wait for it. A transaction's
    /// snapshot is taken by its first query, after the lock (PostgreSQL's manual, LOCK).
    fn transaction(&mut self, kind: Kind, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Found<()> {
        let begin = match kind {
            Kind::Reads => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // They lock the conversations first, and must then see the changes of earlier lock holders.
            Kind::Appends => "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE store IN ROW SHARE MODE",
            Kind::Writes => "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE store IN ROW SHARE MODE",
            Kind::WritesAlone => "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE store IN EXCLUSIVE MODE",
        };
        let is_new = self.connect()?;
        let Attempt { outcome, has_begun } = self.attempt(begin, run);
        // A lost connection is only noticed on first use. Nothing was written by then, so a new connection can be used
        // instead.
        match outcome {
            Err(lost) if lost.kind == StoreErrorKind::Away && !has_begun && !is_new => {
                self.client = None;
                self.connect()?;
                self.attempt(begin, run).outcome
            }
            outcome => outcome,
        }
    }

    fn take_back(&mut self) {
        if self.client.as_mut().is_some_and(|client| client.batch("ROLLBACK").is_err()) {
            self.client = None;
        }
    }

    fn reopen(&mut self) {
        self.client = None;
    }
}

/// Whether a URL does not require encryption; `false` for an invalid URL.
pub(super) fn is_plain(url: &str) -> bool {
    read(url).is_ok_and(|config| config.get_ssl_mode() != SslMode::Require)
}

fn read(url: &str) -> Result<Config, tokio_postgres::Error> {
    // The certificate checks that `verify-full` asks for are also made for `require`.
    url.replace("sslmode=verify-full", "sslmode=require").parse()
}

/// Connects.
///
/// # Errors
/// The URL is invalid, or the server is unreachable or refuses the connection.
pub(super) fn connect(options: &PostgresOptions) -> Result<Client, StoreError> {
    let mut config = read(&options.url)
        .map_err(|error| StoreError::new(StoreErrorKind::Away, format!("the URL is invalid: {error}")))?;
    config.connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS));
    config.tcp_user_timeout(Duration::from_millis(TCP_TIMEOUT_MS));
    if config.get_application_name().is_none() {
        config.application_name("throng");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        StoreError::new(
            StoreErrorKind::Io,
            format!(
                "the runtime cannot be created: \
         {error}"
            ),
        )
    })?;
    let connected = match config.get_ssl_mode() {
        SslMode::Require => {
            let connector = connector(options.certificate_authority.as_deref())?;
            let connected = runtime.block_on(config.connect(connector));
            connected.map(|(client, connection)| (client, Box::pin(connection) as Connection))
        }
        // `prefer` would encrypt without verifying the server, which is no better than plain: either `require` or
        // nothing.
        _ => {
            let connected = runtime.block_on(config.ssl_mode(SslMode::Disable).connect(NoTls));
            connected.map(|(client, connection)| (client, Box::pin(connection) as Connection))
        }
    };
    let (client, connection) = connected.map_err(|error| trouble(&error))?;
    let mut client = Client::new(runtime, client, connection);
    // An acknowledgement means durable on disk, whatever the server's default is.
    let settings = format!(
        "SET synchronous_commit = on; SET statement_timeout = {STATEMENT_TIMEOUT_MS}; SET TIME ZONE 'UTC'"
    );
    client.batch(&settings)?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_requires_it_is_encrypted() {
        for (url, plain) in [
            ("postgres://throng@db/throng", true),
            ("postgres://throng@db/throng?sslmode=disable", true),
            ("postgres://throng@db/throng?sslmode=prefer", true),
            ("postgres://throng@db/throng?sslmode=require", false),
            ("postgres://throng@db/throng?connect_timeout=1&sslmode=verify-full", false),
            ("host=db sslmode=require", false),
            ("host=db", true),
            ("postgres://throng@db/throng?sslmode=often", false),
        ] {
            assert_eq!(is_plain(url), plain, "{url}");
        }
    }
}
