//! Parameters that identify conversations and messages, and the conditions that take them.

use super::session::Param;
use chat::{ConversationId, Seq};
use std::ops::RangeInclusive;

/// Takes the parameters of [`span`].
pub(super) const IN_SPAN: &str = "t.conversation = ? AND t.seq >= ? AND t.seq <= ?";
/// Takes the parameters of [`place`].
pub(super) const AT_PLACE: &str = "t.conversation = ? AND t.seq = ?";

/// A conversation.
pub(super) fn id(id: ConversationId) -> Param<'static> {
    Param::id(id.0)
}

/// A message, by conversation and sequence number.
pub(super) fn place(of: ConversationId, seq: Seq) -> [Param<'static>; 2] {
    [id(of), Param::number(seq.0)]
}

/// An inclusive range of a conversation's sequence numbers.
pub(super) fn span(of: ConversationId, span: &RangeInclusive<Seq>) -> [Param<'static>; 3] {
    [id(of), Param::number(span.start().0), Param::number(span.end().0)]
}
