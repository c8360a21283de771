//! Which communities have no endpoint, so that most of what happens is not even copied.

use chat::{CommunityId, Moment};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// How long a community is believed to have no endpoint, where another node may have made one.
const BELIEVED_MS: u64 = 5_000;
/// Communities that are known to have none. Past it all are looked up again.
const COMMUNITIES_MAX: usize = 100_000;

/// See the module.
#[derive(Default)]
pub(super) struct Without(RwLock<State>);

#[derive(Default)]
struct State {
    until: HashMap<CommunityId, Moment>,
    looks: Looks,
}

/// How often keys were changed: what was read before the last time is not believed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Looks(u64);

impl Without {
    /// Whether it is believed that a community has none.
    pub(super) fn has(&self, community: &CommunityId, now: Moment) -> bool {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        state.until.get(community).is_some_and(|until| now < *until)
    }

    /// To be asked before a community's keys are read.
    pub(super) fn looks(&self) -> Looks {
        self.0.read().unwrap_or_else(PoisonError::into_inner).looks
    }

    /// A community's keys, which were asked for after `looked`, have none among them.
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

    /// A community's keys are others from now on.
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
