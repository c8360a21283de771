//! What clients and the server do on their own initiative.

use crate::channels::{INTERCEPTED, PUBLISHED, RoomKind, payload_of};
use crate::client::{Answers, Client, Request};
use crate::journal::{ClientId, JoinId, PublicationId, Published};
use crate::oracle::{Checked, RequestedJoin};
use crate::shard::{MOUNTS, ROOMS, config};
use crate::wire::{encode, encode_bytes};
use crate::world::World;
use hub::{Class, Dialect, Dismissal, MountIndex, Outgoing, ShardMessage, Transport};
use proto::phoenix::{FrameKind, Version};
use proto::ws::CloseCode;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone, Copy)]
enum Act {
    Join,
    Leave,
    Heartbeat,
    Stale,
    Bytes,
    Garbage,
    Cut,
    Say(&'static str, Answers),
}

/// Everything that a client does, weighted by how often it does it.
const ACTS: [(usize, Act); 31] = [
    (130, Act::Join),
    (30, Act::Leave),
    (40, Act::Heartbeat),
    (15, Act::Stale),
    (25, Act::Bytes),
    (4, Act::Garbage),
    (15, Act::Cut),
    (30, Act::Say("echo", Answers::One)),
    (10, Act::Say("deny", Answers::One)),
    (10, Act::Say("quiet", Answers::Perhaps)),
    (8, Act::Say("bytes", Answers::OneWhileJoined)),
    (20, Act::Say("defer", Answers::OneWhileJoined)),
    (25, Act::Say("hold", Answers::OneWhileJoined)),
    (15, Act::Say("hold twice", Answers::OneWhileJoined)),
    (2, Act::Say("overwork", Answers::Perhaps)),
    (140, Act::Say("publish", Answers::One)),
    (50, Act::Say("publish from", Answers::One)),
    (60, Act::Say("publish to", Answers::One)),
    (100, Act::Say("publish intercepted", Answers::One)),
    (20, Act::Say("several", Answers::One)),
    (25, Act::Say("track", Answers::One)),
    (30, Act::Say("update", Answers::One)),
    (20, Act::Say("untrack", Answers::One)),
    (10, Act::Say("list", Answers::One)),
    (6, Act::Say("kick", Answers::One)),
    (8, Act::Say("stop", Answers::Perhaps)),
    (8, Act::Say("reply and stop", Answers::One)),
    (5, Act::Say("fail", Answers::Perhaps)),
    (8, Act::Say("boom", Answers::Perhaps)),
    (3, Act::Say("phx_close", Answers::Perhaps)),
    (3, Act::Say("phx_reply", Answers::Perhaps)),
];

/// How a join's channel decides, weighted.
const MODES: [(usize, &str); 8] = [
    (60, "accept"),
    (18, "later"),
    (3, "die"),
    (6, "refuse"),
    (4, "crash"),
    (4, "later refuse"),
    (4, "later crash"),
    (4, "later panic"),
];

const SOCKET_IDS: usize = 4;

impl World {
    /// Lets a new client connect, or an existing one act.
    pub(crate) fn client_acts(&mut self) -> Checked {
        let open = self.clients.len();
        if open == 0 || (open < self.plan.clients_max && self.random.percent(30)) {
            return self.client_opens();
        }
        let at = self.random.below(open);
        let Some(&id) = self.clients.keys().nth(at) else { return Ok(()) };
        match self.random.weighted(&ACTS) {
            Act::Join => self.client_joins(id),
            Act::Leave => self.client_says(id, "phx_leave", Answers::One),
            Act::Heartbeat => self.client_beats(id),
            Act::Stale => self.client_is_stale(id),
            Act::Bytes => self.client_says_bytes(id),
            Act::Garbage => self.client_breaks(id),
            Act::Cut => self.cut(id),
            Act::Say(event, answers) => self.client_says(id, event, answers),
        }
    }

    fn client_opens(&mut self) -> Checked {
        let shard = self.random.below(self.plan.shards());
        let transports = [Transport::WebSocket, Transport::WebSocketDeflate, Transport::LongPoll];
        let version = self.random.pick(&[Version::V1, Version::V2, Version::V2]);
        let dialect = Dialect { version, transport: self.random.pick(&transports) };
        let mount = MountIndex(self.random.below(usize::from(MOUNTS)) as u16);
        let socket_id = self.random.percent(50).then(|| self.socket_id());
        self.open(shard, dialect, mount, socket_id)
    }

