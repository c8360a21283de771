//! Handles what the server sends.

use std::time::Instant;

use proto::phoenix::{FrameKind, Payload, Version, decode};
use serde_json::{Value, json};

use super::Client;
use crate::chat::messenger::calls::PendingCall;
use crate::chat::messenger::news::{Change, News};
use crate::chat::messenger::payload::{Conversation, Kind, Message, Profile, reactions, text};
use crate::chat::messenger::thread::Thread;

impl Client {
    /// Handles a text message.
    pub(in crate::chat::messenger) fn heard(&mut self, frame: &str, now: Instant) {
        let message = match decode(Version::V2, FrameKind::Text, frame.as_bytes()) {
            Ok(message) => message,
            Err(error) => {
                self.out.close =
                    Some(format!("the server does not speak Phoenix Channels 2.0.0 at this URL: {error}"));
                return;
            }
        };
        let Payload::Json(payload) = message.payload else { return };
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let event = message.event.as_text().unwrap_or_default();
        let number =
            |reference: &proto::phoenix::Ref| reference.as_json().trim_matches('"').parse::<u64>().ok();
        if event == "phx_reply" {
            if let Some(asked) = number(&message.reference)
                .and_then(|reference| self.calls.answered(reference, &mut self.out.send))
            {
                self.answered(asked, &payload, now);
                self.pump(now);
            }
            return;
        }
        let topic = message.topic.as_text().unwrap_or_default().to_owned();
        let join = number(&message.join_ref);
        if Self::is_of(self.room.channel.as_ref(), &topic) {
            // From an earlier join of a room that was left and opened again.
            let is_of_another_join =
                join.is_some() && join != self.room.channel.as_ref().map(|channel| channel.join);
            if !is_of_another_join {
                self.in_room(event, &payload, now);
            }
        } else if Self::is_of(self.person.as_ref(), &topic) {
            self.on_own_topic(event, &payload, now);
        }
        self.pump(now);
    }

    fn in_room(&mut self, event: &str, payload: &Value, now: Instant) {
        match event {
            "msg:new" => {
                if let Some(message) = Message::read(payload) {
                    self.silence(&message);
                    self.arrived(message);
                }
            }
            "head" => {
                let (conversation, seq) = (text(&payload["conversation"]), payload["seq"].as_u64());
                if let (Some(conversation), Some(seq)) = (conversation, seq) {
                    if let Some(thread) = self.threads.get_mut(&conversation) {
                        thread.head = thread.head.max(seq);
                    }
                    self.fill(&conversation);
                }
            }
            "presence" => self.presence(payload, true),
            "phx_close" => {
                let room = std::mem::take(&mut self.room.conversation);
                (self.room.channel, self.room.is_joined) = (None, false);
                let name = room.map_or_else(|| self.room.name.clone(), |room| self.label_of(&room));
                self.out.news.push(News::Note(format!("you are no longer in {name}")));
                self.people.in_room(0, None);
            }
            "phx_error" => self.out.close = Some("the room's channel crashed on the server".into()),
            other => self.in_conversation(other, payload, now),
        }
    }

    fn on_own_topic(&mut self, event: &str, payload: &Value, now: Instant) {
        let conversation = text(&payload["conversation"]);
        match event {
            "msg:new" => {
                if let Some(message) = Message::read(payload) {
                    self.told_to_person(message);
                }
            }
            "presence" => self.presence(payload, false),
            "conversation:new" => {
                if let Some(conversation) = Conversation::read(&payload["conversation"]) {
                    self.is_in_conversation(conversation);
                }
            }
            "conversations:changed" => {
                self.ask("conversations", json!({}), PendingCall::Tab { is_first: true });
            }
            "conversation:kept" => {
                if let Some(conversation) = conversation {
                    let (muted, archived) = (payload["muted"].as_bool(), payload["archived"].as_bool());
                    self.tab.keep(&conversation, muted, archived);
                    self.out.news.push(News::Unread { conversation });
                }
            }
            "cursors" => {
                if let (Some(conversation), Some(read)) = (conversation, payload["read"].as_u64()) {
                    self.read_to(conversation, read, payload["unread"].as_u64());
                }
            }
            "receipt" => self.receipt(payload),
            "invitation" => {
                self.out.news.push(News::Note("you have a new invitation; /invitations lists them".into()))
            }
            "sanction" => self.sanction(payload),
            "phx_close" | "phx_error" => {
                self.out.close = Some("the server closed your personal channel".into());
            }
            other => self.in_conversation(other, payload, now),
        }
    }

    /// Handles events that concern conversations of any kind.
    fn in_conversation(&mut self, event: &str, payload: &Value, now: Instant) {
        let conversation = text(&payload["conversation"])
            .or_else(|| self.room_conversation().map(str::to_owned))
            .unwrap_or_default();
        let person = text(&payload["person"]);
        match event {
            "msg:edit" | "msg:delete" | "msg:changed" => {
                if let Some(message) = Message::read(payload) {
                    let change = match event {
                        "msg:edit" => Change::Edited,
                        "msg:delete" => Change::Deleted,
                        _ => Change::Meanwhile,
                    };
                    let revision = message.revision;
                    let conversation = message.conversation.clone();
                    self.change(message, change);
                    self.changed_to(&conversation, revision);
                }
            }
            "react" => self.reacted(&conversation, payload),
            "typing" => {
                if let Some(person) = person.filter(|person| !self.is_me(person)) {
                    let on = payload["on"] == true;
                    if self.people.types(&conversation, &person, on, now) {
                        self.out.news.push(News::Typing { conversation, person, on });
                    }
                }
            }
            "member:in" | "member:out" => {
                if let Some(person) = person.filter(|person| !self.is_me(person)) {
                    self.people.met(&person);
                    let is_in = event == "member:in";
                    self.out.news.push(News::Member { conversation, person, is_in });
                }
            }
            "conversation:changed" => {
                if let Some(conversation) = Conversation::read(payload) {
                    self.stands_at(&conversation, now);
                    self.describe(conversation);
                }
            }
            "profile" => {
                if let Some(profile) = Profile::read(payload) {
                    self.people.named(profile);
                }
            }
            // Events that this client does not show: roles, reports, blocks and settings of other devices.
            _ => {}
        }
    }

