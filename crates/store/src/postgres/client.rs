//! A blocking client that sends several statements at once where none needs another's answer.
//!
//! The server processes statements one after the other, whenever they arrive (PostgreSQL's manual, 55.2.4): statements
//! that are sent together cost one round trip.

use super::errors::trouble;
use crate::sql::corrupt;
use chat::rows::Found;
use chat::{StoreError, StoreErrorKind};
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Error, Row, Statement};

/// Prepared statements kept per connection; at this number all are dropped and prepared again when used.
const STATEMENTS_MAX: usize = 500;

/// A statement's parameters.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The future that drives the connection between the client and its socket.
pub(super) type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

type Part<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

/// A blocking, pipelining client; see the module.
pub(super) struct Client {
    client: tokio_postgres::Client,
    line: Line,
    /// Keyed by SQL text, with parameters as `?1`.
    statements: HashMap<String, Statement>,
}

/// The way to the server and back.
struct Line {
    runtime: Runtime,
    /// `None` after it was lost.
    connection: Option<Connection>,
    /// How long an answer may take; `None`: as long as it takes.
    patience: Option<Duration>,
}

impl Client {
    /// Wraps a client; its connection only makes progress while a call waits for an answer. If one takes longer than
    /// `patience`, the connection is lost.
    pub(super) fn new(
        runtime: Runtime,
        client: tokio_postgres::Client,
        connection: Connection,
        patience: Duration,
    ) -> Self {
        let line = Line { runtime, connection: Some(connection), patience: Some(patience) };
        Self { client, line, statements: HashMap::new() }
    }

    /// Waits for answers for as long as they take, until [`be_patient_for`](Self::be_patient_for).
    pub(super) fn be_patient(&mut self) -> Option<Duration> {
        self.line.patience.take()
    }

    /// Waits for no answer longer than `patience`.
    pub(super) fn be_patient_for(&mut self, patience: Option<Duration>) {
        self.line.patience = patience;
    }

    /// Whether the connection is known to be lost.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&mut self, sql: &str) -> Found<()> {
        self.at_once(Some(sql), &[], None).map(drop)
    }

    /// Returns the rows of one statement.
    pub(super) fn query(&mut self, sql: &str, params: Params<'_>) -> Found<Vec<Row>> {
        Ok(self.at_once(None, &[(sql, params)], None)?.pop().unwrap_or_default())
    }

    /// Returns the first column of the first row of a statement.
    pub(super) fn value<T: for<'a> FromSql<'a>>(&mut self, sql: &str) -> Found<T> {
        let rows = self.query(sql, &[])?;
        let row = rows.first().ok_or_else(|| corrupt(format!("a query returned no row: {sql}")))?;
        row.try_get(0).map_err(|error| trouble(&error))
    }

    /// Runs a statement that changes rows, and returns their number.
    pub(super) fn execute(&mut self, sql: &str, params: Params<'_>) -> Found<u64> {
        let statement = self.prepare(sql)?;
        self.line.wait(self.client.execute(&statement, params))
    }

    /// Sends at once: statements without parameters, queries with parameters, and again statements without. Returns the
    /// rows of the queries. Fails with the error of the first that fails; if one cannot be sent, those after it are not
    /// sent.
    pub(super) fn at_once(
        &mut self,
        before: Option<&str>,
        asked: &[(&str, Params<'_>)],
        after: Option<&str>,
    ) -> Found<Vec<Vec<Row>>> {
        let prepared = asked.iter().map(|(sql, _)| self.prepare(sql)).collect::<Found<Vec<_>>>()?;
        let client: &tokio_postgres::Client = &self.client;
        let plain = |sql| -> Part<'_, Option<Vec<Row>>> {
            Box::pin(async move { client.batch_execute(sql).await.map(|()| None) })
        };
        let mut parts: Vec<Part<'_, Option<Vec<Row>>>> = before.into_iter().map(plain).collect();
        for (statement, (_, params)) in prepared.iter().zip(asked) {
            parts.push(Box::pin(async move { client.query(statement, params).await.map(Some) }));
        }
        parts.extend(after.map(plain));
        let answers = self.line.wait(in_turn(parts))?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// Parameters are written as `?1`, as for SQLite; our statements contain no other question marks.
    fn prepare(&mut self, sql: &str) -> Found<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= STATEMENTS_MAX {
            self.statements.clear();
        }
        let text = sql.replace('?', "$");
        let statement = self.line.wait(self.client.prepare(&text))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl Line {
    /// Waits for an answer while driving the connection. If the connection ends, the error is its cause, not merely that
    /// it closed.
    ///
    /// A server that is there and says nothing would otherwise block the thread, and whoever waits for its end, for ever.
    fn wait<T>(&mut self, answer: impl Future<Output = Result<T, Error>>) -> Found<T> {
        let Self { runtime, connection, patience } = self;
        let mut answer = pin!(answer);
        let answered = poll_fn(|context| {
            if let Some(moving) = connection
                && let Poll::Ready(end) = moving.as_mut().poll(context)
            {
                *connection = None;
                if let Err(error) = end {
                    return Poll::Ready(Err(error));
                }
            }
            answer.as_mut().poll(context)
        });
        let answered = match *patience {
            None => runtime.block_on(answered),
            Some(patience) => match runtime.block_on(async { timeout(patience, answered).await }) {
                Ok(answered) => answered,
                Err(_) => {
                    // What is asked next would wait behind this.
                    *connection = None;
                    return Err(silent(patience));
                }
            },
        };
        answered.map_err(|error| trouble(&error))
    }
}

/// The server accepted what was sent, and did not answer in time.
pub(super) fn silent(patience: Duration) -> StoreError {
    StoreError::new(StoreErrorKind::Away, format!("the server has not answered for {patience:?}"))
}

/// Each future is sent when it is first polled, which happens in order and without waiting in between. One that cannot
/// be sent stops the rest: a commit must not follow a part of what it is to commit.
async fn in_turn<T>(parts: Vec<Part<'_, T>>) -> Result<Vec<T>, Error> {
    let mut waiting: Vec<Option<Part<'_, T>>> = parts.into_iter().map(Some).collect();
    let mut answers: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    let mut all_answered = |context: &mut Context<'_>| {
        let mut is_over = true;
        for (part, answer) in waiting.iter_mut().zip(&mut answers) {
            let Some(waits) = part else { continue };
            match waits.as_mut().poll(context) {
                Poll::Ready(Ok(given)) => (*part, *answer) = (None, Some(given)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_over = false,
            }
        }
        if is_over { Poll::Ready(Ok(())) } else { Poll::Pending }
    };
    poll_fn(&mut all_answered).await?;
    Ok(answers.into_iter().flatten().collect())
}
