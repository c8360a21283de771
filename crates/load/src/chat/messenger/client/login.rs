//! The two joins: the room's, whose answer contains the user's identity, and the user's own topic.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Client, HEARTBEAT, JOIN_TIMEOUT, Link, REFRESH, Room, plural};
use crate::chat::messenger::calls::{Channel, PendingCall};
use crate::chat::messenger::fault::Fault;
use crate::chat::messenger::news::{Change, News};
use crate::chat::messenger::payload::{Conversation, Kind, Message, Profile, Row, messages, text};
use crate::chat::messenger::thread::Thread;

/// Maximum number of conversations whose messages are kept; beyond it those of the least recently active one are
/// dropped.
const THREADS_MAX: usize = 200;
/// Maximum number of missed messages that are fetched; beyond it the newest page is shown, and the gap is reported.
const MISSED_MAX: u64 = 2000;
/// Maximum number of rows requested for the conversations tab.
const TAB_MAX: usize = 200;

impl Client {
    /// Handles the opening of the WebSocket.
    pub(in crate::chat::messenger) fn opened(&mut self, now: Instant) {
        self.link = Link::Open;
        self.beat_at = now + HEARTBEAT;
        self.join_by = Some(now + JOIN_TIMEOUT);
        self.refresh_at = Some(now + REFRESH);
        // A user that has left the room for good joins only the user's own topic.
        if self.room.is_left && self.me.is_some() { self.enter_person(now) } else { self.join_room() }
    }

    /// Opens another room and leaves the current one.
    pub(super) fn switch_room(&mut self, name: String, invitation: Option<String>) {
        if let Some(channel) = self.room.channel.take() {
            self.calls.ask(&channel, "phx_leave", json!({}), PendingCall::Quietly, &mut self.out.send);
        }
        let before = self.room.conversation.is_some().then(|| std::mem::take(&mut self.room.name));
        self.room = Room { name, invitation, is_wanted: true, before, ..Room::default() };
        self.join_room();
    }

    fn join_room(&mut self) {
        let known = self.room.conversation.as_ref().map(|known| known.id.clone());
        // A room that was open before is in the tab.
        let known = known.or_else(|| self.tab.room(&self.room.name).map(|row| row.conversation.id.clone()));
        let thread = known.and_then(|id| self.threads.get(&id));
        let mut payload = json!({});
        if let (Some(thread), Some(epoch)) = (thread, &self.epoch) {
            payload["recover"] = json!({ "epoch": epoch, "seq": thread.last(), "revision": thread.revision });
        }
        if let Some(invitation) = &self.room.invitation {
            payload["invitation"] = invitation.as_str().into();
        }
        let topic = self.place.room_topic(&self.room.name);
        let asked = PendingCall::JoinRoom { room: self.room.name.clone() };
        self.room.channel = Some(self.calls.join(topic, &payload, asked, &mut self.out.send));
    }

    pub(super) fn room_joined(&mut self, response: &Value, now: Instant) {
        let (Some(me), Some(conversation)) =
            (Profile::read(&response["me"]), Conversation::read(&response["conversation"]))
        else {
            self.end("this server does not have the rooms of Throng's messenger".into());
            return;
        };
        if let Some(token) = text(&response["me"]["token"]) {
            self.identity.token = Some(token);
            self.identity.is_guest = true;
        }
        self.begin_epoch(&response["epoch"]);
        let id = conversation.id.clone();
        let is_recovered = response["recovered"] == true;
        let page = messages(&response["messages"]);
        self.meet(&page);
        let member = &response["member"];
        if member.is_object() {
            let known = self.tab.get(&id).cloned().unwrap_or_default();
            let read = member["read"].as_u64().unwrap_or_default();
            self.tab.put(Row {
                read,
                unread: conversation.last.saturating_sub(read),
                is_muted: member["muted"] == true,
                is_archived: member["archived"] == true,
                conversation: conversation.clone(),
                mentions: known.mentions,
            });
        }
        self.room.is_joined = true;
        self.room.invitation = None;
        self.room.before = None;
        self.room.conversation = Some(conversation.clone());
        self.stand(&conversation, page, is_recovered, messages(&response["changed"]));
        self.room_presence(&response["presence"]);
        self.people.named(me.clone());
        let person = me.person.clone();
        self.me = Some(me);
        if std::mem::take(&mut self.room.is_wanted) {
            self.show(id);
        }
        match &self.person {
            None => {
                let topic = self.place.person_topic(&person);
                self.person =
                    Some(self.calls.join(topic, &json!({}), PendingCall::JoinPerson, &mut self.out.send));
            }
            Some(_) => self.arrive(now),
        }
    }

    /// Handles a refused join of the room.
    pub(super) fn room_refused(&mut self, fault: &Fault, now: Instant) {
        let token_is_spent = fault.is_of_token() && self.identity.is_guest;
        if token_is_spent {
            // The guest token is no longer valid: connect again as a new guest.
            self.identity.token = None;
            self.identity.is_guest = false;
            self.out.close = Some(fault.words());
        } else if fault.is_passing() {
            self.out.close = Some(format!("cannot open #{}: {}", self.room.name, fault.words()));
        } else if let Some(before) = self.room.before.take() {
            self.refuse(format!("/join {}", self.room.name), fault);
            self.room = Room { name: before, ..Room::default() };
            self.join_room();
        } else if self.me.is_some() {
            // Everything that does not need the room continues to work.
            self.refuse(format!("/join {}", self.room.name), fault);
            self.room.channel = None;
            self.room.conversation = None;
            self.enter_person(now);
        } else {
            let room = format!("#{} of {}", self.room.name, self.place.community);
            self.end(format!("cannot open {room}: {}", fault.words()));
        }
    }

