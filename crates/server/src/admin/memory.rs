//! The memory of the whole server: the gateway's components, those of the messenger (its store, its read cache and its
//! people), and what the allocator keeps.

use super::allocator;
use gateway::{Component, Handle, MemorySnapshot};
use messenger::Messenger;

/// Reads the memory of the whole server.
#[derive(Clone)]
pub(crate) struct WholeMemory {
    handle: Handle,
    messenger: Messenger,
    /// Already contained in the gateway's component `runtime`.
    page_bytes_at_start: u64,
    /// Likewise.
    unused_at_start: u64,
}

impl WholeMemory {
    /// To be called when the gateway has just started.
    pub(crate) fn new(handle: Handle, messenger: Messenger) -> WholeMemory {
        let page_bytes_at_start = messenger.store_page_bytes();
        let unused_at_start = allocator::unused_bytes().unwrap_or_default();
        WholeMemory { handle, messenger, page_bytes_at_start, unused_at_start }
    }

    /// Returns the current memory.
    pub(super) fn snapshot(&self) -> MemorySnapshot {
        let mut memory = self.handle.memory();
        memory.enter(Component::StoreCache, self.messenger.cache_bytes());
        let page_bytes = self.messenger.store_page_bytes().saturating_sub(self.page_bytes_at_start);
        memory.enter(Component::StorePages, page_bytes);
        memory.enter(Component::People, self.messenger.people_bytes());
        if let Some(unused) = allocator::unused_bytes() {
            memory.enter(Component::Allocator, unused.saturating_sub(self.unused_at_start));
        }
        memory
    }
}