    fn client_joins(&mut self, id: ClientId) -> Checked {
        let (topic, kind) = self.topic();
        let options = json!({
            "mode": self.random.weighted(&MODES),
            "key": format!("person {}", self.random.below(6)),
            "greet": self.random.percent(20),
            "farewell": self.random.percent(20),
            "state first": self.random.percent(50),
        });
        let number = self.number();
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        let join = JoinId(number);
        let has_ref = match client.dialect.version {
            Version::V1 => self.random.percent(50),
            Version::V2 => self.random.percent(85),
        };
        client.join_refs.insert(join, has_ref);
        client.latest.insert(topic.clone(), join);
        let request = request(&topic, "phx_join", Some(join), has_ref.then_some(number), Answers::One);
        client.ask(number, request);
        let (shard, carries_bytes) = (client.shard, client.carries_bytes());
        let intercepts = kind == Some(RoomKind::Intercepting);
        self.oracle.asked(
            join,
            RequestedJoin { client: id, shard, topic: topic.clone(), carries_bytes, intercepts },
        );
        let mut payload = options;
        payload["join"] = json!(number);
        self.send(id, has_ref.then_some(number), number, &topic, "phx_join", &payload)
    }

    fn client_says(&mut self, id: ClientId, event: &'static str, answers: Answers) -> Checked {
        let Some(client) = self.clients.get(&id) else { return Ok(()) };
        if event.starts_with("hold") && client.sequential {
            // A held channel is not an undecided join: nothing else waits for it, and the order would not be strict.
            return Ok(());
        }
        let topic = self.known_topic(id);
        let payload = json!({
            "topic": self.topic().0,
            "key": format!("person {}", self.random.below(6)),
            "socket": self.socket_id(),
            "panics": self.random.percent(25),
        });
        let (join, join_ref) = self.latest(id, &topic);
        let join_ref = join_ref.filter(|_| self.random.percent(70));
        let number = self.number();
        self.ask(id, number, request(&topic, event, join, join_ref, answers));
        self.send(id, join_ref, number, &topic, event, &payload)
    }

    fn client_beats(&mut self, id: ClientId) -> Checked {
        let number = self.number();
        self.ask(id, number, request("phoenix", "heartbeat", None, None, Answers::One));
        self.send(id, None, number, "phoenix", "heartbeat", &json!({}))
    }

    /// Sends something for a join that is not the latest.
    fn client_is_stale(&mut self, id: ClientId) -> Checked {
        let topic = self.known_topic(id);
        let event = self.random.pick(&["echo", "phx_leave", "publish"]);
        let (join, _) = self.latest(id, &topic);
        let number = self.number();
        self.ask(id, number, request(&topic, event, join, Some(0), Answers::Perhaps));
        self.send(id, Some(0), number, &topic, event, &json!({}))
    }

    fn client_says_bytes(&mut self, id: ClientId) -> Checked {
        let topic = self.known_topic(id);
        let (join, join_ref) = self.latest(id, &topic);
        let sends_bytes = self.clients.get(&id).is_some_and(Client::carries_bytes);
        let Some(join_ref) = join_ref.filter(|_| sends_bytes) else { return Ok(()) };
        let number = self.number();
        self.ask(id, number, request(&topic, "publish bytes", join, Some(join_ref), Answers::One));
        let bytes = encode_bytes(join_ref, number, &topic, "publish bytes", b"any bytes");
        self.frame(id, FrameKind::Binary, &bytes)
    }

    /// Sends what no decoder accepts: the hub must close this client, and no other client may notice.
    fn client_breaks(&mut self, id: ClientId) -> Checked {
        if let Some(client) = self.clients.get_mut(&id) {
            client.is_broken = true;
        }
        let garbage: [&[u8]; 4] = [b"", b"{\"topic\":1", b"[1,2,3]", b"\x01\xFF\xFF"];
        let garbage = self.random.pick(&garbage);
        self.frame(id, FrameKind::Text, garbage)
    }

