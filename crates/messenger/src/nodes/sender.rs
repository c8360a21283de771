//! Numbered messages to the other nodes.

use crate::outlet::Outlets;
use chat::CommunityId;
use serde_json::json;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of one message to the other nodes, far below what a bus accepts; a single notice may be larger.
const MESSAGE_BYTES_MAX: usize = 48 << 10;

/// See the module. Messages leave in the order of their numbers.
pub(crate) struct NodeSender {
    epoch: String,
    number: Mutex<u64>,
}

impl NodeSender {
    pub(super) fn new(epoch: &str) -> Self {
        Self { epoch: epoch.to_owned(), number: Mutex::new(0) }
    }

    pub(super) fn epoch(&self) -> &str {
        &self.epoch
    }

    /// Sends the notices of one answer, as JSON.
    pub(crate) fn tell(&self, out: &Outlets, community: &CommunityId, notices: &[String]) {
        let community = json!(community).to_string();
        for notices in messages(notices) {
            self.say(out, &community, &notices.join(","), "");
        }
    }

    /// Reports people who are online here, as JSON.
    pub(super) fn tell_people(&self, out: &Outlets, community: &CommunityId, people: &[String]) {
        let community = json!(community).to_string();
        for people in messages(people) {
            self.say(out, &community, "", &format!(r#","people":[{}]"#, people.join(",")));
        }
    }

    /// Says that everybody online here has been reported since this number.
    pub(super) fn say_all_told(&self, out: &Outlets, since: u64) {
        self.say(out, "null", "", &format!(r#","all_told_since":{since}"#));
    }

    /// Says that this node is alive, so that the others detect what they have missed of it, and asks who is online on
    /// them.
    pub(super) fn say_hello(&self, out: &Outlets) {
        self.say(out, "null", "", r#","asks":true"#);
    }

    /// Returns the number of the next message.
    pub(super) fn next_number(&self) -> u64 {
        *self.number() + 1
    }

    /// Skips a number for a message that could not be sent, so that the receivers detect the gap.
    pub(crate) fn skip(&self) {
        *self.number() += 1;
    }

    fn say(&self, out: &Outlets, community: &str, notices: &str, more: &str) {
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

/// Splits what is to be sent into messages, in order.
fn messages(parts: &[String]) -> Vec<&[String]> {
    let (mut messages, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (place, part) in parts.iter().enumerate() {
        bytes += part.len();
        if bytes > MESSAGE_BYTES_MAX && place > begin {
            messages.extend(parts.get(begin..place));
            (begin, bytes) = (place, part.len());
        }
    }
    messages.extend(parts.get(begin..).filter(|rest| !rest.is_empty()));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_divided_by_its_bytes_and_what_is_larger_goes_alone() {
        let sizes = |sizes: &[usize]| {
            let parts: Vec<String> = sizes.iter().map(|size| "x".repeat(*size)).collect();
            messages(&parts).iter().map(|message| message.iter().map(String::len).collect()).collect()
        };
        let half = MESSAGE_BYTES_MAX / 2;
        let divided: Vec<Vec<usize>> = sizes(&[half, half, 1, MESSAGE_BYTES_MAX + 1, 2, half]);
        assert_eq!(divided, [vec![half, half], vec![1], vec![MESSAGE_BYTES_MAX + 1], vec![2, half]]);
        assert_eq!(sizes(&[]), Vec::<Vec<usize>>::new());
    }
}
