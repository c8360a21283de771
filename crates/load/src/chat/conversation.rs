//! What is said in a room and what that means, without a socket and a clock.

use std::collections::VecDeque;
use std::time::Duration;

use crate::chat::address::Address;
use crate::chat::phoenix::Phoenix;
use crate::chat::plain::Plain;

/// How many of the person's own messages may wait for their echo. Beyond it the oldest is taken to have none.
const UNECHOED_MAX: usize = 64;

/// What the owner of a [`Session`](crate::chat::Session) hears. Names and bodies are as the server sent them, control
/// characters included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An attempt to reach the server begins.
    Connecting,
    /// The person is in the room.
    Joined,
    /// Somebody said something; the person's own messages come once, when they are sent.
    Message {
        /// Who; empty where the server does not say.
        name: String,
        /// What.
        body: String,
        /// Whether it was the person.
        own: bool,
    },
    /// Who is there now, in order.
    People(Vec<String>),
    /// So many are there that the server does not list them.
    Crowd(u64),
    /// Somebody came.
    Arrived(String),
    /// Somebody went.
    Departed(String),
    /// The server did not take a message, or it is not known whether it did.
    NotSent {
        /// The message.
        body: String,
        /// Why.
        reason: String,
    },
    /// The connection ended, or there is none.
    Lost {
        /// Why.
        reason: String,
        /// When the next attempt begins.
        retry_in: Duration,
    },
}

/// What a step of a conversation leads to.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Text messages for the server.
    pub(super) send: Vec<String>,
    /// News for the owner.
    pub(super) tell: Vec<Event>,
    /// Why the connection has to end.
    pub(super) end: Option<String>,
}

/// One person in one room, over as many connections as it takes.
#[derive(Debug)]
pub(super) struct Conversation {
    name: String,
    dialect: Dialect,
    joined: bool,
    /// Own messages that the server may send back, oldest first.
    unechoed: VecDeque<(String, String)>,
}

#[derive(Debug)]
enum Dialect {
    Plain(Plain),
    Phoenix(Phoenix),
}

/// What a message from the server says, in either dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Said {
    /// Empty where it is not told.
    pub(super) name: String,
    pub(super) body: String,
}

impl Conversation {
    pub(super) fn new(address: &Address, name: String, plain_text: bool) -> Self {
        let dialect = match &address.topic {
            Some(topic) => Dialect::Phoenix(Phoenix::new(topic.clone(), name.clone())),
            None => Dialect::Plain(Plain::new(plain_text, name.clone())),
        };
        Self { name, dialect, joined: false, unechoed: VecDeque::new() }
    }

    /// Whether the person may speak.
    pub(super) fn is_joined(&self) -> bool {
        self.joined
    }

    /// The WebSocket is open.
    pub(super) fn opened(&mut self, effects: &mut Effects) {
        match &mut self.dialect {
            Dialect::Plain(_) => effects.tell.push(Event::Joined),
            Dialect::Phoenix(phoenix) => phoenix.opened(effects),
        }
        self.look(effects);
    }

    /// The person says something.
    pub(super) fn say(&mut self, body: String, effects: &mut Effects) {
        let echo = match &mut self.dialect {
            Dialect::Plain(plain) => plain.say(&body, effects),
            Dialect::Phoenix(phoenix) => phoenix.say(&body, effects),
        };
        if self.unechoed.len() == UNECHOED_MAX {
            self.unechoed.pop_front();
        }
        self.unechoed.push_back((echo.name, echo.body));
        effects.tell.push(Event::Message { name: self.name.clone(), body, own: true });
    }

    /// A text message came.
    pub(super) fn heard(&mut self, text: &str, effects: &mut Effects) {
        let said = match &mut self.dialect {
            Dialect::Plain(plain) => plain.heard(text, effects),
            Dialect::Phoenix(phoenix) => phoenix.heard(text, effects),
        };
        if let Some(said) = said {
            let echo = self.unechoed.iter().position(|(name, body)| *name == said.name && *body == said.body);
            match echo {
                Some(at) => drop(self.unechoed.remove(at)),
                None => effects.tell.push(Event::Message { name: said.name, body: said.body, own: false }),
            }
        }
        self.look(effects);
    }

    /// Half a minute has gone by.
    pub(super) fn beat(&mut self, effects: &mut Effects) {
        match &mut self.dialect {
            Dialect::Plain(_) => {}
            Dialect::Phoenix(phoenix) => phoenix.beat(effects),
        }
    }

    /// Whether every message so far has been answered, where the server answers.
    pub(super) fn is_settled(&self) -> bool {
        match &self.dialect {
            Dialect::Plain(_) => true,
            Dialect::Phoenix(phoenix) => phoenix.is_settled(),
        }
    }

    /// The connection is gone.
    pub(super) fn lost(&mut self, effects: &mut Effects) {
        self.joined = false;
        self.unechoed.clear();
        match &mut self.dialect {
            Dialect::Plain(plain) => plain.lost(),
            Dialect::Phoenix(phoenix) => phoenix.lost(effects),
        }
    }

    fn look(&mut self, effects: &Effects) {
        self.joined |= effects.tell.contains(&Event::Joined);
    }
}
