//! Publications of this node on ephemeral topics that other nodes did not get, or may not have: the topics to report to
//! them, and when the last loss occurred. The publications themselves are not stored.
//!
//! Every publication has a [`LossGuard`]; dropping it before the publication has arrived records a loss.

use crate::limits::{LOST_TOPICS_BYTES_MAX, LOST_TOPICS_MAX};
use crate::status::Numbers;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The losses of one node; they outlive sessions.
pub(crate) struct Losses {
    topics: Mutex<Topics>,
    noted: Notify,
    numbers: Arc<Numbers>,
}

/// Topics with the time of the last loss that other nodes have not been informed of.
#[derive(Default)]
struct Topics {
    lost: BTreeMap<Arc<str>, Instant>,
    name_bytes: usize,
}

/// A message in transit to the other nodes: a publication, or a notice of losses.
pub(crate) struct LossGuard {
    losses: Arc<Losses>,
    topic: Arc<str>,
    /// The time of the loss that a notice reports; `None` for a publication.
    tells_of: Option<Instant>,
    has_arrived: bool,
}

impl Losses {
    pub(crate) fn new(numbers: Arc<Numbers>) -> Arc<Losses> {
        Arc::new(Losses { topics: Mutex::default(), noted: Notify::new(), numbers })
    }

    /// Records the loss of a publication.
    pub(crate) fn lose(&self, topic: &Arc<str>) {
        self.numbers.lost.fetch_add(1, Relaxed);
        self.note(topic, Instant::now());
    }

    /// Waits until a loss is recorded that nobody has waited for yet.
    pub(crate) async fn noted(&self) {
        self.noted.notified().await;
    }

    /// Starts the passage of a publication.
    pub(crate) fn publication(self: &Arc<Losses>, topic: &Arc<str>) -> LossGuard {
        self.passage(topic.clone(), None)
    }

    /// Takes the losses to report to other nodes now.
    pub(crate) fn take(self: &Arc<Losses>) -> Vec<LossGuard> {
        let topics = std::mem::take(&mut *self.topics.lock().unwrap_or_else(PoisonError::into_inner));
        topics.lost.into_iter().map(|(topic, at)| self.passage(topic, Some(at))).collect()
    }

    fn passage(self: &Arc<Losses>, topic: Arc<str>, tells_of: Option<Instant>) -> LossGuard {
        LossGuard { losses: self.clone(), topic, tells_of, has_arrived: false }
    }

    fn note(&self, topic: &Arc<str>, at: Instant) {
        if self.topics.lock().unwrap_or_else(PoisonError::into_inner).note(topic, at) {
            self.noted.notify_one();
        } else if self.numbers.untold.fetch_add(1, Relaxed) == 0 {
            tracing::warn!(
                "broadcasts on too many topics could not reach other nodes: some of their members will not be told \
                 of the loss; `throng_bus_untold_total` counts further ones"
            );
        }
    }
}

impl Topics {
    /// Returns `false` if there is no room for the topic.
    fn note(&mut self, topic: &Arc<str>, at: Instant) -> bool {
        let (len, bytes) = (self.lost.len(), self.name_bytes + topic.len());
        match self.lost.entry(topic.clone()) {
            Entry::Occupied(mut last) => *last.get_mut() = at.max(*last.get()),
            Entry::Vacant(_) if len >= LOST_TOPICS_MAX || bytes > LOST_TOPICS_BYTES_MAX => return false,
            Entry::Vacant(place) => {
                place.insert(at);
                self.name_bytes = bytes;
            }
        }
        true
    }
}

impl LossGuard {
    pub(crate) fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// Returns how long ago the loss occurred that a notice reports.
    pub(crate) fn age(&self) -> Duration {
        self.tells_of.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Marks the message as received by the engine.
    pub(crate) fn arrive(mut self) {
        self.has_arrived = true;
    }
}

impl Drop for LossGuard {
    fn drop(&mut self) {
        match self.tells_of {
            _ if self.has_arrived => {}
            Some(at) => self.losses.note(&self.topic, at),
            None => self.losses.lose(&self.topic),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    fn losses() -> (Arc<Losses>, Status) {
        let status = Status::new();
        (Losses::new(status.numbers().clone()), status)
    }

    fn topics(passages: &[LossGuard]) -> Vec<&str> {
        passages.iter().map(|passage| &*passage.topic).collect()
    }

    fn arrive(passages: Vec<LossGuard>) {
        passages.into_iter().for_each(LossGuard::arrive);
    }

    #[test]
    fn what_does_not_arrive_is_told_once_for_each_topic() {
        let (losses, status) = losses();
        for topic in ["a", "b", "a"] {
            drop(losses.publication(&topic.into()));
        }
        losses.publication(&"c".into()).arrive();
        let told = losses.take();
        assert_eq!(topics(&told), ["a", "b"]);
        arrive(told);
        assert_eq!(topics(&losses.take()), [""; 0]);
        assert_eq!((status.snapshot().lost_total, status.snapshot().untold_total), (3, 0));
    }

    #[test]
    fn what_could_not_be_told_is_told_later_with_the_time_of_the_last() {
        let (losses, status) = losses();
        losses.lose(&"a".into());
        let first = losses.take();
        let at = first[0].tells_of.expect("it tells of a loss");
        drop(first);
        assert_eq!(losses.take()[0].tells_of, Some(at), "as old as before");
        let untold = losses.take();
        losses.lose(&"a".into());
        drop(untold);
        let again = losses.take();
        assert!(again[0].tells_of > Some(at), "the newer one counts");
        assert_eq!(status.snapshot().lost_total, 2);
        arrive(again);
    }

    #[test]
    fn topics_beyond_the_bounds_are_counted() {
        let (losses, status) = losses();
        for number in 0..LOST_TOPICS_MAX + 3 {
            losses.lose(&format!("{number}").into());
        }
        losses.lose(&"0".into());
        assert_eq!(losses.take().len(), LOST_TOPICS_MAX);
        assert_eq!(status.snapshot().untold_total, 3, "one that is known needs no room");
    }

    #[test]
    fn long_names_take_the_room_of_many() {
        let (losses, status) = losses();
        let long = "x".repeat(LOST_TOPICS_BYTES_MAX / 2);
        for first in ["a", "b", ""] {
            losses.lose(&format!("{first}{}", &long[1..]).into());
        }
        assert_eq!((losses.take().len(), status.snapshot().untold_total), (2, 1));
    }
}
