//! Handles the server's answers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Client;
use crate::chat::messenger::calls::{Command, PendingCall};
use crate::chat::messenger::fault::Fault;
use crate::chat::messenger::news::News;
use crate::chat::messenger::payload::{Conversation, Kind, Message, Page, Profile, messages, text};

/// How long to wait if the server cannot store a message now and does not say for how long.
const HOLD: Duration = Duration::from_secs(2);

impl Client {
    pub(super) fn answered(&mut self, asked: PendingCall, payload: &Value, now: Instant) {
        let response = &payload["response"];
        let answer = if payload["status"] == "ok" { Ok(response) } else { Err(Fault::read(response)) };
        match asked {
            PendingCall::Heartbeat | PendingCall::Quietly => {}
            // Another room is being opened by now.
            PendingCall::JoinRoom { room } if room != self.room.name => {}
            PendingCall::JoinRoom { .. } => match answer {
                Ok(response) => self.room_joined(response, now),
                Err(fault) => self.room_refused(&fault, now),
            },
            PendingCall::JoinPerson => match answer {
                Ok(response) => self.person_joined(response, now),
                Err(fault) if fault.is_passing() => self.out.close = Some(fault.words()),
                Err(fault) => self.end(format!("cannot open your conversations: {}", fault.words())),
            },
            PendingCall::Send { client_id } => self.sent(&client_id, answer, now),
            PendingCall::Fill { conversation } => self.filled(&conversation, page(answer)),
            PendingCall::Mend { conversation } => self.mended(&conversation, page(answer), now),
            PendingCall::Grow { conversation } => self.grown(&conversation, page(answer)),
            PendingCall::Read { conversation } => {
                if let Some(read) = answer.as_ref().ok().and_then(|response| response["read"].as_u64()) {
                    self.read_to(
                        conversation,
                        read,
                        answer.ok().and_then(|response| response["unread"].as_u64()),
                    );
                }
            }
            PendingCall::Profile { person } => match answer.ok().and_then(Profile::read) {
                Some(profile) => self.people.named(profile),
                None => self.people.not_named(&person),
            },
            PendingCall::Tab { is_first } => {
                if let Ok(response) = answer {
                    self.listed(response, is_first);
                }
            }
            PendingCall::Refresh => {
                if let Some(token) = answer.ok().and_then(|response| text(&response["token"])) {
                    self.identity.token = Some(token);
                }
            }
            PendingCall::Command(command) => match answer {
                Ok(response) => self.done(command, response),
                Err(fault) => self.refuse("", &fault),
            },
        }
    }

    fn sent(&mut self, client_id: &str, answer: Result<&Value, Fault>, now: Instant) {
        match answer {
            Ok(response) => {
                let Some(outgoing) = self.outbox.done(client_id) else { return };
                let (conversation, seq) =
                    (outgoing.conversation, response["seq"].as_u64().unwrap_or_default());
                if let Some(thread) = self.threads.get_mut(&conversation) {
                    thread.head = thread.head.max(seq);
                }
                // The server broadcasts the message before it answers; if the broadcast is missing, request it.
                self.fill(&conversation);
                self.out.news.push(News::Stored { client_id: client_id.to_owned(), conversation, seq });
            }
            Err(fault) => {
                let hold = fault
                    .hold()
                    .or_else(|| (fault.is_passing() && fault.retry_after.is_none()).then_some(HOLD));
                if let Some(wait) = hold {
                    let first = self.outbox.first();
                    let (text, is_first_time) = first
                        .map(|first| (first.text.clone(), first.held_until.is_none()))
                        .unwrap_or_default();
                    self.outbox.hold(client_id, wait, now);
                    if is_first_time {
                        self.out.news.push(News::Held { text, reason: fault.message, wait });
                    }
                } else if let Some(outgoing) = self.outbox.done(client_id) {
                    self.refuse(outgoing.text, &fault);
                }
            }
        }
    }

