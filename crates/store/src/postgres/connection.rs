//! Connections to the server, and transactions on them.

use super::client::{Client, Connection, silent};
use super::errors::trouble;
use super::options::PostgresOptions;
use super::session::PostgresSession;
use super::tls::connector;
use crate::group::{Database, Kind};
use crate::sql::SqlRows;
use chat::rows::Found;
use chat::{Rows, StoreError, StoreErrorKind};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

/// A TCP connection to one address.
const TCP_CONNECT_TIMEOUT_MS: u64 = 5_000;
/// A connection to one of the URL's servers, with its encryption and authentication.
const CONNECT_TIMEOUT_MS: u64 = 10_000;
const _: () = assert!(TCP_CONNECT_TIMEOUT_MS < CONNECT_TIMEOUT_MS, "an address more can be tried");
/// The server cancels statements that take longer.
const STATEMENT_TIMEOUT_MS: u64 = 30_000;
/// The connection is given up when the server, or what stands before it, has not answered for this long. Statements that
/// are sent together share it.
const ANSWER_TIMEOUT_MS: u64 = 40_000;
const _: () = assert!(STATEMENT_TIMEOUT_MS < ANSWER_TIMEOUT_MS, "a cancelled statement is an answer");
/// The connection is given up when the other machine has not acknowledged sent bytes, or probes, for this long.
const TCP_TIMEOUT_MS: u64 = 15_000;
/// How long nothing comes before the other machine is probed. Linux would wait for two hours.
const PROBE_AFTER_MS: u64 = 5_000;
/// The time between two probes.
const PROBE_EVERY_MS: u64 = 5_000;
/// Probes without an acknowledgement before the connection is given up.
const PROBES: u32 = 2;
const _: () = assert!(PROBE_AFTER_MS + PROBE_EVERY_MS * PROBES as u64 <= TCP_TIMEOUT_MS);

/// How long connecting and an answer may take.
#[derive(Clone, Copy)]
struct Patience {
    /// For each server that the URL names.
    connecting: Duration,
    answering: Duration,
}

const PATIENCE: Patience = Patience {
    connecting: Duration::from_millis(CONNECT_TIMEOUT_MS),
    answering: Duration::from_millis(ANSWER_TIMEOUT_MS),
};

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
/// The URL is invalid, or the server is unreachable, refuses the connection or does not answer.
pub(super) fn connect(options: &PostgresOptions) -> Result<Client, StoreError> {
    connect_within(options, PATIENCE)
}

fn connect_within(options: &PostgresOptions, patience: Patience) -> Result<Client, StoreError> {
    let mut config = read(&options.url)
        .map_err(|error| StoreError::new(StoreErrorKind::Away, format!("the URL is invalid: {error}")))?;
    config.connect_timeout(Duration::from_millis(TCP_CONNECT_TIMEOUT_MS));
    config.tcp_user_timeout(Duration::from_millis(TCP_TIMEOUT_MS));
    config.keepalives_idle(Duration::from_millis(PROBE_AFTER_MS));
    config.keepalives_interval(Duration::from_millis(PROBE_EVERY_MS));
    config.keepalives_retries(PROBES);
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
    let servers = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX).max(1);
    let longest = patience.connecting.saturating_mul(servers);
    let connected = runtime.block_on(async { timeout(longest, reach(&mut config, options)).await });
    let Ok(connected) = connected else {
        // A look-up of the server's name may still be under way, and is not waited for.
        runtime.shutdown_background();
        return Err(silent(longest));
    };
    let (client, connection) = connected?;
    let mut client = Client::new(runtime, client, connection, patience.answering);
    // An acknowledgement means durable on disk, whatever the server's default is.
    let settings = format!(
        "SET synchronous_commit = on; SET statement_timeout = {STATEMENT_TIMEOUT_MS}; SET TIME ZONE 'UTC'"
    );
    client.batch(&settings)?;
    Ok(client)
}

async fn reach(
    config: &mut Config,
    options: &PostgresOptions,
) -> Result<(tokio_postgres::Client, Connection), StoreError> {
    let connected = match config.get_ssl_mode() {
        SslMode::Require => {
            let connector = connector(options.certificate_authority.as_deref())?;
            let connected = config.connect(connector).await;
            connected.map(|(client, connection)| (client, Box::pin(connection) as Connection))
        }
        // `prefer` would encrypt without verifying the server, which is no better than plain: either `require` or
        // nothing.
        _ => {
            let connected = config.ssl_mode(SslMode::Disable).connect(NoTls).await;
            connected.map(|(client, connection)| (client, Box::pin(connection) as Connection))
        }
    };
    connected.map_err(|error| trouble(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;

    const GENEROUS: Duration = Duration::from_secs(60);
    /// PostgreSQL's manual, 55.7: `AuthenticationOk` and `ReadyForQuery`.
    const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    /// `CommandComplete` three times, and `ReadyForQuery`.
    const SETTLED: &[u8] = b"C\0\0\0\x08SET\0C\0\0\0\x08SET\0C\0\0\0\x08SET\0Z\0\0\0\x05I";

    /// Connects to a server that answers so often, and then says nothing more; and asks it something. Returns what comes
    /// of it.
    fn ask_one_that_falls_silent(answers: &[&[u8]], patience: Patience) -> StoreError {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = server.local_addr().expect("it has one").port();
        let (tell, outcome) = mpsc::channel();
        thread::spawn(move || {
            let options = PostgresOptions::new(&format!("postgres://throng@127.0.0.1:{port}/throng"));
            let asked = connect_within(&options, patience).and_then(|mut client| {
                let asked = client.batch("SELECT 1");
                assert!(client.is_closed(), "the next transaction needs another connection");
                asked
            });
            tell.send(asked)
        });
        let (mut peer, _) = server.accept().expect("it comes");
        for answer in answers {
            // Whatever it sends is short and comes at once.
            let read = peer.read(&mut [0; 1024]).expect("it is there");
            assert!(read > 0, "it asks");
            peer.write_all(answer).expect("it listens");
        }
        let asked = outcome.recv_timeout(GENEROUS).expect("it does not wait for ever");
        asked.expect_err("nobody answered")
    }

    #[test]
    fn a_server_that_accepts_and_says_nothing_is_away() {
        let patience = Patience { connecting: Duration::from_millis(50), answering: GENEROUS };
        let away = ask_one_that_falls_silent(&[], patience);
        assert_eq!(
            (away.kind, &*away.detail),
            (StoreErrorKind::Away, "the server has not answered for 50ms")
        );
    }

    #[test]
    fn a_server_that_falls_silent_after_it_let_one_in_is_away_and_given_up() {
        let patience = Patience { connecting: GENEROUS, answering: Duration::from_millis(100) };
        for answers in [&[WELCOME][..], &[WELCOME, SETTLED]] {
            let away = ask_one_that_falls_silent(answers, patience);
            let said = (away.kind, &*away.detail);
            assert_eq!(said, (StoreErrorKind::Away, "the server has not answered for 100ms"));
        }
    }

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
