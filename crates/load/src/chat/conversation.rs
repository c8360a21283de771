//! The protocol of a room and its events, without sockets or clocks.

use std::collections::VecDeque;
use std::time::Duration;

use crate::chat::address::Address;
use crate::chat::phoenix::Phoenix;
use crate::chat::plain::Plain;

/// Maximum number of the user's own messages that may wait for their echo. Beyond it the oldest is assumed to have
/// none.
const UNECHOED_MAX: usize = 64;

/// An event for the owner of a [`Session`](crate::chat::Session). Names and bodies are as the server sent them,
/// including control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An attempt to connect begins.
    Connecting,
    /// The user has joined the room.
    Joined,
    /// A message was sent by anybody; the user's own messages are reported once, when they are sent.
    Message {
        /// The sender; empty if the server does not say.
        name: String,
        /// The text.
        body: String,
        /// Whether the user sent it.
        own: bool,
    },
    /// The people present now, sorted.
    People(Vec<String>),
    /// The number of people present, if there are too many for the server to list.
    Crowd(u64),
    /// Somebody joined.
    Arrived(String),
    /// Somebody left.
    Departed(String),
    /// The server rejected a message, or it is unknown whether the server accepted it.
    NotSent {
        /// The message.
        body: String,
        /// The reason.
        reason: String,
    },
    /// The connection ended or could not be opened.
    Lost {
        /// The reason.
        reason: String,
        /// When the next attempt begins.
        retry_in: Duration,
    },
}

/// The effects of one step of a conversation.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Text messages to send to the server.
    pub(super) send: Vec<String>,
    /// Events for the owner.
    pub(super) tell: Vec<Event>,
    /// Why the connection must be closed, if it must.
    pub(super) end: Option<String>,
}

/// One user in one room, across reconnects.
#[derive(Debug)]
pub(super) struct Conversation {
    name: String,
    dialect: Dialect,
    joined: bool,
    /// Own messages that the server may echo, oldest first.
    unechoed: VecDeque<(String, String)>,
}

#[derive(Debug)]
enum Dialect {
    Plain(Plain),
    Phoenix(Phoenix),
}

/// A message from the server, in either protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Said {
    /// Empty if the server does not say.
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

    /// Returns whether the user may send messages.
    pub(super) fn is_joined(&self) -> bool {
        self.joined
    }

    /// Handles the opening of the WebSocket.
    pub(super) fn opened(&mut self, effects: &mut Effects) {
        match &mut self.dialect {
            Dialect::Plain(_) => effects.tell.push(Event::Joined),
            Dialect::Phoenix(phoenix) => phoenix.opened(effects),
        }
        self.look(effects);
    }

    /// Sends a message from the user.
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

    /// Handles a text message from the server.
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

    /// Sends a heartbeat; called every 30 seconds.
    pub(super) fn beat(&mut self, effects: &mut Effects) {
        match &mut self.dialect {
            Dialect::Plain(_) => {}
            Dialect::Phoenix(phoenix) => phoenix.beat(effects),
        }
    }

    /// Returns whether every message so far has been answered, if the server answers at all.
    pub(super) fn is_settled(&self) -> bool {
        match &self.dialect {
            Dialect::Plain(_) => true,
            Dialect::Phoenix(phoenix) => phoenix.is_settled(),
        }
    }

    /// Handles the loss of the connection.
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
