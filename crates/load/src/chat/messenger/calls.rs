//! What was asked of the server and not answered: Phoenix's references, and no more questions at once than it takes.

use std::collections::{BTreeMap, VecDeque};

use proto::phoenix::{Message, Payload, Ref, Version, encode_message};
use serde_json::Value;

use crate::chat::messenger::news::Change;

/// Questions on their way at once. Throng takes 24 of one channel.
const IN_FLIGHT_MAX: usize = 12;
/// Questions that wait for their turn.
const WAITING_MAX: usize = 512;
const SYSTEM_TOPIC: &str = "phoenix";

/// What an answer is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    Heartbeat,
    JoinRoom {
        room: String,
    },
    JoinPerson,
    /// Nothing follows from the answer.
    Quietly,
    Send {
        client_id: String,
    },
    /// Messages that are missing.
    Fill {
        conversation: String,
    },
    /// Changes that are missing.
    Mend {
        conversation: String,
    },
    /// The page before what is held.
    Grow {
        conversation: String,
    },
    Read {
        conversation: String,
    },
    Profile {
        person: String,
    },
    Tab {
        is_first: bool,
    },
    /// A new token for the connection.
    Refresh,
    /// A person's command.
    Command(Command),
}

/// What a person asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    /// A conversation that is shown then.
    Open,
    /// A conversation of two, in which something is said at once.
    Direct {
        text: Option<String>,
    },
    /// A page of history that is shown on its own.
    History {
        conversation: String,
    },
    Search {
        query: String,
        conversation: Option<String>,
    },
    Rooms,
    Members,
    Invitations,
    /// Nothing to show but that it was done.
    Do {
        done: String,
    },
    /// A message is otherwise now; the server tells it, too.
    Change(Change),
    Invite,
    Leave {
        conversation: String,
    },
}

/// Where something is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Channel {
    pub(super) topic: String,
    pub(super) join: u64,
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Of the last message, over all connections: no answer is taken for another connection's.
    reference: u64,
    in_flight: BTreeMap<u64, Asked>,
    waiting: VecDeque<(Channel, &'static str, Value, Asked)>,
}

impl Calls {
    /// Asks as soon as others are answered. `false` when too much waits.
    pub(super) fn ask(
        &mut self,
        channel: &Channel,
        event: &'static str,
        payload: Value,
        asked: Asked,
        send: &mut Vec<String>,
    ) -> bool {
        if self.waiting.len() >= WAITING_MAX {
            return false;
        }
        self.waiting.push_back((channel.clone(), event, payload, asked));
        self.advance(send);
        true
    }

    /// Joins a topic, before whatever waits.
    pub(super) fn join(
        &mut self,
        topic: String,
        payload: &Value,
        asked: Asked,
        send: &mut Vec<String>,
    ) -> Channel {
        let channel = Channel { topic, join: self.reference + 1 };
        self.push(&channel, "phx_join", payload, asked, send);
        channel
    }

    /// `false` when the last one was not answered: the server is gone.
    pub(super) fn beat(&mut self, send: &mut Vec<String>) -> bool {
        if self.in_flight.values().any(|asked| *asked == Asked::Heartbeat) {
            return false;
        }
        let system = Channel { topic: SYSTEM_TOPIC.into(), join: 0 };
        self.push(&system, "heartbeat", &serde_json::json!({}), Asked::Heartbeat, send);
        true
    }

    /// An answer came: to what, unless it is another connection's.
    pub(super) fn answered(&mut self, reference: u64, send: &mut Vec<String>) -> Option<Asked> {
        let asked = self.in_flight.remove(&reference);
        self.advance(send);
        asked
    }

    /// The connection is gone: what was not answered.
    pub(super) fn fall_silent(&mut self) -> Vec<Asked> {
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|(.., asked)| asked);
        std::mem::take(&mut self.in_flight).into_values().chain(waiting).collect()
    }

    pub(super) fn any(&self, is: impl Fn(&Asked) -> bool) -> bool {
        self.in_flight.values().any(&is) || self.waiting.iter().any(|(.., asked)| is(asked))
    }

    fn advance(&mut self, send: &mut Vec<String>) {
        while self.in_flight.len() < IN_FLIGHT_MAX {
            let Some((channel, event, payload, asked)) = self.waiting.pop_front() else { return };
            self.push(&channel, event, &payload, asked, send);
        }
    }

    fn push(
        &mut self,
        channel: &Channel,
        event: &str,
        payload: &Value,
        asked: Asked,
        send: &mut Vec<String>,
    ) {
        self.reference += 1;
        self.in_flight.insert(self.reference, asked);
        let payload = payload.to_string();
        let join_ref = match channel.join {
            0 => Ref::NULL,
            join => Ref::from_text(&join.to_string()),
        };
        let message = Message {
            join_ref,
            reference: Ref::from_text(&self.reference.to_string()),
            topic: channel.topic.as_str().into(),
            event: event.into(),
            payload: Payload::Json(&payload),
        };
        let mut text = Vec::new();
        // Only frames of bytes have lengths that can be too long.
        encode_message(Version::V2, &mut text, &message).expect("a message of text can be written");
        send.push(String::from_utf8_lossy(&text).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_more_is_asked_at_once_than_the_server_takes() {
        let (mut calls, mut send) = (Calls::default(), Vec::new());
        let channel = calls.join("person:c/ann".into(), &json!({}), Asked::JoinPerson, &mut send);
        assert_eq!(send, [r#"["1","1","person:c/ann","phx_join",{}]"#]);
        assert_eq!(calls.answered(1, &mut send), Some(Asked::JoinPerson));
        for number in 0..IN_FLIGHT_MAX + 2 {
            let client_id = number.to_string();
            assert!(calls.ask(&channel, "msg:new", json!({}), Asked::Send { client_id }, &mut send));
        }
        assert_eq!(send.len(), 1 + IN_FLIGHT_MAX);
        assert_eq!(calls.answered(2, &mut send), Some(Asked::Send { client_id: "0".into() }));
        assert_eq!(send.len(), 2 + IN_FLIGHT_MAX);
        assert_eq!(calls.answered(2, &mut send), None);
        assert_eq!(calls.fall_silent().len(), IN_FLIGHT_MAX + 1);
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut calls, mut send) = (Calls::default(), Vec::new());
        let channel = Channel { topic: "t".into(), join: 1 };
        let taken = (0..WAITING_MAX + IN_FLIGHT_MAX + 5)
            .filter(|_| calls.ask(&channel, "read", json!({}), Asked::Quietly, &mut send));
        assert_eq!(taken.count(), WAITING_MAX + IN_FLIGHT_MAX);
    }

    #[test]
    fn a_heartbeat_without_an_answer_is_the_last() {
        let (mut calls, mut send) = (Calls::default(), Vec::new());
        assert!(calls.beat(&mut send));
        assert_eq!(send, [r#"[null,"1","phoenix","heartbeat",{}]"#]);
        assert!(!calls.beat(&mut send));
        calls.answered(1, &mut send);
        assert!(calls.beat(&mut send));
    }
}
