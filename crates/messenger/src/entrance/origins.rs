//! From which pages a community lets itself be used: its own list, where it has one.

use super::directory::Directory;
use crate::messenger::Messenger;
use chat::{CommunityId, Failure};

impl Directory {
    /// Whether a page of that origin may use it; nothing where it has no list, and it is the server's to say.
    pub(crate) fn lets_in(&self, origin: &str) -> Option<bool> {
        let origins = &self.community.settings.origins;
        let fits = || origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
        (!origins.is_empty()).then(fits)
    }
}

impl Messenger {
    /// Whether a page of that origin may use a community; nothing where it has no list, and it is the server's to say.
    ///
    /// # Errors
    /// There is no such community, or the store cannot be asked.
    pub async fn lets_in(&self, community: &CommunityId, origin: &str) -> Result<Option<bool>, Failure> {
        Ok(self.directory(community).await?.lets_in(origin))
    }
}
