//! Where a publication stands in the order of its topic, and who is left out.

use crate::base64_id::Base64Id;
use crate::hashing::SecretHash;
use crate::ids::{JoinInstance, ShardIndex};
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Names one life of a topic's order. Offsets of different epochs say nothing about each other.
///
/// ```
/// use hub::Epoch;
/// assert!(Epoch::new("AAAAAQAAAAAAAAAB").is_some());
/// assert!(Epoch::new("").is_none() && Epoch::new("a\"b").is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Epoch(Arc<str>);

impl Epoch {
    /// One to 64 letters, digits, `-`, `_`, `.` and `:`; these stand in JSON as they are.
    pub fn new(text: &str) -> Option<Epoch> {
        let sound = (1..=EPOCH_BYTES_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        sound.then(|| Epoch(text.into()))
    }

    /// Its characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const EPOCH_BYTES_MAX: usize = 64;

/// A point in a topic's order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// In which life of the topic.
    pub epoch: Epoch,
    /// The newest publication; 0 before the first.
    pub offset: u64,
}

/// A publication's own place in its topic's order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// In which life of the topic.
    pub epoch: Epoch,
    /// From 1, growing, at most 2^53 so that JavaScript keeps it; not always by one.
    pub offset: u64,
    /// The offset of the publication before it; 0 if it is the first.
    pub previous: u64,
    /// Who is not to be given it, now and in a recovery.
    pub except: Option<PublisherId>,
}

/// A client's name as a publisher: told in the reply to its join, and handed back when it recovers, so that what it
/// published for the others only is kept from it then, too. 16 characters of URL-safe base64 that nobody can guess.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(Base64Id);

impl PublisherId {
    /// The name of a join that handed none back.
    pub(crate) fn of(hash: SecretHash, shard: ShardIndex, instance: JoinInstance) -> PublisherId {
        let half = |place: u8| hash.hash_one(("publisher", place, shard.0, instance.0)).to_be_bytes();
        let mut raw = [0; 12];
        raw[..8].copy_from_slice(&half(0));
        raw[8..].copy_from_slice(&half(1)[..4]);
        PublisherId(Base64Id::new(raw))
    }

    /// One that a client hands back.
    pub fn parse(text: &str) -> Option<PublisherId> {
        Base64Id::parse(text).map(PublisherId)
    }

    /// Its characters.
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
