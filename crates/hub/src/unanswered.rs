//! Topics on which the bus may have kept what it did not answer before it was away. The publishers were told that it is
//! unavailable; other nodes may have missed the publication, and nobody but this node has a reason to look. So when the
//! bus is back, this node asks where each of them stands, and tells the others as it tells the heads of what it knows.

use crate::bus::{BusEffect, ReadToken, Span};
use crate::effect::{Effect, Effects};
use crate::hub::Hub;
use crate::limits::{APPENDS_MAX, RESUBSCRIBED_MAX};
use crate::place::Position;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Above every offset: who asks for what follows it is told the head alone.
const ABOVE_ALL: u64 = 1 << 53;

#[derive(Default)]
pub(crate) struct Unanswered {
    topics: BTreeSet<Arc<str>>,
    /// Those whose turn to be asked about has not come.
    to_ask: VecDeque<Arc<str>>,
    asked: BTreeMap<ReadToken, Arc<str>>,
}

impl Unanswered {
    /// A publication on the topic was not answered before the bus was away.
    pub(crate) fn note(&mut self, topic: Arc<str>) {
        if self.topics.len() < APPENDS_MAX {
            self.topics.insert(topic);
        }
    }

    pub(crate) fn bus_up(&mut self) {
        self.to_ask = self.topics.iter().cloned().collect();
    }

    pub(crate) fn bus_down(&mut self) {
        self.to_ask.clear();
        self.asked.clear();
    }

    /// What could not be read a while ago is asked again, if it is one of these.
    pub(crate) fn retry(&mut self, topic: &Arc<str>) {
        if self.topics.contains(topic) {
            self.to_ask.push_back(topic.clone());
        }
    }
}

impl Hub {
    /// Asks where some of the topics stand. `true` when there are more.
    pub(crate) fn ask_unanswered(&mut self, out: &mut Effects) -> bool {
        for _ in 0..RESUBSCRIBED_MAX {
            let Some(topic) = self.bus.unanswered.to_ask.pop_front() else { return false };
            let token = self.next_read();
            self.bus.unanswered.asked.insert(token, topic.clone());
            let span = Span::Oldest { since: ABOVE_ALL };
            out.push(Effect::Bus(Box::new(BusEffect::ReadHistory { topic, span, token })));
        }
        !self.bus.unanswered.to_ask.is_empty()
    }

    /// `false` if the answer is to another question. A head that could not be read is asked for again.
    pub(crate) fn unanswered_stands(&mut self, token: ReadToken, head: Option<&Position>) -> bool {
        let Some(topic) = self.bus.unanswered.asked.remove(&token) else { return false };
        match head {
            Some(head) => {
                self.bus.unanswered.topics.remove(&topic);
                self.bus.heads.stands(&topic, head.clone(), self.now);
            }
            None => self.bus.retry(&topic, self.now),
        }
        true
    }
}