    /// Handles a message of any conversation, sent to its members' own topics.
    fn told_to_person(&mut self, message: Message) {
        self.silence(&message);
        let id = message.conversation.clone();
        let is_room = self.conversation(&id).is_some_and(|conversation| conversation.kind == Kind::Room);
        if is_room {
            // The room's topic delivers all its messages in order; this one only updates the tab.
            let me = self.me.as_ref().map(|me| me.person.clone()).unwrap_or_default();
            self.meet(std::slice::from_ref(&message));
            self.heard_of(&message, &me);
            return;
        }
        if !self.threads.contains_key(&id) {
            self.put_thread(id.clone(), Thread::after(message.seq - 1, 0));
        }
        if self.tab.get(&id).is_none() && !self.calls.any(|asked| matches!(asked, PendingCall::Tab { .. })) {
            self.ask("conversations", json!({}), PendingCall::Tab { is_first: true });
        }
        self.arrived(message);
    }

    /// The user has become a member of a conversation.
    pub(super) fn is_in_conversation(&mut self, conversation: Conversation) {
        let is_new = self.tab.get(&conversation.id).is_none();
        conversation.pair.iter().for_each(|person| self.people.met(person));
        let (id, kind) = (conversation.id.clone(), conversation.kind);
        if kind != Kind::Room && !self.threads.contains_key(&id) {
            self.put_thread(id.clone(), Thread::at_the_end_of(&conversation));
        }
        self.tab.describe(conversation);
        if is_new {
            self.out.news.push(News::Unread { conversation: id });
        }
    }

    fn describe(&mut self, conversation: Conversation) {
        if self.room.conversation.as_ref().is_some_and(|room| room.id == conversation.id) {
            self.room.conversation = Some(conversation.clone());
        }
        if let Some(row) = self.tab.get(&conversation.id) {
            let known = (&row.conversation.title, &row.conversation.topic);
            if known == (&conversation.title, &conversation.topic) {
                return self.tab.describe(conversation);
            }
            let note = format!(
                "{} was changed: {} {}",
                self.label_of(&conversation),
                conversation.title,
                conversation.topic
            );
            self.out.news.push(News::Note(note.trim_end().to_owned()));
            self.tab.describe(conversation);
        }
    }

    fn reacted(&mut self, conversation: &str, payload: &Value) {
        let (Some(seq), Some(revision), Some(all), Some(person), Some(emoji)) = (
            payload["seq"].as_u64(),
            payload["revision"].as_u64(),
            payload["reactions"].as_array(),
            text(&payload["person"]),
            text(&payload["emoji"]),
        ) else {
            return;
        };
        self.people.met(&person);
        if let Some(thread) = self.threads.get_mut(conversation) {
            let is_news = thread.react(seq, reactions(all), revision);
            if let Some(message) = thread.get(seq).filter(|_| is_news).cloned() {
                let change = Change::Reacted { person, emoji, on: payload["on"] == true };
                self.out.news.push(News::Changed { message, change });
            }
        }
        self.changed_to(conversation, revision);
    }

    fn presence(&mut self, payload: &Value, in_room: bool) {
        if let (Some(person), Some(status)) = (text(&payload["person"]), text(&payload["status"]))
            && self.people.changed(person.clone(), status.clone(), in_room)
            && !self.is_me(&person)
        {
            self.out.news.push(News::Presence { person, status });
        }
    }

    /// A user that has sent a message is no longer typing.
    fn silence(&mut self, message: &Message) {
        if self.people.stops_typing(&message.conversation, &message.sender) {
            let (conversation, person) = (message.conversation.clone(), message.sender.clone());
            self.out.news.push(News::Typing { conversation, person, on: false });
        }
    }

    pub(super) fn read_to(&mut self, conversation: String, read: u64, unread: Option<u64>) {
        if self.tab.read_to(&conversation, read, unread) {
            self.out.news.push(News::Unread { conversation });
        }
    }

    fn receipt(&mut self, payload: &Value) {
        /// Maximum number of read receipts that are kept; further ones are not shown.
        const RECEIPTS_MAX: usize = 2000;
        let (conversation, person) = (text(&payload["conversation"]), text(&payload["person"]));
        if let (Some(conversation), Some(person), Some(read)) =
            (conversation, person, payload["read"].as_u64())
        {
            let key = (conversation, person);
            if self.receipts.len() < RECEIPTS_MAX || self.receipts.contains_key(&key) {
                let known = self.receipts.entry(key).or_default();
                *known = read.max(*known);
            }
        }
    }

    fn sanction(&mut self, payload: &Value) {
        let place = text(&payload["conversation"])
            .map_or_else(|| self.place.community.clone(), |conversation| self.label(&conversation));
        let kind = if payload["kind"] == "ban" { "banned from" } else { "muted in" };
        let not = if payload["on"] == false { "not " } else { "" };
        self.out.news.push(News::Note(format!("you are {not}{kind} {place}")));
    }
}
