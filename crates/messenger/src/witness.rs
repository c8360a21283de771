//! Who is told of everything that happened, whatever surface it came by: webhooks.

use chat::{
    CommunityId, Conversation, ConversationId, KeyId, Member, Message, Moment, PersonId, Report,
    SanctionKind, Tally,
};
use std::sync::Arc;

/// Something that happened and is durable.
#[derive(Clone, Debug)]
pub enum Happening<'a> {
    /// A message was sent.
    Sent(&'a Message),
    /// A message was edited or reacted to.
    Changed(&'a Message, &'a [Tally]),
    /// A message was deleted.
    Deleted(&'a Message),
    /// A message was reported.
    Reported(&'a Report),
    /// A room or a group was made or changed.
    Described(&'a Conversation),
    /// Somebody came into a conversation.
    Joined(&'a Member),
    /// Somebody who is in a conversation was given a role.
    RoleGiven(&'a Member),
    /// Somebody left a conversation or was removed.
    Left {
        /// Which.
        conversation: ConversationId,
        /// Who.
        person: &'a PersonId,
    },
    /// Somebody was banned or muted, or is no longer.
    Sanctioned {
        /// Who.
        person: &'a PersonId,
        /// Where; none: in the whole community.
        conversation: Option<ConversationId>,
        /// How.
        kind: SanctionKind,
        /// When it ends.
        until: Option<Moment>,
        /// Whether it is on now.
        on: bool,
    },
    /// A person was erased.
    Erased(&'a PersonId),
}

/// Is told of what happened, on the store's thread and in the order of the commits: it may neither block nor panic.
pub trait Witness: Send + Sync + 'static {
    /// That happened, by whom, in which community.
    fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>);

    /// A community's keys are others from now on; and which one was revoked, if one was. Also if another node says so.
    fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>);

    /// A person is no more: nothing that names them is to be kept in memory. Also if another node says so.
    fn erased(&self, community: &CommunityId, person: &PersonId);

    /// A community is there for nobody any more: nothing of it is to be kept in memory. Also if another node says so.
    fn closed(&self, community: &CommunityId);
}

impl<W: Witness + ?Sized> Witness for Arc<W> {
    fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        (**self).witness(community, by, happening);
    }

    fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>) {
        (**self).keys_changed(community, revoked);
    }

    fn erased(&self, community: &CommunityId, person: &PersonId) {
        (**self).erased(community, person);
    }

    fn closed(&self, community: &CommunityId) {
        (**self).closed(community);
    }
}
