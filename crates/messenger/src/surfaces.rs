//! What other surfaces than channels ask beside verbs.

use crate::messenger::Messenger;
use crate::witness::Witness;
use chat::{CommunityId, Failure, PersonId};
use std::time::Instant;

impl Messenger {
    /// Says who is told of everything that happens. A second one is not taken.
    pub fn witness_by(&self, witness: impl Witness) {
        self.inner.out.be_witnessed(witness);
    }

    /// Takes one of a person's messages of this minute; if they have sent as many as they may, says how many milliseconds to
    /// wait.
    ///
    /// # Errors
    /// There is no such community, or the store cannot be asked.
    pub async fn spend_message(
        &self,
        community: &CommunityId,
        person: &PersonId,
    ) -> Result<Option<u64>, Failure> {
        let per_minute = self.directory(community).await?.community.settings.limits.messages_per_minute;
        Ok(self.inner.messages.spend(community, person, 1, per_minute, Instant::now()).err())
    }
}
