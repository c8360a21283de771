//! Collects the notices of one answer, applies them on this node, and sends them to the other nodes, which apply them
//! too.

use crate::audience::DoubtedChange;
use crate::nodes::NodeSender;
use crate::notice::{Departure, ErasedReactions, Notice};
use crate::notice_applier::NoticeApplier;
use crate::topics::Event;
use crate::witness::Happening;
use chat::verbs::Erase;
use chat::{
    Asked, CommunityId, Conversation, ConversationId, KeyId, Member, Message, Moment, Person, PersonId,
};
use std::borrow::Cow;

/// Written to by [`News`](crate::News): everything in it has happened and is durable. It is sent to the other nodes
/// when it is dropped.
pub struct NoticeBatch<'a> {
    here: NoticeApplier<'a>,
    sender: &'a NodeSender,
    /// The community and its serialized notices; `None` until there is one to send to other nodes.
    pinned: Option<(CommunityId, Vec<String>)>,
}

impl<'a> NoticeBatch<'a> {
    pub(crate) fn new(here: NoticeApplier<'a>, sender: &'a NodeSender) -> Self {
        Self { here, sender, pinned: None }
    }

    /// Passes what happened to the witness, on this node alone, independent of the notices.
    pub(crate) fn happened<C>(&mut self, asked: &Asked<C>, happening: &Happening<'_>) {
        self.here.out.happened(&asked.call.community, &asked.call.by.name(), happening);
    }

    /// A message was stored.
    pub(crate) fn said(&mut self, community: &CommunityId, message: &Message) {
        self.here.out.happened(community, &message.sender, &Happening::Sent(message));
        self.pin(community, &Notice::Said { message: Cow::Borrowed(message) });
    }

    /// It is unknown whether a message was stored: this node reads the conversation's head later and notifies its
    /// followers.
    pub(crate) fn doubted(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.pin(community, &Notice::Doubted { conversation });
    }

    /// It is unknown whether an edit, delete or reaction was stored: this node reads the message later and notifies the
    /// conversation's followers of its state.
    pub(crate) fn change_doubted(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.pin(community, &Notice::ChangeDoubted { conversation, change: Cow::Borrowed(change) });
    }

