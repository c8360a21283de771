//! A user's membership in a room, kept across reconnects, on its own thread.

use std::fmt;
use std::io;
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::chat::address::{Address, BadAddress};
use crate::chat::conversation::{Conversation, Effects, Event};
use crate::chat::link::{Link, LinkError};
use crate::chat::{NAME_CHARS_MAX, Options};
use crate::player::{PlayError, client_config};

/// Maximum number of messages that may wait to be sent.
const SAY_MAX: usize = 64;
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Timeout for answers to the last messages, and for the server's part of the closing handshake.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);
/// Delays between attempts to connect; the last one is used for all further attempts.
const BACK_OFF_MS: [u64; 7] = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/// Why a session cannot begin.
#[derive(Debug)]
pub enum SessionError {
    /// The URL does not identify a room.
    Address(BadAddress),
    /// The name is empty, longer than [`NAME_CHARS_MAX`], or contains control characters.
    Name(String),
    /// The certificate authorities for TLS cannot be read.
    Trust(PlayError),
    /// The thread or its runtime cannot be created.
    Thread(io::Error),
}

/// A session, which continues until it is dropped.
#[derive(Debug)]
pub struct Session {
    name: String,
    room: String,
    server: String,
    events: std_mpsc::Receiver<Event>,
    say: Option<mpsc::Sender<String>>,
    /// Dropped to end the session, whatever is waiting.
    _running: oneshot::Sender<()>,
}

/// A handle for sending messages from another thread than the one that receives the events.
#[derive(Clone, Debug)]
pub struct Speaker(mpsc::Sender<String>);

impl Session {
    /// Starts the session, which begins to connect.
    ///
    /// # Errors
    /// See [`SessionError`]; an unreachable server is not an error, but reported as [`Event::Lost`].
    pub fn begin(options: Options) -> Result<Self, SessionError> {
        let address =
            Address::parse(&options.url, options.topic.as_deref()).map_err(SessionError::Address)?;
        let name = chosen_name(options.name)?;
        let tls = match address.secure {
            true => Some(client_config(&options.trust).map_err(SessionError::Trust)?),
            false => None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(SessionError::Thread)?;
        let (say, to_say) = mpsc::channel(SAY_MAX);
        let (tell, events) = std_mpsc::channel();
        let (running, dropped) = oneshot::channel();
        let session = Self {
            name: name.clone(),
            room: address.room.clone(),
            server: address.authority.clone(),
            events,
            say: Some(say),
            _running: running,
        };
        let conversation = Conversation::new(&address, name, options.plain_text);
        let driver = Driver { address, tls, conversation, to_say, tell };
        let drive = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = driver.run() => {}
                    _ = dropped => {}
                }
            });
        };
        thread::Builder::new().name("chat".into()).spawn(drive).map_err(SessionError::Thread)?;
        Ok(session)
    }

    /// Returns the user's display name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the room's name for display.
    pub fn room(&self) -> &str {
        &self.room
    }

    /// Returns the server's host and port.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the channel of events, in order. It ends when the session has: after [`Session::finish`].
    pub fn events(&self) -> &std_mpsc::Receiver<Event> {
        &self.events
    }

    /// Returns a handle for sending messages from another thread. The session does not finish while one exists.
    pub fn speaker(&self) -> Option<Speaker> {
        self.say.clone().map(Speaker)
    }

    /// Sends a message as soon as the user is in the room. Returns it as an error if too many are waiting.
    ///
    /// # Errors
    /// The message.
    pub fn say(&self, body: String) -> Result<(), String> {
        match &self.say {
            Some(say) => say.try_send(body).map_err(|error| match error {
                mpsc::error::TrySendError::Full(body) | mpsc::error::TrySendError::Closed(body) => body,
            }),
            None => Err(body),
        }
    }

    /// Ends the session gracefully once all messages have been sent and answered; no further ones will be sent.
    pub fn finish(&mut self) {
        self.say = None;
    }
}

impl Speaker {
    /// Sends a message, blocking while too many are waiting; returns `false` if the session has ended.
    pub fn say(&self, body: String) -> bool {
        self.0.blocking_send(body).is_ok()
    }
}

struct Driver {
    address: Address,
    tls: Option<Arc<rustls::ClientConfig>>,
    conversation: Conversation,
    to_say: mpsc::Receiver<String>,
    tell: std_mpsc::Sender<Event>,
}

/// How one connection ended.
enum End {
    /// At the user's request.
    Left,
    Lost(String),
}

