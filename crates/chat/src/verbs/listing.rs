//! Pages of lists.

use crate::limits::PAGE_MAX;

/// A page of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed<T, P> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page begins; `None` on the last page.
    pub next: Option<P>,
}

/// Returns how many rows to read for a page of `limit`: one more, which shows whether there is another page.
pub(super) fn with_one_more(limit: usize) -> usize {
    limit.clamp(1, PAGE_MAX) + 1
}

/// Truncates to the first `limit` rows, and returns whether there were more.
pub(super) fn cut<T>(rows: &mut Vec<T>, limit: usize) -> bool {
    let more = rows.len() > limit;
    rows.truncate(limit);
    more
}

impl<T, P> Listed<T, P> {
    /// Builds a page from rows that were read [with one more](with_one_more).
    pub(super) fn of(mut rows: Vec<T>, limit: usize, position: impl FnOnce(&T) -> P) -> Self {
        let more = cut(&mut rows, limit.clamp(1, PAGE_MAX));
        let next = if more { rows.last().map(position) } else { None };
        Self { rows, next }
    }
}
