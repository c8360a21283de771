//! Mail that is posted together: each shard is woken once for all of it, after the last piece.
//!
//! A shard that is woken by the first piece may handle it and sleep again before the next one is posted. That costs
//! another turn, and a second write to a client that both pieces concern.

use crate::mailbox::Bell;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// While it exists, mail that its thread posts wakes no shard. When it is dropped, every sleeping shard that was posted
/// something is woken; if several exist on a thread, when the first one is dropped. Keep it only while posting: what was
/// posted waits.
#[derive(Debug)]
#[must_use = "shards are woken when it is dropped"]
pub struct Together {
    // Not `Send`: it belongs to its thread.
    thread: PhantomData<*const ()>,
}

struct Held {
    depth: u32,
    bells: Vec<Arc<Bell>>,
}

thread_local! {
    static HELD: RefCell<Held> = const { RefCell::new(Held { depth: 0, bells: Vec::new() }) };
}

impl Together {
    /// Begins to collect the thread's wake-ups.
    pub fn begin() -> Self {
        HELD.with_borrow_mut(|held| held.depth += 1);
        Self { thread: PhantomData }
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            held.depth -= 1;
            if held.depth == 0 {
                held.bells.drain(..).for_each(|bell| bell.ring());
            }
        });
    }
}

/// Rings the bell, now or when the thread's [`Together`] is dropped.
pub(crate) fn ring(bell: &Arc<Bell>) {
    let is_held = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        if held.depth > 0 && held.bells.iter().all(|known| !Arc::ptr_eq(known, bell)) {
            held.bells.push(bell.clone());
        }
        held.depth > 0
    });
    // The thread is ending: nothing is collected any more.
    if !is_held.unwrap_or(false) {
        bell.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bells_ring_once_and_when_the_first_who_holds_them_lets_go() {
        let bells = [(); 2].map(|()| Arc::new(Bell::new().expect("a descriptor")));
        let are_asleep = || bells.each_ref().map(|bell| bell.is_asleep());
        bells.iter().for_each(|bell| bell.announce_sleep());
        let first = Together::begin();
        ring(&bells[0]);
        drop(Together::begin());
        ring(&bells[0]);
        assert_eq!(are_asleep(), [true, true]);
        assert_eq!(HELD.with_borrow(|held| held.bells.len()), 1);
        drop(first);
        assert_eq!(are_asleep(), [false, true], "who was posted nothing sleeps on");
        ring(&bells[1]);
        assert_eq!(are_asleep(), [false, false]);
    }
}
