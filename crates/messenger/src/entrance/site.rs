//! Asks a community's own site for permission: the configuration, and the authorizer that does it.

use super::keys::SiteKey;
use crate::entrance::Rejection;
use crate::messenger::Messenger;
use crate::topics::room_topic;
use chat::verbs::ReadConversation;
use chat::{By, CommunityId, ConversationId, Failure, PersonId, RoomName, Thing};
use identity::{
    Action, Authorizer, AuthorizerCounts, AuthorizerSettings, Failing, Outbound, Question, SigningSecret,
    Target, Verdict,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The configuration of a community's own site, as stored in [`chat::Key::purpose`]; of several the newest counts.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizerKey {
    /// The URL.
    pub url: String,
    /// The secret that signs the questions; it must be stored, as it is needed to sign.
    pub secret: String,
    /// The actions that the site is asked about.
    pub actions: Vec<AskedAction>,
    /// What to do if it does not answer.
    pub unanswered: Unanswered,
    /// The timeout of a question.
    pub timeout_ms: u64,
}

/// An action that a site can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedAction {
    /// Connecting.
    Connect,
    /// Joining a room.
    Join,
    /// Sending and editing messages, and reacting to them.
    Send,
}

/// What to do if a site does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    /// Refuse.
    #[default]
    Refuse,
    /// Allow, as if it had not been asked.
    Allow,
}

impl AskedAction {
    const fn of(action: Action) -> Self {
        match action {
            Action::Connect => Self::Connect,
            Action::Join => Self::Join,
            Action::Send => Self::Send,
        }
    }
}

impl AuthorizerKey {
    fn failing(&self) -> Failing {
        match self.unanswered {
            Unanswered::Refuse => Failing::Closed,
            Unanswered::Allow => Failing::Open,
        }
    }
}

impl std::fmt::Debug for AuthorizerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthorizerKey")
            .field("url", &self.url)
            .field("actions", &self.actions)
            .field("unanswered", &self.unanswered)
            .finish_non_exhaustive()
    }
}

/// Returns the configuration of a community's site, if there is one.
pub(super) fn configured(stored: &[chat::Key]) -> Option<AuthorizerKey> {
    SiteKey::all(stored).find_map(|key| match key {
        SiteKey::Authorizer(key) => Some(key),
        SiteKey::Token(_) | SiteKey::Jwks(_) => None,
    })
}

/// A community's site.
#[derive(Debug)]
pub(crate) struct Site {
    key: AuthorizerKey,
    /// `None` if nothing can be sent there; that counts as no answer.
    authorizer: Option<Arc<Authorizer>>,
}

impl Site {
    fn new(key: AuthorizerKey, outbound: Option<&Outbound>) -> Self {
        let settings = AuthorizerSettings {
            timeout: Duration::from_millis(key.timeout_ms),
            failing: key.failing(),
            ..AuthorizerSettings::default()
        };
        let parts = (Target::parse(&key.url).ok(), SigningSecret::parse(&key.secret).ok(), outbound);
        let authorizer = match parts {
            (Some(target), Some(secret), Some(outbound)) => {
                Some(Authorizer::new(target, secret.into(), outbound.clone(), settings))
            }
            _ => {
                tracing::error!(
                    url = key.url,
                    "the authorizer of a community cannot be used; its site counts as one that does not answer"
                );
                None
            }
        };
        Self { key, authorizer }
    }

    pub(crate) fn is_asked(&self, action: Action) -> bool {
        self.key.actions.contains(&AskedAction::of(action))
    }

    async fn ask(&self, question: Question) -> Verdict {
        match (&self.authorizer, self.key.unanswered) {
            (Some(authorizer), _) => authorizer.ask(question).await,
            (None, Unanswered::Refuse) => Verdict::Unavailable,
            (None, Unanswered::Allow) => Verdict::AllowedUnasked,
        }
    }
}

/// The sites of communities, kept with their cached answers across re-reads of the communities' settings.
#[derive(Default)]
pub(super) struct Sites {
    by_community: Mutex<HashMap<CommunityId, Arc<Site>>>,
}

/// Communities whose sites' answers are kept. Beyond it all are dropped.
const SITES_MAX: usize = 10_000;

