//! The memory of the whole server: the gateway's, and among its components the messenger's read cache and its people.

use gateway::{Component, Handle, MemorySnapshot};
use messenger::Messenger;

/// The memory of this moment.
pub(super) fn snapshot(handle: &Handle, messenger: &Messenger) -> MemorySnapshot {
    let mut memory = handle.memory();
    memory.enter(Component::StoreCache, messenger.cache_bytes());
    memory.enter(Component::People, messenger.people_bytes());
    memory
}
