//! Joins to recoverable topics: the reply contains the client's position, and what it missed follows before anything
//! new. One answer of the home serves all joins that wait for the same topic's history.

use crate::backlog::Queued;
use crate::effect::Effects;
use crate::follow::{Follow, Pace, RecoverRequest, Recovering};
use crate::history::Excerpt;
use crate::hub::Hub;
use crate::ids::{JoinInstance, TopicId};
use crate::limits::RECOVERY_DELIVERIES_MAX;
use crate::place::{Position, PublisherId};
use crate::planted::PlantedBug;

/// The first data of a join to a recoverable topic.
pub(crate) struct Start<'a> {
    /// The value of `recover` in the reply's response, as JSON.
    pub(crate) recover: String,
    /// Its id as a publisher.
    pub(crate) publisher: PublisherId,
    /// The publications it missed, oldest first.
    pub(crate) missed: &'a mut [Queued],
}

/// Why a client does not get what it missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    /// The topic's order has had a new epoch since.
    Epoch,
    /// The history does not have it any more.
    TooOld,
    /// It exceeds the limit of one recovery.
    TooMany,
    /// The home does not know the topic's position.
    Unavailable,
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Refusal::Epoch => "epoch",
            Refusal::TooOld => "too_old",
            Refusal::TooMany => "too_many",
            Refusal::Unavailable => "unavailable",
        }
    }
}

/// The outcome of a home's answer for one join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Recovered,
    Refused(Refusal),
    /// Only the next answer decides.
    Later,
}

impl Hub {
    /// Publications reach this shard: admits an accepted join, unless it has to wait for what it missed.
    pub(crate) fn admit(&mut self, slot: u32, topic: TopicId, out: &mut Effects) {
        let Some(join) = self.connections.join(slot, topic) else { return };
        let instance = join.instance;
        let Some(follow) = self.topics[topic.0 as usize].follow_mut() else {
            return self.establish(slot, topic, None, out);
        };
        let Some(recovering) = follow.recovering.get_mut(&instance.0) else {
            return self.begin(slot, topic, instance, None, out);
        };
        let verdict = match &follow.reached {
            None => Verdict::Refused(Refusal::Unavailable),
            Some(reached) if reached.epoch != recovering.request.epoch => Verdict::Refused(Refusal::Epoch),
            Some(reached) if reached.offset == recovering.request.offset && follow.pace == Pace::Keeping => {
                Verdict::Recovered
            }
            Some(_) => Verdict::Later,
        };
        if verdict == Verdict::Later {
            recovering.ready = true;
            return self.list_question(topic);
        }
        let request = follow.recovering.remove(&instance.0).map(|recovering| (recovering.request, verdict));
        self.begin(
            slot,
            topic,
            instance,
            request.map(|(request, verdict)| (request, verdict, &mut [][..])),
            out,
        );
    }

    /// Handles the home's answer to a history request, for all joins that wait for it.
    pub(crate) fn recover(&mut self, id: TopicId, excerpt: Excerpt, out: &mut Effects) {
        let Some(follow) = self.topics[id.0 as usize].follow_mut() else { return };
        let Some(asked_since) = follow.asked_since.take() else { return };
        let waiting: Vec<_> = follow.recovering.values().filter(|one| one.ready).map(place_of).collect();
        let cut = follow.reached.clone();
        let anew = cut.as_ref().is_some_and(|cut| cut.epoch != excerpt.epoch);
        let behind = anew || cut.as_ref().is_some_and(|cut| cut.offset < excerpt.newest);
        if behind && follow.pace == Pace::Keeping {
            self.fall_behind(id);
        }
        if anew {
            return;
        }
        let (mut missed, mut given) = (Missed::of(excerpt, asked_since), 0);
        for (slot, instance) in waiting {
            let topic = self.topics.get_mut(id.0 as usize);
            let Some(follow) = topic.and_then(|topic| topic.follow_mut()) else { return };
            // Joins established by this loop may have published; what was queued since is not in the answer.
            if follow.reached != cut || given > RECOVERY_DELIVERIES_MAX {
                break;
            }
            let Some(one) = follow.recovering.get(&instance.0) else { continue };
            let verdict = missed.judge(&one.request, cut.as_ref());
            if verdict == Verdict::Later {
                continue;
            }
            let Some(Recovering { request, .. }) = follow.recovering.remove(&instance.0) else { continue };
            let part = missed.part(&request, cut.as_ref(), verdict);
            given += part.len();
            self.begin(slot, id, instance, Some((request, verdict, part)), out);
            if let Some(key) = self.connections.key_of(slot) {
                self.resume(key, out);
            }
        }
        self.list_question(id);
    }

