//! A long-poll session as a client keeps it: the token, and the frames that came but were not looked at.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::PATIENCE;
use crate::failure::Failure;
use crate::http::{Exchange, Headers, Request, Response};
use crate::variables::percent_encode;
use crate::websocket::Incoming;

/// Every answer to a session's GET has exactly these members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PollAnswer {
    status: u16,
    token: String,
    messages: Vec<String>,
}

/// Every answer to a POST has exactly this member.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PostAnswer {
    status: u16,
}

/// One session.
#[derive(Debug)]
pub(crate) struct LongPoll {
    address: SocketAddr,
    target: String,
    token: String,
    waiting: VecDeque<String>,
    polling: Option<Exchange>,
    took: Duration,
}

impl LongPoll {
    /// Creates a session by a GET on `target`, path and query.
    ///
    /// # Errors
    /// The answer is not that of a new session: status 410, a token, no messages.
    pub(crate) fn open(address: SocketAddr, target: &str, headers: Headers) -> Result<Self, Failure> {
        let (response, _) = Exchange::send(address, Request::new("GET", target, headers))?.receive()?;
        let answer: PollAnswer = read(&response)?;
        if answer.status != 410 || !answer.messages.is_empty() {
            return Err(Failure::mismatch("a new session: status 410 and no messages", &response.body));
        }
        Ok(Self {
            address,
            target: target.to_owned(),
            token: answer.token,
            waiting: VecDeque::new(),
            polling: None,
            took: response.took,
        })
    }

    /// The token of the session.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// From the last GET or POST to its answer.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// Sends a GET, without waiting for its answer.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn start_poll(&mut self) -> Result<(), Failure> {
        self.polling =
            Some(Exchange::send(self.address, Request::new("GET", &self.target_with_token(), Vec::new()))?);
        Ok(())
    }

    /// Waits for the answer to the GET: status 200 with messages, 204 without, or 410 with a new token.
    ///
    /// # Errors
    /// The answer has another status or the wrong members for it.
    pub(crate) fn polled(&mut self, status: u16) -> Result<(), Failure> {
        let (answer, body) = self.finish_poll()?;
        let is_renewed = answer.token != self.token;
        let is_empty = answer.messages.is_empty();
        self.token = answer.token;
        self.waiting.extend(answer.messages);
        if answer.status != status || is_renewed != (status == 410) || is_empty != (status != 200) {
            return Err(Failure::mismatch(format!("the answer to a poll with status {status}"), body));
        }
        if let (204, Some(message)) = (status, self.waiting.front()) {
            return Err(Failure::mismatch("no more messages", message));
        }
        Ok(())
    }

    /// Posts `body` to the session.
    ///
    /// # Errors
    /// The answer has another status, or other members.
    pub(crate) fn post(&mut self, status: u16, headers: Headers, body: Vec<u8>) -> Result<(), Failure> {
        let request = Request::new("POST", &self.target_with_token(), headers).with_body(body);
        let (response, _) = Exchange::send(self.address, request)?.receive()?;
        self.took = response.took;
        let answer: PostAnswer = read(&response)?;
        if answer.status == status {
            return Ok(());
        }
        Err(Failure::mismatch(format!(r#"{{"status":{status}}}"#), response.body))
    }

    /// The next message, polling for it as long as patience lasts.
    ///
    /// # Errors
    /// None came, or the session is gone.
    pub(crate) fn receive(&mut self) -> Result<Incoming, Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return Ok(Incoming::Text(frame));
            }
            if Instant::now() >= deadline {
                return Err(Failure::mismatch("a message", "empty polls only"));
            }
            self.start_poll()?;
            let (answer, body) = self.finish_poll()?;
            if !matches!(answer.status, 200 | 204) {
                return Err(Failure::mismatch("a message", body));
            }
            self.waiting.extend(answer.messages);
        }
    }

    fn finish_poll(&mut self) -> Result<(PollAnswer, String), Failure> {
        let exchange = self.polling.take().ok_or_else(|| Failure::script("no poll was started"))?;
        let (response, _) = exchange.receive()?;
        self.took = response.took;
        Ok((read(&response)?, response.body))
    }

    fn target_with_token(&self) -> String {
        let joint = if self.target.contains('?') { '&' } else { '?' };
        format!("{}{joint}token={}", self.target, percent_encode(&self.token))
    }
}

fn read<'a, Answer: Deserialize<'a>>(response: &'a Response) -> Result<Answer, Failure> {
    let wrong = |why: String| Failure::mismatch("a long-poll answer", format!("{why}: {}", response.body));
    if response.status != 200 {
        return Err(wrong(format!("HTTP status {}", response.status)));
    }
    serde_json::from_str(&response.body).map_err(|error| wrong(error.to_string()))
}
