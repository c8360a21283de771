//! What a tick sends: bytes copied into one arena, and bytes shared with others, in order per connection.
//!
//! The memory belongs to the shard and is reused in each tick, so staging a message allocates nothing.

use std::ops::Range;

use bytes::Bytes;

use crate::connection::UNTOUCHED;
use crate::driver::ConnectionId;

/// Copies for one connection are merged into one piece up to this size. A piece that is partly sent must be sent to its
/// end, so a larger one would delay the last message to a slow reader.
const MERGED_PIECE_BYTES_MAX: usize = 32 * 1024;

/// The end of a connection's list of pieces.
const NO_PIECE: u32 = u32::MAX;
/// Memory that the arena keeps from one tick to the next, in bytes.
const ARENA_KEPT_BYTES_MAX: usize = 128 * 1024;
/// Entries that each list keeps from one tick to the next.
const ENTRIES_KEPT_MAX: usize = 2048;

/// Everything staged since the last flush.
#[derive(Default)]
pub(crate) struct Staging {
    arena: Vec<u8>,
    pieces: Vec<Piece>,
    touched: Vec<Touched>,
}

struct Piece {
    content: Content,
    next: u32,
}

enum Content {
    Arena(Range<usize>),
    Shared(Bytes),
}

/// A connection that the flush has to visit.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub(crate) id: ConnectionId,
    first: u32,
    last: u32,
}

impl Staging {
    /// Copies `bytes` for the connection whose index among the touched ones is `staged`.
    pub(crate) fn copy(&mut self, id: ConnectionId, staged: &mut u32, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let start = self.arena.len();
        self.arena.extend_from_slice(bytes);
        let end = self.arena.len();
        let last = self.touch(id, staged).last;
        if let Some(Piece { content: Content::Arena(range), .. }) = self.pieces.get_mut(last as usize)
            && range.end == start
            && end - range.start <= MERGED_PIECE_BYTES_MAX
        {
            range.end = end;
            return;
        }
        self.append(*staged, Content::Arena(start..end));
    }

    /// Stages `bytes` without copying them.
    pub(crate) fn share(&mut self, id: ConnectionId, staged: &mut u32, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.touch(id, staged);
        self.append(*staged, Content::Shared(bytes));
    }

    /// Ensures that the flush visits the connection, even with nothing to send.
    pub(crate) fn touch(&mut self, id: ConnectionId, staged: &mut u32) -> Touched {
        if *staged == UNTOUCHED {
            *staged = self.touched.len() as u32;
            self.touched.push(Touched { id, first: NO_PIECE, last: NO_PIECE });
        }
        self.touched[*staged as usize]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Returns the copied bytes plus the size of the staged pieces, as one measure of the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.len() + self.pieces.len() * size_of::<Piece>()
    }

    /// Returns the memory kept, in bytes.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.arena.capacity()
            + self.pieces.capacity() * size_of::<Piece>()
            + self.touched.capacity() * size_of::<Touched>()
    }

    pub(crate) fn touched(&self) -> &[Touched] {
        &self.touched
    }

    /// Returns what is staged for one connection, in order.
    pub(crate) fn pieces(&self, touched: Touched) -> impl Iterator<Item = Staged<'_>> {
        let mut next = touched.first;
        std::iter::from_fn(move || {
            let piece = self.pieces.get(next as usize)?;
            next = piece.next;
            Some(match &piece.content {
                Content::Arena(range) => Staged::Copied(&self.arena[range.clone()]),
                Content::Shared(bytes) => Staged::Shared(bytes),
            })
        })
    }

    /// Clears everything and keeps a bounded part of the memory.
    pub(crate) fn clear(&mut self) {
        self.arena.clear();
        self.pieces.clear();
        self.touched.clear();
        if self.arena.capacity() > ARENA_KEPT_BYTES_MAX {
            self.arena.shrink_to(ARENA_KEPT_BYTES_MAX);
        }
        if self.pieces.capacity() > ENTRIES_KEPT_MAX {
            self.pieces.shrink_to(ENTRIES_KEPT_MAX);
        }
        if self.touched.capacity() > ENTRIES_KEPT_MAX {
            self.touched.shrink_to(ENTRIES_KEPT_MAX);
        }
    }

    fn append(&mut self, staged: u32, content: Content) {
        let place = self.pieces.len() as u32;
        self.pieces.push(Piece { content, next: NO_PIECE });
        let touched = &mut self.touched[staged as usize];
        if touched.first == NO_PIECE {
            touched.first = place;
        } else {
            self.pieces[touched.last as usize].next = place;
        }
        touched.last = place;
    }
}

/// One run of bytes to write.
#[derive(Clone, Copy)]
pub(crate) enum Staged<'a> {
    Copied(&'a [u8]),
    Shared(&'a Bytes),
}

impl<'a> Staged<'a> {
    pub(crate) fn as_slice(self) -> &'a [u8] {
        match self {
            Staged::Copied(bytes) => bytes,
            Staged::Shared(bytes) => bytes,
        }
    }

    /// Returns the bytes from `start` on, to be kept beyond the tick.
    pub(crate) fn keep_from(self, start: usize) -> Bytes {
        match self {
            Staged::Copied(bytes) => Bytes::copy_from_slice(&bytes[start..]),
            Staged::Shared(bytes) => bytes.slice(start..),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_said_in_a_row_to_one_connection_is_one_piece() {
        let mut staging = Staging::default();
        let id = ConnectionId { slot: 1, generation: 0 };
        let mut staged = UNTOUCHED;
        for _ in 0..16 {
            staging.copy(id, &mut staged, b"echo");
        }
        let touched = staging.touched()[0];
        assert_eq!(staging.touched().len(), 1);
        assert_eq!(staging.pieces(touched).count(), 1);
        assert_eq!(staging.pieces(touched).next().map(|piece| piece.as_slice().len()), Some(64));
    }

    proptest! {
        #[test]
        fn each_connection_finds_its_bytes_in_order(
            says in prop::collection::vec((0u32..4, any::<bool>(), prop::collection::vec(any::<u8>(), 0..5)), 0..60),
        ) {
            let mut staging = Staging::default();
            let mut staged = [UNTOUCHED; 4];
            let mut expected = vec![Vec::new(); 4];
            for (slot, shared, bytes) in says {
                let id = ConnectionId { slot, generation: 0 };
                let staged = &mut staged[slot as usize];
                expected[slot as usize].extend_from_slice(&bytes);
                if shared {
                    staging.share(id, staged, Bytes::from(bytes));
                } else {
                    staging.copy(id, staged, &bytes);
                }
            }
            let mut found = vec![Vec::new(); 4];
            for touched in staging.touched().iter().copied() {
                for piece in staging.pieces(touched) {
                    found[touched.id.slot as usize].extend_from_slice(piece.as_slice());
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
