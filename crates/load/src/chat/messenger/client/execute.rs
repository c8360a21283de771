//! Carries out what the user types.

use std::time::Instant;

use serde_json::{Value, json};

use super::Client;
use crate::chat::messenger::calls::{Command, PendingCall};
use crate::chat::messenger::command::{self, Typed};
use crate::chat::messenger::news::Change;
use crate::chat::messenger::payload::Kind;

/// Number of messages per page that is shown separately.
const PAGE: u64 = 50;
/// Maximum number of members listed at once.
const MEMBERS: u64 = 200;

impl Client {
    /// Carries out a typed line; [`Typed::Quit`] is left to the owner.
    pub(in crate::chat::messenger) fn perform(&mut self, typed: Typed, now: Instant) {
        if let Err(problem) = self.try_to_perform(typed) {
            self.decline(problem);
        }
        self.pump(now);
    }

    /// Reports a line that could not be parsed.
    pub(in crate::chat::messenger) fn misunderstood(&mut self, problem: String) {
        self.decline(problem);
    }

    fn try_to_perform(&mut self, typed: Typed) -> Result<(), String> {
        match typed {
            Typed::Nothing | Typed::Quit => {}
            Typed::Say(text) => self.say(self.shown()?, text, None)?,
            Typed::Reply { to, text } => {
                let id = self.shown()?;
                let to = to.or_else(|| self.newest(&id, |client, sender| !client.is_me(sender)));
                let to = to.ok_or("there is no message to reply to; give its number: /reply #42 TEXT")?;
                self.say(id, text, Some(to))?;
            }
            Typed::Edit { seq, text } => {
                let (id, seq) = (self.shown()?, self.own(seq)?);
                let mentions = self.mentions(&text);
                self.command(
                    "msg:edit",
                    json!({"conversation": id, "seq": seq, "text": text, "mentions": mentions}),
                    Command::Change(Change::Edited),
                )?;
            }
            Typed::Delete { seq } => {
                let (id, seq) = (self.shown()?, self.own(seq)?);
                self.command(
                    "msg:delete",
                    json!({"conversation": id, "seq": seq}),
                    Command::Change(Change::Deleted),
                )?;
            }
            Typed::React { seq, emoji, on } => {
                let id = self.shown()?;
                let seq = seq.or_else(|| self.newest(&id, |_, _| true));
                let seq = seq.ok_or("there is no message to react to; give its number: /react #42 EMOJI")?;
                let person = self.me.as_ref().map(|me| me.person.clone()).unwrap_or_default();
                let change = Change::Reacted { person, emoji: emoji.clone(), on };
                self.command(
                    "react",
                    json!({"conversation": id, "seq": seq, "emoji": emoji, "on": on}),
                    Command::Change(change),
                )?;
            }
            Typed::History { before } => self.history(before)?,
            Typed::Search { words, everywhere } => self.search(words, everywhere)?,
            Typed::Read => {
                let id = self.shown()?;
                let last = self.conversation(&id).map_or(0, |conversation| conversation.last);
                if last > 0 {
                    self.ask_or_decline(
                        "read",
                        json!({"conversation": id, "seq": last}),
                        PendingCall::Read { conversation: id.clone() },
                    )?;
                }
            }
            Typed::List => self.list(),
            Typed::Open(which) => self.open(&which)?,
            Typed::Direct { name, text } => self.direct(&name, text)?,
            Typed::Group { names, title } => {
                let people = names.iter().map(|name| self.person(name)).collect::<Result<Vec<_>, _>>()?;
                self.command("group", json!({"with": people, "title": title}), Command::Open)?;
            }
            Typed::Rooms => self.command("rooms", json!({"limit": MEMBERS}), Command::Rooms)?,
            Typed::Join { room, invitation } => {
                if room == self.room.name && self.room.is_joined {
                    let id = self.room_conversation().map(str::to_owned);
                    id.into_iter().for_each(|id| self.show(id));
                } else if self.is_in {
                    self.switch_room(room, invitation);
                } else {
                    return Err(not_connected());
                }
            }
            Typed::Create { room, title } => {
                let title = title.unwrap_or_else(|| room.clone());
                self.command(
                    "room:create",
                    json!({"name": room, "kind": "public", "title": title}),
                    Command::Open,
                )?;
            }
            Typed::Leave => {
                let id = self.shown()?;
                self.command(
                    "leave",
                    json!({"conversation": id}),
                    Command::Leave { conversation: id.clone() },
                )?;
            }
            Typed::Who => self.who(),
            Typed::Members => self.command(
                "members",
                json!({"conversation": self.shown()?, "limit": MEMBERS}),
                Command::Members,
            )?,
            Typed::Invite(name) => {
                let (id, person) = (self.shown()?, self.person(&name)?);
                self.command("invite", json!({"conversation": id, "person": person}), Command::Invite)?;
            }
            Typed::Invitations => self.command("invitations", json!({}), Command::Invitations)?,
            Typed::Keep { muted, archived } => {
                let id = self.shown()?;
                let mut payload = json!({"conversation": id});
                for (member, value) in [("muted", muted), ("archived", archived)] {
                    if let Some(value) = value {
                        payload[member] = value.into();
                    }
                }
                let done = match (muted, archived) {
                    (Some(true), _) => "muted",
                    (Some(false), _) => "no longer muted",
                    (None, Some(true)) => "archived",
                    (None, _) => "no longer archived",
                };
                let done = format!("{} is {done}", self.label(&id));
                self.command("keep", payload, Command::Do { done })?;
                self.tab.keep(&id, muted, archived);
            }
            Typed::Block { name, on } => {
                let person = self.person(&name)?;
                let (event, done) =
                    if on { ("block", "is blocked") } else { ("unblock", "is no longer blocked") };
                self.command(
                    event,
                    json!({"person": person}),
                    Command::Do { done: format!("{name} {done}") },
                )?;
            }
            Typed::Status(status) => {
                let done = format!("your status is now {status}");
                self.command("status", json!({"status": status}), Command::Do { done })?;
            }
            Typed::Whoami => {
                let me = self.me.clone().ok_or_else(not_connected)?;
                let kind = if me.is_guest { "a guest" } else { "a member" };
                let line = format!("you are {}, {kind} of {}: {}", me.name, self.place.community, me.person);
                let value = json!({"person": me.person, "name": me.name, "guest": me.is_guest, "community": self.place.community});
                self.tell("me", value, vec![line]);
            }
            Typed::Help(about) => {
                let lines = command::help(about.as_deref())?;
                self.tell("help", json!(lines.clone()), lines);
            }
        }
        Ok(())
    }

