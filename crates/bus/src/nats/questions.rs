//! Executes the hub's reads: histories from streams, and people from other nodes.

use super::history::Kept;
use super::line::{Line, subscribe};
use super::liveness::patience;
use super::people::{Answers, question};
use super::rule::Rule;
use crate::failure::Failure;
use futures_util::StreamExt as _;
use hub::{BusEvent, BusHistory, NodePeople, ReadToken, Span};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep_until, timeout};

/// Number of concurrent reads of each kind.
const UNDER_WAY_MAX: usize = 16;
/// How often a read checks whether the nodes that have not answered are still live.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The reads in progress; dropping this aborts them.
pub(crate) struct Questions {
    tasks: JoinSet<()>,
    histories: Arc<Semaphore>,
    people: Arc<Semaphore>,
}

impl Questions {
    pub(crate) fn new() -> Questions {
        let places = || Arc::new(Semaphore::new(UNDER_WAY_MAX));
        Questions { tasks: JoinSet::new(), histories: places(), people: places() }
    }

    pub(crate) fn history(&mut self, line: Arc<Line>, topic: Arc<str>, span: Span, token: ReadToken) {
        let places = self.histories.clone();
        self.ask(async move {
            let _place = places.acquire().await;
            let history = read_history(&line, &topic, span).await;
            let history =
                history.inspect_err(|failure| tracing::debug!("a history could not be read: {failure}"));
            line.context.tell(BusEvent::History { topic, token, history: history.ok().map(Box::new) });
        });
    }

    pub(crate) fn people(&mut self, line: Arc<Line>, topic: Arc<str>) {
        let places = self.people.clone();
        self.ask(async move {
            sleep_until(line.settled.into()).await;
            let _place = places.acquire().await;
            let times = line.context.times;
            let asked = timeout(patience(times) + times.answer_max, read_people(&line, &topic));
            let nodes = asked.await.ok().flatten();
            // The hub trusts the answer only for nodes that it knows to be live.
            line.tell_who_lives();
            line.context.tell(BusEvent::People { topic, nodes });
        });
    }

    fn ask(&mut self, question: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(question);
    }
}

async fn read_history(line: &Line, topic: &Arc<str>, span: Span) -> Result<BusHistory, Failure> {
    let retention = line.context.histories.of(topic).unwrap_or_default();
    let order = line.streams.of(Rule::of(retention))?;
    let subject = line.subjects.order(order.rule, topic);
    Kept { order: &order, subject: &subject, topic }.read(span, line.context.now()).await
}

/// Asks all nodes, and waits for the live ones.
async fn read_people(line: &Line, topic: &str) -> Option<Vec<NodePeople>> {
    let inbox = line.client.new_inbox();
    let mut replies = subscribe(&line.client, inbox.clone()).await.ok()?;
    let message = question(line.context.node, topic);
    line.client.publish_with_reply(line.subjects.who(), inbox, message.into()).await.ok()?;
    let (mut answers, mut look) = (Answers::default(), interval(LOOK_INTERVAL));
    loop {
        let missing = answers.missing(line.neighbours.others());
        let patience = patience(line.context.times);
        if missing.is_empty() || line.neighbours.give_up(&missing, patience, Instant::now()) {
            return Some(answers.into_nodes());
        }
        tokio::select! {
            reply = replies.next() => answers.add(&reply?.payload)?,
            _ = look.tick() => {}
        }
    }
}
