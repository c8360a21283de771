//! Names of kinds and outcomes wherever they leave the process: in logs, summaries and views.

use super::{Kind, Outcome};

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Arrival,
        Self::Finish,
        Self::Connect,
        Self::Disconnect,
        Self::Join,
        Self::Leave,
        Self::Send,
        Self::Receive,
        Self::Missing,
        Self::Reply,
        Self::Wait,
        Self::Http,
        Self::Transaction,
        Self::Step,
        Self::Burst,
    ];

    /// The name in files and reports; the same as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Finish => "finish",
            Self::Connect => "connect",
            Self::Disconnect => "disconnect",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Missing => "missing",
            Self::Reply => "reply",
            Self::Wait => "wait",
            Self::Http => "http",
            Self::Transaction => "transaction",
            Self::Step => "step",
            Self::Burst => "burst",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        match name {
            b"arrival" => Some(Self::Arrival),
            b"finish" => Some(Self::Finish),
            b"connect" => Some(Self::Connect),
            b"disconnect" => Some(Self::Disconnect),
            b"join" => Some(Self::Join),
            b"leave" => Some(Self::Leave),
            b"send" => Some(Self::Send),
            b"receive" => Some(Self::Receive),
            b"missing" => Some(Self::Missing),
            b"reply" => Some(Self::Reply),
            b"wait" => Some(Self::Wait),
            b"http" => Some(Self::Http),
            b"transaction" => Some(Self::Transaction),
            b"step" => Some(Self::Step),
            b"burst" => Some(Self::Burst),
            _ => None,
        }
    }
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 32] = [
        Self::Ok,
        Self::Unstamped,
        Self::Duplicate,
        Self::Reordered,
        Self::Unexpected,
        Self::Late,
        Self::Lost,
        Self::InFlight,
        Self::Unjudged,
        Self::Dropped,
        Self::ConnectTimeout,
        Self::Refused,
        Self::Reset,
        Self::Unreachable,
        Self::NoPort,
        Self::NoDescriptor,
        Self::Tls,
        Self::HandshakeTimeout,
        Self::Status,
        Self::Redirect,
        Self::BadHandshake,
        Self::Protocol,
        Self::Closed,
        Self::Ended,
        Self::Timeout,
        Self::Rejected,
        Self::Heartbeat,
        Self::NotReady,
        Self::Aborted,
        Self::Stopped,
        Self::Overflow,
        Self::AgentLost,
    ];

    /// The name in files and reports; the same as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unstamped => "unstamped",
            Self::Duplicate => "duplicate",
            Self::Reordered => "reordered",
            Self::Unexpected => "unexpected",
            Self::Late => "late",
            Self::Lost => "lost",
            Self::InFlight => "in_flight",
            Self::Unjudged => "unjudged",
            Self::Dropped => "dropped",
            Self::ConnectTimeout => "connect_timeout",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Unreachable => "unreachable",
            Self::NoPort => "no_port",
            Self::NoDescriptor => "no_descriptor",
            Self::Tls => "tls",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::Status => "status",
            Self::Redirect => "redirect",
            Self::BadHandshake => "bad_handshake",
            Self::Protocol => "protocol",
            Self::Closed => "closed",
            Self::Ended => "ended",
            Self::Timeout => "timeout",
            Self::Rejected => "rejected",
            Self::Heartbeat => "heartbeat",
            Self::NotReady => "not_ready",
            Self::Aborted => "aborted",
            Self::Stopped => "stopped",
            Self::Overflow => "overflow",
            Self::AgentLost => "agent_lost",
        }
    }

    /// Returns the outcome with this name.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        match name {
            b"ok" => Some(Self::Ok),
            b"unstamped" => Some(Self::Unstamped),
            b"duplicate" => Some(Self::Duplicate),
            b"reordered" => Some(Self::Reordered),
            b"unexpected" => Some(Self::Unexpected),
            b"late" => Some(Self::Late),
            b"lost" => Some(Self::Lost),
            b"in_flight" => Some(Self::InFlight),
            b"unjudged" => Some(Self::Unjudged),
            b"dropped" => Some(Self::Dropped),
            b"connect_timeout" => Some(Self::ConnectTimeout),
            b"refused" => Some(Self::Refused),
            b"reset" => Some(Self::Reset),
            b"unreachable" => Some(Self::Unreachable),
            b"no_port" => Some(Self::NoPort),
            b"no_descriptor" => Some(Self::NoDescriptor),
            b"tls" => Some(Self::Tls),
            b"handshake_timeout" => Some(Self::HandshakeTimeout),
            b"status" => Some(Self::Status),
            b"redirect" => Some(Self::Redirect),
            b"bad_handshake" => Some(Self::BadHandshake),
            b"protocol" => Some(Self::Protocol),
            b"closed" => Some(Self::Closed),
            b"ended" => Some(Self::Ended),
            b"timeout" => Some(Self::Timeout),
            b"rejected" => Some(Self::Rejected),
            b"heartbeat" => Some(Self::Heartbeat),
            b"not_ready" => Some(Self::NotReady),
            b"aborted" => Some(Self::Aborted),
            b"stopped" => Some(Self::Stopped),
            b"overflow" => Some(Self::Overflow),
            b"agent_lost" => Some(Self::AgentLost),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_are_those_of_json() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_name(kind.name().as_bytes()), Some(kind));
            assert_eq!(serde_json::to_value(kind).expect("a name"), kind.name());
        }
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::of_name(outcome.name().as_bytes()), Some(outcome));
            assert_eq!(serde_json::to_value(outcome).expect("a name"), outcome.name());
        }
        assert_eq!(Kind::of_name(b"no such thing"), None);
    }
}