    fn ask(&mut self, id: ClientId, reference: u32, request: Request) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.ask(reference, request);
        }
    }

    fn send(
        &mut self,
        id: ClientId,
        join_ref: Option<u32>,
        reference: u32,
        topic: &str,
        event: &str,
        payload: &Value,
    ) -> Checked {
        let Some(client) = self.clients.get(&id) else { return Ok(()) };
        let version = client.dialect.version;
        // V1's JSON may come in a binary frame.
        let binary = version == Version::V1 && self.random.percent(20);
        let kind = if binary { FrameKind::Binary } else { FrameKind::Text };
        self.frame(id, kind, &encode(version, join_ref, reference, topic, event, payload))
    }

    /// Returns a topic that the client has asked for before; occasionally any topic.
    fn known_topic(&mut self, id: ClientId) -> String {
        let known: Vec<&String> =
            self.clients.get(&id).into_iter().flat_map(|client| client.latest.keys()).collect();
        if known.is_empty() || self.random.percent(5) {
            return self.topic().0;
        }
        known[self.random.below(known.len())].clone()
    }

    /// Returns the latest join of a topic, and the join_ref for messages to it.
    fn latest(&self, id: ClientId, topic: &str) -> (Option<JoinId>, Option<u32>) {
        let Some(client) = self.clients.get(&id) else { return (None, None) };
        let join = client.latest.get(topic).copied();
        (join, join.filter(|join| client.join_refs.get(join) == Some(&true)).map(|join| join.0))
    }

    fn topic(&mut self) -> (String, Option<RoomKind>) {
        if self.random.percent(2) {
            return ("nobody:answers".into(), None);
        }
        let (prefix, kind) = self.random.pick(&ROOMS);
        (format!("{prefix}{}", self.random.below(self.plan.topics)), Some(kind))
    }

    fn socket_id(&mut self) -> String {
        format!("user:{}", self.random.below(SOCKET_IDS))
    }

    /// Acts as code outside any channel: publishes, or closes someone's sockets.
    pub(crate) fn server_acts(&mut self) -> Checked {
        let (topic, _) = self.topic();
        match self.random.below(10) {
            0 => {
                let socket_id = self.socket_id();
                self.kick(socket_id.clone());
                let dismissal = Dismissal::Sockets { id: socket_id.into(), code: CloseCode::GOING_AWAY };
                for shard in 0..self.plan.shards() {
                    self.post(shard, ShardMessage::Dismiss(dismissal.clone()), Class::Control)?;
                }
                Ok(())
            }
            1 => {
                let socket_id = self.socket_id();
                self.kick(socket_id.clone());
                self.publish_now(&socket_id, "disconnect", Outgoing::empty())
            }
            _ => self.server_publishes(&topic),
        }
    }

    fn server_publishes(&mut self, topic: &str) -> Checked {
        let id = PublicationId(self.journal.number());
        let (binary, intercepted) = (self.random.percent(10), self.random.percent(30));
        let payload = match binary {
            true => Outgoing::from(id.0.to_be_bytes().to_vec()),
            false => payload_of(id).into(),
        };
        let topic = topic.to_owned();
        let event = if intercepted { INTERCEPTED } else { PUBLISHED };
        let published =
            Published { id, topic: topic.clone(), publisher: None, from: false, intercepted, binary };
        self.trace.line(format_args!("{} the server publishes {published:?}", self.now.0));
        self.oracle.published(published, None);
        self.publish_now(&topic, event, payload)
    }

    fn publish_now(&mut self, topic: &str, event: &str, payload: Outgoing<'static>) -> Checked {
        let home = config(0, self.seed, &self.plan).home_of(topic);
        let message =
            ShardMessage::PublishNow { topic: Arc::from(topic), event: event.into(), payload, here: false };
        self.post(usize::from(home.0), message, Class::Control)
    }
}

fn request(
    topic: &str,
    event: &'static str,
    join: Option<JoinId>,
    join_ref: Option<u32>,
    answers: Answers,
) -> Request {
    let ordered = event != "defer";
    Request { topic: topic.into(), event, join, join_ref, answers, ordered, answered: false }
}
