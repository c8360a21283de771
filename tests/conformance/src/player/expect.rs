//! What a client expects: answers, frames, silence.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Player;
use crate::bytes::Bytes;
use crate::failure::Failure;
use crate::http::Response;
use crate::pattern::Pattern;
use crate::script::{Check, Expected, Order};
use crate::variables::Variables;
use crate::websocket::Incoming;

impl Player<'_> {
    /// Meets all expectations, in the order that is due.
    pub(super) fn receive_all(
        &mut self,
        who: char,
        order: Order,
        expected: &[Expected],
    ) -> Result<(), Failure> {
        let in_order = match order {
            Order::Given => true,
            Order::Any => false,
            Order::GivenByOurs => !self.server.is_outside(),
        };
        let mut open: Vec<&Expected> = expected.iter().collect();
        while !open.is_empty() {
            let incoming = self.receive(who, &open)?;
            let candidates = if in_order { 1 } else { open.len() };
            match self.first_met(&open[..candidates], &incoming)? {
                Some(index) => drop(open.remove(index)),
                None => return Err(Failure::mismatch(self.describe(&open[..candidates]), incoming)),
            }
        }
        Ok(())
    }

    /// Passes over text frames until one matches.
    pub(super) fn read_on(&mut self, who: char, pattern: &Pattern) -> Result<(), Failure> {
        let wanted = Expected::Text(pattern.clone());
        loop {
            let incoming = self.receive(who, &[&wanted])?;
            match &incoming {
                Incoming::Text(text) if pattern.matches(text, &mut self.variables) => return Ok(()),
                Incoming::Text(_) => {}
                _ => return Err(Failure::mismatch(self.describe(&[&wanted]), incoming)),
            }
        }
    }

    /// Nothing is on its way if the reply to a heartbeat is the next frame: no time has to pass to know.
    pub(super) fn expect_nothing(&mut self, who: char) -> Result<(), Failure> {
        self.heartbeats += 1;
        let reference = format!("hb{}", self.heartbeats);
        let (heartbeat, reply) = self.client(who).heartbeat(&reference);
        self.send(who, &heartbeat)?;
        self.expect_text(who, &reply)
    }

    pub(super) fn expect_text(&mut self, who: char, pattern: &str) -> Result<(), Failure> {
        let pattern = Pattern::parse(pattern).map_err(Failure::script)?;
        self.receive_all(who, Order::Given, &[Expected::Text(pattern)])
    }

    pub(super) fn expect_status(&mut self, who: char, status: u16) -> Result<(), Failure> {
        self.check_answer(who, &Check::Status(status))
    }

    pub(super) fn polled(&mut self, who: char, status: u16) -> Result<(), Failure> {
        let session = self.client(who).session()?;
        let outcome = session.polled(status);
        let token = session.token().to_owned();
        self.transcript.received(who, format!("the answer to a poll, token {token}"));
        self.variables.set("token", token);
        outcome
    }

    /// Checks how long after the last request or frame the last answer or frame came.
    pub(super) fn check_took(&mut self, who: char, range: &RangeInclusive<Duration>) -> Result<(), Failure> {
        let took = self.client(who).took();
        check(range.contains(&took), format!("something after {range:?}"), format!("it after {took:?}"))
    }

    /// Checks one property of the answer to the client's last request.
    pub(super) fn check_answer(&mut self, who: char, wanted: &Check) -> Result<(), Failure> {
        let is_new = self.client(who).awaits_answer();
        let answer = self.client(who).answer()?.clone();
        if is_new {
            self.transcript.received(who, answer.to_string());
        }
        self.compare_answer(&answer, wanted)
    }

    fn compare_answer(&mut self, answer: &Response, wanted: &Check) -> Result<(), Failure> {
        match wanted {
            Check::Status(status) => check(answer.status == *status, format!("status {status}"), answer),
            Check::Body(body) => check(answer.body == *body, format!("the body {body:?}"), answer),
            Check::BodyMentions(words) => check(
                answer.body.to_lowercase().contains(words),
                format!("a body that mentions {words}"),
                answer,
            ),
            Check::Header { name, value } => {
                check(answer.header(name) == Some(value), format!("{name}: {value}"), answer)
            }
            Check::NoHeader(name) => {
                check(answer.header(name).is_none(), format!("no header {name}"), answer)
            }
            Check::Json(pattern) => {
                check(pattern.matches(&answer.body, &mut self.variables), pattern, answer)
            }
        }
    }

    fn receive(&mut self, who: char, expected: &[&Expected]) -> Result<Incoming, Failure> {
        let incoming = match self.client(who).receive() {
            Err(Failure::Broken { error, .. }) => Err(Failure::mismatch(self.describe(expected), error)),
            outcome => outcome,
        }?;
        self.transcript.received(who, incoming.to_string());
        Ok(incoming)
    }

    fn first_met(&mut self, open: &[&Expected], incoming: &Incoming) -> Result<Option<usize>, Failure> {
        for (index, expected) in open.iter().enumerate() {
            if is_met(expected, incoming, &mut self.variables, self.server.is_outside())? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn describe(&self, expected: &[&Expected]) -> String {
        expected.iter().map(|expected| describe(expected, &self.variables)).collect::<Vec<_>>().join(" or ")
    }
}

fn is_met(
    expected: &Expected,
    incoming: &Incoming,
    variables: &mut Variables,
    outside: bool,
) -> Result<bool, Failure> {
    Ok(match (expected, incoming) {
        (Expected::Text(pattern), Incoming::Text(text)) => pattern.matches(text, variables),
        (Expected::Bytes(bytes), Incoming::Binary(data)) => bytes.matches(data, variables)?,
        (Expected::Pong(bytes), Incoming::Pong(data)) => bytes.matches(data, variables)?,
        (Expected::Close { code, permitted }, Incoming::Close(Some(found))) => {
            found == code || (outside && permitted.contains(found))
        }
        (Expected::End, Incoming::End) => true,
        _ => false,
    })
}

fn describe(expected: &Expected, variables: &Variables) -> String {
    let shown =
        |bytes: &Bytes| bytes.fill(variables).map_or_else(|_| "…".into(), |bytes| crate::bytes::show(&bytes));
    match expected {
        Expected::Text(pattern) => format!("text {pattern}"),
        Expected::Bytes(bytes) => format!("bytes {}", shown(bytes)),
        Expected::Pong(bytes) => format!("pong {}", shown(bytes)),
        Expected::Close { code, .. } => format!("close {code}"),
        Expected::End => "the end of the connection".into(),
    }
}

fn check(holds: bool, expected: impl std::fmt::Display, got: impl std::fmt::Display) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::mismatch(expected, got)) }
}