    /// It is unknown which messages of a community were changed: the followers of each conversation are later sent its
    /// revision.
    pub(crate) fn changes_doubted(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::ChangesDoubted);
    }

    /// It is unknown whether an erasure's last step was stored: this node finds out later, on behalf of all nodes.
    pub(crate) fn erasure_doubted(&mut self, asked: Asked<Erase>) {
        self.here.erasures.doubt(asked);
    }

    /// A message was edited, deleted or reacted to.
    pub(crate) fn revised(
        &mut self,
        community: &CommunityId,
        message: &Message,
        event: &'static str,
        payload: &str,
    ) {
        let (conversation, revision, event) = (message.conversation, message.revision, Event::of(event));
        self.pin(community, &Notice::Revised { conversation, revision, event, payload: payload.into() });
    }

    /// Reactions of a person who is being erased are gone. Beyond a limit per round, followers are sent only the
    /// conversation's revision.
    pub(crate) fn reactions_erased(&mut self, community: &CommunityId, erased: ErasedReactions<'_>) {
        self.pin(community, &Notice::ReactionsErased(erased));
    }

    /// Something about a conversation changed: its followers are notified.
    pub(crate) fn changed(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &'static str,
        payload: &str,
    ) {
        let (event, payload) = (Event::of(event), payload.into());
        self.pin(community, &Notice::Changed { conversation, event, payload });
    }

    /// Sends an event to all devices of a person.
    pub(crate) fn person(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) {
        let (person, event, payload) = (Cow::Borrowed(person), Event::of(event), payload.into());
        self.pin(community, &Notice::Person { person, event, payload });
    }

    /// Announces how far a person has read: to each of the others in a small conversation. In a large one nobody is
    /// notified; clients ask for the count.
    pub(crate) fn receipt(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        payload: &str,
    ) {
        let (person, payload) = (Cow::Borrowed(person), payload.into());
        self.pin(community, &Notice::Receipt { conversation, person, payload });
    }

    /// A person is typing, or has stopped: the others in a small conversation are notified.
    pub(crate) fn typing(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        on: bool,
    ) {
        self.pin(community, &Notice::Typing { conversation, person: Cow::Borrowed(person), on });
    }

    /// A person joined a conversation.
    pub(crate) fn entered(&mut self, community: &CommunityId, conversation: &Conversation, member: &Member) {
        let (conversation, member) = (Cow::Borrowed(conversation), Cow::Borrowed(member));
        self.pin(community, &Notice::Entered { conversation, member });
    }

    /// These people are in a conversation that was just opened, or existed already.
    pub(crate) fn opened(
        &mut self,
        community: &CommunityId,
        conversation: &Conversation,
        people: &[PersonId],
    ) {
        let (conversation, people) = (Cow::Borrowed(conversation), Cow::Borrowed(people));
        self.pin(community, &Notice::Opened { conversation, people });
    }

    /// A person left a conversation, or was removed.
    pub(crate) fn left(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        how: Departure,
    ) {
        self.pin(community, &Notice::Left { conversation, person: Cow::Borrowed(person), how });
    }

    /// A conversation is being erased: its members are told, and all joins of it end.
    pub(crate) fn conversation_erased(&mut self, community: &CommunityId, erased: &Conversation) {
        let (conversation, name) = (erased.id, erased.name.as_ref().map(Cow::Borrowed));
        self.pin(community, &Notice::ConversationErased { conversation, name });
    }

    /// A person is banned from a room or a group, until the given time or for good: they stay a member, but receive
    /// nothing of it.
    pub(crate) fn banned(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        until: Option<Moment>,
    ) {
        self.pin(community, &Notice::Banned { conversation, person: Cow::Borrowed(person), until });
    }

    /// The rules for who may be in a room changed: everybody who has it open is checked again in a later round.
    pub(crate) fn judge_again(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.pin(community, &Notice::JudgeAgain { conversation });
    }

    /// The rules for who may be in any conversation changed: everybody online is checked again, and their conversations
    /// are read again, in later rounds.
    pub(crate) fn judge_everybody(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::JudgeEverybody);
    }

    /// A person is banned from the whole community: their connections are closed.
    pub(crate) fn expelled(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::Expelled { person: Cow::Borrowed(person) });
    }

    /// A person was erased: their connections are closed, and nothing that names them stays in memory.
    pub(crate) fn erased(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::Erased { person: Cow::Borrowed(person) });
    }

    /// Revokes a person's tokens: the named one, or all that were issued up to the given second.
    pub(crate) fn revoked(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        token: Option<&str>,
        until_s: u64,
    ) {
        let (person, token) = (Cow::Borrowed(person), token.map(Cow::Borrowed));
        self.pin(community, &Notice::Revoked { person, token, until_s });
    }

    /// A person's conversations are read again in a later round.
    pub(crate) fn follow_again(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::FollowAgain { person: Cow::Borrowed(person) });
    }

    /// A person came in. If their visible profile differs from the one known here, those who know them are notified;
    /// only then are the other nodes told, too.
    pub(crate) fn met(&mut self, community: &CommunityId, person: &Person) {
        if !self.here.met(community, person) {
            self.pass_on(community, &Notice::Met { person: Cow::Borrowed(person) });
        }
    }

    /// A person's standing in a conversation is stale.
    pub(crate) fn forget_standing(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) {
        self.pin(community, &Notice::StandingStale { conversation, person: Cow::Borrowed(person) });
    }

    /// Everything cached about a person is stale.
    pub(crate) fn forget_person(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::PersonStale { person: Cow::Borrowed(person) });
    }

    /// A community's keys changed; `revoked` is the key that was revoked, if any.
    pub(crate) fn keys_changed(&mut self, community: &CommunityId, revoked: Option<KeyId>) {
        self.pin(community, &Notice::KeysChanged { revoked });
    }

    /// Cached pages of a community's messages are stale.
    pub(crate) fn forget_pages(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::PagesStale);
    }

    /// Everything cached of a community is stale.
    pub(crate) fn forget_community(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::CommunityStale);
    }

    /// A community was closed for everybody: the connections of all its people are closed.
    pub(crate) fn close_community(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::CommunityClosed);
    }

    fn pin(&mut self, community: &CommunityId, notice: &Notice<'_>) {
        self.here.apply(community, notice);
        self.pass_on(community, notice);
    }

    fn pass_on(&mut self, community: &CommunityId, notice: &Notice<'_>) {
        if !self.here.out.has_nodes() {
            return;
        }
        let (of, notices) = self.pinned.get_or_insert_with(|| (community.clone(), Vec::new()));
        debug_assert_eq!(of, community, "an answer is of one community");
        match serde_json::to_string(notice) {
            Ok(notice) => notices.push(notice),
            // The gap in the numbers shows the others that something is missing.
            Err(error) => {
                tracing::error!(%error, "an event could not be encoded for the other nodes");
                self.sender.skip();
            }
        }
    }
}

impl Drop for NoticeBatch<'_> {
    fn drop(&mut self) {
        if let Some((community, notices)) = self.pinned.take() {
            self.sender.tell(self.here.out, &community, &notices);
        }
    }
}
