//! The canned responses that the server side sends after the upgrade. They depend only on the amount of data received,
//! not on its content, except for messages of the C10K test, whose client expects them back.

use bench_load::wire::{
    broadcast, channel_echo, channel_echo_reply, client_frame, echo, join_reply, publication, server_frame,
};

use crate::cli::ExchangeName;
use crate::unmask;

/// Copies of an answer that one write can contain. More than a pair has in flight in any scenario.
const ANSWERS_PER_WRITE: usize = 64;

/// One kind of exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The response to the first read after the upgrade request, if there is a join.
    pub(crate) join_reply: Option<Vec<u8>>,
    /// Length of each message after the handshake, in bytes.
    pub(crate) message_bytes: usize,
    /// What each of these messages triggers.
    pub(crate) consequence: Consequence,
}

#[derive(Debug)]
pub(crate) enum Consequence {
    /// Sends the frame to every pair that has finished its handshake.
    Broadcast { frame: Vec<u8> },
    /// Sends an answer of `answer_bytes` bytes; `answers` holds many copies of it.
    Answer { answer_bytes: usize, answers: Vec<u8> },
    /// Sends back the message itself, unmasked.
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

    /// Returns the number of steps until a pair is open: the upgrade and, if there is one, the join.
    pub(crate) fn handshake_steps(&self) -> u8 {
        1 + u8::from(self.join_reply.is_some())
    }
}

fn answer(text: &str) -> Consequence {
    let frame = server_frame(text);
    Consequence::Answer { answer_bytes: frame.len(), answers: frame.repeat(ANSWERS_PER_WRITE) }
}
