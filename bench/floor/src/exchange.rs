//! The canned bytes: what the server side answers, by how much it has received and never by what.

use bench_load::wire::{
    accepting_head, broadcast, channel_echo, channel_echo_reply, client_frame, echo, join_reply, publication,
    server_frame,
};

use crate::cli::ExchangeName;

/// Copies of an answer that one write can carry. More than a pair has under way in any scenario.
const ANSWERS_PER_WRITE: usize = 64;

/// One kind of conversation.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The answer to the first read, to the second, and so on: the handshake.
    pub(crate) handshake: Vec<Vec<u8>>,
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
}

impl Exchange {
    pub(crate) fn new(name: ExchangeName, topic: &str) -> Self {
        let upgrade_and_join = vec![accepting_head(), server_frame(&join_reply(topic))];
        match name {
            ExchangeName::Broadcast => Self {
                handshake: upgrade_and_join,
                message_bytes: client_frame(&publication(topic)).len(),
                consequence: Consequence::Broadcast { frame: server_frame(&broadcast(topic)) },
            },
            ExchangeName::Echo => Self {
                handshake: vec![accepting_head()],
                message_bytes: client_frame(&echo()).len(),
                consequence: answer(&echo()),
            },
            ExchangeName::ChannelEcho => Self {
                handshake: upgrade_and_join,
                message_bytes: client_frame(&channel_echo(topic)).len(),
                consequence: answer(&channel_echo_reply(topic)),
            },
        }
    }
}

fn answer(text: &str) -> Consequence {
    let frame = server_frame(text);
    Consequence::Answer { answer_bytes: frame.len(), answers: frame.repeat(ANSWERS_PER_WRITE) }
}
