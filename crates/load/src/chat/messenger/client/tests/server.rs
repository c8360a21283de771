//! A minimal server for the client's tests: a room and a direct conversation, with sequence numbers, retries and
//! recovery.

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(super) const ROOM: &str = "R";
pub(super) const DIRECT: &str = "D";
const ME: &str = "guest:ann";

#[derive(Default)]
pub(super) struct Server {
    /// Messages that the client has not received yet.
    pub(super) out: Vec<String>,
    /// Keyed by conversation.
    messages: BTreeMap<String, Vec<Value>>,
    revisions: BTreeMap<String, u64>,
    read: BTreeMap<String, u64>,
    /// Joined topics, with the reference of the join.
    joined: BTreeMap<String, String>,
    is_connected: bool,
    epoch: u64,
    /// The error with which the next request is refused.
    refuses: Option<Value>,
    refuses_message: bool,
    pub(super) swallows_answers: bool,
}

impl Server {
    pub(super) fn connected(&mut self) {
        self.is_connected = true;
    }

    pub(super) fn forget_connection(&mut self) {
        self.is_connected = false;
        self.joined.clear();
        self.out.clear();
    }

    pub(super) fn refuse_next(&mut self, code: &str, details: Value) {
        self.refuses = Some(json!({"code": code, "message": code, "details": details}));
    }

    /// Returns whether no request has been made since.
    pub(super) fn refuses_next(&self) -> bool {
        self.refuses.is_some()
    }

    pub(super) fn refuse_next_message(&mut self) {
        self.refuses_message = true;
    }

    pub(super) fn begin_anew(&mut self) {
        self.epoch += 1;
        self.messages.clear();
        self.revisions.clear();
    }

    pub(super) fn last(&self, conversation: &str) -> u64 {
        self.messages.get(conversation).map_or(0, |all| all.len() as u64)
    }

