//! The classification of a received publication, and what could not be judged.

/// The classification of a received publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receipt {
    /// Expected, and in order with respect to its sender.
    Ok,
    /// Expected, but overtaken by a later one from the same sender.
    Reordered,
    /// Received before.
    Duplicate,
    /// Published before the join took effect, after the leave began, or never.
    Unexpected,
    /// Too old to be classified; it has already been given up as missing.
    Stale,
}

/// Counts of what could not be judged, over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unjudged {
    /// Overtaken messages where the senders of the overtaking ones were forgotten or unknown; counted as in order.
    pub order: u64,
    /// Messages that arrived so late that it is no longer known whether they had been received before.
    pub stale: u64,
    /// Publications that could not be numbered, withdrawn or marked as doubtful.
    pub publications: u64,
}
