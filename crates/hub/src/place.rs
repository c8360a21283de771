//! The place of a publication in its topic's order, and who is left out.

use crate::base64_id::Base64Id;
use crate::hashing::SecretHash;
use crate::ids::{JoinInstance, ShardIndex};
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Identifies one incarnation of a topic's order. Offsets of different epochs are not comparable.
///
/// ```
/// use hub::Epoch;
/// assert!(Epoch::new("AAAAAQAAAAAAAAAB").is_some());
/// assert!(Epoch::new("").is_none() && Epoch::new("a\"b").is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Epoch(Arc<str>);

impl Epoch {
    /// Accepts 1 to 64 letters, digits, `-`, `_`, `.` and `:`, which need no escaping in JSON.
    pub fn new(text: &str) -> Option<Epoch> {
        let sound = (1..=EPOCH_BYTES_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        sound.then(|| Epoch(text.into()))
    }

    /// Returns its characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const EPOCH_BYTES_MAX: usize = 64;

/// A point in a topic's order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// The epoch of the topic's order.
    pub epoch: Epoch,
    /// The offset of the newest publication; 0 before the first.
    pub offset: u64,
}

/// A publication's own place in its topic's order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The epoch of the topic's order.
    pub epoch: Epoch,
    /// Starts at 1 and increases, not always by one; at most 2^53, so that it is exact in JavaScript.
    pub offset: u64,
    /// The offset of the publication before it; 0 if it is the first.
    pub previous: u64,
    /// The publisher that does not get it, now or in a recovery.
    pub except: Option<PublisherId>,
}

/// A client's id as a publisher. The reply to its join contains it, and the client sends it back when it recovers, so
/// that what it published for the others only is left out then, too. 16 characters of URL-safe base64 that cannot be
/// guessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(Base64Id);

impl PublisherId {
    /// Derives the id of a join that sent none back.
    pub(crate) fn of(hash: SecretHash, shard: ShardIndex, instance: JoinInstance) -> PublisherId {
        let half = |place: u8| hash.hash_one(("publisher", place, shard.0, instance.0)).to_be_bytes();
        let mut raw = [0; 12];
        raw[..8].copy_from_slice(&half(0));
        raw[8..].copy_from_slice(&half(1)[..4]);
        PublisherId(Base64Id::new(raw))
    }

    /// Parses an id that a client sent back.
    pub fn parse(text: &str) -> Option<PublisherId> {
        Base64Id::parse(text).map(PublisherId)
    }

    /// Returns its characters.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for PublisherId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_have_names_of_their_own_that_can_be_handed_back() {
        let name =
            |shard, instance| PublisherId::of(SecretHash(7), ShardIndex(shard), JoinInstance(instance));
        assert_ne!(name(0, 1), name(0, 2));
        assert_ne!(name(0, 1), name(1, 1));
        assert_ne!(name(0, 1), PublisherId::of(SecretHash(8), ShardIndex(0), JoinInstance(1)));
        assert_eq!(PublisherId::parse(name(3, 4).as_str()), Some(name(3, 4)));
        assert_eq!(PublisherId::parse("short"), None);
    }
}
