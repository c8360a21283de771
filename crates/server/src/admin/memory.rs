//! The memory of the whole server: the gateway's components, and those of the messenger: its read cache and its people.

use gateway::{Component, Handle, MemorySnapshot};
use messenger::Messenger;

/// Returns the current memory.
pub(super) fn snapshot(handle: &Handle, messenger: &Messenger) -> MemorySnapshot {
    let mut memory = handle.memory();
    memory.enter(Component::StoreCache, messenger.cache_bytes());
    memory.enter(Component::People, messenger.people_bytes());
    memory
}