    fn done(&mut self, command: Command, response: &Value) {
        match command {
            Command::Open => {
                if let Some(conversation) = Conversation::read(&response["conversation"]) {
                    let (id, kind, name) =
                        (conversation.id.clone(), conversation.kind, conversation.name.clone());
                    self.is_in_conversation(conversation);
                    match (kind, name) {
                        (Kind::Room, Some(name)) => self.switch_room(name, None),
                        (Kind::Room | Kind::Direct | Kind::Group, _) => self.show(id),
                    }
                }
            }
            Command::Direct { text } => {
                if let Some(conversation) = Conversation::read(&response["conversation"]) {
                    let id = conversation.id.clone();
                    self.is_in_conversation(conversation);
                    self.show(id.clone());
                    if let Some(text) = text
                        && let Err(text) = self.outbox.put(id, text, None, Vec::new())
                    {
                        self.decline(format!("too many messages are waiting to be sent, not sent: {text}"));
                    }
                }
            }
            Command::History { conversation } => {
                if let Some(page) = Page::read(response) {
                    let oldest = page.messages.first().map_or(1, |message| message.seq);
                    self.paged = Some((conversation.clone(), oldest));
                    let title = format!("history of {}", self.label(&conversation));
                    self.page(title, page.messages, page.more);
                }
            }
            Command::Search { query, conversation } => {
                let next = text(&response["next"]);
                let more = next.is_some();
                let title = format!("results for {query:?}");
                self.search = Some(super::Search { query, conversation, next });
                self.page(title, messages(&response["messages"]), more);
            }
            Command::Rooms => {
                let rooms: Vec<Conversation> = response["rooms"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Conversation::read)
                    .collect();
                let line = |room: &Conversation| {
                    let name = room.name.clone().unwrap_or_default();
                    format!("#{name:<20} {:>11}  {}", plural(room.members, "member"), room.title)
                };
                self.tell("rooms", response["rooms"].clone(), rooms.iter().map(line).collect());
            }
            Command::Members => {
                let members = response["members"].as_array().cloned().unwrap_or_default();
                let lines = members.iter().filter_map(|member| {
                    let person = text(&member["person"])?;
                    self.people.met(&person);
                    let name = self.people.name(&person).to_owned();
                    let role = member["role"].as_str().unwrap_or("member");
                    Some(format!("{name}  {role}  {person}"))
                });
                let lines = lines.collect();
                self.tell("members", response["members"].clone(), lines);
            }
            Command::Invitations => {
                let all = response["invitations"].as_array().cloned().unwrap_or_default();
                let line = |each: &Value| {
                    let room = text(&each["conversation"]).map_or_else(String::new, |id| self.label(&id));
                    format!("{}  to {room}", each["id"].as_str().unwrap_or_default())
                };
                let mut lines: Vec<String> = all.iter().map(line).collect();
                if lines.is_empty() {
                    lines.push("you have no invitations".into());
                }
                self.tell("invitations", response["invitations"].clone(), lines);
            }
            Command::Invite => {
                let id = response["invitation"]["id"].as_str().unwrap_or_default();
                self.tell(
                    "invitation",
                    response["invitation"].clone(),
                    vec![format!("invitation sent: {id}")],
                );
            }
            Command::Change(change) => {
                if let Some(mut message) = Message::read(&response["message"]) {
                    message.reactions = response["reactions"]
                        .as_array()
                        .map(|all| crate::chat::messenger::payload::reactions(all));
                    // The change is broadcast as well, before or after this answer; only the first of the two is
                    // reported.
                    let (conversation, revision) = (message.conversation.clone(), message.revision);
                    self.change(message, change);
                    self.changed_to(&conversation, revision);
                }
            }
            Command::Do { done } => self.tell("done", json!(done.clone()), vec![done]),
            Command::Leave { conversation } => self.left(&conversation),
        }
    }

    fn left(&mut self, conversation: &str) {
        let label = self.label(conversation);
        self.threads.remove(conversation);
        self.tab.remove(conversation);
        if self.room_conversation() == Some(conversation) {
            self.room = super::Room { name: self.room.name.clone(), is_left: true, ..super::Room::default() };
            self.people.in_room(0, None);
        }
        self.tell("left", json!(label.clone()), vec![format!("you left {label}")]);
        // Nothing is shown now, so that the next input is not sent to an unintended conversation.
        self.current = None;
    }

    fn page(&mut self, title: String, messages: Vec<Message>, more: bool) {
        self.meet(&messages);
        self.out.news.push(News::Page { title, messages, more });
    }

    pub(super) fn tell(&mut self, about: &'static str, value: Value, lines: Vec<String>) {
        self.out.news.push(News::Told { about, value, lines });
    }
}

/// Formats a count: `1 member`, `2 members`.
pub(in crate::chat::messenger) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn page(answer: Result<&Value, Fault>) -> Option<Page> {
    answer.ok().and_then(Page::read)
}
