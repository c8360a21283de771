//! One connection, from the moment when the server is what is needed to the moment when it is away.

use super::beats::Beats;
use super::connect::Connection;
use super::people::{Own, read_question};
use super::pump::Pump;
use super::streams::{Streams, Witnesses, refused};
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::frame::Reader;
use crate::limits::{ANSWER_TIME_MAX, LEASE_INTERVAL, LEASE_TIME};
use crate::port::Requests;
use crate::queue::queue;
use crate::session::Desk;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use hub::NodeId;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// What the tasks of a session share.
pub(crate) struct Line {
    pub(crate) desk: Desk,
    pub(crate) client: Client,
    pub(crate) subjects: Subjects,
    pub(crate) streams: Streams,
    pub(crate) beats: Beats,
    pub(crate) own: Own,
    pub(crate) fail: UnboundedSender<Failure>,
}

pub(crate) struct Session {
    line: Arc<Line>,
    failures: UnboundedReceiver<Failure>,
    nodes: Subscriber,
    who: Subscriber,
}

impl Session {
    pub(crate) async fn open(
        connection: Connection,
        subjects: Subjects,
        witnesses: Arc<Witnesses>,
        desk: &Desk,
    ) -> Result<Session, Failure> {
        let nodes = connection.client.subscribe(subjects.nodes()).await.map_err(refused)?;
        let who = connection.client.subscribe(subjects.who()).await.map_err(refused)?;
        let streams = Streams::open(&connection, subjects.clone(), witnesses).await?;
        let Connection { client, fail, failures, .. } = connection;
        let (beats, own) = (Beats::default(), Own::default());
        let line = Arc::new(Line { desk: desk.clone(), client, subjects, streams, beats, own, fail });
        Ok(Session { line, failures, nodes, who })
    }

    /// Goes on until the server is away, and says why; `None` if nobody is left who could want something.
    pub(crate) async fn serve(self, desk: &Desk, requests: &mut Requests) -> Option<Failure> {
        let Session { line, mut failures, nodes, who } = self;
        let (way, queue) = queue();
        let mut tasks = JoinSet::new();
        line.beats.tell(desk, Instant::now());
        tasks.spawn(line.clone().listen_to_nodes(nodes));
        tasks.spawn(line.clone().answer_who(who));
        tasks.spawn(line.clone().live());
        tasks.spawn(Pump::new(line, queue).run());
        loop {
            tokio::select! {
                biased;
                failure = failures.recv() => return failure.or(Some(Failure::Unreachable("it is gone".to_owned()))),
                wishes = requests.recv() => {
                    let (shard, effects) = wishes?;
                    for effect in effects {
                        if let Err(failure) = way.offer(desk, shard, effect) {
                            return Some(failure);
                        }
                    }
                }
            }
        }
    }
}

impl Line {
    pub(crate) fn fail(&self, failure: Failure) {
        // Refused only when the session is over.
        let _ = self.fail.send(failure);
    }

    /// Says each second that this node lives, and looks whether the server does.
    async fn live(self: Arc<Line>) {
        let mut beat = interval(LEASE_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = Instant::now();
        loop {
            beat.tick().await;
            let now = Instant::now();
            if now.duration_since(last) >= LEASE_TIME {
                return self.fail(Failure::LeaseOver);
            }
            last = now;
            self.beat().await;
            self.beats.tell(&self.desk, now);
            self.own.forget(now);
            match timeout(ANSWER_TIME_MAX, self.check()).await {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => return self.fail(failure),
                Err(_) => return self.fail(Failure::Late),
            }
        }
    }

    async fn beat(&self) {
        let message = self.desk.node.0.to_be_bytes().to_vec();
        if let Err(error) = self.client.publish(self.subjects.nodes(), message.into()).await {
            self.fail(refused(error));
        }
    }

    async fn check(&self) -> Result<(), Failure> {
        // An answer, whatever it is, says that the server has seen everything before the question.
        self.streams.answers().await?;
        self.streams.check().await
    }

    async fn listen_to_nodes(self: Arc<Line>, mut nodes: Subscriber) {
        while let Some(message) = nodes.next().await {
            let Some(node) = Reader(&message.payload).node() else { continue };
            let now = Instant::now();
            if self.beats.hear(node, now) {
                // It does not know of us, either.
                self.beat().await;
                self.beats.tell(&self.desk, now);
            }
        }
    }

    async fn answer_who(self: Arc<Line>, mut who: Subscriber) {
        while let Some(message) = who.next().await {
            let (Some((_, topic)), Some(reply)) = (read_question(&message.payload), message.reply) else {
                continue;
            };
            for part in self.own.answer(self.desk.node, topic) {
                if let Err(error) = self.client.publish(reply.clone(), part.into()).await {
                    return self.fail(refused(error));
                }
            }
        }
    }

    /// The other nodes that live.
    pub(crate) fn others(&self) -> std::collections::BTreeSet<NodeId> {
        self.beats.others(self.desk.node)
    }
}
