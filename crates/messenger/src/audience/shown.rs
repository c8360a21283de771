//! Whom a client was shown as present while its join was pending.
//!
//! The client receives nothing from the topic until its join is accepted; then it is sent everybody whose presence has
//! changed by then, so that its list has neither gaps nor ghosts.

use super::status::{Presence, Status};
use chat::PersonId;
use std::collections::HashMap;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Shown(Box<[(PersonId, Status)]>);

impl Shown {
    pub(crate) fn of(presences: &[Presence]) -> Self {
        Self(presences.iter().map(|presence| (presence.person.clone(), presence.status)).collect())
    }

    /// Returns those whose presence differs now. People who are no longer listed are looked up by `of`: they are
    /// offline, or not in the conversation any more, which the client is told by another event.
    pub(super) fn differences(
        self,
        now: Vec<Presence>,
        of: impl Fn(&PersonId) -> Option<Presence>,
    ) -> Vec<Presence> {
        let mut shown: HashMap<PersonId, Status> = self.0.into_iter().collect();
        let is_new =
            |presence: &Presence| shown.remove(&presence.person).unwrap_or_default() != presence.status;
        let mut different: Vec<Presence> = now.into_iter().filter(is_new).collect();
        let gone = shown.into_iter().filter(|(_, status)| *status != Status::Offline);
        different.extend(gone.map(|(person, _)| {
            of(&person).unwrap_or(Presence { person, status: Status::Offline, seen: None })
        }));
        different
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::somebody;

    fn presence(name: &str, status: Status) -> Presence {
        Presence { person: somebody(name), status, seen: None }
    }

    #[test]
    fn who_came_who_went_and_who_changed_is_different_and_nobody_else() {
        let before = [
            ("ann", Status::Online),
            ("bob", Status::Online),
            ("cat", Status::Busy),
            ("eve", Status::Offline),
        ];
        let shown = Shown::of(&before.map(|(name, status)| presence(name, status)));
        let now = vec![
            presence("ann", Status::Online),
            presence("cat", Status::Away),
            presence("dan", Status::Online),
        ];
        let mut different = shown.differences(now, |_| None);
        different.sort_by(|one, other| one.person.cmp(&other.person));
        let expected = [("bob", Status::Offline), ("cat", Status::Away), ("dan", Status::Online)];
        assert_eq!(different, expected.map(|(name, status)| presence(name, status)));
    }
}
