//! Hashing of names that clients choose.
//!
//! SipHash with a secret prefix, which the driver draws at the start: outsiders cannot construct colliding names, and a
//! simulation with the same seed behaves the same. All shards of a node must share the secret, since it also decides
//! each topic's home.

use crate::ids::ShardIndex;
use std::hash::{BuildHasher, DefaultHasher, Hasher};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretHash(pub(crate) u64);

impl BuildHasher for SecretHash {
    type Hasher = DefaultHasher;
    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

impl SecretHash {
    /// Returns the shard that keeps a topic's directory entry and presence.
    pub(crate) fn home(self, topic: &str, shards: u16) -> ShardIndex {
        ShardIndex((self.of(topic) % u64::from(shards)) as u16)
    }

    pub(crate) fn of(self, text: &str) -> u64 {
        self.hash_one(text)
    }
}