    fn enter_person(&mut self, now: Instant) {
        match (&self.person, &self.me) {
            (None, Some(me)) => {
                let topic = self.place.person_topic(&me.person);
                self.person =
                    Some(self.calls.join(topic, &json!({}), PendingCall::JoinPerson, &mut self.out.send));
            }
            (Some(_), _) => self.arrive(now),
            (None, None) => {}
        }
    }

    pub(super) fn person_joined(&mut self, response: &Value, now: Instant) {
        self.is_in = true;
        self.begin_epoch(&response["epoch"]);
        self.listed(response, true);
        for presence in response["presence"].as_array().into_iter().flatten() {
            if let (Some(person), Some(status)) = (text(&presence["person"]), text(&presence["status"])) {
                self.people.changed(person, status, false);
            }
        }
        let invitations = response["invitations"].as_array().map_or(0, Vec::len);
        if invitations > 0 {
            let invitations = plural(invitations as u64, "invitation");
            self.out.news.push(News::Note(format!("you have {invitations}: see /invitations")));
        }
        for conversation in self.threads.keys().cloned().collect::<Vec<_>>() {
            self.fill(&conversation);
        }
        self.arrive(now);
    }

    /// Completes the login once both joins are answered.
    fn arrive(&mut self, now: Instant) {
        if !self.is_in {
            return;
        }
        self.failures = 0;
        self.join_by = None;
        self.out.news.push(News::Joined);
        if let Some(current) = self.current.clone() {
            self.grow(&current);
        }
        self.pump(now);
    }

    /// Handles a page of the conversations tab.
    pub(super) fn listed(&mut self, response: &Value, is_first: bool) {
        let rows: Vec<Row> =
            response["conversations"].as_array().into_iter().flatten().filter_map(Row::read).collect();
        // A room that the user only visits is not in the tab. Unread counts are replaced by the server's.
        self.tab.list(rows.clone(), is_first);
        for row in rows {
            let conversation = &row.conversation;
            conversation.pair.iter().for_each(|person| self.people.met(person));
            let is_told_here = conversation.kind != Kind::Room;
            if is_told_here {
                self.catch_up(conversation);
            }
        }
        let next = &response["next"];
        if next.is_object() && self.tab.len() < TAB_MAX {
            self.ask("conversations", json!({ "before": next }), PendingCall::Tab { is_first: false });
        }
    }

    /// Handles the store's epoch: if it has changed, all known sequence numbers are invalid.
    fn begin_epoch(&mut self, epoch: &Value) {
        let Some(epoch) = epoch.as_str() else { return };
        if self.epoch.as_deref().is_some_and(|known| known != epoch) {
            self.threads.clear();
            self.seen.clear();
            self.out.news.push(News::Note("the server's store was reset: reloading messages".into()));
        }
        self.epoch = Some(epoch.to_owned());
    }

    fn room_presence(&mut self, presence: &Value) {
        let people = presence["people"].as_array().map(|people| {
            let each = people.iter();
            each.filter_map(|each| Some((text(&each["person"])?, text(&each["status"])?))).collect()
        });
        self.people.in_room(presence["count"].as_u64().unwrap_or_default(), people);
    }

    /// Initialises a conversation after a join, from its newest page or from the missed messages.
    fn stand(
        &mut self,
        conversation: &Conversation,
        page: Vec<Message>,
        is_recovered: bool,
        changed: Vec<Message>,
    ) {
        let id = &conversation.id;
        if !self.threads.contains_key(id) {
            let last = page.last().map_or(0, |message| message.seq).max(conversation.last);
            let mut thread = Thread::after(last, conversation.revision);
            thread.prepend(page);
            self.put_thread(id.clone(), thread);
        } else if is_recovered {
            for message in page {
                self.arrived(message);
            }
            for message in changed {
                self.change(message, Change::Meanwhile);
            }
            if let Some(thread) = self.threads.get_mut(id) {
                thread.revision = thread.revision.max(conversation.revision);
                thread.first = conversation.first;
                thread.head = thread.head.max(conversation.last);
            }
            self.fill(id);
        } else {
            self.catch_up(conversation);
        }
    }

    /// Compares a conversation's position on the server with ours and requests what was missed.
    fn catch_up(&mut self, conversation: &Conversation) {
        let Conversation { id, last, first, revision, .. } = conversation;
        let Some(thread) = self.threads.get_mut(id) else {
            self.put_thread(id.clone(), Thread::at_the_end_of(conversation));
            return;
        };
        thread.first = *first;
        if *last > thread.last() + MISSED_MAX {
            let from = thread.last() + 1;
            *thread = Thread::at_the_end_of(conversation);
            self.out.news.push(News::Skipped { conversation: id.clone(), from, to: *last });
            return;
        }
        thread.head = thread.head.max(*last);
        if *revision > thread.revision {
            thread.reach = thread.reach.max(*revision);
            thread.mend_now();
        }
        self.fill(id);
    }

    pub(super) fn put_thread(&mut self, id: String, thread: Thread) {
        self.threads.insert(id, thread);
        if self.threads.len() > THREADS_MAX {
            let is_in_use = |id: &String| {
                Some(id.as_str()) == self.current.as_deref() || Some(id.as_str()) == self.room_conversation()
            };
            let quiet = self.threads.keys().filter(|id| !is_in_use(id));
            let active = |id: &&String| self.conversation(id).map_or(0, |conversation| conversation.active);
            if let Some(quietest) = quiet.min_by_key(active).cloned() {
                self.threads.remove(&quietest);
            }
        }
    }

    /// Returns whether a message from the server belongs to this channel.
    pub(super) fn is_of(channel: Option<&Channel>, topic: &str) -> bool {
        channel.is_some_and(|channel| channel.topic == topic)
    }
}
