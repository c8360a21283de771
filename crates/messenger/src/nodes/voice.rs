//! What this node says to the others, with numbers.

use crate::outlet::WayOut;
use chat::CommunityId;
use serde_json::json;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module. What is said leaves in the order of its numbers.
pub(crate) struct Voice {
    epoch: String,
    number: Mutex<u64>,
}

impl Voice {
    pub(super) fn new(epoch: &str) -> Self {
        Self { epoch: epoch.to_owned(), number: Mutex::new(0) }
    }

    pub(super) fn epoch(&self) -> &str {
        &self.epoch
    }

    /// Tells the others what came of one answer: notices as JSON.
    pub(crate) fn tell(&self, out: &WayOut, community: &CommunityId, notices: &[String]) {
        self.say(out, &json!(community).to_string(), &notices.join(","), "");
    }

    /// Tells the others of people who are here: as JSON.
    pub(super) fn tell_people(&self, out: &WayOut, community: &CommunityId, people: &[String]) {
        let people = format!(r#","people":[{}]"#, people.join(","));
        self.say(out, &json!(community).to_string(), "", &people);
    }

    /// Says that the others were told of everybody here since this number.
    pub(super) fn say_all_told(&self, out: &WayOut, since: u64) {
        self.say(out, "null", "", &format!(r#","all_told_since":{since}"#));
    }

    /// Says that this node is here, so that the others see what they have missed of it, and asks who is there.
    pub(super) fn say_hello(&self, out: &WayOut) {
        self.say(out, "null", "", r#","asks":true"#);
    }

    /// The number of what is said next.
    pub(super) fn next_number(&self) -> u64 {
        *self.number() + 1
    }

    /// Something could not be said: whoever hears the next sees that it is missing.
    pub(crate) fn skip(&self) {
        *self.number() += 1;
    }

    fn say(&self, out: &WayOut, community: &str, notices: &str, more: &str) {
        let mut number = self.number();
        *number += 1;
        let epoch = json!(self.epoch);
        let said = format!(
            r#"{{"number":{number},"epoch":{epoch},"community":{community},"notices":[{notices}]{more}}}"#
        );
        out.tell_nodes(said.into_bytes());
    }

    fn number(&self) -> MutexGuard<'_, u64> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
