//! What the kernel has not accepted: a queue of segments, each of whole messages.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

use crate::held::Held;

/// Bytes that wait for one peer to read. It is almost always empty.
#[derive(Default)]
pub(crate) struct Outbox {
    segments: VecDeque<Bytes>,
    bytes: usize,
    /// Part of the first segment was sent, so the rest of it must follow.
    begun: bool,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns how many bytes wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, segment: Bytes, held: &mut Held) {
        if !segment.is_empty() {
            held.hold(&segment);
            self.bytes += segment.len();
            self.segments.push_back(segment);
        }
    }

    /// Pushes the rest of a segment whose first part was sent. The outbox must be empty.
    pub(crate) fn push_begun(&mut self, rest: Bytes, held: &mut Held) {
        debug_assert!(self.is_empty());
        self.push(rest, held);
        self.begun = !self.is_empty();
    }

    /// Returns the first segment, or what is left of it.
    pub(crate) fn first(&self) -> Option<&Bytes> {
        self.segments.front()
    }

    /// Fills `slices` with the segments from the first on, as many as fit, and returns their number.
    pub(crate) fn list<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, segment) in slices.iter_mut().zip(&self.segments) {
            *slice = IoSlice::new(segment);
            count += 1;
        }
        count
    }

    /// Removes `written` bytes, at most as many as are waiting, from the front.
    pub(crate) fn advance(&mut self, mut written: usize, held: &mut Held) {
        self.bytes -= written;
        while written > 0 {
            let Some(segment) = self.segments.front_mut() else { return };
            if written < segment.len() {
                segment.advance(written);
                self.begun = true;
                return;
            }
            written -= segment.len();
            self.begun = false;
            held.release(segment);
            self.segments.pop_front();
        }
    }

    /// Drops every segment of which nothing was sent, and returns the number of bytes dropped.
    pub(crate) fn drop_unbegun(&mut self, held: &mut Held) -> usize {
        let before = self.bytes;
        self.segments.drain(usize::from(self.begun)..).for_each(|segment| held.release(&segment));
        self.bytes = self.segments.iter().map(Bytes::len).sum();
        before - self.bytes
    }

    /// Drops everything; for a connection that is over.
    pub(crate) fn clear(&mut self, held: &mut Held) {
        self.segments.drain(..).for_each(|segment| held.release(&segment));
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_segments_not_begun_are_dropped() {
        let (mut outbox, mut held) = (Outbox::default(), Held::default());
        outbox.push(Bytes::from_static(b"abc"), &mut held);
        outbox.push(Bytes::from_static(b"def"), &mut held);
        outbox.advance(1, &mut held);
        assert_eq!(outbox.drop_unbegun(&mut held), 3);
        assert_eq!(outbox.first().map(|rest| &rest[..]), Some(&b"bc"[..]));
        outbox.advance(2, &mut held);
        outbox.push(Bytes::from_static(b"ghi"), &mut held);
        assert_eq!(outbox.drop_unbegun(&mut held), 3);
        assert!(outbox.is_empty());
        assert_eq!(outbox.bytes(), 0);
    }

    proptest! {
        #[test]
        fn bytes_leave_in_the_order_they_came(
            segments in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..20),
            steps in prop::collection::vec(1usize..12, 0..40),
        ) {
            let (mut outbox, mut held) = (Outbox::default(), Held::default());
            for segment in &segments {
                outbox.push(Bytes::from(segment.clone()), &mut held);
            }
            let expected: Vec<u8> = segments.concat();
            let mut left = Vec::new();
            for step in steps.into_iter().chain(std::iter::repeat(5)) {
                if outbox.is_empty() {
                    break;
                }
                let mut slices = [IoSlice::new(&[]); 3];
                let count = outbox.list(&mut slices);
                let listed: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
                let written = step.min(listed.len());
                left.extend_from_slice(&listed[..written]);
                outbox.advance(written, &mut held);
                prop_assert_eq!(outbox.bytes(), expected.len() - left.len());
            }
            prop_assert_eq!(left, expected);
            prop_assert_eq!(held.bytes(), 0);
        }
    }
}
