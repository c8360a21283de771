//! Mail that is posted together: each shard is woken once for all of it, when the last piece is there.
//!
//! A shard that is woken by the first piece handles that alone and sleeps again, if it is quicker than who posts: the next
//! piece costs it another turn, and a client that both concern another write.

use crate::mailbox::Bell;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// While it exists, mail that its thread posts wakes nobody; when it is dropped, every shard that was posted something and
/// sleeps is woken. Of several on one thread, it is the first that wakes them. Keep it for as long as it takes to post, and
/// no longer: what was posted waits.
#[derive(Debug)]
#[must_use = "it is over when it is dropped"]
pub struct Together {
    // It is its thread's.
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
    /// Begins.
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

/// Rings, or notes that it is to be done at the end of what this thread posts together.
pub(crate) fn ring(bell: &Arc<Bell>) {
    let is_held = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        if held.depth > 0 && held.bells.iter().all(|known| !Arc::ptr_eq(known, bell)) {
            held.bells.push(bell.clone());
        }
        held.depth > 0
    });
    // A thread that ends has nothing left to post together.
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
