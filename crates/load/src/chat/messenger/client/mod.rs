//! One user in a community, across reconnects, without sockets or clocks: user input and server messages go in,
//! messages to send and news to show come out.

mod answers;
mod change_sync;
mod execute;
mod incoming;
mod listing;
mod login;
mod reading;
mod resolve;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chat::messenger::calls::{Calls, Channel, PendingCall};
use crate::chat::messenger::fault::Fault;
use crate::chat::messenger::news::{Effects, News};
use crate::chat::messenger::outbox::Outbox;
use crate::chat::messenger::payload::{Conversation, Profile};
use crate::chat::messenger::people::People;
use crate::chat::messenger::place::Place;
use crate::chat::messenger::tab::Tab;
use crate::chat::messenger::thread::Thread;
pub(super) use answers::plural;

const HEARTBEAT: Duration = Duration::from_secs(30);
/// Timeout for both joins.
const JOIN_TIMEOUT: Duration = Duration::from_secs(20);
/// Delays between attempts to connect; the last one is used for all further attempts.
const BACK_OFF_MS: [u64; 7] = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/// Interval at which a guest's token is renewed, well before it expires after a day.
const REFRESH: Duration = Duration::from_secs(6 * 60 * 60);
/// Maximum number of concurrent requests for names.
const NAMES_ASKED_MAX: usize = 4;

/// The user's identity: a user authenticated by the host site, or a guest with a chosen name.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) token: Option<String>,
    /// Whether the token was issued by the server to a guest.
    pub(super) is_guest: bool,
    pub(super) name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// Waiting until the next attempt.
    Waiting(Instant),
    Opening,
    Open,
    /// Closed for good.
    Ended,
}

pub(super) struct Client {
    place: Place,
    identity: Identity,
    link: Link,
    failures: usize,
    /// Why there is no connection.
    trouble: String,
    beat_at: Instant,
    join_by: Option<Instant>,
    refresh_at: Option<Instant>,
    calls: Calls,
    pub(super) outbox: Outbox,
    pub(super) tab: Tab,
    pub(super) people: People,
    threads: BTreeMap<String, Thread>,
    /// The epoch of the server's store; a different one means that it was restored from a backup.
    epoch: Option<String>,
    me: Option<Profile>,
    room: Room,
    /// The channel of the user's own topic, and whether it is joined.
    person: Option<Channel>,
    is_in: bool,
    /// The conversation that is shown.
    current: Option<String>,
    /// What others have read, by conversation and person.
    receipts: BTreeMap<(String, String), u64>,
    /// The position up to which each conversation was reported as read.
    seen: BTreeMap<String, u64>,
    search: Option<Search>,
    /// The position of `/history` in line mode.
    paged: Option<(String, u64)>,
    typed_at: Option<Instant>,
    /// Number of typed lines that failed.
    refused: u64,
    out: Effects,
}

/// The room that is open or is being opened.
#[derive(Debug, Default)]
struct Room {
    name: String,
    channel: Option<Channel>,
    is_joined: bool,
    /// Set once it is known.
    conversation: Option<Conversation>,
    invitation: Option<String>,
    /// Whether it is shown once it is joined.
    is_wanted: bool,
    /// Whether the user left it for good: then it is not reopened automatically.
    is_left: bool,
    /// The previous room, in case this one cannot be opened.
    before: Option<String>,
}

#[derive(Debug)]
struct Search {
    query: String,
    conversation: Option<String>,
    next: Option<String>,
}

impl Client {
    /// `prefix` is the prefix of this session's message IDs; it must be unique.
    pub(super) fn new(place: Place, identity: Identity, prefix: String, now: Instant) -> Self {
        let room = Room { name: place.room.clone(), is_wanted: true, ..Room::default() };
        Self {
            place,
            identity,
            link: Link::Waiting(now),
            failures: 0,
            trouble: String::new(),
            beat_at: now,
            join_by: None,
            refresh_at: None,
            calls: Calls::default(),
            outbox: Outbox::new(prefix),
            tab: Tab::default(),
            people: People::default(),
            threads: BTreeMap::new(),
            epoch: None,
            me: None,
            room,
            person: None,
            is_in: false,
            current: None,
            receipts: BTreeMap::new(),
            seen: BTreeMap::new(),
            search: None,
            paged: None,
            typed_at: None,
            refused: 0,
            out: Effects::default(),
        }
    }

    /// Takes the effects of the last steps.
    pub(super) fn effects(&mut self) -> Effects {
        std::mem::take(&mut self.out)
    }

    /// Performs what is due.
    pub(super) fn tick(&mut self, now: Instant) {
        self.people.tick(now);
        match self.link {
            Link::Waiting(until) if until <= now => {
                self.link = Link::Opening;
                let Identity { token, name, .. } = &self.identity;
                let name = token.is_none().then_some(name.as_str());
                self.out.open = Some(self.place.target(token.as_deref(), name));
                self.out.news.push(News::Connecting);
            }
            Link::Open => {
                if self.join_by.is_some_and(|by| by <= now) {
                    self.join_by = None;
                    self.out.close = Some("the server did not answer a join".into());
                } else if self.beat_at <= now {
                    self.beat_at = now + HEARTBEAT;
                    if !self.calls.beat(&mut self.out.send) {
                        self.out.close = Some("the server did not answer a heartbeat".into());
                    }
                }
                self.refresh(now);
                self.mend(now);
                self.pump(now);
            }
            Link::Waiting(_) | Link::Opening | Link::Ended => {}
        }
    }

