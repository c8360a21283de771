//! One connection, from when the server has passed all checks until it is away.

use super::line::Line;
use super::liveness::{Beat, BeatKind, Said};
use super::people::read_question;
use super::pump::Pump;
use crate::failure::Failure;
use crate::node_channel;
use crate::queue::queue;
use crate::requests::Requests;
use crate::session::SessionContext;
use async_nats::Subscriber;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

pub(crate) struct Session {
    line: Arc<Line>,
    failures: UnboundedReceiver<Failure>,
    /// Aborted with the session.
    tasks: JoinSet<()>,
}

impl Session {
    pub(crate) fn new(
        (line, tasks): (Arc<Line>, JoinSet<()>),
        failures: UnboundedReceiver<Failure>,
    ) -> Session {
        Session { line, failures, tasks }
    }

    /// Runs until the server is away, and returns why; `None` if no hub is left.
    pub(crate) async fn serve(self, context: &SessionContext, requests: &mut Requests) -> Option<Failure> {
        let Session { line, mut failures, mut tasks } = self;
        let (way, queue) = queue();
        tasks.spawn(line.clone().live());
        tasks.spawn(Pump::new(line, queue).run());
        loop {
            tokio::select! {
                biased;
                failure = failures.recv() => return failure.or(Some(Failure::Unreachable("it closed the session".to_owned()))),
                next = requests.next() => {
                    for request in next? {
                        if let Err(failure) = way.offer(context, request) {
                            return Some(failure);
                        }
                    }
                }
            }
        }
    }
}

impl Line {
    /// Sends a beat periodically, and checks that the server is alive.
    async fn live(self: Arc<Line>) {
        let times = self.context.times;
        let mut beat = interval(times.lease_interval);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            match timeout(times.answer_max, self.look()).await {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => return self.fail(failure),
                Err(_) => return self.fail(Failure::Late),
            }
            self.tell_who_lives();
            self.own.forget(Instant::now());
        }
    }

    async fn look(&self) -> Result<(), Failure> {
        self.beat().await?;
        // When it is answered, everything that the server sent before has arrived.
        self.round_trip().await?;
        self.streams.check().await
    }

    pub(crate) async fn listen_to_nodes(self: Arc<Line>, mut nodes: Subscriber) {
        while let Some(message) = nodes.next().await {
            let Some(said) = Said::read(&message.payload) else {
                self.context.numbers.undecodable.fetch_add(1, Relaxed);
                continue;
            };
            if let Err(failure) = self.hear(said).await {
                return self.fail(failure);
            }
        }
    }

    pub(crate) async fn listen_to_everybody(self: Arc<Line>, mut everybody: Subscriber) {
        while let Some(message) = everybody.next().await {
            // An empty message only tests permissions.
            if !message.payload.is_empty() {
                node_channel::hear(&self.context, &message.payload);
            }
        }
    }

    async fn hear(&self, said: Said) -> Result<(), Failure> {
        match said {
            Said::Over { node, session } if node == self.context.node && session == self.number => {
                Err(Failure::LeaseOver)
            }
            Said::Over { .. } => Ok(()),
            Said::Beat(beat) => self.hear_beat(beat).await,
        }
    }

    async fn hear_beat(&self, beat: Beat) -> Result<(), Failure> {
        let Beat { node, session, .. } = beat;
        match self.neighbours.hear(beat, Instant::now()) {
            BeatKind::Known => Ok(()),
            BeatKind::Over => {
                self.tell_who_lives();
                self.say(self.subjects.nodes(), Said::Over { node, session }.write()).await
            }
            BeatKind::New => {
                self.tell_who_lives();
                self.beat().await
            }
        }
    }

    pub(crate) async fn answer_who(self: Arc<Line>, mut who: Subscriber) {
        while let Some(message) = who.next().await {
            let (Some((_, topic)), Some(reply)) = (read_question(&message.payload), message.reply) else {
                continue;
            };
            for part in self.own.answer(self.context.node, topic) {
                if let Err(failure) = self.say(reply.clone(), part).await {
                    return self.fail(failure);
                }
            }
        }
    }
}
