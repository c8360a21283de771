//! What a received publication is judged to be, and what could not be judged.

/// What a received publication is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receipt {
    /// Expected, and in order as far as its sender goes.
    Ok,
    /// Expected, and overtaken by a later one of the same sender.
    Reordered,
    /// Had come before.
    Duplicate,
    /// Published before the join took effect or after the leave began, or never at all.
    Unexpected,
    /// Too old to tell; given up as missing before.
    Stale,
}

/// What could not be judged, over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unjudged {
    /// Overtaken messages whose overtakers' senders were forgotten or unknown; counted as in order.
    pub order: u64,
    /// Messages that came so late that it was forgotten whether they had come before.
    pub stale: u64,
    /// Publications that could not be numbered, or not be taken back or doubted.
    pub publications: u64,
}
