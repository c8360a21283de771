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

    /// Returns whether both have the same dialect, and either both or neither intercept events.
    #[inline]
    pub(crate) fn is_served_like(self, other: Member) -> bool {
        // One comparison for each member of a crowd, not two.
        let manner = |member: Member| u16::from_ne_bytes([member.dialect, u8::from(member.intercepts)]);
        manner(self) == manner(other)
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
    use crate::frames::DIALECTS;

    #[test]
    fn members_are_served_alike_in_one_dialect_and_if_both_or_neither_intercept() {
        let member = |dialect, intercepts| {
            Member::new(dialect as u32, Dialect::from_index(dialect), intercepts, Sequence(dialect as u64))
        };
        let all = (0..DIALECTS).flat_map(|dialect| [(dialect, false), (dialect, true)]);
        for (one, other) in all.clone().flat_map(|one| all.clone().map(move |other| (one, other))) {
            let alike = member(one.0, one.1).is_served_like(member(other.0, other.1));
            assert_eq!(alike, one == other, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_member_is_sixteen_bytes() {
        assert_eq!(size_of::<Member>(), 16);
    }
}
