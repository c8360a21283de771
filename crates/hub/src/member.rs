//! A member of a topic, in as few bytes as possible: a crowd has millions.

use crate::frames::Dialect;
use crate::ids::Sequence;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) slot: u32,
    dialect: u8,
    /// Whether this member's channel intercepts some events.
    pub(crate) intercepts: bool,
    /// The newest publication at the time of the join; the member gets only later ones.
    pub(crate) joined: Sequence,
}

impl Member {
    #[inline]
    pub(crate) fn new(slot: u32, dialect: Dialect, intercepts: bool, joined: Sequence) -> Member {
        Member { slot, dialect: dialect.index() as u8, intercepts, joined }
    }

    #[inline]
    pub(crate) fn dialect(self) -> Dialect {
        Dialect::from_index(self.dialect_index())
    }

    /// Returns [`Dialect::index`] of its dialect.
    #[inline]
    pub(crate) fn dialect_index(self) -> usize {
        usize::from(self.dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_sixteen_bytes() {
        assert_eq!(size_of::<Member>(), 16);
    }
}
