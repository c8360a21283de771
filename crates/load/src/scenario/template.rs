//! Text with placeholders, parsed once and rendered for each user.

use crate::draw::Distribution;
use crate::scenario::plan::VariableId;

/// Length of a stamp ([`Part::Stamp`]) in bytes.
pub const STAMP_BYTES: usize = 48;

/// Text with placeholders; without any it is plain text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Template {
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// The user's value of a variable; empty if it has none.
    Variable(VariableId),
    /// The same inside a JSON string: quotes, backslashes and control characters escaped (RFC 8259, section 7).
    JsonVariable(VariableId),
    /// The user's number, from 0, unique in the run over all machines.
    UserId,
    /// The user's number modulo this, above 0: groups of the same size.
    UserGroup(u64),
    /// A number that is unique in the run, over all machines.
    UniqueId,
    /// The next value of a counter shared by all users of one process, from 1.
    Sequence(u16),
    /// A random integer.
    Number(Distribution),
    /// Random letters and digits; the length is sampled.
    Filler(Distribution),
    /// The stamp that lets receivers identify the message, its sender and its times; [`STAMP_BYTES`] characters, safe
    /// in JSON.
    Stamp,
    /// Filler that pads the whole text to a sampled number of bytes; nothing if it is already that long. At most one
    /// per template.
    PadTo(Distribution),
    /// Milliseconds since the Unix epoch.
    NowMs,
    /// The target's host and port.
    TargetHost,
}

impl Template {
    /// Returns a template without placeholders.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())] }
    }
}