    fn say(&mut self, conversation: String, text: String, reply_to: Option<u64>) -> Result<(), String> {
        let mentions = self.mentions(&text);
        let put = self.outbox.put(conversation, text, reply_to, mentions);
        put.map_err(|_| "too many messages are waiting to be sent: try again later".into())
    }

    fn history(&mut self, before: Option<u64>) -> Result<(), String> {
        let conversation = self.shown()?;
        let stands =
            self.paged.as_ref().filter(|(paged, _)| *paged == conversation).map(|(_, oldest)| *oldest);
        let mut payload = json!({"conversation": conversation, "limit": PAGE});
        match before.or(stands) {
            Some(0 | 1) => return Err("there are no older messages".into()),
            Some(before) => payload["before"] = before.into(),
            None => {}
        }
        self.command("history", payload, Command::History { conversation })
    }

    fn search(&mut self, words: Option<String>, everywhere: bool) -> Result<(), String> {
        let mut payload = json!({"limit": 20});
        let (query, conversation) = match (words, &self.search) {
            (Some(words), _) => (words, if everywhere { None } else { Some(self.shown()?) }),
            (None, Some(search)) => {
                let next = search.next.clone().ok_or("no more results")?;
                payload["before"] = next.into();
                (search.query.clone(), search.conversation.clone())
            }
            (None, None) => return Err("usage: /search WORDS".into()),
        };
        payload["query"] = query.as_str().into();
        if let Some(conversation) = &conversation {
            payload["conversation"] = conversation.as_str().into();
        }
        self.command("search", payload, Command::Search { query, conversation })
    }

    fn open(&mut self, which: &str) -> Result<(), String> {
        let wanted = which.to_lowercase();
        let rows = self.tab.rows();
        let by_place =
            which.parse::<usize>().ok().and_then(|number| rows.get(number.checked_sub(1)?).copied());
        let bare = |label: &str| label.trim_start_matches(['#', '@']).to_lowercase();
        let found = by_place.or_else(|| {
            let labels = rows.iter().map(|row| (self.label_of(&row.conversation), *row));
            let mut named =
                labels.filter(|(label, _)| label.to_lowercase() == wanted || bare(label) == wanted);
            named.next().map(|(_, row)| row)
        });
        let found = found.or_else(|| self.tab.get(which));
        let row = found.ok_or_else(|| {
            format!("you have no conversation {which:?}: /list shows yours, /dm starts one")
        })?;
        let (id, kind, name) =
            (row.conversation.id.clone(), row.conversation.kind, row.conversation.name.clone());
        self.go_to(id, kind, name)
    }

    /// Shows a conversation of the tab; a room is opened first.
    pub(in crate::chat::messenger) fn go_to(
        &mut self,
        id: String,
        kind: Kind,
        name: Option<String>,
    ) -> Result<(), String> {
        match (kind, name) {
            (Kind::Room, Some(name)) if self.room_conversation() != Some(&id) || !self.room.is_joined => {
                if !self.is_in {
                    return Err(not_connected());
                }
                self.switch_room(name, None);
            }
            (Kind::Room | Kind::Direct | Kind::Group, _) => self.show(id),
        }
        Ok(())
    }

    fn direct(&mut self, name: &str, text: Option<String>) -> Result<(), String> {
        let person = self.person(name)?;
        if self.is_me(&person) {
            return Err("you cannot write to yourself".into());
        }
        let known = self.tab.rows().into_iter().find(|row| {
            row.conversation.kind == Kind::Direct && self.other_of(&row.conversation) == Some(&person)
        });
        match known.map(|row| row.conversation.id.clone()) {
            Some(id) => {
                self.show(id.clone());
                text.map_or(Ok(()), |text| self.say(id, text, None))
            }
            None => self.command("direct", json!({"with": person}), Command::Direct { text }),
        }
    }

    fn command(&mut self, event: &'static str, payload: Value, command: Command) -> Result<(), String> {
        self.ask_or_decline(event, payload, PendingCall::Command(command))
    }

    fn ask_or_decline(
        &mut self,
        event: &'static str,
        payload: Value,
        asked: PendingCall,
    ) -> Result<(), String> {
        if !self.is_in {
            return Err(not_connected());
        }
        if self.ask(event, payload, asked) {
            Ok(())
        } else {
            Err("too many requests at once: wait for the answers".into())
        }
    }
}

fn not_connected() -> String {
    "not connected: try again after reconnecting".into()
}
