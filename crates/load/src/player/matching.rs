//! Examines incoming messages for a user's waits and captures.

use engine::Io;

use super::client::Doing;
use super::interpret::Flow;
use super::program::Operation;
use super::shard::Shard;
use crate::observe::{Nanos, Outcome};
use crate::scenario::plan::{Extractor, VariableId};

/// Maximum number of bytes of one message kept for a capture.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

impl Shard {
    /// Keeps a message if its user's session captures from messages.
    pub(super) fn keep_for_capture(&mut self, place: u32, body: &[u8]) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let captures =
            self.programs.get(usize::from(client.session.0)).is_some_and(|program| program.captures);
        if captures {
            client.rare_mut().last_message = Some(body[..body.len().min(KEPT_BYTES_MAX)].into());
        }
    }

    /// Ends a user's wait if this is the last message that it waits for.
    pub(super) fn match_wait(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        topic: Option<&str>,
        event: Option<&str>,
        body: &[u8],
        at: Nanos,
    ) {
        if self.clients.item(place).is_none_or(|client| client.doing != Doing::Matching) {
            return;
        }
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Wait(_, wait)) = program.operations.get(position) else { return };
        if wait.until.own_echo && !self.is_own(place, body) {
            return;
        }
        let Some(client) = self.clients.item_mut(place) else { return };
        let Some(wanted) = client.rare.as_ref().and_then(|rare| rare.wanted.as_ref()) else { return };
        let is_same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted.as_str()))
        };
        let contains = |wanted: &String| memchr::memmem::find(body, wanted.as_bytes()).is_some();
        let matches = is_same(&wanted.topic, topic)
            && is_same(&wanted.event, event)
            && wanted.contains.as_ref().is_none_or(contains)
            && wait.until.regex.as_ref().is_none_or(|regex| regex.is_match(&String::from_utf8_lossy(body)));
        if !matches {
            return;
        }
        client.awaited -= 1;
        if client.awaited == 0 {
            self.wait_is_over(io, place, Outcome::Ok, at);
        }
    }

    /// Extracts a value from the last message or response.
    pub(super) fn capture(&mut self, place: u32, variable: VariableId, extractor: &Extractor) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let Some(rare) = client.rare.as_ref().filter(|rare| rare.last_message.is_some()) else {
            return self.not_ready(place, "capture: no message or response has arrived yet");
        };
        let text = String::from_utf8_lossy(rare.last_message.as_deref().unwrap_or_default());
        let value = extract(extractor, &text, &rare.last_headers);
        client.set_variable(variable, &value);
        Flow::Next
    }
}

/// Returns the value that an extractor finds; empty if nothing matches.
fn extract(extractor: &Extractor, text: &str, headers: &[(String, String)]) -> String {
    match extractor {
        Extractor::Regex(regex) => {
            let captures = regex.captures(text);
            let found = captures.as_ref().and_then(|captures| captures.get(1).or_else(|| captures.get(0)));
            found.map_or_else(String::new, |found| found.as_str().to_owned())
        }
        Extractor::JsonPath(path) => {
            let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else { return String::new() };
            match path.query(&json).first() {
                Some(serde_json::Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            }
        }
        Extractor::Header(name) => {
            let mut matching = headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case(name));
            matching.next().map_or_else(String::new, |(_, value)| value.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn extractors_find_their_value_or_nothing() {
        let regex = |text| Extractor::Regex(Arc::new(regex::Regex::new(text).expect(text)));
        let path = |text| Extractor::JsonPath(Arc::new(serde_json_path::JsonPath::parse(text).expect(text)));
        let json = r#"{"token":"abc","ids":[7,8]}"#;
        let headers = [("X-Id".to_owned(), "9".to_owned())];
        let cases = [
            (regex(r#""token":"(\w+)""#), "abc"),
            (regex("i.s"), "ids"),
            (regex("nothing"), ""),
            (path("$.token"), "abc"),
            (path("$.ids[1]"), "8"),
            (path("$.ids"), "[7,8]"),
            (path("$.none"), ""),
            (Extractor::Header("x-id".to_owned()), "9"),
            (Extractor::Header("x-other".to_owned()), ""),
        ];
        for (extractor, expected) in cases {
            assert_eq!(extract(&extractor, json, &headers), expected, "{extractor:?}");
        }
        assert_eq!(extract(&path("$.token"), "not JSON", &headers), "");
    }
}
