//! Publications on a recoverable topic that arrived before the hub knows the topic's position.

use crate::limits::{HELD_BYTES_MAX, HELD_LEN_MAX};
use hub::{Ordered, SubscriptionId};

pub(crate) struct Held {
    /// The subscription that has to be answered first.
    pub(crate) subscription: SubscriptionId,
    ordered: Vec<Ordered>,
    bytes: usize,
    /// A publication had no room, so later ones are of no use.
    is_full: bool,
}

impl Held {
    pub(crate) fn new(subscription: SubscriptionId) -> Held {
        Held { subscription, ordered: Vec::new(), bytes: 0, is_full: false }
    }

    /// Appends a publication while there is room.
    pub(crate) fn hold(&mut self, ordered: Ordered) {
        let bytes = self.bytes + ordered.bytes();
        self.is_full |= self.ordered.len() >= HELD_LEN_MAX || bytes > HELD_BYTES_MAX;
        if !self.is_full {
            self.bytes = bytes;
            self.ordered.push(ordered);
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Ordered> {
        std::mem::take(&mut self.ordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub::{Draft, Epoch, Micros, Outgoing, Position};

    fn ordered(offset: u64, bytes: usize) -> Ordered {
        let position = Position { epoch: Epoch::new("e").expect("an epoch"), offset };
        let payload = Outgoing::Json("1".repeat(bytes).into());
        let (topic, event) = ("a".into(), "said".into());
        Ordered {
            position,
            previous: offset - 1,
            draft: Draft { topic, event, payload, received: Micros(0), except: None },
        }
    }

    fn held(sizes: impl IntoIterator<Item = usize>) -> Vec<u64> {
        let mut held = Held::new(SubscriptionId(1));
        for (offset, bytes) in (1..).zip(sizes) {
            held.hold(ordered(offset, bytes));
        }
        held.take().iter().map(|ordered| ordered.position.offset).collect()
    }

    #[test]
    fn the_oldest_are_held_within_both_bounds_and_without_a_hole() {
        assert_eq!(held([1; HELD_LEN_MAX + 9]).len(), HELD_LEN_MAX);
        assert_eq!(held([HELD_BYTES_MAX / 3, HELD_BYTES_MAX / 3, HELD_BYTES_MAX / 2, 1]), [1, 2]);
        assert_eq!(held([HELD_BYTES_MAX, 1]), [0; 0]);
    }
}
