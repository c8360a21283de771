//! Lists.

use chat::verbs::Listed;
use schemars::JsonSchema;
use serde::Serialize;

/// A page of a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Page<T> {
    /// The rows; a page may have fewer than the limit.
    pub(crate) rows: Vec<T>,
    /// The cursor of the next page, to send as `after` or `before`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> Page<T> {
    /// Converts what the store listed.
    pub(crate) fn of<R, P>(listed: Listed<R, P>, row: impl Fn(R) -> T, next: impl Fn(P) -> String) -> Self {
        Self { rows: listed.rows.into_iter().map(row).collect(), next: listed.next.map(next) }
    }
}

/// A list that is always complete.
#[derive(Serialize, JsonSchema)]
pub(crate) struct List<T> {
    /// The rows.
    pub(crate) rows: Vec<T>,
}

impl<T> List<T> {
    /// Converts what the store answered.
    pub(crate) fn of<R>(rows: Vec<R>, row: impl Fn(R) -> T) -> Self {
        Self { rows: rows.into_iter().map(row).collect() }
    }
}