    pub(super) fn texts(&self, conversation: &str) -> Vec<String> {
        let all = self.messages.get(conversation).into_iter().flatten();
        all.map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Stores a message from somebody; it may get lost on the way to the client.
    pub(super) fn say(&mut self, conversation: &str, sender: &str, text: &str, is_told: bool) {
        self.store(conversation, sender, text, Value::Null, is_told);
    }

    pub(super) fn edit(&mut self, conversation: &str, seq: u64, text: &str) {
        let revision = self.revisions.entry(conversation.to_owned()).or_default();
        *revision += 1;
        let message = &mut self.messages.get_mut(conversation).expect("said before")[seq as usize - 1];
        message["text"] = text.into();
        message["edited"] = 1.into();
        message["revision"] = (*revision).into();
    }

    /// Broadcasts the room's current description.
    pub(super) fn describe(&mut self) {
        self.push("room:default/lobby", "conversation:changed", &self.conversation(ROOM));
    }

    fn store(
        &mut self,
        conversation: &str,
        sender: &str,
        text: &str,
        client_id: Value,
        is_told: bool,
    ) -> u64 {
        let seq = self.last(conversation) + 1;
        let message = json!({
            "seq": seq, "id": format!("{conversation}{seq}"), "conversation": conversation, "sender": sender,
            "client_id": client_id, "at": seq, "text": text, "mentions": [], "reactions": [], "revision": 0,
            "edited": null, "deleted": null,
        });
        self.messages.entry(conversation.to_owned()).or_default().push(message.clone());
        if is_told {
            if conversation == ROOM {
                self.push("room:default/lobby", "msg:new", &message);
            }
            self.push(&format!("person:default/{ME}"), "msg:new", &message);
        }
        seq
    }

    fn push(&mut self, topic: &str, event: &str, payload: &Value) {
        if self.is_connected && self.joined.contains_key(topic) {
            self.out.push(json!([null, null, topic, event, payload]).to_string());
        }
    }

    pub(super) fn hear(&mut self, text: &str) {
        let message: Value = serde_json::from_str(text).expect("JSON");
        let [join, reference, topic, event, payload] = message.as_array().expect("five").as_slice() else {
            panic!("{text}");
        };
        let (topic, event) = (topic.as_str().expect("a topic"), event.as_str().expect("an event"));
        let refused = match event {
            "heartbeat" | "profile" | "phx_leave" => None,
            "msg:new" if std::mem::take(&mut self.refuses_message) => {
                Some(json!({"code": "rate_limited", "message": "wait", "details": {"retry_after_ms": 500}}))
            }
            _ => self.refuses.take(),
        };
        let (status, response) = match refused {
            Some(fault) => ("error", fault),
            None => ("ok", self.answer(topic, event, join, payload)),
        };
        if self.is_connected && !self.swallows_answers {
            let reply =
                json!([join, reference, topic, "phx_reply", {"status": status, "response": response}]);
            self.out.push(reply.to_string());
        }
    }

    fn answer(&mut self, topic: &str, event: &str, join: &Value, payload: &Value) -> Value {
        let conversation = payload["conversation"].as_str().unwrap_or_default().to_owned();
        match event {
            "phx_join" => {
                self.joined.insert(topic.to_owned(), join.to_string());
                if topic.starts_with("room:") { self.room(payload) } else { self.person() }
            }
            "phx_leave" => {
                self.joined.remove(topic);
                json!({})
            }
            "profile" => {
                let person = payload["person"].as_str().expect("a person");
                let name = person[..1].to_uppercase() + &person[1..];
                json!({"person": person, "profile": {"name": name, "guest": false}})
            }
            "direct" => json!({"conversation": self.conversation(DIRECT)}),
            "msg:new" => {
                let all = self.messages.get(&conversation).into_iter().flatten();
                let known = all.clone().find(|message| message["client_id"] == payload["client_id"]);
                let seq = match known.and_then(|message| message["seq"].as_u64()) {
                    Some(seq) => seq,
                    None => {
                        let text = payload["text"].as_str().expect("a text");
                        self.read.insert(conversation.clone(), self.last(&conversation) + 1);
                        self.store(&conversation, ME, text, payload["client_id"].clone(), true)
                    }
                };
                json!({"seq": seq, "client_id": payload["client_id"]})
            }
            "read" => {
                let seq = payload["seq"].as_u64().expect("a place");
                self.read.insert(conversation.clone(), seq);
                json!({"read": seq, "unread": self.last(&conversation) - seq})
            }
            "history" => self.history(&conversation, payload),
            _ => json!({}),
        }
    }

    fn history(&self, conversation: &str, payload: &Value) -> Value {
        let limit = payload["limit"].as_u64().expect("a limit") as usize;
        let all = self.messages.get(conversation).cloned().unwrap_or_default();
        let of = |message: &Value, member: &str| message[member].as_u64().expect("a number");
        let mut found: Vec<Value> =
            match (payload["after"].as_u64(), payload["before"].as_u64(), payload["changed"].as_u64()) {
                (Some(after), ..) => all.into_iter().filter(|each| of(each, "seq") > after).collect(),
                (_, Some(before), _) => all.into_iter().filter(|each| of(each, "seq") < before).collect(),
                (.., Some(changed)) => {
                    all.into_iter().filter(|each| of(each, "revision") > changed).collect()
                }
                _ => all,
            };
        let more = found.len() > limit;
        match payload["after"].is_u64() || payload["changed"].is_u64() {
            true => found.truncate(limit),
            false => drop(found.drain(..found.len().saturating_sub(limit))),
        }
        json!({"messages": found, "more": more, "conversation": self.conversation(conversation)})
    }

    fn room(&self, payload: &Value) -> Value {
        let recover = &payload["recover"];
        let epoch = self.epoch.to_string();
        let is_recovered = recover["epoch"].as_str() == Some(&epoch);
        let all = self.messages.get(ROOM).cloned().unwrap_or_default();
        let known = recover["seq"].as_u64().filter(|_| is_recovered).unwrap_or(0) as usize;
        let messages = match is_recovered {
            true => all[known..].to_vec(),
            false => all[all.len().saturating_sub(50)..].to_vec(),
        };
        json!({
            "me": {"id": ME, "profile": {"name": "Ann", "guest": true}, "token": "guest-token"},
            "epoch": epoch, "conversation": self.conversation(ROOM), "messages": messages, "changed": [],
            "member": {"read": self.read.get(ROOM).copied().unwrap_or(0)},
            "recovered": if recover.is_object() { json!(is_recovered) } else { Value::Null },
            "presence": {"count": 1, "people": [{"person": ME, "status": "online"}]},
        })
    }

    fn person(&self) -> Value {
        let row = |id: &str| {
            let read = self.read.get(id).copied().unwrap_or(0);
            json!({"conversation": self.conversation(id), "member": {"read": read},
                   "unread": self.last(id) - read, "mentions": 0})
        };
        json!({"me": {"id": ME}, "epoch": self.epoch.to_string(), "conversations": [row(ROOM), row(DIRECT)],
               "next": null, "invitations": [], "presence": []})
    }

    fn conversation(&self, id: &str) -> Value {
        let (kind, name, pair) = match id {
            ROOM => ("public", json!("lobby"), Value::Null),
            _ => ("direct", Value::Null, json!(["bob", ME])),
        };
        json!({"id": id, "kind": kind, "name": name, "pair": pair, "title": "", "topic": "", "members": 2, "first": 1,
               "last": self.last(id), "revision": self.revisions.get(id).copied().unwrap_or(0), "active": self.last(id)})
    }
}
