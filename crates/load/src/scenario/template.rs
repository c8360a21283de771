//! Text with holes, parsed once and filled in for each user.

use crate::draw::Distribution;
use crate::scenario::plan::VariableId;

/// Length of a stamp: what [`Part::Stamp`] is filled with.
pub const STAMP_BYTES: usize = 48;

/// Text with holes; without any it is just text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Template {
    /// In order.
    pub parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// As it stands.
    Text(String),
    /// The user's value of a variable; empty while it has none.
    Variable(VariableId),
    /// The same inside a JSON string: quotes, backslashes and control characters escaped (RFC 8259, section 7).
    JsonVariable(VariableId),
    /// The user's number, from 0, unique in the run over all machines.
    UserId,
    /// The user's number modulo this, above 0: groups of the same size.
    UserGroup(u64),
    /// A number that nobody else in the run gets, on all machines.
    UniqueId,
    /// The next of a counter that all users of one process share, from 1.
    Sequence(u16),
    /// A whole number drawn.
    Number(Distribution),
    /// So many random letters and digits; the length is drawn.
    Filler(Distribution),
    /// The stamp that tells message, sender and times to whoever receives it; [`STAMP_BYTES`] characters, safe in JSON.
    Stamp,
    /// Filler until the whole text is so many bytes long, drawn; nothing if it is that long already. At most one.
    PadTo(Distribution),
    /// Milliseconds since 1970.
    NowMs,
    /// The target's host and port.
    TargetHost,
}

impl Template {
    /// A template without holes.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())] }
    }
}
