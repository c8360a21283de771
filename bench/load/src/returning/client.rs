//! One client of a recoverable room: what it sends to join, its position, and which of the published numbers 1, 2, 3, …
//! it has received. Pure: bytes in, bytes out.

use serde::Deserialize;

use super::failure::Failure;
use super::texts::Texts;
use crate::wire;

const HEAD_END: &[u8] = b"\r\n\r\n";
const HEAD_START: &[u8] = b"HTTP/1.1 101";

/// Maximum length of the response to an upgrade.
const HEAD_BYTES_MAX: usize = 8192;

/// An event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Happened {
    /// Nothing to report.
    Nothing,
    /// The upgrade is done; the join must be sent now.
    Upgraded,
    /// The client has joined for the first time.
    Joined,
    /// The client has rejoined.
    Returned {
        /// Whether the server says that everything missed is replayed.
        recovered: bool,
    },
}

/// Numbers that a client should have received and did not, or received more than once.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Miscounts {
    pub(super) lost: u64,
    pub(super) extra: u64,
}

#[derive(Debug)]
enum Phase {
    /// The part of the response to the upgrade received so far.
    Upgrading(Vec<u8>),
    Joining(Texts),
    Here(Texts),
}

/// A client's position in its room's history.
#[derive(Clone, Debug, Deserialize)]
struct Position {
    epoch: String,
    offset: u64,
}

/// A client; see the module's documentation.
#[derive(Debug)]
pub(super) struct Client {
    topic: String,
    phase: Phase,
    position: Option<Position>,
    /// The last number received.
    pub(super) heard: u64,
    pub(super) miscounts: Miscounts,
}

/// A V1 message.
#[derive(Deserialize)]
struct Message<'a> {
    event: &'a str,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    status: Option<String>,
    response: Option<Response>,
    phx_offset: Option<u64>,
    number: Option<u64>,
    epoch: Option<String>,
    to: Option<u64>,
}

#[derive(Deserialize)]
struct Response {
    recover: Option<Recover>,
}

#[derive(Deserialize)]
struct Recover {
    epoch: Option<String>,
    offset: Option<u64>,
    recovered: Option<bool>,
}

impl Client {
    pub(super) fn new(topic: String) -> Self {
        let phase = Phase::Upgrading(Vec::new());
        Self { topic, phase, position: None, heard: 0, miscounts: Miscounts::default() }
    }

    /// Resets the state for a new connection.
    pub(super) fn connects(&mut self) {
        self.phase = Phase::Upgrading(Vec::new());
    }

    pub(super) fn is_here(&self) -> bool {
        matches!(self.phase, Phase::Here(_))
    }

    /// Returns the frame that joins, from the client's last position.
    pub(super) fn join(&self) -> Vec<u8> {
        let recover = self.position.as_ref().map(|at| (at.epoch.as_str(), at.offset));
        wire::client_frame(&wire::recovering_join(&self.topic, recover))
    }

