//! The order of messages that wait before they are stored.

use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// Messages of one join that wait for somebody's leave are stored in the order in which they came.
#[derive(Default)]
pub(super) struct Turns {
    /// Ends when the last one that came has been asked of the store, or never will be.
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// One message's place in the order. Dropped, it lets the next one go.
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _next: oneshot::Sender<()>,
}

impl Turns {
    /// The place behind all that came before.
    pub(super) fn next(&self) -> Turn {
        let (sender, receiver) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(receiver);
        Turn { before, _next: sender }
    }
}

impl Turn {
    /// Waits until it is this one's turn.
    pub(super) async fn comes(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: that the other end is gone is what is waited for.
            let _ = before.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::run;

    #[test]
    fn who_came_later_goes_later_though_it_was_ready_before() {
        run(async {
            let turns = Turns::default();
            let (mut first, mut second) = (turns.next(), turns.next());
            let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
            let told = sender.clone();
            let late = tokio::spawn(async move {
                second.comes().await;
                told.send(2).expect("the test listens");
            });
            tokio::task::yield_now().await;
            first.comes().await;
            sender.send(1).expect("the test listens");
            drop(first);
            late.await.expect("no panic");
            assert_eq!((order.recv().await, order.recv().await), (Some(1), Some(2)));
        });
    }

    #[test]
    fn who_goes_away_holds_up_nobody() {
        run(async {
            let turns = Turns::default();
            drop(turns.next());
            turns.next().comes().await;
        });
    }
}
