//! Recoverable topics that the bus orders: their home follows the bus as shards follow a home, and keeps the newest
//! part of the history, so that most recoveries need no request to the bus.

use crate::bus::{AppendToken, BusEffect, BusHistory, Ordered, ReadToken, Span};
use crate::class::Class;
use crate::effect::{Effect, Effects};
use crate::event::{ShardMessage, Wanted};
use crate::heads::DueHeads;
use crate::hub::Hub;
use crate::ids::ShardIndex;
use crate::limits::APPENDS_MAX;
use crate::place::Position;
use crate::planted::PlantedBug;
use crate::publication::{AppendError, AppendOwner, Draft};
use std::sync::Arc;

impl Hub {
    pub(crate) fn append_to_bus(
        &mut self,
        draft: Box<Draft>,
        owner: Option<Box<AppendOwner>>,
        out: &mut Effects,
    ) {
        let refusal = match self.bus.up {
            false => Some(AppendError::Unavailable),
            true if self.bus.appends.len() >= APPENDS_MAX => Some(AppendError::Overloaded),
            true => None,
        };
        if let Some(error) = refusal {
            self.counters.appends_refused += 1;
            if let Some(owner) = owner {
                self.answer_append(owner, Err(error), out);
            }
            return;
        }
        // Tokens are never reused: an answer may still arrive after the bus was away.
        self.bus.tokens = self.bus.tokens.wrapping_add(1);
        let token = AppendToken(self.bus.tokens);
        self.bus.appends.insert(token, (draft.topic.clone(), owner));
        out.push(Effect::Bus(Box::new(BusEffect::Append { draft, token })));
    }

    pub(crate) fn bus_appended(
        &mut self,
        token: AppendToken,
        result: Result<Position, AppendError>,
        out: &mut Effects,
    ) {
        let Some((topic, owner)) = self.bus.appends.remove(&token) else { return };
        match &result {
            Ok(position) => {
                self.counters.appends += 1;
                self.bus.heads.note_position(&topic, position.clone(), self.now);
            }
            Err(_) => self.counters.appends_refused += 1,
        }
        if let Some(owner) = owner {
            self.answer_append(owner, result, out);
        }
    }

    /// Sends the result to the publisher's shard.
    pub(crate) fn answer_append(
        &mut self,
        owner: Box<AppendOwner>,
        result: Result<Position, AppendError>,
        out: &mut Effects,
    ) {
        let shard = owner.shard;
        self.send_to_shard(shard, ShardMessage::Appended { owner, result }, Class::Control, out);
    }

    /// A subscription was confirmed: adopts the topic's position.
    pub(crate) fn adopt(&mut self, topic: &Arc<str>, position: Position, out: &mut Effects) {
        let Some(rule) = self.config.histories.rule(topic) else { return };
        let Some(history) = self.archive.get_mut(topic) else {
            self.archive.begin(topic, rule, position, self.now);
            return self.tell_shards(topic, out);
        };
        if history.epoch != position.epoch || history.newest > position.offset {
            self.begin_anew(topic, position, out);
        } else if history.newest < position.offset {
            self.read_missing(topic, out);
        }
    }

    /// The order has a new epoch: drops the old history and notifies the members.
    fn begin_anew(&mut self, topic: &Arc<str>, position: Position, out: &mut Effects) {
        if let Some(history) = self.archive.get_mut(topic) {
            history.reset(position);
        }
        let asked = self.archive.upstream(topic).map(|upstream| {
            upstream.complete = false;
            upstream.disconnect()
        });
        self.archive.changed(topic, self.now);
        self.tell_shards(topic, out);
        for (shard, since) in asked.unwrap_or_default() {
            self.answer_history(topic, shard, since, Wanted::Recovery, false, out);
        }
    }

    /// Sends a topic's position to every shard with members.
    fn tell_shards(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let Some(position) = self.archive.get_mut(topic).map(|history| history.position()) else { return };
        for shard in self.shards_with_members(topic) {
            let message = ShardMessage::Head { topic: topic.clone(), position: position.clone() };
            self.send_to_shard(shard, message, Class::Control, out);
        }
    }

