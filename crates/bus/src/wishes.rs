//! What a session is given to do: what the hubs want as it comes, and what other nodes are to be told of losses, some at a
//! time.

use crate::limits::{LOST_GATHERED, LOST_TOLD_INTERVAL, LOST_TOLD_MAX};
use crate::losses::{Losses, Passage};
use crate::port::Requests;
use hub::{BusEffect, ShardIndex};
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// One thing to do.
pub(crate) enum Wish {
    /// A hub wants it.
    Effect {
        shard: ShardIndex,
        effect: BusEffect,
        /// That of an ephemeral publication.
        passage: Option<Passage>,
    },
    /// Other nodes are to be told that something on this topic is lost to them.
    Lost(Passage),
}

/// They outlive sessions.
pub(crate) struct Wishes {
    requests: Requests,
    losses: Arc<Losses>,
    /// Losses that are being told.
    round: Vec<Passage>,
    /// When it goes on.
    turn: Option<Instant>,
}

impl Wishes {
    pub(crate) fn new(requests: Requests, losses: Arc<Losses>) -> Wishes {
        Wishes { requests, losses, round: Vec::new(), turn: None }
    }

    /// A session begins: what was lost before it is told at once.
    pub(crate) fn begin(&mut self) {
        self.turn = Some(Instant::now());
    }

    /// A session is over: what has not been told is told in the next, with what is lost until then.
    pub(crate) fn pause(&mut self) {
        self.round.clear();
        self.turn = None;
    }

    /// What is to be done next; `None` if nobody is left who could want something. May be nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<Wish>> {
        let Wishes { requests, losses, turn, .. } = self;
        tokio::select! {
            biased;
            // Not often, so that the hubs are not held up.
            () = due(losses, turn) => Some(self.losses_of_this_turn()),
            wishes = requests.recv() => Some(self.of_hubs(wishes?)),
        }
    }

    /// Does something while nothing can be done of what the hubs want: what was on its way when they were told that the engine
    /// is away, and what they publish all the same. `None` if nobody is left.
    pub(crate) async fn discarding<T>(&mut self, doing: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(doing);
        loop {
            tokio::select! {
                done = &mut doing => return Some(done),
                wishes = self.requests.recv() => drop(self.of_hubs(wishes?)),
            }
        }
    }

    fn of_hubs(&self, (shard, effects): (ShardIndex, Vec<BusEffect>)) -> Vec<Wish> {
        let wish = |effect| {
            let passage = match &effect {
                BusEffect::Publish(publication) => Some(self.losses.publication(&publication.topic)),
                _ => None,
            };
            Wish::Effect { shard, effect, passage }
        };
        effects.into_iter().map(wish).collect()
    }

    fn losses_of_this_turn(&mut self) -> Vec<Wish> {
        if self.round.is_empty() {
            self.round = self.losses.take();
        }
        let rest = self.round.len().saturating_sub(LOST_TOLD_MAX);
        let now = self.round.split_off(rest);
        self.turn = (rest > 0).then(|| Instant::now() + LOST_TOLD_INTERVAL);
        now.into_iter().map(Wish::Lost).collect()
    }
}

/// Waits for the next turn. What is noted when there is none is gathered for a moment.
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

    fn wishes() -> (Hubs, Arc<Losses>, Wishes) {
        let (hubs, requests) = unbounded_channel();
        let losses = Losses::new(Status::new().numbers().clone());
        (hubs, losses.clone(), Wishes::new(requests, losses))
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

    /// Topics of losses that are told; nothing else is wanted.
    async fn told(wishes: &mut Wishes) -> Vec<String> {
        let mut told = Vec::new();
        for wish in wishes.next().await.expect("somebody is there") {
            let Wish::Lost(passage) = wish else { panic!("nobody wants anything") };
            told.push(passage.topic().to_string());
            passage.arrive();
        }
        told
    }

    #[test]
    fn what_is_published_while_the_engine_is_away_is_told_when_a_session_begins() {
        run(async {
            let (hubs, _, mut wishes) = wishes();
            for topic in ["a", "b", "a"] {
                publish(&hubs, topic);
            }
            wishes.discarding(tokio::time::sleep(Duration::from_millis(20))).await;
            wishes.begin();
            let mut topics = told(&mut wishes).await;
            topics.sort();
            assert_eq!(topics, ["a", "b"]);
        });
    }

    #[test]
    fn what_is_lost_in_a_session_is_gathered_and_wishes_go_on_meanwhile() {
        run(async {
            let (hubs, losses, mut wishes) = wishes();
            wishes.begin();
            assert_eq!(told(&mut wishes).await, [""; 0]);
            losses.lose(&"a".into());
            publish(&hubs, "b");
            let began = Instant::now();
            for wish in wishes.next().await.expect("somebody is there") {
                let Wish::Effect { passage: Some(passage), .. } = wish else { panic!("a publication") };
                assert_eq!(&**passage.topic(), "b");
                passage.arrive();
            }
            losses.lose(&"c".into());
            let mut topics = told(&mut wishes).await;
            topics.sort();
            assert_eq!(topics, ["a", "c"]);
            assert!(began.elapsed() >= LOST_GATHERED);
        });
    }

    #[test]
    fn many_are_told_some_at_a_time_and_the_rest_in_the_next_session() {
        run(async {
            let (_hubs, losses, mut wishes) = wishes();
            for number in 0..LOST_TOPICS_MAX {
                losses.lose(&format!("{number}").into());
            }
            wishes.begin();
            let (began, mut topics) = (Instant::now(), told(&mut wishes).await);
            topics.extend(told(&mut wishes).await);
            assert_eq!(topics.len(), 2 * LOST_TOLD_MAX);
            assert!(began.elapsed() >= LOST_TOLD_INTERVAL);
            wishes.pause();
            wishes.begin();
            while topics.len() < LOST_TOPICS_MAX {
                topics.extend(told(&mut wishes).await);
            }
            topics.sort();
            topics.dedup();
            assert_eq!(topics.len(), LOST_TOPICS_MAX, "each once");
        });
    }

    #[test]
    fn wishes_end_with_those_who_have_them() {
        run(async {
            let (hubs, _, mut wishes) = wishes();
            drop(hubs);
            assert!(wishes.next().await.is_none());
            assert!(wishes.discarding(std::future::pending::<()>()).await.is_none());
        });
    }
}
