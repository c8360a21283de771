//! The communities without endpoints, so that most events are not even copied.

use chat::{CommunityId, Moment};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// How long a community counts as having no endpoint, as another node may have added one.
const BELIEVED_MS: u64 = 5_000;
/// Communities that are known to have none. Beyond it all are looked up again.
const COMMUNITIES_MAX: usize = 100_000;

/// See the module.
#[derive(Default)]
pub(super) struct Without(RwLock<State>);

#[derive(Default)]
struct State {
    until: HashMap<CommunityId, Moment>,
    looks: Looks,
}

/// How often keys were changed: what was read before the last change is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Looks(u64);

impl Without {
    /// Returns whether a community is known to have none.
    pub(super) fn has(&self, community: &CommunityId, now: Moment) -> bool {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        state.until.get(community).is_some_and(|until| now < *until)
    }

    /// To be called before a community's keys are read.
    pub(super) fn looks(&self) -> Looks {
        self.0.read().unwrap_or_else(PoisonError::into_inner).looks
    }

    /// Records that a community has none, by keys that were read after `looked`.
    pub(super) fn note(&self, community: CommunityId, now: Moment, looked: Looks) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if state.looks != looked {
            return;
        }
        if state.until.len() >= COMMUNITIES_MAX {
            state.until.clear();
        }
        state.until.insert(community, now.after_ms(BELIEVED_MS));
    }

    /// Handles a change of a community's keys.
    pub(super) fn look_again(&self, community: &CommunityId) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.looks.0 += 1;
        state.until.remove(community);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1_000);

    fn acme() -> CommunityId {
        CommunityId::parse("acme").expect("an id")
    }

    #[test]
    fn what_was_read_before_keys_changed_is_not_believed() {
        let without = Without::default();
        let looked = without.looks();
        without.look_again(&acme());
        without.note(acme(), NOW, looked);
        assert!(!without.has(&acme(), NOW));
        without.note(acme(), NOW, without.looks());
        assert!(without.has(&acme(), NOW));
        assert!(!without.has(&acme(), NOW.after_ms(BELIEVED_MS)));
        without.look_again(&acme());
        assert!(!without.has(&acme(), NOW));
    }
}
