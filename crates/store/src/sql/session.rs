//! The interface of a transaction on a SQL database.

use chat::rows::{AppendBatch, Found, Search, Sending, SendingFacts};
use chat::{CommunityId, Message, StoreError, StoreErrorKind};
use std::borrow::Cow;

/// A transaction on a database. Parameters are written as `?1`, `?2`, …
pub(crate) trait Session {
    /// Passes each row to `each`.
    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()>;

    /// Runs a statement that changes rows, and returns their number.
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Found<u64>;

    /// Adds a stored message's words to the search index, where they were not in it.
    fn index(&mut self, community: &CommunityId, message: &Message) -> Found<()>;

    /// Removes a message's words from the search index, before its row is removed or changed.
    fn forget_words(&mut self, community: &CommunityId, message: &Message) -> Found<()>;

    /// See [`Rows::search`](chat::Rows::search).
    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>>;

    /// See [`Rows::facts`](chat::Rows::facts).
    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>>;

    /// See [`Rows::append`](chat::Rows::append).
    fn append(&mut self, batch: &AppendBatch) -> Found<()>;
}

/// A parameter of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Param<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl Param<'_> {
    pub(crate) fn id(id: chat::Ulid) -> Self {
        Self::Bytes(Cow::Owned(id.to_bytes().to_vec()))
    }

    pub(crate) fn optional_id(id: Option<chat::Ulid>) -> Self {
        id.map_or(Self::Null, Self::id)
    }

    /// Our numbers fit, since they are bounded on input.
    pub(crate) fn number(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub(crate) fn flag(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }

    pub(crate) fn optional_number(number: Option<u64>) -> Self {
        number.map_or(Self::Null, Self::number)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Param<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

/// A row's columns, numbered from 0.
pub(crate) trait Columns {
    fn integer(&self, at: usize) -> Found<Option<i64>>;
    fn text(&self, at: usize) -> Found<Option<&str>>;
    fn bytes(&self, at: usize) -> Found<Option<&[u8]>>;
}

/// A failure because stored data is not what this program writes.
pub(crate) fn corrupt(detail: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, detail)
}
