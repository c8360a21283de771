//! The reference model: what one shard must do, in the simplest form, without cursors, sequences or sharing.

use proto::phoenix::Version;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// A client's message, as far as the model is concerned.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) reference: String,
    pub(super) request: Request,
}

#[derive(Clone, Debug)]
pub(super) enum Request {
    Join { later: bool },
    Leave,
    Echo,
    Publish { to: String, from: bool, payload: Value },
}

#[derive(Debug)]
enum Join {
    /// A task decides; the client's messages for the topic wait.
    Deciding {
        waiting: VecDeque<Message>,
    },
    Standing,
}

#[derive(Debug)]
struct Peer {
    version: Version,
    /// Each topic's join, with its `join_ref`.
    joins: BTreeMap<String, (String, Join)>,
}

/// The messages that each connection gets, in order.
pub(super) type Told = BTreeMap<u8, Vec<Value>>;

#[derive(Default, Debug)]
pub(super) struct Reference {
    peers: BTreeMap<u8, Peer>,
    members: BTreeMap<String, Vec<u8>>,
    /// Messages that wait for each member, by topic.
    queues: BTreeMap<(u8, String), VecDeque<Value>>,
    told: Told,
}

impl Reference {
    pub(super) fn open(&mut self, slot: u8, version: Version) {
        self.peers.insert(slot, Peer { version, joins: BTreeMap::new() });
    }

    pub(super) fn is_open(&self, slot: u8) -> bool {
        self.peers.contains_key(&slot)
    }

    pub(super) fn close(&mut self, slot: u8) {
        let Some(peer) = self.peers.remove(&slot) else { return };
        for topic in peer.joins.keys() {
            self.forget(slot, topic);
        }
    }

    pub(super) fn message(&mut self, slot: u8, message: Message) {
        let Some(peer) = self.peers.get_mut(&slot) else { return };
        match (peer.joins.get_mut(&message.topic), &message.request) {
            (Some((_, Join::Deciding { waiting })), _) => waiting.push_back(message),
            (Some(_), Request::Join { .. }) => {
                self.end(slot, &message.topic);
                self.join(slot, message);
            }
            (Some((join_ref, _)), Request::Leave) => {
                let join_ref = join_ref.clone();
                self.reply(slot, Some(&join_ref), &message, "ok", json!({}));
                self.end(slot, &message.topic);
            }
            (Some((join_ref, _)), Request::Echo) => {
                let join_ref = join_ref.clone();
                self.reply(slot, Some(&join_ref), &message, "ok", json!({}));
            }
            (Some((join_ref, _)), Request::Publish { to, from, payload }) => {
                let join_ref = join_ref.clone();
                self.publish(Some((slot, *from)), to, payload);
                self.reply(slot, Some(&join_ref), &message, "ok", json!({}));
            }
            (None, Request::Join { .. }) => self.join(slot, message),
            (None, Request::Leave) => self.reply(slot, None, &message, "ok", json!({})),
            (None, _) => self.reply(slot, None, &message, "error", json!({"reason": "unmatched topic"})),
        }
    }

    fn join(&mut self, slot: u8, message: Message) {
        let Some(peer) = self.peers.get_mut(&slot) else { return };
        let later = matches!(message.request, Request::Join { later: true });
        let deciding = Join::Deciding { waiting: VecDeque::new() };
        peer.joins.insert(message.topic.clone(), (message.reference.clone(), deciding));
        if !later {
            self.accept(slot, &message.topic);
        }
    }

    /// Accepts the join, and handles what waited for it.
    pub(super) fn accept(&mut self, slot: u8, topic: &str) {
        let Some((join_ref, join)) = self.peers.get_mut(&slot).and_then(|peer| peer.joins.get_mut(topic))
        else {
            return;
        };
        let Join::Deciding { waiting } = std::mem::replace(join, Join::Standing) else { return };
        let join_ref = join_ref.clone();
        self.members.entry(topic.into()).or_default().push(slot);
        let asked = Message { topic: topic.into(), reference: join_ref.clone(), request: Request::Echo };
        self.reply(slot, Some(&join_ref), &asked, "ok", json!({}));
        for message in waiting {
            self.message(slot, message);
        }
    }

    /// Publishes; `publisher` is the slot and whether it is left out. A member that publishes gets its own copy at
    /// once.
    pub(super) fn publish(&mut self, publisher: Option<(u8, bool)>, topic: &str, payload: &Value) {
        for &slot in self.members.get(topic).into_iter().flatten() {
            let version = self.peers[&slot].version;
            let message = push(version, topic, payload);
            match publisher {
                Some((publisher, from)) if publisher == slot => {
                    if !from {
                        self.told.entry(slot).or_default().push(message);
                    }
                }
                _ => self.queues.entry((slot, topic.into())).or_default().push_back(message),
            }
        }
    }

    fn end(&mut self, slot: u8, topic: &str) {
        let Some(peer) = self.peers.get_mut(&slot) else { return };
        let Some((join_ref, _)) = peer.joins.remove(topic) else { return };
        let message = match peer.version {
            Version::V1 => json!({"topic": topic, "event": "phx_close", "payload": {}, "ref": join_ref}),
            Version::V2 => json!([join_ref, join_ref, topic, "phx_close", {}]),
        };
        self.told.entry(slot).or_default().push(message);
        self.forget(slot, topic);
    }

    fn forget(&mut self, slot: u8, topic: &str) {
        if let Some(members) = self.members.get_mut(topic) {
            members.retain(|&member| member != slot);
        }
        self.queues.remove(&(slot, topic.to_owned()));
    }

    fn reply(&mut self, slot: u8, join_ref: Option<&str>, to: &Message, status: &str, response: Value) {
        let Message { topic, reference, .. } = to;
        let payload = json!({"status": status, "response": response});
        let message = match self.peers[&slot].version {
            Version::V1 => {
                json!({"topic": topic, "event": "phx_reply", "payload": payload, "ref": reference})
            }
            Version::V2 => json!([join_ref, reference, topic, "phx_reply", payload]),
        };
        self.told.entry(slot).or_default().push(message);
    }

    /// Takes what every connection got since the last call, except what waits for a pump.
    pub(super) fn take_told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    /// Removes a message from the queue whose front it is. Returns `false` if there is no such queue.
    pub(super) fn was_delivered(&mut self, slot: u8, message: &Value) -> bool {
        let mut queues =
            self.queues.iter_mut().filter(|((to, _), queue)| *to == slot && queue.front() == Some(message));
        queues.next().is_some_and(|(_, queue)| queue.pop_front().is_some())
    }

    pub(super) fn waits(&self) -> bool {
        self.queues.values().any(|queue| !queue.is_empty())
    }

    /// Returns the topics with their number of members.
    pub(super) fn topics(&self) -> BTreeMap<&str, usize> {
        let topics = self.members.iter().filter(|(_, members)| !members.is_empty());
        topics.map(|(topic, members)| (topic.as_str(), members.len())).collect()
    }

    pub(super) fn open_slots(&self) -> Vec<u8> {
        self.peers.keys().copied().collect()
    }
}

fn push(version: Version, topic: &str, payload: &Value) -> Value {
    match version {
        Version::V1 => json!({"topic": topic, "event": "told", "payload": payload, "ref": null}),
        Version::V2 => json!([null, null, topic, "told", payload]),
    }
}
