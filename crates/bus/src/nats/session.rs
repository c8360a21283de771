//! One connection, from the moment when the server is what is needed to the moment when it is away.

use super::connect::Connection;
use super::neighbours::{Heard, Neighbours, Said, listening_time};
use super::people::{Own, read_question};
use super::pump::Pump;
use super::streams::{Streams, Witnesses};
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::port::Requests;
use crate::queue::queue;
use crate::session::Desk;
use async_nats::client::RequestErrorKind;
use async_nats::{Client, PublishErrorKind, Subject, Subscriber};
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// What a session begins with.
pub(crate) struct Opening {
    pub(crate) connection: Connection,
    pub(crate) subjects: Subjects,
    pub(crate) witnesses: Arc<Witnesses>,
    pub(crate) neighbours: Arc<Neighbours>,
    /// Which session of the node it is.
    pub(crate) number: u64,
}

/// What the tasks of a session share.
pub(crate) struct Line {
    pub(crate) desk: Desk,
    pub(crate) client: Client,
    pub(crate) subjects: Subjects,
    pub(crate) streams: Streams,
    pub(crate) neighbours: Arc<Neighbours>,
    pub(crate) own: Own,
    /// From when on everybody who lives was heard.
    pub(crate) settled: Instant,
    number: u64,
    beats: AtomicU64,
    fail: UnboundedSender<Failure>,
}

pub(crate) struct Session {
    line: Arc<Line>,
    failures: UnboundedReceiver<Failure>,
    /// End with the session.
    tasks: JoinSet<()>,
}

impl Opening {
    /// Does everything that has to be done before the first wish. The tasks that listen run when it returns.
    pub(crate) async fn open(self, desk: &Desk) -> Result<(Arc<Line>, JoinSet<()>), Failure> {
        let Opening { connection, subjects, witnesses, neighbours, number } = self;
        let Connection { client, run, fail } = connection;
        let streams = Streams::open(&client, run.as_deref(), &subjects, &witnesses, desk).await?;
        let (nodes, who) = (subscribe(&client, subjects.nodes()), subscribe(&client, subjects.who()));
        let (nodes, who) = (nodes.await?, who.await?);
        let settled = Instant::now() + listening_time(desk.times);
        let line = Arc::new(Line {
            desk: desk.clone(),
            client,
            subjects,
            streams,
            neighbours,
            own: Own::default(),
            settled,
            number,
            beats: AtomicU64::default(),
            fail,
        });
        line.try_rights().await?;
        line.neighbours.begin(settled, Instant::now());
        let mut tasks = JoinSet::new();
        tasks.spawn(line.clone().listen_to_nodes(nodes));
        tasks.spawn(line.clone().answer_who(who));
        line.beat().await?;
        Ok((line, tasks))
    }
}

impl Session {
    pub(crate) fn new(
        (line, tasks): (Arc<Line>, JoinSet<()>),
        failures: UnboundedReceiver<Failure>,
    ) -> Session {
        Session { line, failures, tasks }
    }

    /// Goes on until the server is away, and says why; `None` if nobody is left who could want something.
    pub(crate) async fn serve(self, desk: &Desk, requests: &mut Requests) -> Option<Failure> {
        let Session { line, mut failures, mut tasks } = self;
        let (way, queue) = queue();
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

    /// Says something to whom it may concern. What is larger than the server takes is dropped and counted.
    pub(crate) async fn say(&self, subject: impl Into<Subject>, message: Vec<u8>) -> Result<(), Failure> {
        match self.client.publish(subject.into(), message.into()).await {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                self.refuse("a message that is larger than its `max_payload`");
                Ok(())
            }
            Err(error) => Err(Failure::Unreachable(error.to_string())),
        }
    }

    /// Something of this node is not taken, while everything else goes on.
    pub(crate) fn refuse(&self, what: &str) {
        if self.desk.numbers.dropped.fetch_add(1, Relaxed) == 0 {
            tracing::warn!("the bus does not take {what}; `throng_bus_dropped_total` counts what follows");
        }
    }

    /// The server has seen everything that was said before.
    pub(crate) async fn round_trip(&self) -> Result<(), Failure> {
        match self.client.request(self.subjects.nobody(), Vec::new().into()).await {
            Ok(_) => Ok(()),
            // Nobody listens there, which it says at once.
            Err(error) if error.kind() == RequestErrorKind::NoResponders => Ok(()),
            Err(error) if error.kind() == RequestErrorKind::TimedOut => Err(Failure::Late),
            Err(error) => Err(Failure::Unreachable(error.to_string())),
        }
    }

    /// Does what a session will do, so that a right that is missing is noticed before it is needed.
    async fn try_rights(&self) -> Result<(), Failure> {
        let topic = self.subjects.rights();
        let subscription = subscribe(&self.client, topic.clone()).await?;
        self.say(topic, Vec::new()).await?;
        self.say(self.subjects.who(), Vec::new()).await?;
        drop(subscription);
        self.round_trip().await
    }

    /// Says each second that this node lives, and looks whether the server does.
    async fn live(self: Arc<Line>) {
        let times = self.desk.times;
        let mut beat = interval(times.lease_interval);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            match timeout(times.answer_max, self.look()).await {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => return self.fail(failure),
                Err(_) => return self.fail(Failure::Late),
            }
            let now = Instant::now();
            self.neighbours.tell(&self.desk, now);
            self.own.forget(now);
        }
    }

    async fn look(&self) -> Result<(), Failure> {
        self.beat().await?;
        // When it is answered everything has come that the server had before.
        self.round_trip().await?;
        self.streams.check().await
    }

    async fn beat(&self) -> Result<(), Failure> {
        let number = self.beats.fetch_add(1, Relaxed);
        let beat = Said::Beat { node: self.desk.node, session: self.number, number };
        self.say(self.subjects.nodes(), beat.write()).await
    }

    async fn listen_to_nodes(self: Arc<Line>, mut nodes: Subscriber) {
        while let Some(message) = nodes.next().await {
            let Some(said) = Said::read(&message.payload) else { continue };
            if let Err(failure) = self.hear(said).await {
                return self.fail(failure);
            }
        }
    }

    async fn hear(&self, said: Said) -> Result<(), Failure> {
        let now = Instant::now();
        match said {
            Said::Over { node, session } if node == self.desk.node && session == self.number => {
                Err(Failure::LeaseOver)
            }
            Said::Over { .. } => Ok(()),
            Said::Beat { node, session, number } => match self.neighbours.hear(node, session, number, now) {
                Heard::Known => Ok(()),
                Heard::Over => {
                    self.neighbours.tell(&self.desk, now);
                    self.say(self.subjects.nodes(), Said::Over { node, session }.write()).await
                }
                Heard::New => {
                    self.neighbours.tell(&self.desk, now);
                    self.beat().await
                }
            },
        }
    }

    async fn answer_who(self: Arc<Line>, mut who: Subscriber) {
        while let Some(message) = who.next().await {
            let (Some((_, topic)), Some(reply)) = (read_question(&message.payload), message.reply) else {
                continue;
            };
            for part in self.own.answer(self.desk.node, topic) {
                if let Err(failure) = self.say(reply.clone(), part).await {
                    return self.fail(failure);
                }
            }
        }
    }
}

pub(crate) async fn subscribe(client: &Client, subject: String) -> Result<Subscriber, Failure> {
    client.subscribe(subject).await.map_err(|error| Failure::Unreachable(error.to_string()))
}
