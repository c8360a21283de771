//! How many joins of a community are under way at once.
//!
//! A join that is under way holds kilobytes, here and in the store's queue. When a crowd comes, most of its joins wait
//! for the store; they wait here, with a few hundred bytes each, and go on in the order in which they came. Each
//! community has its own count: one whose site or crowd is slow holds up no other community's joins.
//!
//! A join that has waited too long is refused when its turn comes. Its client has given up, or is about to, and will join
//! again: if all of them were admitted in vain, nobody would come in.

use chat::CommunityId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Joins of a community that may be under way at once: far more than a store works on at a time.
pub(crate) const JOINS_AT_ONCE_MAX: usize = 512;
/// How long a join may wait for its turn. phoenix.js gives up after ten seconds, and the join takes its time, too.
const JOIN_WAIT_MAX: Duration = Duration::from_secs(5);

/// See the module.
pub(crate) struct JoinsAtOnce {
    /// Communities with joins, under way or waiting.
    communities: Mutex<HashMap<CommunityId, Arc<Semaphore>>>,
    wait_max: Duration,
    waiting: AtomicUsize,
    refused: AtomicU64,
}

/// A join waited too long for its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaitedTooLong;

/// One join's permission to be under way, or its place among those that wait.
pub(crate) struct JoinTurn {
    joins: Arc<JoinsAtOnce>,
    community: CommunityId,
    /// `None` while it waits.
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for JoinsAtOnce {
    fn default() -> Self {
        Self::waiting_for(JOIN_WAIT_MAX)
    }
}

impl JoinsAtOnce {
    fn waiting_for(wait_max: Duration) -> Self {
        let communities = Mutex::default();
        Self { communities, wait_max, waiting: AtomicUsize::new(0), refused: AtomicU64::new(0) }
    }

    /// Waits until a join of the community may begin. It is under way until the returned value is dropped.
    ///
    /// # Errors
    /// It took too long.
    pub(crate) async fn turn(self: Arc<Self>, community: CommunityId) -> Result<JoinTurn, WaitedTooLong> {
        let begin = Instant::now();
        let semaphore = self.semaphore(&community);
        // Made before anything is awaited: whoever gives up while they wait is forgotten, too.
        self.waiting.fetch_add(1, Relaxed);
        let mut turn = JoinTurn { joins: self, community, permit: None };
        // It is never closed.
        turn.permit = semaphore.acquire_owned().await.ok();
        turn.joins.waiting.fetch_sub(usize::from(turn.permit.is_some()), Relaxed);
        if begin.elapsed() > turn.joins.wait_max {
            turn.joins.refused.fetch_add(1, Relaxed);
            return Err(WaitedTooLong);
        }
        Ok(turn)
    }

    /// Returns how many joins wait, of all communities together.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// Returns how many joins were refused because they had waited too long.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
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

/// Begins as many joins of the community as may be under way.
#[cfg(test)]
pub(crate) async fn crowd(joins: &Arc<JoinsAtOnce>, community: &CommunityId) -> Vec<JoinTurn> {
    let mut under_way = Vec::new();
    for _ in 0..JOINS_AT_ONCE_MAX {
        under_way.push(joins.clone().turn(community.clone()).await.expect("there is room"));
    }
    under_way
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{id, run};
    use futures_util::FutureExt as _;
    use std::pin::pin;
    use tokio::task::unconstrained;

    /// The outcome of one poll, which tokio's budget for a task does not end early.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        unconstrained(future).now_or_never()
    }

    #[test]
    fn who_comes_when_many_are_under_way_waits_for_one_of_them_and_only_in_their_own_community() {
        run(async {
            let joins = Arc::new(JoinsAtOnce::default());
            let mut under_way = crowd(&joins, &id("one")).await;
            let (mut first, mut second) =
                (pin!(joins.clone().turn(id("one"))), pin!(joins.clone().turn(id("one"))));
            assert!(now(first.as_mut()).is_none() && now(second.as_mut()).is_none());
            assert!(now(joins.clone().turn(id("two"))).is_some(), "nobody of theirs is under way");
            assert_eq!(joins.waiting(), 2);
            drop(under_way.pop());
            assert!(now(second.as_mut()).is_none(), "another one came before");
            drop(now(first.as_mut()).expect("one has ended"));
            assert!(matches!(now(second.as_mut()), Some(Ok(_))));
            assert_eq!((joins.waiting(), joins.refused()), (0, 0));
        });
    }

    #[test]
    fn nothing_is_kept_of_a_community_without_joins_even_if_somebody_gave_up() {
        run(async {
            let joins = Arc::new(JoinsAtOnce::default());
            let under_way = crowd(&joins, &id("one")).await;
            {
                let mut gives_up = pin!(joins.clone().turn(id("one")));
                assert!(now(gives_up.as_mut()).is_none());
                drop(under_way);
                assert_eq!(joins.communities().len(), 1, "somebody waits");
            }
            assert!(joins.communities().is_empty() && joins.waiting() == 0);
        });
    }

    #[test]
    fn who_waited_too_long_is_refused_and_takes_nobodys_turn() {
        run(async {
            let joins = Arc::new(JoinsAtOnce::waiting_for(Duration::ZERO));
            let semaphore = joins.semaphore(&id("one"));
            let permits = semaphore.clone().acquire_many_owned(JOINS_AT_ONCE_MAX as u32).await;
            let mut late = pin!(joins.clone().turn(id("one")));
            assert!(now(late.as_mut()).is_none());
            drop(permits);
            assert!(matches!(now(late.as_mut()), Some(Err(WaitedTooLong))));
            assert_eq!((joins.waiting(), joins.refused()), (0, 1));
            assert_eq!(semaphore.available_permits(), JOINS_AT_ONCE_MAX);
        });
    }
}