impl Driver {
    async fn run(mut self) {
        let mut failures = 0;
        loop {
            self.tell(vec![Event::Connecting]);
            let mut was_joined = false;
            let end = match Link::open(&self.address, self.tls.clone()).await {
                Ok(mut link) => self.converse(&mut link, &mut was_joined).await,
                Err(error) => End::Lost(error.to_string()),
            };
            let End::Lost(reason) = end else { return };
            let mut effects = Effects::default();
            self.conversation.lost(&mut effects);
            self.tell(effects.tell);
            failures = if was_joined { 0 } else { failures + 1 };
            if self.is_finished() {
                self.tell(vec![Event::Lost { reason, retry_in: Duration::ZERO }]);
                return;
            }
            let retry_in = back_off(failures);
            self.tell(vec![Event::Lost { reason, retry_in }]);
            tokio::time::sleep(retry_in).await;
        }
    }

    /// Returns whether nothing is left to send, and nothing more will be.
    fn is_finished(&self) -> bool {
        self.to_say.is_closed() && self.to_say.is_empty()
    }

    async fn converse(&mut self, link: &mut Link, was_joined: &mut bool) -> End {
        let mut effects = Effects::default();
        self.conversation.opened(&mut effects);
        let mut beats = tokio::time::interval(HEARTBEAT);
        beats.reset();
        loop {
            if let Err(end) = self.carry_out(link, &mut effects).await {
                return end;
            }
            let is_joined = self.conversation.is_joined();
            *was_joined |= is_joined;
            tokio::select! {
                heard = link.receive() => match heard {
                    Ok(text) => self.conversation.heard(&text, &mut effects),
                    Err(error) => return End::Lost(error.to_string()),
                },
                said = self.to_say.recv(), if is_joined => match said {
                    Some(body) => self.conversation.say(body, &mut effects),
                    None => return self.leave(link).await,
                },
                _ = beats.tick() => self.conversation.beat(&mut effects),
            }
        }
    }

    /// Receives what is still in flight: answers to sent messages, then everything before the server's close.
    async fn leave(&mut self, link: &mut Link) -> End {
        let leaving = async {
            let mut effects = Effects::default();
            let mut is_closing = false;
            loop {
                if !is_closing && self.conversation.is_settled() {
                    link.close().await?;
                    is_closing = true;
                }
                let text = link.receive().await?;
                self.conversation.heard(&text, &mut effects);
                self.tell(std::mem::take(&mut effects.tell));
            }
        };
        let ended: Result<Result<(), LinkError>, _> = tokio::time::timeout(FINISH_TIMEOUT, leaving).await;
        // Whatever ended the connection, the end was requested; unanswered messages are reported as not sent.
        drop(ended);
        let mut effects = Effects::default();
        self.conversation.lost(&mut effects);
        self.tell(effects.tell);
        End::Left
    }

    async fn carry_out(&mut self, link: &mut Link, effects: &mut Effects) -> Result<(), End> {
        self.tell(std::mem::take(&mut effects.tell));
        for text in effects.send.drain(..) {
            link.say(&text).await.map_err(|error| End::Lost(error.to_string()))?;
        }
        match effects.end.take() {
            Some(reason) => Err(End::Lost(reason)),
            None => Ok(()),
        }
    }

    /// Sending fails only if the owner no longer listens and is about to drop the session.
    fn tell(&self, events: Vec<Event>) {
        for event in events {
            let _ = self.tell.send(event);
        }
    }
}

fn back_off(failures: usize) -> Duration {
    let at = failures.saturating_sub(1).min(BACK_OFF_MS.len() - 1);
    Duration::from_millis(BACK_OFF_MS[at])
}

/// Returns the requested name, or the user name on this machine.
pub(super) fn chosen_name(name: Option<String>) -> Result<String, SessionError> {
    let name = name.or_else(user_name).unwrap_or_else(|| "guest".to_owned());
    let length = name.chars().count();
    if (1..=NAME_CHARS_MAX).contains(&length) && !name.chars().any(char::is_control) {
        Ok(name)
    } else {
        Err(SessionError::Name(name))
    }
}

fn user_name() -> Option<String> {
    std::env::var("USER").ok().filter(|name| !name.is_empty())
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::Address(error) => error.fmt(f),
            SessionError::Name(name) => {
                write!(
                    f,
                    "invalid name {name:?}: use 1 to {NAME_CHARS_MAX} characters, without control characters"
                )
            }
            SessionError::Trust(error) => error.fmt(f),
            SessionError::Thread(error) => write!(f, "cannot start the chat: {error}"),
        }
    }
}

impl std::error::Error for SessionError {}

#[cfg(test)]
mod tests;
