//! The streams that store recoverable topics, one for each rule of the configuration.

use super::explain::{explain_create, explain_publish, is_about_replicas};
use super::ledger::Ledger;
use super::marks::{self, Found};
use super::order::Order;
use super::rule::Rule;
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::limits::PLACE_KEPT;
use crate::session::SessionContext;
use crate::stored_head::StoredHead;
use async_nats::Client;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, Info, Republish};
use async_nats::jetstream::{self, Context};
use hub::Epoch;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of replicas of a stream in a cluster of servers.
const REPLICAS: usize = 3;

/// What this node knows to be stored, by stream.
#[derive(Default)]
pub(crate) struct Witnesses(Mutex<BTreeMap<Rule, Arc<StoredHead>>>);

impl Witnesses {
    fn of(&self, rule: Rule) -> Arc<StoredHead> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(rule).or_default().clone()
    }
}

pub(crate) struct Streams {
    jetstream: Context,
    /// `None` if no topic has a history; then JetStream is not needed.
    ledger: Option<Ledger>,
    orders: BTreeMap<Rule, Arc<Order>>,
}

impl Streams {
    /// Opens all of them, and creates missing ones.
    pub(crate) async fn open(
        client: &Client,
        run: Option<&str>,
        subjects: &Subjects,
        witnesses: &Witnesses,
        context: &SessionContext,
    ) -> Result<Streams, Failure> {
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(context.times.answer_max);
        let (mut ledger, mut orders) = (None, BTreeMap::new());
        for retention in context.histories.retentions() {
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

    /// Returns the stream of a rule of the configuration.
    pub(crate) fn of(&self, rule: Rule) -> Result<Arc<Order>, Failure> {
        let missing = || Failure::Refused(format!("there is no stream for {rule}"));
        self.orders.get(&rule).cloned().ok_or_else(missing)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.jetstream
    }

    /// Checks that the epochs of the orders have not changed.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        for (rule, order) in &self.orders {
            if marks::current(ledger, &rule.to_string()).await?.as_ref() != Some(&order.epoch) {
                return Err(Failure::Refused("its message order was reset".to_owned()));
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
    // In a cluster, the server that stores a stream changes, and its restarts are not visible.
    let run: Box<str> =
        format!("{}@{}", run.unwrap_or("cluster"), info.created.unix_timestamp_nanos()).into();
    let witness = witnesses.of(rule);
    let found = Found { run: &run, newest: info.state.last_sequence };
    let marks = marks::agree(ledger, &rule.to_string(), &found, &witness).await?;
    let epoch = Epoch::new(&marks.epoch).ok_or_else(|| Failure::Refused("an invalid epoch".to_owned()))?;
    let stream = jetstream.get_stream_no_info(&info.config.name).await;
    let stream = stream.map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(Order { rule, stream, places: marks.places, epoch, run, witness })
}

/// Publishes a message that the stream rejects, so that missing permissions are noticed before they are needed.
async fn try_append(jetstream: &Context, subject: String) -> Result<(), Failure> {
    let message = PublishMessage::build().expected_last_sequence(i64::MAX as u64);
    let sent = jetstream.send_publish(subject, message).await.map_err(|error| explain_publish(&error))?;
    match sent.await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(()),
        Err(error) => Err(explain_publish(&error)),
    }
}
