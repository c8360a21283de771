//! Where news are pinned up: what they say is done on this node, and told to the others, which do the same.

use crate::audience::DoubtedChange;
use crate::here::Here;
use crate::nodes::Voice;
use crate::notice::{Departure, ErasedReactions, Notice};
use crate::topics::Event;
use crate::witness::Happening;
use chat::verbs::Erase;
use chat::{
    Asked, CommunityId, Conversation, ConversationId, KeyId, Member, Message, Moment, Person, PersonId,
};
use std::borrow::Cow;

/// Pinned up by [`News`](crate::News): everything in it has happened and is durable. The other nodes are told when it is
/// complete, which is when it is dropped.
pub struct Bulletin<'a> {
    here: Here<'a>,
    voice: &'a Voice,
    /// Of one community; empty where there are no other nodes.
    pinned: Option<(CommunityId, Vec<String>)>,
}

impl<'a> Bulletin<'a> {
    pub(crate) fn new(here: Here<'a>, voice: &'a Voice) -> Self {
        Self { here, voice, pinned: None }
    }

    /// Whoever wants to know everything is told, on this node alone. What a store's answer made stale or told does not matter
    /// for it.
    pub(crate) fn happened<C>(&mut self, asked: &Asked<C>, happening: &Happening<'_>) {
        self.here.out.happened(&asked.call.community, &asked.call.by.name(), happening);
    }

    /// A message is there.
    pub(crate) fn said(&mut self, community: &CommunityId, message: &Message) {
        self.here.out.happened(community, &message.sender, &Happening::Sent(message));
        self.pin(community, &Notice::Said { message: Cow::Borrowed(message) });
    }

    /// Nobody knows whether a message is there: who follows its conversation learns by and by how far that has come.
    pub(crate) fn doubted(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.pin(community, &Notice::Doubted { conversation });
    }

    /// Nobody knows whether a message was edited, deleted or reacted to: who follows its conversation is told by and by what it
    /// is now.
    pub(crate) fn change_doubted(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.pin(community, &Notice::ChangeDoubted { conversation, change: Cow::Borrowed(change) });
    }

    /// Nobody knows which messages of a community were changed: who follows a conversation of it is told by and by how far its
    /// changes have come.
    pub(crate) fn changes_doubted(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::ChangesDoubted);
    }

    /// Nobody knows whether that was the last step of an erasure: this node finds out by and by, for all of them.
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

    /// Reactions of somebody who is erased are gone: of many at once whoever follows the conversation is told only how far its
    /// changes have come.
    pub(crate) fn reactions_erased(&mut self, community: &CommunityId, erased: ErasedReactions<'_>) {
        self.pin(community, &Notice::ReactionsErased(erased));
    }

    /// Something of a conversation changed: whoever follows it is told.
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

    /// All devices of a person are told.
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

    /// How far somebody has read: the others of a small conversation are told, each for themselves; a large one tells
    /// nobody, and who wants to know asks how many.
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

    /// Somebody writes something, or does no more: the others of a small conversation are told.
    pub(crate) fn typing(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        on: bool,
    ) {
        self.pin(community, &Notice::Typing { conversation, person: Cow::Borrowed(person), on });
    }

    /// Somebody came into a conversation.
    pub(crate) fn entered(&mut self, community: &CommunityId, conversation: &Conversation, member: &Member) {
        let (conversation, member) = (Cow::Borrowed(conversation), Cow::Borrowed(member));
        self.pin(community, &Notice::Entered { conversation, member });
    }

    /// People are in a conversation that was just opened, or was there already.
    pub(crate) fn opened(
        &mut self,
        community: &CommunityId,
        conversation: &Conversation,
        people: &[PersonId],
    ) {
        let (conversation, people) = (Cow::Borrowed(conversation), Cow::Borrowed(people));
        self.pin(community, &Notice::Opened { conversation, people });
    }

    /// Somebody is in a conversation no more.
    pub(crate) fn left(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        how: Departure,
    ) {
        self.pin(community, &Notice::Left { conversation, person: Cow::Borrowed(person), how });
    }

    /// Somebody is kept out of a room or a group: they stay a member, and hear nothing of it until then or for good.
    pub(crate) fn banned(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        until: Option<Moment>,
    ) {
        self.pin(community, &Notice::Banned { conversation, person: Cow::Borrowed(person), until });
    }

    /// Who may be in a room is another question now: whoever has it open is judged again, by and by.
    pub(crate) fn judge_again(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.pin(community, &Notice::JudgeAgain { conversation });
    }

    /// Who may be in any room or conversation is another question now: everybody who is here is judged again, and what they
    /// follow is read again, by and by.
    pub(crate) fn judge_everybody(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::JudgeEverybody);
    }

    /// Somebody is kept out of the whole community: their connections end.
    pub(crate) fn expelled(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::Expelled { person: Cow::Borrowed(person) });
    }

    /// Somebody is no more: their connections end, and nothing that names them is kept in memory.
    pub(crate) fn erased(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::Erased { person: Cow::Borrowed(person) });
    }

    /// Tokens of a person are believed no more: a named one, or all up to a second.
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

    /// What somebody may follow is read again, by and by.
    pub(crate) fn follow_again(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::FollowAgain { person: Cow::Borrowed(person) });
    }

    /// Somebody said who they are. If others see something else of them now, those who know them are told; the other nodes hear
    /// of it only then.
    pub(crate) fn met(&mut self, community: &CommunityId, person: &Person) {
        if !self.here.met(community, person) {
            self.pass_on(community, &Notice::Met { person: Cow::Borrowed(person) });
        }
    }

    /// How somebody stands to a conversation is stale.
    pub(crate) fn forget_standing(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) {
        self.pin(community, &Notice::StandingStale { conversation, person: Cow::Borrowed(person) });
    }

    /// Everything about a person is stale.
    pub(crate) fn forget_person(&mut self, community: &CommunityId, person: &PersonId) {
        self.pin(community, &Notice::PersonStale { person: Cow::Borrowed(person) });
    }

    /// A community's keys are others from now on; and which one was revoked, if one was.
    pub(crate) fn keys_changed(&mut self, community: &CommunityId, revoked: Option<KeyId>) {
        self.pin(community, &Notice::KeysChanged { revoked });
    }

    /// Pages of a community's messages are stale.
    pub(crate) fn forget_pages(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::PagesStale);
    }

    /// Everything of a community is stale.
    pub(crate) fn forget_community(&mut self, community: &CommunityId) {
        self.pin(community, &Notice::CommunityStale);
    }

    /// A community is there for nobody any more: the connections of all its people end.
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
            // The others notice that something is missing.
            Err(error) => {
                tracing::error!(%error, "the other nodes cannot be told what happened");
                self.voice.skip();
            }
        }
    }
}

impl Drop for Bulletin<'_> {
    fn drop(&mut self) {
        if let Some((community, notices)) = self.pinned.take() {
            self.voice.tell(self.here.out, &community, &notices);
        }
    }
}
