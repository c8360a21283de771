//! Determines who must receive what: a model of publications and members that knows nothing of cursors, queues or
//! positions.
//!
//! A publication *arrives* at a shard when it is published there or when a message brings it. Every member there at
//! that moment must receive it once, in the order of arrival; its publisher receives it at once, unless its channel
//! intercepts it. Members on other shards at the moment of publishing must receive it too, unless a full mailbox
//! dropped it on the way.

use crate::channels::publication_of;
use crate::journal::{ClientId, JoinId, Note, PublicationId, Published};
use hub::{Publication, ShardMessage};
use std::collections::{BTreeMap, BTreeSet};

/// What went wrong, in one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation(pub(crate) String);

pub(crate) type Checked<T = ()> = Result<T, Violation>;

/// Returns the error of a failed check.
pub(crate) fn violated<T>(what: impl Into<String>) -> Checked<T> {
    Err(Violation(what.into()))
}

/// A join, as its client requests it.
#[derive(Clone, Debug)]
pub(crate) struct RequestedJoin {
    pub(crate) client: ClientId,
    pub(crate) shard: usize,
    pub(crate) topic: String,
    /// Whether the client's dialect carries binary payloads.
    pub(crate) carries_bytes: bool,
    pub(crate) intercepts: bool,
}

struct Member {
    asked: RequestedJoin,
    joined: bool,
    ended: bool,
    /// Presence diffs for it may have been dropped.
    presence_is_stale: bool,
    /// What it must still receive, in the order of arrival.
    expected: Vec<Expected>,
    heard: BTreeSet<PublicationId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Expected {
    id: PublicationId,
    at_once: bool,
}

struct Sent {
    published: Published,
    /// Members on other shards when it was published.
    promised: Vec<JoinId>,
    /// The shards whose full mailboxes dropped it; [`EVERYWHERE`] stands for all.
    dropped: BTreeSet<usize>,
}

const EVERYWHERE: usize = usize::MAX;

#[derive(Default)]
pub(crate) struct Oracle {
    members: BTreeMap<JoinId, Member>,
    /// The joins in effect, by shard and topic.
    standing: BTreeMap<(usize, String), Vec<JoinId>>,
    sent: BTreeMap<PublicationId, Sent>,
    at_once: Vec<(JoinId, PublicationId)>,
    /// Where presence diffs were dropped since the last rest. An earlier diff may still be in flight there, even to
    /// clients that join later.
    presence_is_stale: BTreeSet<(usize, String)>,
    pub(crate) deliveries: u64,
    pub(crate) drops: u64,
}

impl Oracle {
    /// Records that a client requests a join.
    pub(crate) fn asked(&mut self, join: JoinId, asked: RequestedJoin) {
        let (expected, heard) = (Vec::new(), BTreeSet::new());
        let member = Member { asked, joined: false, ended: false, presence_is_stale: false, expected, heard };
        self.members.insert(join, member);
    }

    /// Records what a channel on `shard` did.
    pub(crate) fn noted(&mut self, shard: usize, note: &Note) -> Checked {
        match note {
            Note::Joined { join } => self.joined(*join),
            Note::Ended { join } => self.ended(*join),
            Note::Published(published) => {
                self.published(published.clone(), Some(shard));
                self.arrived(shard, published.id)
            }
            Note::HandedOut { join, id, pushed } => self.handed_out(*join, *id, *pushed),
            Note::Tracked { .. } | Note::Untracked { .. } | Note::Kicked { .. } => Ok(()),
        }
    }

    fn joined(&mut self, join: JoinId) -> Checked {
        let Some(member) = self.members.get_mut(&join) else {
            return violated(format!("{join:?} was not asked for"));
        };
        if std::mem::replace(&mut member.joined, true) {
            return violated(format!("{join:?} began twice"));
        }
        let place = (member.asked.shard, member.asked.topic.clone());
        member.presence_is_stale = self.presence_is_stale.contains(&place);
        self.standing.entry(place).or_default().push(join);
        Ok(())
    }

    fn ended(&mut self, join: JoinId) -> Checked {
        let Some(member) = self.members.get_mut(&join).filter(|member| member.joined && !member.ended) else {
            return violated(format!("{join:?} ended without standing"));
        };
        member.ended = true;
        let place = (member.asked.shard, member.asked.topic.clone());
        self.standing.entry(place).or_default().retain(|&standing| standing != join);
        Ok(())
    }

    /// Records a publication, by a channel on shard `origin` or by the server.
    pub(crate) fn published(&mut self, published: Published, origin: Option<usize>) {
        let elsewhere = self.standing.iter();
        let elsewhere =
            elsewhere.filter(|((shard, topic), _)| Some(*shard) != origin && *topic == published.topic);
        let promised = elsewhere.flat_map(|(_, joins)| joins.iter().copied()).collect();
        self.sent.insert(published.id, Sent { published, promised, dropped: BTreeSet::new() });
    }

    /// Records that a message is about to be handled on `shard`, which is the home of its topic if the message goes to
    /// one.
    pub(crate) fn handled(&mut self, shard: usize, message: &ShardMessage) -> Checked {
        match message {
            ShardMessage::Publish { origin, .. }
                if origin.is_some_and(|origin| usize::from(origin.0) == shard) =>
            {
                Ok(())
            }
            ShardMessage::Publish { publication, .. } | ShardMessage::Deliver(publication) => {
                id_of(publication).map_or(Ok(()), |id| self.arrived(shard, id))
            }
            ShardMessage::PublishNow { payload, .. } => {
                publication_of(payload.as_payload()).map_or(Ok(()), |id| self.arrived(shard, id))
            }
            _ => Ok(()),
        }
    }

