//! Compiles the steps that send messages and wait for them.

use super::super::plan::{Audience, Body, Join, Matcher, Push, Send, Wait};
use super::super::source::{self, Frame, Sizes};
use super::super::template::{Part, STAMP_BYTES, Template};
use super::json::object_with;
use super::templates::least;
use super::{Compiler, logic};

/// Key of the JSON member that carries the filler of a push with a given size.
const FILLER_KEY: &str = "body";

impl Compiler<'_> {
    pub(super) fn join(&mut self, join: &source::Join) -> Join {
        Join {
            topic: self.template_at("topic", &join.topic),
            payload: self.payload(join.payload.as_ref()),
            timeout: join.timeout.0,
            echo: join.echo,
            presence: join.presence,
            recover: join.recover,
        }
    }

    pub(super) fn push(&mut self, push: &source::Push) -> Push {
        let topic = self.template_at("topic", &push.topic);
        let event = self.template_at("event", &push.event);
        let given = [push.payload.is_some(), push.binary.is_some(), push.size.is_some()];
        if given.into_iter().filter(|given| *given).count() > 1 {
            self.complain("a push carries one of `payload`, `binary` and `size`");
        }
        let body = match (&push.binary, push.size) {
            (Some(text), _) => self.template_at("binary", text),
            (None, Some(size)) => {
                // Besides the stamp, the message contains the braces, the key and the quotes.
                let overhead =
                    object_with(FILLER_KEY, Vec::new()).parts.iter().map(text_bytes).sum::<usize>();
                self.check_size(size, STAMP_BYTES + overhead);
                object_with(FILLER_KEY, vec![Part::Stamp, Part::PadTo(size.0)])
            }
            (None, None) => self.payload(push.payload.as_ref()),
        };
        self.check_stamp(push.audience, &body);
        Push {
            topic,
            event,
            body: Body::Template(body),
            binary: push.binary.is_some(),
            reply: push.reply.map(|reply| reply.0),
            audience: audience(push.audience),
        }
    }

    fn payload(&mut self, payload: Option<&serde_json::Value>) -> Template {
        match payload {
            Some(payload) => self.within("payload", |compiler| compiler.json(payload)),
            None => Template::text("{}"),
        }
    }

    pub(super) fn send(&mut self, send: &source::Send) -> Send {
        let given = [
            send.text.is_some(),
            send.binary.is_some(),
            send.json.is_some(),
            send.size.is_some(),
            send.c10k_ping,
        ];
        if given.into_iter().filter(|given| *given).count() != 1 {
            self.complain("a message is exactly one of `text`, `binary`, `json`, `size` and `c10k_ping`");
        }
        let binary = match send.frame {
            Some(frame) => frame == Frame::Binary,
            None => send.binary.is_some() || send.c10k_ping,
        };
        let body = if send.c10k_ping { self.c10k_ping(send) } else { Body::Template(self.content(send)) };
        Send { binary, body, audience: audience(send.audience) }
    }

    fn c10k_ping(&mut self, send: &source::Send) -> Body {
        if send.frame == Some(Frame::Text) {
            self.complain_at("frame", "a C10K ping is binary: its times are not text");
        }
        if send.audience == source::Audience::Room {
            self.complain_at("audience", "a C10K ping does not say who sent it: `echo` or `nobody`");
        }
        Body::C10kPing
    }

    fn content(&mut self, send: &source::Send) -> Template {
        let content = match (&send.text, &send.binary, &send.json, send.size) {
            (Some(text), ..) => self.template_at("text", text),
            (None, Some(text), ..) => self.template_at("binary", text),
            (None, None, Some(json), _) => self.within("json", |compiler| compiler.json(json)),
            (None, None, None, Some(size)) if send.audience == source::Audience::Nobody => {
                Template { parts: vec![Part::Filler(size.0)] }
            }
            (None, None, None, Some(size)) => {
                self.check_size(size, STAMP_BYTES);
                Template { parts: vec![Part::Stamp, Part::PadTo(size.0)] }
            }
            (None, None, None, None) => Template::default(),
        };
        self.check_stamp(send.audience, &content);
        content
    }

    /// Reports a size that cannot hold the stamp and the text around it.
    fn check_size(&mut self, size: Sizes, bytes_min: usize) {
        if least(size.0).is_some_and(|least| least < bytes_min as f64) {
            let message = format!(
                "too small: with its stamp, by which receivers tell it, the message has {bytes_min} bytes at least"
            );
            self.complain_at("size", message);
        }
    }

    /// Reports a message that has an audience but no stamp, since receivers could not identify it.
    fn check_stamp(&mut self, audience: source::Audience, body: &Template) {
        if audience != source::Audience::Nobody && !body.parts.contains(&Part::Stamp) {
            let help = "put `{{stamp}}` into it, or say `size`, or `audience: nobody`".to_owned();
            self.complain_with(
                "an audience can tell a message only by its stamp, and there is none in it",
                Some(help),
            );
        }
    }

    pub(super) fn wait(&mut self, wait: &source::Wait) -> Wait {
        if wait.count == 0 {
            self.complain_at("count", "at least 1");
        }
        let mut optional = |key, text: &Option<String>| text.as_ref().map(|text| self.template_at(key, text));
        let (topic, event, contains) = (
            optional("topic", &wait.topic),
            optional("event", &wait.event),
            optional("contains", &wait.contains),
        );
        let regex = wait
            .regex
            .as_ref()
            .and_then(|regex| self.within("regex", |compiler| logic::regex(compiler, regex)));
        Wait {
            until: Matcher { topic, event, contains, regex, own_echo: wait.echo },
            count: wait.count,
            timeout: wait.timeout.0,
            required: wait.required,
        }
    }
}

fn text_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Variable(_)
        | Part::JsonVariable(_)
        | Part::UserId
        | Part::UserGroup(_)
        | Part::UniqueId
        | Part::Sequence(_)
        | Part::Number(_)
        | Part::Filler(_)
        | Part::Stamp
        | Part::PadTo(_)
        | Part::NowMs
        | Part::TargetHost => 0,
    }
}

fn audience(audience: source::Audience) -> Audience {
    match audience {
        source::Audience::Nobody => Audience::Nobody,
        source::Audience::Echo => Audience::Echo,
        source::Audience::Room => Audience::Room,
    }
}
