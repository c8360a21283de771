//! The server that the driver connects to, and the conversation.

use std::net::SocketAddrV4;

use crate::wire;

/// A server's address, and what each connection sends until it counts as open.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) address: SocketAddrV4,
    pub(crate) request: Vec<u8>,
    pub(crate) conversation: Conversation,
    /// The frame that follows the upgrade, if the conversation has one.
    pub(crate) hello: Option<Vec<u8>>,
    /// Length of the shortest frame that counts as a message.
    pub(crate) message_bytes_min: u64,
}

/// When a connection counts as open, and what counts as a message from then on.
#[derive(Clone, Debug)]
pub enum Conversation {
    /// The upgrade alone. Every data message counts.
    Upgrade,
    /// The upgrade, then a Phoenix V1 join of this topic. Every data message counts.
    Join(String),
    /// The upgrade, then a NATS subscription of this subject. Frames shorter than a delivery do not count, because the
    /// server may send a ping at any time.
    Subscribe(String),
}

impl Target {
    /// Creates a target at `address`, with `path` in the upgrade request.
    pub fn new(address: SocketAddrV4, path: &str, conversation: Conversation) -> Self {
        let (hello, message_bytes_min) = match &conversation {
            Conversation::Upgrade => (None, 0),
            Conversation::Join(topic) => (Some(wire::join(topic)), 0),
            Conversation::Subscribe(subject) => {
                (Some(wire::nats_subscription(subject)), wire::broadcast(subject).len() as u64)
            }
        };
        let hello = hello.map(|text| wire::client_frame(&text));
        let request = wire::request_head(path, &address.to_string());
        Self { address, request, conversation, hello, message_bytes_min }
    }

    /// Returns the client frame that makes the server send [`wire::broadcast`] to every connection of the conversation;
    /// a plain server passes it on unchanged.
    pub fn publication(&self) -> Vec<u8> {
        wire::client_frame(&match &self.conversation {
            Conversation::Upgrade => wire::broadcast(wire::PLAIN_TOPIC),
            Conversation::Join(topic) => wire::publication(topic),
            Conversation::Subscribe(subject) => wire::nats_publication(subject, &wire::broadcast(subject)),
        })
    }
}
