//! A full messenger client for people and scripts: stored rooms, direct conversations, groups, history and unread
//! counts, over Phoenix Channels.
//!
//! [`client`] is the logic, without sockets or clocks; `wire` is the connection; `screen` and `lines` display it.

mod calls;
mod client;
mod command;
mod fault;
mod json;
mod lines;
mod news;
mod outbox;
mod payload;
mod people;
mod place;
mod screen;
mod tab;
mod thread;
mod wire;
mod words;

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crate::chat::error::ChatError;
use crate::chat::options::Options;
use crate::chat::session::{SessionError, chosen_name};
use client::{Client, Identity, Link};
use news::News;
pub(super) use place::Place;
use wire::{Incoming, Wire};

/// Interval at which due work and typed input are checked.
const TICK: Duration = Duration::from_millis(25);
/// Maximum number of messages handled before the display is updated.
const HEARD_AT_ONCE_MAX: usize = 256;

/// A client with its connection.
struct Messenger {
    client: Client,
    wire: Wire,
    incoming: Receiver<Incoming>,
}

/// How the messenger is displayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Screen,
    Lines,
    Json,
}

pub(super) fn run(
    place: Place,
    token: Option<String>,
    options: Options,
    form: Form,
) -> Result<(), ChatError> {
    let messenger = Messenger::begin(place, token, options).map_err(ChatError::Session)?;
    match form {
        Form::Screen => screen::run(messenger),
        Form::Lines => lines::run(messenger, lines::Shape::Text),
        Form::Json => lines::run(messenger, lines::Shape::Json),
    }
}

impl Messenger {
    fn begin(place: Place, token: Option<String>, options: Options) -> Result<Self, SessionError> {
        let name = chosen_name(options.name)?;
        let identity = Identity { token, is_guest: false, name };
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| SessionError::Thread(std::io::Error::other(error)))?;
        let prefix = format!("stampede-{:016x}", u64::from_ne_bytes(random));
        let (wire, incoming) = Wire::begin(place.address.clone(), &options.trust)?;
        Ok(Self { client: Client::new(place, identity, prefix, Instant::now()), wire, incoming })
    }

    /// Handles incoming messages, waiting at most `wait` for the first, performs what is due, and returns the news to
    /// show.
    fn step(&mut self, wait: Duration) -> Vec<News> {
        let mut next = self.incoming.recv_timeout(wait).ok();
        for left in (0..HEARD_AT_ONCE_MAX).rev() {
            let now = Instant::now();
            match next {
                Some(Incoming::Opened) => self.client.opened(now),
                Some(Incoming::Text(text)) => self.client.heard(&text, now),
                Some(Incoming::Lost(reason)) => self.client.lost(reason, now),
                None => break,
            }
            next = if left > 0 { self.incoming.try_recv().ok() } else { None };
        }
        self.client.tick(Instant::now());
        self.carry_out()
    }

    /// Sends what is to be sent, and returns the news to show.
    fn carry_out(&mut self) -> Vec<News> {
        let effects = self.client.effects();
        let mut is_told = true;
        for text in effects.send {
            is_told &= self.wire.say(text);
        }
        if let Some(target) = effects.open {
            is_told &= self.wire.open(target);
        }
        if let Some(reason) = effects.close {
            is_told &= self.wire.close(reason);
        }
        let mut news = effects.news;
        if !is_told && self.client.link() == Link::Open {
            self.client.lost("too many messages are waiting to be sent".into(), Instant::now());
            news.extend(self.client.effects().news);
        }
        news
    }
}