impl Sites {
    /// Returns the site of a community.
    pub(super) fn of(
        &self,
        community: &CommunityId,
        key: Option<AuthorizerKey>,
        outbound: Option<&Outbound>,
    ) -> Option<Arc<Site>> {
        let mut known = self.by_community.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = key else {
            known.remove(community);
            return None;
        };
        if let Some(site) = known.get(community).filter(|site| site.key == key) {
            return Some(site.clone());
        }
        let site = Arc::new(Site::new(key, outbound));
        if known.len() >= SITES_MAX {
            known.clear();
        }
        known.insert(community.clone(), site.clone());
        Some(site)
    }
}

/// Returns the name of a conversation in a question: a room's topic, or the id of a conversation without a name.
fn object(community: &CommunityId, conversation: ConversationId, name: Option<&RoomName>) -> String {
    match name {
        Some(room) => room_topic(community, room).to_string(),
        None => format!("conversation:{community}/{conversation}"),
    }
}

impl Messenger {
    /// Asks the community's own site whether a person may do something, if it wants to be asked.
    ///
    /// # Errors
    /// [`Rejection::Site`], [`Rejection::SiteAway`]; [`Rejection::Failure`] if the configuration cannot be read.
    pub(super) async fn permit(
        &self,
        community: &CommunityId,
        person: &PersonId,
        action: Action,
        object: &str,
    ) -> Result<(), Rejection> {
        let directory = self.directory(community).await?;
        let Some(site) = directory.site.as_ref().filter(|site| site.is_asked(action)) else { return Ok(()) };
        let question = Question {
            community: community.to_string(),
            person: person.to_string(),
            action,
            object: object.to_owned(),
        };
        match site.ask(question).await {
            Verdict::Allowed | Verdict::AllowedUnasked => Ok(()),
            Verdict::Denied { reason } => Err(Rejection::Site { reason }),
            Verdict::Unavailable => Err(Rejection::SiteAway),
        }
    }

    /// Checks with the community's own site whether a person may join a conversation. For a person who may not know of
    /// it, it does not exist, whatever the site says.
    ///
    /// # Errors
    /// As [`Messenger::admit`].
    pub async fn permit_join(
        &self,
        community: &CommunityId,
        person: &PersonId,
        conversation: ConversationId,
    ) -> Result<(), Rejection> {
        if self.asks_nobody(community, Action::Join) {
            return Ok(());
        }
        let read = ReadConversation { conversation };
        let (found, _) = self.ask(community, By::Service, read).await?;
        let object = object(community, conversation, found.name.as_ref());
        let permitted = self.permit(community, person, Action::Join, &object).await;
        match permitted {
            Err(Rejection::Site { .. } | Rejection::SiteAway)
                if self.standing(community, conversation, person).await.is_err() =>
            {
                Err(Failure::Absent(Thing::Conversation).into())
            }
            permitted => permitted,
        }
    }

    /// Checks with the community's own site whether a person may send to a conversation. The site is not asked about
    /// one that they may not read.
    ///
    /// # Errors
    /// As [`Messenger::admit`].
    pub async fn permit_send(
        &self,
        community: &CommunityId,
        person: &PersonId,
        conversation: ConversationId,
    ) -> Result<(), Rejection> {
        if self.asks_nobody(community, Action::Send) {
            return Ok(());
        }
        let standing = self.standing(community, conversation, person).await?;
        let object = object(community, conversation, standing.name.as_ref());
        self.permit(community, person, Action::Send, &object).await
    }

    /// Returns whether it is cached that the community's site is not asked about an action.
    pub(crate) fn asks_nobody(&self, community: &CommunityId, action: Action) -> bool {
        let known = self.inner.cache.known_community(community);
        known.is_some_and(|known| known.site.as_ref().is_none_or(|site| !site.is_asked(action)))
    }

    /// Drops the cached answers of the community's site about a person. Returns whether there is a site to ask.
    ///
    /// # Errors
    /// The store is unavailable.
    pub async fn forget_permissions(
        &self,
        community: &CommunityId,
        person: &PersonId,
    ) -> Result<bool, Failure> {
        let directory = self.directory(community).await?;
        if let Some(authorizer) = directory.site.as_ref().and_then(|site| site.authorizer.as_ref()) {
            authorizer.forget(person.as_str());
        }
        Ok(directory.site.is_some())
    }

    /// Returns the counters of the community's authorizer; `None` if its site is not asked.
    ///
    /// # Errors
    /// The store is unavailable.
    pub async fn asked_so_far(&self, community: &CommunityId) -> Result<Option<AuthorizerCounts>, Failure> {
        let directory = self.directory(community).await?;
        let authorizer = directory.site.as_ref().and_then(|site| site.authorizer.as_ref());
        Ok(authorizer.map(|authorizer| authorizer.counts()))
    }
}
