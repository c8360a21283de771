//! Connections to the server, and transactions on them.

use super::errors::trouble;
use super::session::{PostgresSession, Statements};
use super::store::PostgresOptions;
use super::tls::connector;
use crate::group::{Database, Kind};
use crate::sql::SqlRows;
use chat::rows::Found;
use chat::{Rows, Trouble, TroubleKind};
use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use std::time::Duration;

const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// A statement that takes longer is ended by the server.
const STATEMENT_TIMEOUT_MS: u64 = 30_000;
/// After so long without an answer from the other machine the connection is given up.
const TCP_TIMEOUT_MS: u64 = 15_000;

/// A connection that is made again after it was lost.
pub(super) struct Reconnecting {
    options: PostgresOptions,
    connection: Option<Connection>,
}

pub(super) struct Connection {
    pub(super) client: Client,
    statements: Statements,
}

impl Reconnecting {
    pub(super) fn new(options: PostgresOptions, client: Option<Client>) -> Self {
        let connection = client.map(|client| Connection { client, statements: Statements::default() });
        Self { options, connection }
    }

    /// Begins a transaction. That a connection was lost shows here first, when nothing has been asked yet: then another one
    /// is as good.
    fn begin(&mut self, begin: &str) -> Found<()> {
        let fresh = self.connection.is_none();
        let begun = self.connection()?.client.batch_execute(begin).map_err(|error| trouble(&error));
        match begun {
            Err(lost) if lost.kind == TroubleKind::Away && !fresh => {
                self.connection = None;
                self.connection()?.client.batch_execute(begin).map_err(|error| trouble(&error))
            }
            other => other,
        }
    }

    fn connection(&mut self) -> Result<&mut Connection, Trouble> {
        if self.connection.as_ref().is_some_and(|connection| connection.client.is_closed()) {
            self.connection = None;
        }
        if self.connection.is_none() {
            let client = connect(&self.options)?;
            self.connection = Some(Connection { client, statements: Statements::default() });
        }
        self.connection.as_mut().ok_or_else(|| Trouble::new(TroubleKind::Closed, "there is no connection"))
    }
}

impl Database for Reconnecting {
    fn transaction(&mut self, kind: Kind, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Found<()> {
        let begin = match kind {
            Kind::Reads => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // They lock the conversations first, and then have to see what those became who held the locks before.
            Kind::Appends => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Kind::Writes => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        };
        self.begin(begin)?;
        let Connection { client, statements } = self.connection()?;
        let session = &mut PostgresSession { client: &mut *client, statements: &mut *statements };
        let outcome = run(&mut SqlRows(session))
            .and_then(|()| client.batch_execute("COMMIT").map_err(|error| trouble(&error)));
        if outcome.is_err() {
            self.take_back();
        }
        outcome
    }

    fn take_back(&mut self) {
        if let Some(connection) = &mut self.connection
            && connection.client.batch_execute("ROLLBACK").is_err()
        {
            self.connection = None;
        }
    }

    fn reopen(&mut self) {
        self.connection = None;
    }
}

/// Connects.
///
/// # Errors
/// The URL is none, the server is away, or refuses.
pub(super) fn connect(options: &PostgresOptions) -> Result<Client, Trouble> {
    // What it asks for beyond `require` is done for that, too.
    let config: Result<Config, _> = options.url.replace("sslmode=verify-full", "sslmode=require").parse();
    let mut config =
        config.map_err(|error| Trouble::new(TroubleKind::Away, format!("the URL is none: {error}")))?;
    config.connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS));
    config.tcp_user_timeout(Duration::from_millis(TCP_TIMEOUT_MS));
    if config.get_application_name().is_none() {
        config.application_name("throng");
    }
    let connected = match config.get_ssl_mode() {
        SslMode::Require => config.connect(connector(options.certificate_authority.as_deref())?),
        // Encrypted without knowing for whom is no better: that is asked for, or left.
        _ => config.ssl_mode(SslMode::Disable).connect(NoTls),
    };
    let mut client = connected.map_err(|error| trouble(&error))?;
    // An acknowledgement means that it is on the disk, whatever the server's default is.
    let settings = format!(
        "SET synchronous_commit = on; SET statement_timeout = {STATEMENT_TIMEOUT_MS}; SET TIME ZONE 'UTC'"
    );
    client.batch_execute(&settings).map_err(|error| trouble(&error))?;
    Ok(client)
}
