//! Topics with publications that the bus had not answered when it went away, and may have stored. Their publishers were
//! told `unavailable`; other nodes may have missed the publication, and only this node has a reason to check. So when
//! the bus is back, this node requests the position of each topic, and passes it to the other nodes with its heads.

use crate::bus::{BusEffect, ReadToken, Span};
use crate::effect::{Effect, Effects};
use crate::hub::Hub;
use crate::limits::{APPENDS_MAX, RESUBSCRIBED_MAX};
use crate::place::Position;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Above every offset: a read after it returns only the head.
const ABOVE_ALL: u64 = 1 << 53;

#[derive(Default)]
pub(crate) struct Unanswered {
    topics: BTreeSet<Arc<str>>,
    /// Topics that have not been asked about yet.
    to_ask: VecDeque<Arc<str>>,
    asked: BTreeMap<ReadToken, Arc<str>>,
}

impl Unanswered {
    /// Notes a publication on the topic that was not answered before the bus went away.
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

    /// Repeats a read that failed, if it was for one of these topics.
    pub(crate) fn retry(&mut self, topic: &Arc<str>) {
        if self.topics.contains(topic) {
            self.to_ask.push_back(topic.clone());
        }
    }
}

impl Hub {
    /// Requests the position of some of the topics. Returns `true` when there are more.
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

    /// Handles the answer. Returns `false` if it belongs to another request. A failed read is retried.
    pub(crate) fn unanswered_stands(&mut self, token: ReadToken, head: Option<&Position>) -> bool {
        let Some(topic) = self.bus.unanswered.asked.remove(&token) else { return false };
        match head {
            Some(head) => {
                self.bus.unanswered.topics.remove(&topic);
                self.bus.heads.note_position(&topic, head.clone(), self.now);
            }
            None => self.bus.retry(&topic, self.now),
        }
        true
    }
}
