//! The witness: is passed everything that happened, whichever surface it came through. Webhooks are one.

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
    /// A room or a group was created or changed.
    Described(&'a Conversation),
    /// A person joined a conversation.
    Joined(&'a Member),
    /// A member of a conversation was given a role.
    RoleGiven(&'a Member),
    /// A person left a conversation or was removed.
    Left {
        /// The conversation.
        conversation: ConversationId,
        /// The person.
        person: &'a PersonId,
    },
    /// A person was banned or muted, or the sanction was lifted.
    Sanctioned {
        /// The person.
        person: &'a PersonId,
        /// The conversation; `None` means the whole community.
        conversation: Option<ConversationId>,
        /// The kind of sanction.
        kind: SanctionKind,
        /// When it ends.
        until: Option<Moment>,
        /// Whether the sanction is in force now.
        on: bool,
    },
    /// A room or a group is being erased: this is what it was.
    ConversationErased(&'a Conversation),
    /// A person was erased.
    Erased(&'a PersonId),
}

/// Receives what happened, on the store's thread and in commit order. Must neither block nor panic.
pub trait Witness: Send + Sync + 'static {
    /// Something happened in `community`, done by `by`.
    fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>);

    /// A community's keys changed; `revoked` is the key that was revoked, if any. Also called for what another node
    /// reports.
    fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>);

    /// A person was erased: nothing that names them may stay in memory. Also called for what another node reports.
    fn erased(&self, community: &CommunityId, person: &PersonId);

    /// A community was closed for everybody: nothing of it may stay in memory. Also called for what another node
    /// reports.
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