    /// Handles a lost or failed connection.
    pub(super) fn lost(&mut self, reason: String, now: Instant) {
        if self.link == Link::Ended {
            return;
        }
        self.fall_silent();
        self.failures += 1;
        let at = (self.failures - 1).min(BACK_OFF_MS.len() - 1);
        let retry_in = Duration::from_millis(BACK_OFF_MS[at]);
        self.link = Link::Waiting(now + retry_in);
        self.trouble.clone_from(&reason);
        self.out.news.push(News::Lost { reason, retry_in });
    }

    /// Returns whether everything that was typed is answered.
    pub(super) fn is_settled(&self) -> bool {
        let of_person = |asked: &PendingCall| match asked {
            PendingCall::Command(_)
            | PendingCall::Send { .. }
            | PendingCall::Fill { .. }
            | PendingCall::Read { .. }
            | PendingCall::JoinRoom { .. } => true,
            PendingCall::Heartbeat
            | PendingCall::JoinPerson
            | PendingCall::Quietly
            | PendingCall::Mend { .. }
            | PendingCall::Grow { .. }
            | PendingCall::Profile { .. }
            | PendingCall::Tab { .. }
            | PendingCall::Refresh => false,
        };
        self.is_in() && self.outbox.is_empty() && !self.calls.any(of_person)
    }

    /// The user is typing a message.
    pub(super) fn types(&mut self, now: Instant) {
        const REPEAT: Duration = Duration::from_secs(3);
        if self.typed_at.is_some_and(|at| now < at + REPEAT) || !self.is_in() {
            return;
        }
        if let Some(conversation) = self.current.clone() {
            self.typed_at = Some(now);
            self.ask("typing", json!({ "conversation": conversation, "on": true }), PendingCall::Quietly);
        }
    }

    /// Makes a request on the user's own topic, which reaches all conversations.
    fn ask(&mut self, event: &'static str, payload: Value, asked: PendingCall) -> bool {
        match &self.person {
            Some(channel) if self.is_in => self.calls.ask(channel, event, payload, asked, &mut self.out.send),
            Some(_) | None => false,
        }
    }

    /// Sends queued messages and requests names.
    fn pump(&mut self, now: Instant) {
        if !self.is_in {
            return;
        }
        while let Some(next) = self.outbox.next(now) {
            let mut payload = json!({
                "conversation": next.conversation,
                "text": next.text,
                "client_id": next.client_id,
                "mentions": next.mentions,
            });
            if let Some(seq) = next.reply_to {
                payload["reply_to"] = seq.into();
            }
            if !self.ask("msg:new", payload, PendingCall::Send { client_id: next.client_id }) {
                self.outbox.fall_silent();
                break;
            }
            self.typed_at = None;
        }
        let mut asked = NAMES_ASKED_MAX;
        while asked > 0
            && let Some(person) = self.people.next_unasked()
        {
            asked -= 1;
            if !self.ask(
                "profile",
                json!({ "person": person }),
                PendingCall::Profile { person: person.clone() },
            ) {
                self.people.not_named(&person);
            }
        }
    }

    fn refresh(&mut self, now: Instant) {
        if self.refresh_at.is_some_and(|at| at <= now) {
            self.refresh_at = Some(now + REFRESH);
            if let Some(token) = self.identity.token.clone().filter(|_| self.identity.is_guest) {
                self.ask("token:refresh", json!({ "token": token }), PendingCall::Refresh);
            }
        }
    }

    fn refuse(&mut self, what: impl Into<String>, fault: &Fault) {
        self.refused += 1;
        let (code, reason) = (fault.code.clone(), fault.words());
        self.out.news.push(News::Refused { what: what.into(), code, reason });
    }

    /// Reports typed input that cannot be carried out, without asking the server.
    fn decline(&mut self, reason: impl Into<String>) {
        self.refused += 1;
        self.out.news.push(News::Refused {
            what: String::new(),
            code: "usage".into(),
            reason: reason.into(),
        });
    }

    fn end(&mut self, reason: String) {
        self.fall_silent();
        self.link = Link::Ended;
        self.trouble.clone_from(&reason);
        self.out.close = Some(reason.clone());
        self.out.news.push(News::Ended { reason });
    }

    fn fall_silent(&mut self) {
        for asked in self.calls.fall_silent() {
            if let PendingCall::Command(_) = asked {
                let reason = "the connection ended before the answer".to_owned();
                self.refused += 1;
                self.out.news.push(News::Refused { what: String::new(), code: "no_answer".into(), reason });
            }
        }
        self.outbox.fall_silent();
        self.people.fall_silent();
        self.threads.values_mut().for_each(Thread::fall_silent);
        self.seen.clear();
        self.typed_at = None;
        self.join_by = None;
        self.refresh_at = None;
        (self.room.channel, self.room.is_joined, self.person, self.is_in) = (None, false, None, false);
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("name", &self.name).finish_non_exhaustive()
    }
}
