//! The streams that recoverable topics are kept in, one for each rule of the configuration.

use super::explain::{explain_create, explain_get, explain_info, explain_publish, is_about_replicas};
use super::ledger::Ledger;
use super::marks::{self, Found};
use super::places::Places;
use super::rule::Rule;
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::limits::PLACE_KEPT;
use crate::session::Desk;
use crate::witness::Witness;
use async_nats::Client;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, Info, Republish, Stream};
use async_nats::jetstream::{self, Context};
use hub::{Epoch, Position};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// Copies of a stream where the servers are several.
const REPLICAS: usize = 3;

/// How often a node looks for the beginning of a topic that another one marks at the same time.
const MARK_TRIES_MAX: usize = 10;
const MARK_TRY_INTERVAL: Duration = Duration::from_millis(10);

/// What this node knows to be kept, by stream.
#[derive(Default)]
pub(crate) struct Witnesses(Mutex<BTreeMap<Rule, Arc<Witness>>>);

impl Witnesses {
    fn of(&self, rule: Rule) -> Arc<Witness> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(rule).or_default().clone()
    }
}

pub(crate) struct Streams {
    jetstream: Context,
    /// None where no topic has a history, which needs no JetStream.
    ledger: Option<Ledger>,
    orders: BTreeMap<Rule, Arc<Order>>,
}

/// One of them.
pub(crate) struct Order {
    pub(crate) rule: Rule,
    pub(crate) stream: Stream<()>,
    pub(crate) places: Places,
    epoch: Epoch,
    run: Box<str>,
    witness: Arc<Witness>,
}

/// Whether it is the mark with which a topic's order begins, and no publication.
pub(crate) fn is_mark(payload: &[u8]) -> bool {
    payload.is_empty()
}

/// Where a topic stands.
pub(crate) struct Head {
    /// The sequence of its newest publication, or the stream's newest where it has none.
    pub(crate) sequence: u64,
    pub(crate) position: Position,
}

impl Streams {
    /// Opens all of them, and makes those that are not there.
    pub(crate) async fn open(
        client: &Client,
        run: Option<&str>,
        subjects: &Subjects,
        witnesses: &Witnesses,
        desk: &Desk,
    ) -> Result<Streams, Failure> {
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(desk.times.answer_max);
        let (mut ledger, mut orders) = (None, BTreeMap::new());
        for retention in desk.histories.retentions() {
            let rule = Rule::of(retention);
            if orders.contains_key(&rule) {
                continue;
            }
            let info = open_stream(&jetstream, subjects, rule, run.is_none()).await?;
            let ledger = match &mut ledger {
                Some(ledger) => ledger,
                None => {
                    let opened = Ledger::open(&jetstream, subjects, info.config.num_replicas).await?;
                    ledger.insert(opened)
                }
            };
            let order = open_order(&jetstream, ledger, &info, (rule, run), witnesses).await?;
            try_append(&jetstream, subjects.order(rule, "")).await?;
            orders.insert(rule, Arc::new(order));
        }
        Ok(Streams { jetstream, ledger, orders })
    }

    /// The stream of a rule of the configuration.
    pub(crate) fn of(&self, rule: Rule) -> Result<Arc<Order>, Failure> {
        let missing = || Failure::Refused(format!("there is no stream for {rule}"));
        self.orders.get(&rule).cloned().ok_or_else(missing)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.jetstream
    }

    /// Looks whether the orders go on as they did.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        for (rule, order) in &self.orders {
            if marks::current(ledger, &rule.to_string()).await?.as_ref() != Some(&order.epoch) {
                return Err(Failure::Refused("its orders began anew".to_owned()));
            }
        }
        Ok(())
    }
}

