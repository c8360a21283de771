//! Which endpoints the queue knows.

use chat::CommunityId;
use identity::EndpointId;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The endpoints of each community that were added to the queue. An endpoint never changes, so it is added once: adding
/// it again would revive one that answered that it is gone, or one that was removed while something was announced in
/// its community with keys that were read before. Such a one is remembered until the next announcement there.
#[derive(Default)]
pub(super) struct Known(Mutex<State>);

#[derive(Default)]
struct State {
    by_community: HashMap<CommunityId, HashSet<EndpointId>>,
    /// Communities in which something is being announced, with keys that were read or are being read.
    announcing: HashSet<CommunityId>,
}

impl Known {
    /// Begins an announcement in a community.
    pub(super) fn begin(&self, community: &CommunityId) {
        self.state().announcing.insert(community.clone());
    }

    /// Ends an announcement in a community.
    pub(super) fn end(&self, community: &CommunityId) {
        self.state().announcing.remove(community);
    }

    /// Calls `make_known` unless the endpoint is known.
    pub(super) fn once(&self, community: &CommunityId, endpoint: EndpointId, make_known: impl FnOnce()) {
        let mut state = self.state();
        if state.by_community.entry(community.clone()).or_default().insert(endpoint) {
            make_known();
        }
    }

    /// Calls `forget`, and keeps an announcement in progress from adding the endpoint again.
    pub(super) fn remove(&self, community: &CommunityId, endpoint: EndpointId, forget: impl FnOnce()) {
        let mut state = self.state();
        if state.announcing.contains(community) {
            state.by_community.entry(community.clone()).or_default().insert(endpoint);
        } else {
            state.retain(community, |other| other != endpoint);
        }
        forget();
    }

    /// Calls `forget` for each endpoint of a community that is not in `standing`, because another node removed it.
    pub(super) fn keep(
        &self,
        community: &CommunityId,
        standing: &[EndpointId],
        mut forget: impl FnMut(EndpointId),
    ) {
        self.state().retain(community, |endpoint| {
            let stands = standing.contains(&endpoint);
            if !stands {
                forget(endpoint);
            }
            stands
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn retain(&mut self, community: &CommunityId, mut keeps: impl FnMut(EndpointId) -> bool) {
        let Some(endpoints) = self.by_community.get_mut(community) else { return };
        endpoints.retain(|endpoint| keeps(*endpoint));
        if endpoints.is_empty() {
            self.by_community.remove(community);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: EndpointId = EndpointId(1);
    const OTHER: EndpointId = EndpointId(2);

    fn acme() -> CommunityId {
        CommunityId::parse("acme").expect("an id")
    }

    #[test]
    fn who_was_removed_while_something_was_announced_is_not_made_known_again() {
        let (known, mut forgotten) = (Known::default(), 0);
        known.begin(&acme());
        known.remove(&acme(), ONE, || forgotten += 1);
        known.once(&acme(), ONE, || panic!("it is no more"));
        known.begin(&acme());
        // Forgetting it again has no effect.
        known.keep(&acme(), &[OTHER], |endpoint| assert_eq!(endpoint, ONE));
        assert!(known.state().by_community.is_empty());
        assert_eq!(forgotten, 1);
    }

    #[test]
    fn what_is_known_are_the_endpoints_that_there_are() {
        let (known, mut forgotten) = (Known::default(), Vec::new());
        for endpoint in [ONE, OTHER] {
            known.once(&acme(), endpoint, || {});
        }
        known.keep(&acme(), &[ONE], |endpoint| forgotten.push(endpoint));
        assert_eq!(forgotten, [OTHER]);
        known.remove(&acme(), ONE, || forgotten.push(ONE));
        assert_eq!(forgotten, [OTHER, ONE]);
        known.remove(&acme(), OTHER, || {});
        assert!(known.state().by_community.is_empty());
    }
}