    /// Handles bytes from the server.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<Happened, Failure> {
        let mut texts = match std::mem::replace(&mut self.phase, Phase::Upgrading(Vec::new())) {
            Phase::Upgrading(mut head) => {
                head.extend_from_slice(bytes);
                return self.upgrade(head);
            }
            Phase::Joining(texts) => {
                self.phase = Phase::Joining(Texts::default());
                texts
            }
            Phase::Here(texts) => {
                self.phase = Phase::Here(Texts::default());
                texts
            }
        };
        let mut happened = Happened::Nothing;
        texts.feed(bytes, |text| {
            let told = self.hear(text)?;
            happened = if told == Happened::Nothing { happened } else { told };
            Ok(())
        })?;
        self.phase = match self.phase {
            Phase::Upgrading(_) | Phase::Joining(_) => Phase::Joining(texts),
            Phase::Here(_) => Phase::Here(texts),
        };
        Ok(happened)
    }

    fn upgrade(&mut self, head: Vec<u8>) -> Result<Happened, Failure> {
        if !HEAD_START.starts_with(&head[..head.len().min(HEAD_START.len())]) || head.len() > HEAD_BYTES_MAX {
            return Err(Failure::Refused);
        }
        if head.ends_with(HEAD_END) {
            self.phase = Phase::Joining(Texts::default());
            return Ok(Happened::Upgraded);
        }
        // The server sends nothing before the join.
        self.phase = Phase::Upgrading(head);
        Ok(Happened::Nothing)
    }

    fn hear(&mut self, text: &str) -> Result<Happened, Failure> {
        let message: Message<'_> = serde_json::from_str(text).map_err(|_| Failure::Nonsense)?;
        let payload = message.payload;
        match message.event {
            "phx_reply" => return self.answered(payload),
            "gap" => {
                if let (Some(epoch), Some(offset)) = (payload.epoch, payload.to) {
                    self.position = Some(Position { epoch, offset });
                }
            }
            "phx_error" | "phx_close" => return Err(Failure::Refused),
            _ => {
                if let (Some(position), Some(offset)) = (&mut self.position, payload.phx_offset) {
                    position.offset = offset;
                }
                self.count(payload.number.ok_or(Failure::Nonsense)?);
            }
        }
        Ok(Happened::Nothing)
    }

    fn answered(&mut self, payload: Payload) -> Result<Happened, Failure> {
        if payload.status.as_deref() != Some("ok") {
            return Err(Failure::Refused);
        }
        // A room without a history cannot replay anything, so the measurement would be meaningless.
        let recover = payload.response.and_then(|response| response.recover).ok_or(Failure::Refused)?;
        let was_here = self.position.is_some();
        // Missed messages follow the reply, and advance this position themselves.
        let is_recovered = recover.recovered == Some(true);
        if !is_recovered && let (Some(epoch), Some(offset)) = (recover.epoch, recover.offset) {
            self.position = Some(Position { epoch, offset });
        }
        self.phase = Phase::Here(Texts::default());
        Ok(if was_here { Happened::Returned { recovered: is_recovered } } else { Happened::Joined })
    }

    fn count(&mut self, number: u64) {
        if number <= self.heard {
            self.miscounts.extra += 1;
        } else {
            self.miscounts.lost += number - self.heard - 1;
            self.heard = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::server_frame;

    const HEAD: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

    fn reply(recover: &str) -> Vec<u8> {
        server_frame(&format!(
            r#"{{"topic":"rooms:1","event":"phx_reply","ref":"1","payload":{{"status":"ok","response":{{"recover":{recover}}}}}}}"#
        ))
    }

    fn said(number: u64) -> Vec<u8> {
        server_frame(&format!(
            r#"{{"topic":"rooms:1","event":"new_msg","ref":null,"payload":{{"number":{number},"phx_offset":{}}}}}"#,
            100 + number
        ))
    }

    fn here() -> Client {
        let mut client = Client::new("rooms:1".to_owned());
        assert_eq!(client.receive(&HEAD[..20]), Ok(Happened::Nothing));
        assert_eq!(client.receive(&HEAD[20..]), Ok(Happened::Upgraded));
        assert_eq!(
            client.receive(&reply(r#"{"epoch":"e","offset":100,"publisher":"p"}"#)),
            Ok(Happened::Joined)
        );
        client
    }

    #[test]
    fn who_comes_back_asks_for_what_follows_the_last_that_was_heard() {
        let mut client = here();
        assert_eq!(client.receive(&[said(1), said(2)].concat()), Ok(Happened::Nothing));
        client.connects();
        assert!(!client.is_here());
        assert_eq!(client.receive(HEAD), Ok(Happened::Upgraded));
        assert_eq!(client.join(), wire::client_frame(&wire::recovering_join("rooms:1", Some(("e", 102)))));
        let answer = [reply(r#"{"epoch":"e","offset":103,"recovered":true}"#), said(3)].concat();
        assert_eq!(client.receive(&answer), Ok(Happened::Returned { recovered: true }));
        assert!(client.is_here());
        assert_eq!((client.heard, client.miscounts), (3, Miscounts::default()));
    }

    #[test]
    fn what_is_missing_and_what_comes_again_is_counted() {
        let mut client = here();
        for number in [1, 4, 4] {
            client.receive(&said(number)).expect("it is a message");
        }
        assert_eq!((client.heard, client.miscounts), (4, Miscounts { lost: 2, extra: 1 }));
    }

    #[test]
    fn who_is_not_given_what_was_missed_says_so() {
        let mut client = here();
        client.connects();
        client.receive(HEAD).expect("it is an upgrade");
        let answer = reply(r#"{"epoch":"f","offset":7,"recovered":false,"reason":"epoch"}"#);
        assert_eq!(client.receive(&answer), Ok(Happened::Returned { recovered: false }));
        assert_eq!(client.join(), wire::client_frame(&wire::recovering_join("rooms:1", Some(("f", 7)))));
    }

    #[test]
    fn a_refusal_and_a_room_without_a_history_are_told_apart_from_success() {
        let mut client = Client::new("rooms:1".to_owned());
        assert_eq!(client.receive(b"HTTP/1.1 503 Service Unavailable\r\n\r\n"), Err(Failure::Refused));
        let mut client = Client::new("rooms:1".to_owned());
        client.receive(HEAD).expect("it is an upgrade");
        let without = wire::server_frame(&wire::join_reply("rooms:1"));
        assert_eq!(client.receive(&without), Err(Failure::Refused));
    }
}
