//! The canned bytes: what the server side answers behind the upgrade, by how much it has received and never by what
//! (but for the C10K test's messages, which its client wants to see again).

use bench_load::wire::{
    broadcast, channel_echo, channel_echo_reply, client_frame, echo, join_reply, publication, server_frame,
};

use crate::cli::ExchangeName;
use crate::unmask;

/// Copies of an answer that one write can carry. More than a pair has under way in any scenario.
const ANSWERS_PER_WRITE: usize = 64;

/// One kind of conversation.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The answer to the read behind the upgrade request, where a join follows.
    pub(crate) join_reply: Option<Vec<u8>>,
    /// Length of each message after the handshake, in bytes.
    pub(crate) message_bytes: usize,
    /// What each of these messages causes.
    pub(crate) consequence: Consequence,
}

#[derive(Debug)]
pub(crate) enum Consequence {
    /// The frame, to every pair that has finished its handshake.
    Broadcast { frame: Vec<u8> },
    /// An answer of so many bytes, of which `answers` holds many.
    Answer { answer_bytes: usize, answers: Vec<u8> },
    /// The message itself, without its mask.
    Unmask,
}

impl Exchange {
    pub(crate) fn new(name: ExchangeName, topic: &str) -> Self {
        let join_reply = Some(server_frame(&join_reply(topic)));
        match name {
            ExchangeName::Broadcast => Self {
                join_reply,
                message_bytes: client_frame(&publication(topic)).len(),
                consequence: Consequence::Broadcast { frame: server_frame(&broadcast(topic)) },
            },
            ExchangeName::Echo => Self {
                join_reply: None,
                message_bytes: client_frame(&echo()).len(),
                consequence: answer(&echo()),
            },
            ExchangeName::C10k => Self {
                join_reply: None,
                message_bytes: unmask::MESSAGE_BYTES,
                consequence: Consequence::Unmask,
            },
            ExchangeName::ChannelEcho => Self {
                join_reply,
                message_bytes: client_frame(&channel_echo(topic)).len(),
                consequence: answer(&channel_echo_reply(topic)),
            },
        }
    }

    /// Steps until a pair is open: the upgrade and, where there is one, the join.
    pub(crate) fn handshake_steps(&self) -> u8 {
        1 + u8::from(self.join_reply.is_some())
    }
}

fn answer(text: &str) -> Consequence {
    let frame = server_frame(text);
    Consequence::Answer { answer_bytes: frame.len(), answers: frame.repeat(ANSWERS_PER_WRITE) }
}
