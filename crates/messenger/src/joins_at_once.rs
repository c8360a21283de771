//! How many joins of a community are under way at once.
//!
//! A join that is under way holds kilobytes, here and in the store's queue. When a crowd comes, most of its joins wait
//! for the store; they wait here, with a few hundred bytes each, and go on in the order in which they came. Each
//! community has its own count: one whose site or crowd is slow holds up nobody else's joins.

use chat::CommunityId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Joins of a community that may be under way at once: far more than a store works on at a time.
pub(crate) const JOINS_AT_ONCE_MAX: usize = 512;

/// See the module.
#[derive(Default)]
pub(crate) struct JoinsAtOnce {
    /// Communities with joins, under way or waiting.
    communities: Mutex<HashMap<CommunityId, Arc<Semaphore>>>,
    waiting: AtomicUsize,
}

/// One join's permission to be under way, or its place among those that wait.
pub(crate) struct JoinTurn {
    joins: Arc<JoinsAtOnce>,
    community: CommunityId,
    /// `None` while it waits.
    permit: Option<OwnedSemaphorePermit>,
}

impl JoinsAtOnce {
    /// Waits until a join of the community may begin. It is under way until the returned value is dropped.
    pub(crate) async fn turn(self: Arc<Self>, community: CommunityId) -> JoinTurn {
        let semaphore = self.semaphore(&community);
        // Made before anything is awaited: whoever gives up while they wait is forgotten, too.
        self.waiting.fetch_add(1, Relaxed);
        let mut turn = JoinTurn { joins: self, community, permit: None };
        // It is never closed.
        turn.permit = semaphore.acquire_owned().await.ok();
        turn.joins.waiting.fetch_sub(usize::from(turn.permit.is_some()), Relaxed);
        turn
    }

    /// Returns how many joins wait, of all communities together.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    fn semaphore(&self, community: &CommunityId) -> Arc<Semaphore> {
        let mut communities = self.communities();
        let new = || Arc::new(Semaphore::new(JOINS_AT_ONCE_MAX));
        communities.entry(community.clone()).or_insert_with(new).clone()
    }

    fn communities(&self) -> MutexGuard<'_, HashMap<CommunityId, Arc<Semaphore>>> {
        self.communities.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for JoinTurn {
    fn drop(&mut self) {
        self.joins.waiting.fetch_sub(usize::from(self.permit.take().is_none()), Relaxed);
        let mut communities = self.joins.communities();
        let is_last = communities.get(&self.community).is_some_and(|joins| Arc::strong_count(joins) == 1);
        if is_last {
            communities.remove(&self.community);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{id, run};
    use futures_util::FutureExt as _;
    use std::pin::pin;
    use tokio::task::unconstrained;

    /// As many joins of the community as may be under way.
    async fn crowd(joins: &Arc<JoinsAtOnce>, community: &str) -> Vec<JoinTurn> {
        let mut under_way = Vec::new();
        for _ in 0..JOINS_AT_ONCE_MAX {
            under_way.push(joins.clone().turn(id(community)).await);
        }
        under_way
    }

    /// The outcome of one poll, which tokio's budget for a task does not end early.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        unconstrained(future).now_or_never()
    }

    #[test]
    fn who_comes_when_many_are_under_way_waits_for_one_of_them_and_only_in_their_own_community() {
        run(async {
            let joins = Arc::new(JoinsAtOnce::default());
            let mut under_way = crowd(&joins, "one").await;
            let (mut first, mut second) =
                (pin!(joins.clone().turn(id("one"))), pin!(joins.clone().turn(id("one"))));
            assert!(now(first.as_mut()).is_none() && now(second.as_mut()).is_none());
            assert!(now(joins.clone().turn(id("two"))).is_some(), "nobody of theirs is under way");
            assert_eq!(joins.waiting(), 2);
            drop(under_way.pop());
            assert!(now(second.as_mut()).is_none(), "another one came before");
            drop(now(first.as_mut()).expect("one has ended"));
            assert!(now(second.as_mut()).is_some());
            assert_eq!(joins.waiting(), 0);
        });
    }

    #[test]
    fn nothing_is_kept_of_a_community_without_joins_even_if_somebody_gave_up() {
        run(async {
            let joins = Arc::new(JoinsAtOnce::default());
            let under_way = crowd(&joins, "one").await;
            {
                let mut gives_up = pin!(joins.clone().turn(id("one")));
                assert!(now(gives_up.as_mut()).is_none());
                drop(under_way);
                assert_eq!(joins.communities().len(), 1, "somebody waits");
            }
            assert!(joins.communities().is_empty() && joins.waiting() == 0);
        });
    }
}
