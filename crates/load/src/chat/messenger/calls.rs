//! Requests to the server that have not been answered: Phoenix references, and a limit on concurrent requests.

use std::collections::{BTreeMap, VecDeque};

use proto::phoenix::{Message, Payload, Ref, Version, encode_message};
use serde_json::Value;

use crate::chat::messenger::news::Change;

/// Maximum number of concurrent requests. Throng accepts 24 per channel.
const IN_FLIGHT_MAX: usize = 12;
/// Maximum number of queued requests.
const WAITING_MAX: usize = 512;
const SYSTEM_TOPIC: &str = "phoenix";

/// The purpose of a request, by which its answer is handled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PendingCall {
    Heartbeat,
    JoinRoom {
        room: String,
    },
    JoinPerson,
    /// The answer is ignored.
    Quietly,
    Send {
        client_id: String,
    },
    /// Fetches missing messages.
    Fill {
        conversation: String,
    },
    /// Fetches missing changes.
    Mend {
        conversation: String,
    },
    /// Fetches the page before the messages held.
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
    /// Requests a new token for the connection.
    Refresh,
    /// A user's command.
    Command(Command),
}

/// A command that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    /// Opens a conversation, which is then shown.
    Open,
    /// Opens a direct conversation, and optionally sends a message at once.
    Direct {
        text: Option<String>,
    },
    /// Fetches a page of history that is shown separately.
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
    /// Only its completion is reported.
    Do {
        done: String,
    },
    /// Changes a message; the server also broadcasts the change.
    Change(Change),
    Invite,
    Leave {
        conversation: String,
    },
}

/// The channel on which a request is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Channel {
    pub(super) topic: String,
    pub(super) join: u64,
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The last reference used, over all connections, so that an answer from an earlier connection never matches.
    reference: u64,
    in_flight: BTreeMap<u64, PendingCall>,
    waiting: VecDeque<(Channel, &'static str, Value, PendingCall)>,
}

impl Calls {
    /// Sends a request as soon as the limit allows. Returns `false` if too many are queued.
    pub(super) fn ask(
        &mut self,
        channel: &Channel,
        event: &'static str,
        payload: Value,
        asked: PendingCall,
        send: &mut Vec<String>,
    ) -> bool {
        if self.waiting.len() >= WAITING_MAX {
            return false;
        }
        self.waiting.push_back((channel.clone(), event, payload, asked));
        self.advance(send);
        true
    }

    /// Joins a topic, ahead of queued requests.
    pub(super) fn join(
        &mut self,
        topic: String,
        payload: &Value,
        asked: PendingCall,
        send: &mut Vec<String>,
    ) -> Channel {
        let channel = Channel { topic, join: self.reference + 1 };
        self.push(&channel, "phx_join", payload, asked, send);
        channel
    }

    /// Sends a heartbeat. Returns `false` if the last one was not answered: the server is gone.
    pub(super) fn beat(&mut self, send: &mut Vec<String>) -> bool {
        if self.in_flight.values().any(|asked| *asked == PendingCall::Heartbeat) {
            return false;
        }
        let system = Channel { topic: SYSTEM_TOPIC.into(), join: 0 };
        self.push(&system, "heartbeat", &serde_json::json!({}), PendingCall::Heartbeat, send);
        true
    }

    /// Handles an answer; returns the request it belongs to, unless it belongs to another connection.
    pub(super) fn answered(&mut self, reference: u64, send: &mut Vec<String>) -> Option<PendingCall> {
        let asked = self.in_flight.remove(&reference);
        self.advance(send);
        asked
    }

    /// Handles the loss of the connection; returns the unanswered requests.
    pub(super) fn fall_silent(&mut self) -> Vec<PendingCall> {
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|(.., asked)| asked);
        std::mem::take(&mut self.in_flight).into_values().chain(waiting).collect()
    }

    pub(super) fn any(&self, is: impl Fn(&PendingCall) -> bool) -> bool {
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
        asked: PendingCall,
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
        // Only binary frames have length fields that can overflow.
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
        let channel = calls.join("person:c/ann".into(), &json!({}), PendingCall::JoinPerson, &mut send);
        assert_eq!(send, [r#"["1","1","person:c/ann","phx_join",{}]"#]);
        assert_eq!(calls.answered(1, &mut send), Some(PendingCall::JoinPerson));
        for number in 0..IN_FLIGHT_MAX + 2 {
            let client_id = number.to_string();
            assert!(calls.ask(&channel, "msg:new", json!({}), PendingCall::Send { client_id }, &mut send));
        }
        assert_eq!(send.len(), 1 + IN_FLIGHT_MAX);
        assert_eq!(calls.answered(2, &mut send), Some(PendingCall::Send { client_id: "0".into() }));
        assert_eq!(send.len(), 2 + IN_FLIGHT_MAX);
        assert_eq!(calls.answered(2, &mut send), None);
        assert_eq!(calls.fall_silent().len(), IN_FLIGHT_MAX + 1);
    }

    #[test]
    fn what_waits_is_bounded() {
        let (mut calls, mut send) = (Calls::default(), Vec::new());
        let channel = Channel { topic: "t".into(), join: 1 };
        let taken = (0..WAITING_MAX + IN_FLIGHT_MAX + 5)
            .filter(|_| calls.ask(&channel, "read", json!({}), PendingCall::Quietly, &mut send));
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