    /// Handles a publication that the bus has ordered.
    pub(crate) fn ordered(&mut self, ordered: Ordered, out: &mut Effects) {
        let topic = ordered.draft.topic.clone();
        let Some(history) = self.archive.get_mut(&topic) else { return };
        let same = history.epoch == ordered.position.epoch;
        let known = same && ordered.position.offset <= history.newest;
        let next = same && (ordered.previous == history.newest || PlantedBug::GapGoesUnseen.is_planted());
        let Some(upstream) = self.archive.upstream(&topic) else { return };
        if known {
            return;
        }
        if next && upstream.missing.is_none() {
            return self.put(&topic, ordered, out);
        }
        upstream.hold(ordered);
        self.read_missing(&topic, out);
    }

    /// Appends the next publication to the history and distributes it to every shard with members.
    fn put(&mut self, topic: &Arc<str>, ordered: Ordered, out: &mut Effects) {
        let publication = Arc::new(ordered.into_publication());
        if let Some(history) = self.archive.get_mut(topic) {
            history.append(publication.clone(), self.now);
        }
        self.archive.changed(topic, self.now);
        if let Some(position) = self.archive.get_mut(topic).map(|history| history.position()) {
            self.bus.heads.note_position(topic, position, self.now);
        }
        self.distribute(None, publication, out);
    }

    /// Requests what is missing, and counts the gap.
    pub(crate) fn read_missing(&mut self, topic: &Arc<str>, out: &mut Effects) {
        self.counters.gaps += u64::from(self.read_on(topic, out));
    }

    /// Requests what follows the newest publication, unless a request is in progress. Returns whether it made one.
    pub(crate) fn read_on(&mut self, topic: &Arc<str>, out: &mut Effects) -> bool {
        let Some(since) = self.archive.get_mut(topic).map(|history| history.newest) else { return false };
        let token = self.next_read();
        let Some(upstream) = self.archive.upstream(topic) else { return false };
        if upstream.missing.is_some() || !self.bus.up {
            return false;
        }
        upstream.missing = Some(token);
        let span = Span::Oldest { since };
        out.push(Effect::Bus(Box::new(BusEffect::ReadHistory { topic: topic.clone(), span, token })));
        true
    }

    pub(crate) fn next_read(&mut self) -> ReadToken {
        self.bus.reads = self.bus.reads.wrapping_add(1);
        ReadToken(self.bus.reads)
    }

    pub(crate) fn bus_history(
        &mut self,
        topic: &Arc<str>,
        token: ReadToken,
        history: Option<BusHistory>,
        out: &mut Effects,
    ) {
        if self.unanswered_stands(token, history.as_ref().map(|history| &history.head)) {
            return;
        }
        let Some(upstream) = self.archive.upstream(topic) else { return };
        if upstream.missing == Some(token) {
            upstream.missing = None;
            match history {
                Some(history) => self.missing_read(topic, history, out),
                None => {
                    drop(upstream.take_held());
                    self.bus.retry(topic, self.now);
                }
            }
        } else if let Some((_, since)) = upstream.older.take_if(|(asked, _)| *asked == token) {
            self.older_read(topic, since, history, out);
        }
    }

    fn missing_read(&mut self, topic: &Arc<str>, answer: BusHistory, out: &mut Effects) {
        let BusHistory { head, from, to, ordered } = answer;
        let Some(history) = self.archive.get_mut(topic) else { return };
        if history.epoch != head.epoch || history.newest > head.offset {
            return self.begin_anew(topic, head, out);
        }
        let lost = from > history.newest;
        if lost {
            history.skip_to(from);
            self.archive.changed(topic, self.now);
        }
        for next in ordered {
            if self.archive.get_mut(topic).is_some_and(|history| next.position.offset > history.newest) {
                self.put(topic, next, out);
            }
        }
        if to < head.offset {
            self.read_on(topic, out);
            return;
        }
        if lost {
            self.tell_shards(topic, out);
        } else {
            self.counters.gaps_healed += 1;
        }
        let held = self.archive.upstream(topic).map(|upstream| upstream.take_held());
        for later in held.into_iter().flatten() {
            self.ordered(later, out);
        }
    }

