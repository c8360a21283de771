//! The streams that recoverable topics are kept in, opened when the first topic needs them.

use super::connect::Connection;
use super::marks;
use super::rule::Rule;
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::limits::PLACE_KEPT;
use crate::witness::Witness;
use async_nats::jetstream::Context;
use async_nats::jetstream::kv::{self, Store};
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, Republish, Stream};
use hub::{Epoch, Position};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    bucket: Store,
    subjects: Subjects,
    run: Box<str>,
    witnesses: Arc<Witnesses>,
    open: tokio::sync::Mutex<BTreeMap<Rule, Arc<Order>>>,
}

/// One of them.
pub(crate) struct Order {
    pub(crate) rule: Rule,
    pub(crate) stream: Stream<()>,
    pub(crate) epoch: Epoch,
    run: Box<str>,
    witness: Arc<Witness>,
}

impl Streams {
    pub(crate) async fn open(
        connection: &Connection,
        subjects: Subjects,
        witnesses: Arc<Witnesses>,
    ) -> Result<Streams, Failure> {
        let (jetstream, run) = (connection.jetstream.clone(), connection.run.clone());
        let config = kv::Config { bucket: subjects.bucket(), history: 1, ..kv::Config::default() };
        let bucket = match jetstream.get_key_value(subjects.bucket()).await {
            Ok(bucket) => bucket,
            Err(_) => jetstream.create_key_value(config).await.map_err(refused)?,
        };
        Ok(Streams { jetstream, bucket, subjects, run, witnesses, open: tokio::sync::Mutex::default() })
    }

    /// The stream of a rule.
    pub(crate) async fn of(&self, rule: Rule) -> Result<Arc<Order>, Failure> {
        let mut open = self.open.lock().await;
        if let Some(order) = open.get(&rule) {
            return Ok(order.clone());
        }
        let stream = self.jetstream.get_or_create_stream(self.config(rule)).await.map_err(refused)?;
        let newest = stream.get_info().await.map_err(refused)?.state.last_sequence;
        let witness = self.witnesses.of(rule);
        let key = rule.to_string();
        let epoch = marks::agree(&self.bucket, &key, (&self.run, newest), &witness).await?;
        let stream = self.jetstream.get_stream_no_info(self.subjects.stream(rule)).await.map_err(refused)?;
        let order = Arc::new(Order { rule, stream, epoch, run: self.run.clone(), witness });
        open.insert(rule, order.clone());
        Ok(order)
    }

    /// The server answers, which says that it has seen everything before the question.
    pub(crate) async fn answers(&self) -> Result<(), Failure> {
        self.jetstream.query_account().await.map(drop).map_err(refused)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.jetstream
    }

    /// Looks whether the orders go on as they did.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let open: Vec<Arc<Order>> = self.open.lock().await.values().cloned().collect();
        for order in open {
            if marks::current(&self.bucket, &order.rule.to_string()).await?.as_ref() != Some(&order.epoch) {
                return Err(Failure::Refused("its orders began anew".to_owned()));
            }
        }
        Ok(())
    }

    fn config(&self, rule: Rule) -> Config {
        let (source, destination) = self.subjects.orders(rule);
        Config {
            name: self.subjects.stream(rule),
            subjects: vec![source.clone()],
            max_messages_per_subject: i64::try_from(rule.messages_max).unwrap_or(i64::MAX),
            max_age: rule.age_max() + PLACE_KEPT,
            allow_direct: true,
            republish: Some(Republish { source, destination, headers_only: false }),
            ..Config::default()
        }
    }
}

impl Order {
    /// Something is kept: what a server that starts again has to have.
    pub(crate) fn witness(&self, position: &Position) {
        self.witness.see(position, &self.run);
    }

    /// Where a topic stands: its newest publication, or the stream's where it has none.
    pub(crate) async fn head(&self, subject: &str) -> Result<Head, Failure> {
        match self.stream.direct_get_last_for_subject(subject).await {
            Ok(newest) => Ok(Head { position: self.at(newest.sequence), is_empty: false }),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
                let newest = self.stream.get_info().await.map_err(refused)?.state.last_sequence;
                Ok(Head { position: self.at(newest), is_empty: true })
            }
            Err(error) => Err(refused(error)),
        }
    }

    pub(crate) fn at(&self, offset: u64) -> Position {
        Position { epoch: self.epoch.clone(), offset }
    }
}

pub(crate) struct Head {
    pub(crate) position: Position,
    /// Whether the topic has nothing, and the position is only one before everything to come.
    pub(crate) is_empty: bool,
}

pub(crate) fn refused(error: impl std::fmt::Display) -> Failure {
    let text = error.to_string();
    match text.to_lowercase().contains("timed out") {
        true => Failure::Late,
        false => Failure::Refused(text),
    }
}