    fn arrived(&mut self, shard: usize, id: PublicationId) -> Checked {
        let Some(Sent { published, .. }) = self.sent.get(&id) else {
            return violated(format!("{id:?} was never sent"));
        };
        let place = (shard, published.topic.clone());
        for &join in self.standing.get(&place).into_iter().flatten() {
            let Some(member) = self.members.get_mut(&join) else { continue };
            let own = Some(member.asked.client) == published.publisher;
            let handed_out = member.asked.intercepts && published.intercepted;
            // A channel is given binary payloads that its client cannot be sent, and fails if it pushes them.
            let impossible = published.binary && !member.asked.carries_bytes && !handed_out;
            if impossible || (own && published.from) {
                continue;
            }
            let at_once = own && !handed_out;
            if at_once {
                self.at_once.push((join, id));
            }
            member.expected.push(Expected { id, at_once });
        }
        Ok(())
    }

    /// Records that a full mailbox dropped a message to `shard`.
    pub(crate) fn dropped(&mut self, shard: usize, message: &ShardMessage) -> Checked {
        self.drops += 1;
        let (publication, lost) = match message {
            ShardMessage::Publish { publication, .. } => (publication, EVERYWHERE),
            ShardMessage::Deliver(publication) => (publication, shard),
            other => return violated(format!("{other:?} may not be dropped")),
        };
        match id_of(publication) {
            Some(id) => {
                if let Some(sent) = self.sent.get_mut(&id) {
                    sent.dropped.insert(lost);
                }
            }
            None => {
                let place = (shard, publication.topic.to_string());
                for join in self.standing.get(&place).into_iter().flatten() {
                    self.members.entry(*join).and_modify(|member| member.presence_is_stale = true);
                }
                self.presence_is_stale.insert(place);
            }
        }
        Ok(())
    }

    /// Checks a publication that the client of `join` was given.
    pub(crate) fn heard(&mut self, join: JoinId, id: PublicationId) -> Checked {
        let Some(member) = self.members.get_mut(&join) else {
            return violated(format!("{join:?} was not asked for"));
        };
        self.deliveries += 1;
        if !member.heard.insert(id) {
            return violated(format!("{join:?} was given {id:?} twice"));
        }
        let Some(at) = member.expected.iter().position(|expected| expected.id == id) else {
            return violated(format!("{join:?} was given {id:?}, which arrived while it was no member"));
        };
        let before = member.expected[..at].iter().find(|expected| !expected.at_once);
        match before {
            Some(earlier) if !member.expected[at].at_once => {
                violated(format!("{join:?} was given {id:?} before {:?}, which arrived earlier", earlier.id))
            }
            _ => {
                member.expected.remove(at);
                Ok(())
            }
        }
    }

    fn handed_out(&mut self, join: JoinId, id: PublicationId, pushed: bool) -> Checked {
        let Some(member) = self.members.get_mut(&join) else {
            return violated(format!("{join:?} was not asked for"));
        };
        let Some(at) = member.expected.iter().position(|expected| expected.id == id) else {
            return violated(format!("the channel of {join:?} was given {id:?}, which is not for it"));
        };
        if !pushed {
            member.expected.remove(at);
            member.heard.insert(id);
        }
        Ok(())
    }

    /// Checks, after each call of the hub, that publishers were given their own publications.
    pub(crate) fn call_ended(&mut self) -> Checked {
        for (join, id) in std::mem::take(&mut self.at_once) {
            let member = &self.members[&join];
            if !member.ended && !member.heard.contains(&id) {
                return violated(format!("{join:?} was not given its own {id:?} at once"));
            }
        }
        Ok(())
    }

    /// Checks the state at rest, when nothing is in flight any more: everyone has received everything.
    pub(crate) fn at_rest(&mut self) -> Checked {
        self.presence_is_stale.clear();
        for (join, member) in self.members.iter().filter(|(_, member)| member.joined && !member.ended) {
            if let Some(expected) = member.expected.first() {
                return violated(format!("{join:?} was never given {:?}", expected.id));
            }
        }
        for (id, sent) in &self.sent {
            for join in &sent.promised {
                let member = &self.members[join];
                let binary = sent.published.binary && !member.asked.carries_bytes;
                let dropped =
                    sent.dropped.contains(&EVERYWHERE) || sent.dropped.contains(&member.asked.shard);
                if !(member.ended || binary || dropped || member.heard.contains(id)) {
                    return violated(format!(
                        "{join:?} stood when {id:?} was published, and never heard of it"
                    ));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn stands(&self, join: JoinId) -> bool {
        self.members.get(&join).is_some_and(|member| member.joined && !member.ended)
    }

    pub(crate) fn has_ended(&self, join: JoinId) -> bool {
        self.members.get(&join).is_some_and(|member| member.ended)
    }

    pub(crate) fn presence_is_stale(&self, join: JoinId) -> bool {
        self.members.get(&join).is_some_and(|member| member.presence_is_stale)
    }

    pub(crate) fn standing(&self) -> usize {
        self.standing.values().map(Vec::len).sum()
    }
}

fn id_of(publication: &Publication) -> Option<PublicationId> {
    publication_of(publication.payload.as_payload())
}