    /// Handles a topic's position that another node reported, or that this node learned.
    pub(crate) fn bus_head(&mut self, topic: &Arc<str>, position: &Position, out: &mut Effects) {
        let Some(history) = self.archive.get_mut(topic) else { return };
        if history.epoch != position.epoch || history.newest < position.offset {
            self.read_missing(topic, out);
        }
    }

    /// Home only: requests what is older than this home's history, for a recovery. Returns `false` if the bus has
    /// nothing older or is away.
    pub(crate) fn ask_for_older(
        &mut self,
        topic: &Arc<str>,
        shard: ShardIndex,
        since: u64,
        out: &mut Effects,
    ) -> bool {
        let Some(upstream) = self.archive.upstream(topic) else { return false };
        if upstream.complete || !self.bus.up {
            return false;
        }
        upstream.asked.push((shard, since));
        if upstream.older.is_none() {
            self.read_older(topic, out);
        }
        true
    }

    fn read_older(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let token = self.next_read();
        let Some(until) = self.archive.get_mut(topic).map(|history| history.floor) else { return };
        let Some(upstream) = self.archive.upstream(topic) else { return };
        let Some(since) = upstream.asked.iter().map(|(_, since)| *since).min() else { return };
        upstream.older = Some((token, since));
        let limits = &self.config.limits;
        let (messages_max, bytes_max) = (limits.recovery_messages_max, limits.recovery_bytes_max);
        let span = Span::Newest { since, until, messages_max, bytes_max };
        out.push(Effect::Bus(Box::new(BusEffect::ReadHistory { topic: topic.clone(), span, token })));
    }

    /// Handles older publications from the bus: answers all recoveries that asked for no more than that from the
    /// history.
    fn older_read(&mut self, topic: &Arc<str>, since: u64, answer: Option<BusHistory>, out: &mut Effects) {
        let unavailable = answer.is_none();
        let Some(history) = self.archive.get_mut(topic) else { return };
        let mut complete = false;
        if let Some(answer) = answer.filter(|answer| answer.head.epoch == history.epoch) {
            complete = answer.from > since;
            if answer.to == history.floor {
                let older = answer.ordered.into_iter().map(|ordered| Arc::new(ordered.into_publication()));
                history.prepend(answer.from, older, self.now);
            }
            self.archive.changed(topic, self.now);
        }
        let Some(upstream) = self.archive.upstream(topic) else { return };
        upstream.complete |= complete;
        let (answered, left): (Vec<_>, Vec<_>) =
            upstream.asked.drain(..).partition(|(_, asked)| *asked >= since);
        upstream.asked = left;
        for (shard, since) in answered {
            self.answer_history(topic, shard, since, Wanted::Recovery, unavailable, out);
        }
        self.read_older(topic, out);
    }

    /// The bus is away: answers waiting recoveries from what the history has.
    pub(crate) fn disconnect_history(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let asked = self.archive.upstream(topic).map(|upstream| upstream.disconnect());
        for (shard, since) in asked.unwrap_or_default() {
            self.answer_history(topic, shard, since, Wanted::Recovery, true, out);
        }
    }

    /// Repeats reads that failed a while ago.
    pub(crate) fn read_again(&mut self, out: &mut Effects) {
        for topic in self.bus.take_retries(self.now) {
            self.read_on(&topic, out);
            self.read_unknown_people(&topic, out);
            self.bus.unanswered.retry(&topic);
        }
    }

    /// Sends the positions of topics to the other nodes. This node checks its own positions here, too, because nobody
    /// else sends them to it: its publications may have been lost on the way back, while its own members wait for them.
    pub(crate) fn tell_heads(&mut self, out: &mut Effects) {
        let DueHeads { positions, presences } = self.bus.heads.take(self.now);
        if !PlantedBug::OwnTailGoesUnseen.is_planted() {
            for (topic, position) in &positions {
                self.bus_head(topic, position, out);
            }
        }
        if !positions.is_empty() {
            out.push(Effect::Bus(Box::new(BusEffect::Heads(positions))));
        }
        if !presences.is_empty() {
            out.push(Effect::Bus(Box::new(BusEffect::PresenceHeads(presences))));
        }
    }
}
