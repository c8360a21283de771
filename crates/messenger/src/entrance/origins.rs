//! The origins that may use a community: its own list, if it has one.

use super::directory::Directory;
use crate::messenger::Messenger;
use chat::{CommunityId, Failure};

impl Directory {
    /// Returns whether a page of that origin may use it; `None` if it has no list, and the server decides.
    pub(crate) fn lets_in(&self, origin: &str) -> Option<bool> {
        let origins = &self.community.settings.origins;
        let fits = || origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
        (!origins.is_empty()).then(fits)
    }
}

impl Messenger {
    /// Returns whether a page of that origin may use a community; `None` if it has no list, and the server decides.
    ///
    /// # Errors
    /// There is no such community, or the store is unavailable.
    pub async fn lets_in(&self, community: &CommunityId, origin: &str) -> Result<Option<bool>, Failure> {
        Ok(self.directory(community).await?.lets_in(origin))
    }
}