    /// Establishes a join, with what it missed.
    fn begin(
        &mut self,
        slot: u32,
        topic: TopicId,
        instance: JoinInstance,
        recovery: Option<(RecoverRequest, Verdict, &mut [Queued])>,
        out: &mut Effects,
    ) {
        let fresh = PublisherId::of(self.hash, self.config.shard, instance);
        let Some(follow) = self.topics[topic.0 as usize].follow_mut() else { return };
        let (mut outcome, mut position) = (String::new(), follow.reached.clone());
        let (mut publisher, mut missed) = (fresh, &mut [][..]);
        if let Some((request, verdict, part)) = recovery {
            if let Some(name) = request.publisher {
                publisher = name;
                follow.name(slot, name);
            }
            match verdict {
                Verdict::Recovered => {
                    self.counters.recoveries += 1;
                    outcome.push_str(",\"recovered\":true");
                    position = Some(Position { epoch: request.epoch, offset: request.offset });
                    missed = part;
                }
                Verdict::Refused(refusal) => {
                    self.counters.recoveries_refused += 1;
                    outcome = format!(",\"recovered\":false,\"reason\":\"{}\"", refusal.reason());
                }
                Verdict::Later => {}
            }
        }
        let place = position.map_or_else(String::new, |Position { epoch, offset }| {
            format!("\"epoch\":\"{}\",\"offset\":{offset},", epoch.as_str())
        });
        let recover = format!("{{{place}\"publisher\":\"{}\"{outcome}}}", publisher.as_str());
        self.recount_follow(topic);
        self.establish(slot, topic, Some(Start { recover, publisher, missed }), out);
    }

    /// Delivers to a member what it missed, as it would have got it.
    pub(crate) fn give_missed(&mut self, slot: u32, topic: TopicId, start: Start<'_>, out: &mut Effects) {
        for queued in start.missed {
            let except = queued.publication.place.as_ref().and_then(|place| place.except);
            if except == Some(start.publisher) {
                continue;
            }
            let Some(connection) = self.connections.get(slot) else { return };
            let dialect = connection.dialect();
            // A channel that intercepted an earlier publication may have ended its join.
            if connection.join(topic).is_none_or(|join| !join.is_joined()) {
                return;
            }
            if self.intercepts(slot, topic, &queued.publication) {
                let publication = queued.publication.clone();
                self.hand_out(slot, topic, &publication, out);
                continue;
            }
            match self.encoder.queued(dialect, queued) {
                Some(frame) => {
                    self.counters.deliveries += 1;
                    let frame = out.share(&frame);
                    out.deliver([slot], frame);
                }
                None => self.counters.undeliverable += 1,
            }
        }
    }
}

fn place_of(recovering: &Recovering) -> (u32, JoinInstance) {
    (recovering.slot, recovering.instance)
}

/// A home's answer, with what has been encoded of it so far.
struct Missed {
    /// The offset from which history was requested; joins that came later may need more.
    asked_since: u64,
    floor: u64,
    unavailable: bool,
    from: u64,
    newest: u64,
    queued: Vec<Queued>,
}

impl Missed {
    fn of(excerpt: Excerpt, asked_since: u64) -> Missed {
        let Excerpt { floor, unavailable, from, newest, publications, .. } = excerpt;
        let queued = publications.into_iter().map(Queued::alone).collect();
        Missed { asked_since, floor, unavailable, from, newest, queued }
    }

    /// Judges one join. `cut` is the position up to which publications were queued for the members: what is newer comes
    /// from the queue.
    fn judge(&self, request: &RecoverRequest, cut: Option<&Position>) -> Verdict {
        let Some(cut) = cut else { return Verdict::Refused(Refusal::Unavailable) };
        match request.offset {
            _ if request.epoch != cut.epoch => Verdict::Refused(Refusal::Epoch),
            // No publication of this epoch ever had that offset.
            offset if offset > self.newest => Verdict::Refused(Refusal::Epoch),
            offset if offset > cut.offset || offset < self.asked_since => Verdict::Later,
            offset if offset < self.floor && self.unavailable => Verdict::Refused(Refusal::Unavailable),
            offset if offset < self.floor => Verdict::Refused(Refusal::TooOld),
            offset if offset < self.from => Verdict::Refused(Refusal::TooMany),
            _ => Verdict::Recovered,
        }
    }

    fn part(&mut self, request: &RecoverRequest, cut: Option<&Position>, verdict: Verdict) -> &mut [Queued] {
        let offset = |queued: &Queued| queued.publication.place.as_ref().map_or(0, |place| place.offset);
        let Some(cut) = cut.filter(|_| verdict == Verdict::Recovered) else { return &mut [] };
        let again = u64::from(PlantedBug::RecoveryDeliversTwice.is_planted());
        let start = self.queued.partition_point(|queued| offset(queued) + again <= request.offset);
        let end = self.queued.partition_point(|queued| offset(queued) <= cut.offset);
        &mut self.queued[start..end.max(start)]
    }
}

impl Follow {
    /// Stores what a join wants to recover until it is accepted.
    pub(crate) fn recover(&mut self, slot: u32, instance: JoinInstance, request: RecoverRequest) {
        self.recovering.insert(instance.0, Recovering { slot, instance, request, ready: false });
    }
}