async fn open_stream(
    jetstream: &Context,
    subjects: &Subjects,
    rule: Rule,
    is_clustered: bool,
) -> Result<Info, Failure> {
    let (source, destination) = subjects.orders(rule);
    let config = Config {
        name: subjects.stream(rule),
        subjects: vec![source.clone()],
        max_messages_per_subject: i64::try_from(rule.messages_max).unwrap_or(i64::MAX),
        max_age: rule.age_max() + PLACE_KEPT,
        allow_direct: true,
        republish: Some(Republish { source, destination, headers_only: false }),
        num_replicas: if is_clustered { REPLICAS } else { 1 },
        ..Config::default()
    };
    let opened = match jetstream.get_or_create_stream(config.clone()).await {
        Err(error) if is_clustered && is_about_replicas(&error) => {
            jetstream.get_or_create_stream(Config { num_replicas: 1, ..config }).await
        }
        opened => opened,
    };
    Ok(opened.map_err(|error| explain_create(&error))?.cached_info().clone())
}

async fn open_order(
    jetstream: &Context,
    ledger: &Ledger,
    info: &Info,
    (rule, run): (Rule, Option<&str>),
    witnesses: &Witnesses,
) -> Result<Order, Failure> {
    // Which of several servers keeps a stream changes, and its restarts are not seen.
    let run: Box<str> =
        format!("{}@{}", run.unwrap_or("cluster"), info.created.unix_timestamp_nanos()).into();
    let witness = witnesses.of(rule);
    let found = Found { run: &run, newest: info.state.last_sequence };
    let marks = marks::agree(ledger, &rule.to_string(), &found, &witness).await?;
    let epoch =
        Epoch::new(&marks.epoch).ok_or_else(|| Failure::Refused("an epoch that is none".to_owned()))?;
    let stream = jetstream.get_stream_no_info(&info.config.name).await;
    let stream = stream.map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(Order { rule, stream, places: marks.places, epoch, run, witness })
}

/// Publishes what the stream refuses to keep, so that a right that is missing is noticed before it is needed.
async fn try_append(jetstream: &Context, subject: String) -> Result<(), Failure> {
    let message = PublishMessage::build().expected_last_sequence(i64::MAX as u64);
    let sent = jetstream.send_publish(subject, message).await.map_err(|error| explain_publish(&error))?;
    match sent.await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(()),
        Err(error) => Err(explain_publish(&error)),
    }
}

impl Order {
    /// Something is kept: what a server that starts again has to have.
    pub(crate) fn witness(&self, position: &Position) {
        self.witness.see(position, &self.run);
    }

    /// Where a topic stands that somebody follows from now on. One that has nothing begins with a mark, so that its place
    /// is still known when other topics have grown.
    pub(crate) async fn stand(&self, jetstream: &Context, subject: &str) -> Result<Position, Failure> {
        for _ in 0..MARK_TRIES_MAX {
            if let Some(sequence) = self.newest_of(subject).await? {
                return Ok(self.at(sequence));
            }
            let mark = PublishMessage::build().expected_last_subject_sequence(0);
            let sent = jetstream.send_publish(subject.to_owned(), mark).await;
            match sent.map_err(|error| explain_publish(&error))?.await {
                Ok(ack) => return Ok(self.at(ack.sequence)),
                // Another node was faster; where streams have copies, the one that answers may not know yet.
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                    sleep(MARK_TRY_INTERVAL).await;
                }
                // There is no room for it.
                Err(error) if error.kind() == PublishErrorKind::Other => break,
                Err(error) => return Err(explain_publish(&error)),
            }
        }
        Ok(self.head(subject).await?.position)
    }

    pub(crate) async fn head(&self, subject: &str) -> Result<Head, Failure> {
        if let Some(sequence) = self.newest_of(subject).await? {
            return Ok(self.standing_at(sequence));
        }
        let info = self.stream.get_info().await.map_err(|error| explain_info(&error))?;
        // What came between the two questions is not before the topic's beginning.
        let sequence = self.newest_of(subject).await?.unwrap_or(info.state.last_sequence);
        Ok(self.standing_at(sequence))
    }

    async fn newest_of(&self, subject: &str) -> Result<Option<u64>, Failure> {
        match self.stream.direct_get_last_for_subject(subject).await {
            Ok(newest) => Ok(Some(newest.sequence)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(explain_get(&error)),
        }
    }

    fn standing_at(&self, sequence: u64) -> Head {
        Head { sequence, position: self.at(sequence) }
    }

    /// The position of a sequence.
    pub(crate) fn at(&self, sequence: u64) -> Position {
        Position { epoch: self.epoch.clone(), offset: self.places.offset(sequence) }
    }
}
