//! The order of messages that have to wait before they are stored.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

/// Stores the messages of one join in the order in which they came, even if some have to wait for permission.
#[derive(Default)]
pub(super) struct Turns {
    /// Closes when the last message that came has been submitted to the store, or never will be.
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// A message's place in the order. The next one proceeds when this one has been [taken](Turn::take) or dropped.
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _next: oneshot::Sender<()>,
}

impl Turns {
    /// Returns the place after all that came before.
    pub(super) fn next(&self) -> Turn {
        let (sender, receiver) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(receiver);
        Turn { before, _next: sender }
    }

    /// Returns whether nobody is waiting: only then may a message skip taking a turn.
    pub(super) fn are_free(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = last.as_mut().is_some_and(|last| last.try_recv() == Err(TryRecvError::Empty));
        if !waits {
            *last = None;
        }
        !waits
    }
}

impl Turn {
    /// Acts after all earlier turns have, if permitted, with the result of the permission. A refused one waits all the
    /// same: if its turn ended before the one ahead, the next one would overtake that.
    ///
    /// # Errors
    /// As `permission`.
    pub(super) async fn take<P, T, E>(
        self,
        permission: impl Future<Output = Result<P, E>>,
        act: impl FnOnce(P) -> T,
    ) -> Result<T, E> {
        let permitted = permission.await;
        if let Some(before) = self.before {
            // Nothing is ever sent: it waits for the other end to be dropped.
            let _ = before.await;
        }
        permitted.map(act)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::run;
    use std::cell::RefCell;
    use std::future::ready;

    #[test]
    fn who_came_later_goes_later_though_it_was_ready_before() {
        run(async {
            let (turns, order) = (Turns::default(), RefCell::new(Vec::new()));
            let (first, second) = (turns.next(), turns.next());
            let (permit, permission) = oneshot::channel::<()>();
            let first = first.take(permission, |()| order.borrow_mut().push(1));
            let second = async {
                let permission = async {
                    permit.send(()).expect("the first waits");
                    Ok(())
                };
                second.take(permission, |()| order.borrow_mut().push(2)).await
            };
            let (second, first) = tokio::join!(second, first);
            assert_eq!((first, second), (Ok(()), Ok::<(), ()>(())));
            assert_eq!(order.into_inner(), [1, 2]);
        });
    }

    #[test]
    fn who_is_refused_lets_nobody_past_those_who_came_before() {
        run(async {
            let (turns, order) = (Turns::default(), RefCell::new(Vec::new()));
            let (first, second, third) = (turns.next(), turns.next(), turns.next());
            let (permit, permission) = oneshot::channel::<()>();
            let first = first.take(permission, |()| order.borrow_mut().push(1));
            let second = second.take(ready(Err("refused")), |()| order.borrow_mut().push(2));
            let third = third.take(ready(Ok::<(), &str>(())), |()| order.borrow_mut().push(3));
            // It is permitted only after the others had a chance to run.
            let late = async {
                tokio::task::yield_now().await;
                permit.send(()).expect("the first waits");
            };
            let (first, second, third, ()) = tokio::join!(first, second, third, late);
            assert_eq!((first, second, third), (Ok(()), Err("refused"), Ok(())));
            assert_eq!(order.into_inner(), [1, 3]);
        });
    }

    #[test]
    fn who_goes_away_holds_up_nobody() {
        run(async {
            let turns = Turns::default();
            drop(turns.next());
            assert!(turns.are_free());
            assert_eq!(turns.next().take(ready(Ok::<(), ()>(())), |()| 1).await, Ok(1));
        });
    }

    #[test]
    fn the_way_is_free_when_nobody_waits() {
        run(async {
            let turns = Turns::default();
            assert!(turns.are_free());
            let (first, second) = (turns.next(), turns.next());
            assert!(!turns.are_free());
            first.take(ready(Ok::<(), ()>(())), |()| ()).await.expect("permitted");
            assert!(!turns.are_free());
            second.take(ready(Ok::<(), ()>(())), |()| ()).await.expect("permitted");
            assert!(turns.are_free());
        });
    }
}
