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
        self.say(out, &json!(community).to_string(), &notices.join(","));
    }

    /// Says that this node is here, so that the others see what they have missed of it.
    pub(super) fn say_hello(&self, out: &WayOut) {
        self.say(out, "null", "");
    }

    /// Something could not be said: whoever hears the next sees that it is missing.
    pub(crate) fn skip(&self) {
        *self.number() += 1;
    }

    fn say(&self, out: &WayOut, community: &str, notices: &str) {
        let mut number = self.number();
        *number += 1;
        let epoch = json!(self.epoch);
        let said =
            format!(r#"{{"number":{number},"epoch":{epoch},"community":{community},"notices":[{notices}]}}"#);
        out.tell_nodes(said.into_bytes());
    }

    fn number(&self) -> MutexGuard<'_, u64> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
