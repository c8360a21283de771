//! The requests to a session: those of the hubs as they arrive, and notices of losses to other nodes, a bounded number
//! at a time.

use crate::limits::{LOST_GATHERED, LOST_TOLD_INTERVAL, LOST_TOLD_MAX};
use crate::losses::{LossGuard, Losses};
use crate::port::RequestReceiver;
use hub::{BusEffect, ShardIndex};
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// One request.
pub(crate) enum Request {
    /// An effect of a hub.
    Effect {
        shard: ShardIndex,
        effect: BusEffect,
        /// The passage of an ephemeral publication.
        passage: Option<LossGuard>,
    },
    /// A notice to other nodes that publications on this topic are lost to them.
    Lost(LossGuard),
}

/// The source of requests. It outlives sessions.
pub(crate) struct Requests {
    requests: RequestReceiver,
    losses: Arc<Losses>,
    /// Losses that are being reported.
    round: Vec<LossGuard>,
    /// When the next ones are to be reported.
    turn: Option<Instant>,
}

impl Requests {
    pub(crate) fn new(requests: RequestReceiver, losses: Arc<Losses>) -> Requests {
        Requests { requests, losses, round: Vec::new(), turn: None }
    }

    /// Begins a session: earlier losses are reported at once.
    pub(crate) fn begin(&mut self) {
        self.turn = Some(Instant::now());
    }

    /// Ends a session: losses that were not reported are reported in the next one, together with later ones.
    pub(crate) fn pause(&mut self) {
        self.round.clear();
        self.turn = None;
    }

    /// Returns the next requests, possibly none; `None` when no hub is left.
    pub(crate) async fn next(&mut self) -> Option<Vec<Request>> {
        let Requests { requests, losses, turn, .. } = self;
        tokio::select! {
            biased;
            // This branch is rarely ready, so the hubs are not delayed.
            () = due(losses, turn) => Some(self.losses_of_this_turn()),
            effects = requests.recv() => Some(self.of_hubs(effects?)),
        }
    }

    /// Runs a future while the engine cannot be used. Meanwhile it discards the requests of the hubs: those that were
    /// in transit when the hubs were informed, and publications, which the hubs still make. Returns `None` when no hub
    /// is left.
    pub(crate) async fn discarding<T>(&mut self, doing: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(doing);
        loop {
            tokio::select! {
                done = &mut doing => return Some(done),
                effects = self.requests.recv() => drop(self.of_hubs(effects?)),
            }
        }
    }

    fn of_hubs(&self, (shard, effects): (ShardIndex, Vec<BusEffect>)) -> Vec<Request> {
        let request = |effect| {
            let passage = match &effect {
                BusEffect::Publish(publication) => Some(self.losses.publication(&publication.topic)),
                _ => None,
            };
            Request::Effect { shard, effect, passage }
        };
        effects.into_iter().map(request).collect()
    }

    fn losses_of_this_turn(&mut self) -> Vec<Request> {
        if self.round.is_empty() {
            self.round = self.losses.take();
        }
        let rest = self.round.len().saturating_sub(LOST_TOLD_MAX);
        let now = self.round.split_off(rest);
        self.turn = (rest > 0).then(|| Instant::now() + LOST_TOLD_INTERVAL);
        now.into_iter().map(Request::Lost).collect()
    }
}

/// Waits for the next turn. If none is scheduled, waits for a loss, and then a moment to gather further ones.
async fn due(losses: &Losses, turn: &mut Option<Instant>) {
    let at = match *turn {
        Some(at) => at,
        None => {
            losses.noted().await;
            *turn.insert(Instant::now() + LOST_GATHERED)
        }
    };
    sleep_until(at).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LOST_TOPICS_MAX;
    use crate::status::Status;
    use hub::{Micros, Outgoing, Publication};
    use std::time::Duration;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    type Hubs = UnboundedSender<(ShardIndex, Vec<BusEffect>)>;

    fn requests() -> (Hubs, Arc<Losses>, Requests) {
        let (hubs, receiver) = unbounded_channel();
        let losses = Losses::new(Status::new().numbers().clone());
        (hubs, losses.clone(), Requests::new(receiver, losses))
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(test);
    }

    fn publish(hubs: &Hubs, topic: &str) {
        let payload = Outgoing::Json("1".into());
        let (topic, event, received, place) = (topic.into(), "said".into(), Micros(0), None);
        let publication = Arc::new(Publication { topic, event, payload, received, place });
        hubs.send((ShardIndex(0), vec![BusEffect::Publish(publication)])).expect("it is taken");
    }

    /// Returns the topics of the losses that are reported next; nothing else may be requested.
    async fn told(requests: &mut Requests) -> Vec<String> {
        let mut told = Vec::new();
        for request in requests.next().await.expect("somebody is there") {
            let Request::Lost(passage) = request else { panic!("nobody wants anything") };
            told.push(passage.topic().to_string());
            passage.arrive();
        }
        told
    }

    #[test]
    fn what_is_published_while_the_engine_is_away_is_told_when_a_session_begins() {
        run(async {
            let (hubs, _, mut requests) = requests();
            for topic in ["a", "b", "a"] {
                publish(&hubs, topic);
            }
            requests.discarding(tokio::time::sleep(Duration::from_millis(20))).await;
            requests.begin();
            let mut topics = told(&mut requests).await;
            topics.sort();
            assert_eq!(topics, ["a", "b"]);
        });
    }

    #[test]
    fn what_is_lost_in_a_session_is_gathered_and_requests_go_on_meanwhile() {
        run(async {
            let (hubs, losses, mut requests) = requests();
            requests.begin();
            assert_eq!(told(&mut requests).await, [""; 0]);
            losses.lose(&"a".into());
            publish(&hubs, "b");
            let began = Instant::now();
            for request in requests.next().await.expect("somebody is there") {
                let Request::Effect { passage: Some(passage), .. } = request else { panic!("a publication") };
                assert_eq!(&**passage.topic(), "b");
                passage.arrive();
            }
            losses.lose(&"c".into());
            let mut topics = told(&mut requests).await;
            topics.sort();
            assert_eq!(topics, ["a", "c"]);
            assert!(began.elapsed() >= LOST_GATHERED);
        });
    }

    #[test]
    fn many_are_told_some_at_a_time_and_the_rest_in_the_next_session() {
        run(async {
            let (_hubs, losses, mut requests) = requests();
            for number in 0..LOST_TOPICS_MAX {
                losses.lose(&format!("{number}").into());
            }
            requests.begin();
            let (began, mut topics) = (Instant::now(), told(&mut requests).await);
            topics.extend(told(&mut requests).await);
            assert_eq!(topics.len(), 2 * LOST_TOLD_MAX);
            assert!(began.elapsed() >= LOST_TOLD_INTERVAL);
            requests.pause();
            requests.begin();
            while topics.len() < LOST_TOPICS_MAX {
                topics.extend(told(&mut requests).await);
            }
            topics.sort();
            topics.dedup();
            assert_eq!(topics.len(), LOST_TOPICS_MAX, "each once");
        });
    }

    #[test]
    fn requests_end_with_those_who_have_them() {
        run(async {
            let (hubs, _, mut requests) = requests();
            drop(hubs);
            assert!(requests.next().await.is_none());
            assert!(requests.discarding(std::future::pending::<()>()).await.is_none());
        });
    }
}
