//! A community, as admission needs it.

use super::keys::{key_set, published_at};
use super::site::{self, Site};
use crate::cache::{Found, Key};
use crate::messenger::Messenger;
use chat::verbs::{Keys, ReadCommunity};
use chat::{By, Community, CommunityId, Failure, Thing};
use identity::{Authority, GuestPolicy, NamePattern};
use std::sync::Arc;

/// A community, with the authority that verifies its tokens.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) community: Community,
    pub(crate) authority: Authority,
    /// Its own site, if that is configured.
    pub(crate) site: Option<Arc<Site>>,
}

impl Directory {
    /// Returns its approximate size in the cache, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let settings = &self.community.settings;
        8_192 + settings.origins.iter().map(|origin| origin.len() as u64 + 24).sum::<u64>()
    }

    /// Returns whether new guests are admitted. What they may do is up to the rules.
    pub(crate) fn guests(&self) -> GuestPolicy {
        match self.community.settings.guests {
            chat::GuestPolicy::Refused => GuestPolicy::Off,
            chat::GuestPolicy::Read | chat::GuestPolicy::Write => {
                NamePattern::parse("*").map_or(GuestPolicy::Off, |names| GuestPolicy::On { names })
            }
        }
    }
}

impl Messenger {
    /// Returns a community's settings, and the authority that verifies its tokens.
    ///
    /// # Errors
    /// There is no such community, or the store is unavailable.
    pub(crate) async fn directory(&self, id: &CommunityId) -> Result<Arc<Directory>, Failure> {
        let found = self.inner.cache.get(Key::Community(id.clone()), || async {
            let (community, keys) =
                (self.ask(id, By::Service, ReadCommunity), self.ask(id, By::Service, Keys));
            let (community, keys) = (community.await?, keys.await?);
            self.recall_revocations(id).await?;
            let entrance = &self.inner.entrance;
            let name = identity::Community::new(id.as_str());
            let set = key_set(&keys, entrance.guests.keys(&name));
            let mut authority = Authority::new(name, set, entrance.rules);
            let outbound = entrance.outbound.as_ref();
            if let Some(jwks) = entrance.published.of(id, published_at(&keys), outbound) {
                authority = authority.with_published(jwks);
            }
            let site = entrance.sites.of(id, site::configured(&keys), outbound);
            Ok(Found::Community(Arc::new(Directory { community, authority, site })))
        });
        match found.await? {
            Found::Community(directory) => Ok(directory),
            Found::Room(_) | Found::Person(..) | Found::Standing(_) | Found::Page(..) => {
                Err(Failure::Absent(Thing::Community))
            }
        }
    }
}
