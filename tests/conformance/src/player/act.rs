//! What a client does: connect, ask, send.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Player;
use crate::bytes;
use crate::failure::Failure;
use crate::http::{Headers, Request};
use crate::script::{Action, BodyContent, BodyLine};

impl Player<'_> {
    pub(super) fn act(&mut self, who: char, action: &Action) -> Result<(), Failure> {
        match action {
            Action::Open { target, headers } => self.open(who, target, headers.clone()),
            Action::Upgrade { target, headers } => {
                let target = self.variables.fill_url(target)?;
                self.ask(who, Request::new("GET", &target, headers.clone()).upgrade())
            }
            Action::Request { method, target, headers, body } => {
                let target = self.variables.fill_url(target)?;
                let body = self.fill_body(body)?;
                let headers = self.fill_headers(headers)?;
                self.ask(who, Request::new(method, &target, headers).with_body(body))
            }
            Action::Join { topic, payload } => {
                let (join, reply) = self.client(who).join(topic, payload);
                self.send(who, &join)?;
                self.expect_text(who, &reply)
            }
            Action::Send(text) => self.send(who, text),
            Action::SendFrame(shape, payload) => {
                let payload = payload.fill(&self.variables)?;
                self.transcript.sent(who, format!("frame {shape:?} {}", bytes::show(&payload)));
                self.client(who).send_frame(*shape, &payload)
            }
            Action::Receive(order, expected) => self.receive_all(who, *order, expected),
            Action::ReadOn(pattern) => self.read_on(who, pattern),
            Action::Nothing => self.expect_nothing(who),
            Action::Cut => {
                self.transcript.sent(who, "cuts TCP");
                self.client(who).cut();
                Ok(())
            }
            Action::Check(check) => self.check_answer(who, check),
            Action::Took(range) => self.check_took(who, range),
            Action::StartPoll => self.client(who).session()?.start_poll(),
            Action::Polled(status) => self.polled(who, *status),
            Action::Poll(status) => {
                self.client(who).session()?.start_poll()?;
                self.polled(who, *status)
            }
            Action::Post { status, headers, body } => {
                let body = self.fill_body(body)?;
                self.transcript.sent(who, format!("POST {}", String::from_utf8_lossy(&body)));
                self.client(who).session()?.post(*status, headers.clone(), body)
            }
        }
    }

    fn open(&mut self, who: char, target: &str, headers: Headers) -> Result<(), Failure> {
        let target = self.variables.fill_url(target)?;
        if !target.contains("/longpoll") {
            self.ask(who, Request::new("GET", &target, headers).upgrade())?;
            return self.expect_status(who, 101);
        }
        self.transcript.sent(who, format!("GET {target}"));
        let token = self.client(who).open_session(&target, headers)?.token().to_owned();
        self.transcript.received(who, format!("a session, token {token}"));
        self.variables.set("token", token);
        Ok(())
    }

    fn ask(&mut self, who: char, request: Request) -> Result<(), Failure> {
        self.transcript.sent(who, request.to_string());
        self.client(who).ask(request)
    }

    pub(super) fn send(&mut self, who: char, text: &str) -> Result<(), Failure> {
        let text = self.variables.fill(text)?;
        self.transcript.sent(who, format!("text {text}"));
        self.client(who).send(&text)
    }

    fn fill_headers(&self, headers: &Headers) -> Result<Headers, Failure> {
        headers.iter().map(|(name, value)| Ok((name.clone(), self.variables.fill(value)?))).collect()
    }

    fn fill_body(&self, lines: &[BodyLine]) -> Result<Vec<u8>, Failure> {
        let mut variables = self.variables.clone();
        let mut filled = Vec::new();
        for line in lines {
            for number in 1..=line.times {
                variables.set("i", number.to_string());
                filled.push(match &line.content {
                    BodyContent::Text(text) => variables.fill(text)?,
                    BodyContent::Base64(bytes) => STANDARD.encode(bytes.fill(&variables)?),
                });
            }
        }
        Ok(filled.join("\n").into_bytes())
    }
}
