//! The members of a topic on one shard, dense. Many topics have exactly one member, which needs no allocation.

use crate::member::Member;
use crate::sizes::{block_bytes, list_bytes};
use std::ops::{Deref, DerefMut};

/// See the module. Sixteen bytes.
#[derive(Default)]
pub(crate) enum Members {
    #[default]
    None,
    One(Member),
    // Behind a thin pointer, so that it takes no more bytes than one member.
    #[allow(clippy::box_collection, reason = "see above")]
    Many(Box<Vec<Member>>),
}

/// A list with more capacity than this shrinks when most members are gone.
const KEPT_MAX: usize = 1024;

impl Members {
    pub(crate) fn push(&mut self, member: Member) {
        match self {
            Members::None => *self = Members::One(member),
            Members::One(one) => *self = Members::Many(vec![*one, member].into()),
            Members::Many(list) => list.push(member),
        }
    }

    /// Removes a member as [`Vec::swap_remove`] does. Releases memory after a crowd has left.
    pub(crate) fn swap_remove(&mut self, place: usize) {
        let Members::Many(list) = self else {
            assert!(place < self.len(), "there is no place {place}");
            *self = Members::None;
            return;
        };
        list.swap_remove(place);
        if let [only] = list[..] {
            *self = Members::One(only);
        } else if list.capacity() > KEPT_MAX && list.len() < list.capacity() / 4 {
            list.shrink_to(list.len() * 2);
        }
    }

    /// Returns the memory of the list, if there is one. `before` is what it took so far.
    pub(crate) fn bytes(&self, before: usize) -> usize {
        let Members::Many(list) = self else { return 0 };
        let own = block_bytes(size_of::<Vec<Member>>());
        let (room, filled) = (list.capacity() * size_of::<Member>(), list.len() * size_of::<Member>());
        own + list_bytes(room, filled, before.saturating_sub(own))
    }
}

impl Deref for Members {
    type Target = [Member];

    #[inline]
    fn deref(&self) -> &[Member] {
        match self {
            Members::None => &[],
            Members::One(one) => std::slice::from_ref(one),
            Members::Many(list) => list,
        }
    }
}

impl DerefMut for Members {
    fn deref_mut(&mut self) -> &mut [Member] {
        match self {
            Members::None => &mut [],
            Members::One(one) => std::slice::from_mut(one),
            Members::Many(list) => list,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Dialect, Transport};
    use crate::ids::Sequence;
    use proto::phoenix::Version;

    fn slots(members: &Members) -> Vec<u32> {
        members.iter().map(|member| member.slot).collect()
    }

    #[test]
    fn they_are_kept_as_a_list_keeps_them_and_one_alone_takes_no_block() {
        let dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };
        let (mut members, mut list) = (Members::default(), Vec::new());
        assert_eq!(size_of::<Members>(), size_of::<Member>());
        for (slot, removed) in [(0, None), (1, Some(0)), (2, None), (3, Some(1)), (4, None), (5, Some(3))] {
            members.push(Member::new(slot, dialect, false, Sequence::default()));
            list.push(slot);
            if let Some(place) = removed {
                members.swap_remove(place);
                list.swap_remove(place);
            }
            assert_eq!(slots(&members), list);
            assert_eq!(members.bytes(0) > 0, list.len() > 1, "{list:?}");
        }
        while !list.is_empty() {
            members.swap_remove(0);
            list.swap_remove(0);
            assert_eq!((slots(&members), members.bytes(0) > 0), (list.clone(), list.len() > 1));
        }
    }

    #[test]
    fn a_crowd_that_left_gives_its_memory_back() {
        let dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };
        let mut members = Members::default();
        (0..100_000).for_each(|slot| members.push(Member::new(slot, dialect, false, Sequence::default())));
        let crowd = members.bytes(0);
        (0..99_000).for_each(|_| members.swap_remove(0));
        assert!(members.bytes(0) < crowd / 20, "{} of {crowd} bytes", members.bytes(0));
    }
}
