//! The API's witness of the messenger: passes events to the webhooks, and erasures to the kept answers.

use crate::idempotency::Idempotency;
use crate::webhooks::Webhooks;
use chat::{CommunityId, KeyId, PersonId};
use messenger::{Happening, Witness};
use std::sync::Arc;

/// See the module.
pub(crate) struct ApiWitness {
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) idempotency: Arc<Idempotency>,
}

impl Witness for ApiWitness {
    fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        self.webhooks.witness(community, by, happening);
    }

    fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>) {
        self.webhooks.keys_changed(community, revoked);
    }

    fn erased(&self, community: &CommunityId, person: &PersonId) {
        self.idempotency.forget(community, person);
    }

    fn closed(&self, community: &CommunityId) {
        self.webhooks.closed(community);
        self.idempotency.close(community);
    }
}
