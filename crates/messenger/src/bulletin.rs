//! What news can do: tell topics, note who follows what, forget what is stale.

use crate::audience::{Announcement, Audience, Followed};
use crate::cache::{Cache, Key};
use crate::entrance::{Entrance, SocketId};
use crate::outlet::WayOut;
use crate::witness::Happening;
use chat::{
    Asked, CommunityId, Conversation, ConversationId, KeyId, Member, Message, Moment, Person, PersonId,
};
use serde_json::json;

/// Pinned up by [`News`](crate::News): everything in it has happened and is durable.
pub struct Bulletin<'a> {
    pub(crate) audience: &'a Audience,
    pub(crate) cache: &'a Cache,
    pub(crate) entrance: &'a Entrance,
    pub(crate) out: &'a WayOut,
}

/// How somebody went from a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Departure {
    /// On their own.
    Left,
    /// Somebody removed them.
    Removed,
}

impl Departure {
    const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Removed => "removed",
        }
    }
}

impl Bulletin<'_> {
    /// Whoever wants to know everything is told. What a store's answer made stale or told does not matter for it.
    pub(crate) fn happened<C>(&mut self, asked: &Asked<C>, happening: &Happening<'_>) {
        self.out.happened(&asked.call.community, &asked.call.by.name(), happening);
    }

    /// A message is there. `payload` is its JSON.
    pub(crate) fn said(&mut self, community: &CommunityId, message: &Message, payload: &str) {
        let conversation = message.conversation;
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        // It moved the sender's cursors, too.
        self.forget_standing(community, conversation, &message.sender);
        let reach = self.audience.said(community, message, payload);
        if let Some(topic) = &reach.room {
            self.out.tell(topic, "msg:new", payload);
        }
        for topic in &reach.people {
            self.out.tell(topic, "msg:new", payload);
        }
    }

    /// A message was edited, deleted or reacted to.
    pub(crate) fn revised(&mut self, community: &CommunityId, message: &Message, event: &str, payload: &str) {
        self.audience.revised(community, message);
        self.changed(community, message.conversation, event, payload);
    }

    /// Something of a conversation changed: whoever follows it is told.
    pub(crate) fn changed(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &str,
        payload: &str,
    ) {
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        let reach = self.audience.reach(community, conversation);
        for topic in reach.room.iter().chain(&reach.people) {
            self.out.tell(topic, event, payload);
        }
    }

    /// All devices of a person are told.
    pub(crate) fn person(&mut self, community: &CommunityId, person: &PersonId, event: &str, payload: &str) {
        if let Some(topic) = self.audience.topic_of(community, person) {
            self.out.tell(&topic, event, payload);
        }
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
        for topic in self.audience.others_in(community, conversation, person) {
            self.out.tell(&topic, "receipt", payload);
        }
    }

    /// Somebody came into a conversation.
    pub(crate) fn entered(&mut self, community: &CommunityId, conversation: &Conversation, member: &Member) {
        let person = &member.person;
        self.forget_standing(community, conversation.id, person);
        self.cache.forget(&Key::Newest(community.clone(), conversation.id));
        self.audience.follow(community, person, &Followed::of(conversation));
        let payload = json!({ "conversation": conversation, "member": member }).to_string();
        self.person(community, person, "conversation:new", &payload);
        let payload = json!({ "conversation": conversation.id, "person": person, "role": member.role });
        self.changed(community, conversation.id, "member:in", &payload.to_string());
    }

    /// People are in a conversation that was just opened, or was there already.
    pub(crate) fn opened(
        &mut self,
        community: &CommunityId,
        conversation: &Conversation,
        people: &[PersonId],
    ) {
        let payload = json!({ "conversation": conversation }).to_string();
        for person in people {
            self.forget_standing(community, conversation.id, person);
            if self.audience.follow(community, person, &Followed::of(conversation)) {
                self.person(community, person, "conversation:new", &payload);
            }
        }
    }

    /// Somebody is in a conversation no more.
    pub(crate) fn left(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        how: Departure,
    ) {
        self.forget_standing(community, conversation, person);
        let payload =
            json!({ "conversation": conversation, "person": person, "why": how.name() }).to_string();
        self.changed(community, conversation, "member:out", &payload);
        // First: who is on the way in is not to follow it again.
        match how {
            Departure::Left => self.audience.evict_later(community, conversation, person),
            Departure::Removed => self.evict(community, conversation, person),
        }
        self.audience.unfollow(community, person, conversation);
    }

    /// Somebody is kept out of a room or a group: they stay a member, and hear nothing of it until then or for good.
    pub(crate) fn banned(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        until: Option<Moment>,
    ) {
        self.evict(community, conversation, person);
        self.audience.ban(community, person, conversation, until);
    }

    /// Somebody's joins of a room end.
    pub(crate) fn evict(&mut self, community: &CommunityId, conversation: ConversationId, person: &PersonId) {
        for (device, topic) in self.audience.evict(community, conversation, person) {
            self.out.end_join(&SocketId(device).text(), &topic);
        }
    }

    /// Who may be in a room is another question now: whoever has it open is judged again, by and by.
    pub(crate) fn judge_again(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.cache.forget_standings(community, conversation);
        self.audience.judge_again(community, conversation);
    }

    /// Somebody is kept out of the whole community, or is no more: their connections end.
    pub(crate) fn expelled(&mut self, community: &CommunityId, person: &PersonId) {
        for socket in self.entrance.sockets_of(community, person) {
            self.out.close(&socket, identity::CLOSE_TOKEN_REVOKED);
        }
    }

    /// What somebody may follow is read again, by and by.
    pub(crate) fn follow_again(&mut self, community: &CommunityId, person: &PersonId) {
        self.forget_person(community, person);
        self.audience.follow_again(community, person);
    }

    /// Somebody said who they are. If others see something else of them now, those who know them are told.
    pub(crate) fn met(&mut self, community: &CommunityId, person: &Person) {
        let same = |known: &Person| known.profile == person.profile && known.receipts == person.receipts;
        if self.cache.note_person(community, person, same) {
            return;
        }
        let payload = json!({ "person": person.id, "profile": person.profile }).to_string();
        for topic in self.audience.acquaintances(community, &person.id) {
            self.out.tell(&topic, "profile", &payload);
        }
    }

    /// How somebody's presence changed.
    pub(crate) fn announce(&mut self, announcement: &Announcement) {
        for topic in &announcement.topics {
            self.out.tell(topic, "presence", &announcement.payload);
        }
    }

    /// How somebody stands to a conversation is stale.
    pub(crate) fn forget_standing(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) {
        self.cache.forget(&Key::Standing(community.clone(), conversation, person.clone()));
    }

    /// Everything about a person is stale.
    pub(crate) fn forget_person(&mut self, community: &CommunityId, person: &PersonId) {
        self.cache.forget_person(community, person);
    }

    /// A community's keys are others from now on; and which one was revoked, if one was.
    pub(crate) fn keys_changed(&mut self, community: &CommunityId, revoked: Option<KeyId>) {
        self.forget_settings(community);
        self.out.keys_changed(community, revoked);
    }

    /// A community's settings and keys are stale.
    pub(crate) fn forget_settings(&mut self, community: &CommunityId) {
        self.cache.forget(&Key::Community(community.clone()));
    }

    /// Pages of a community's messages are stale.
    pub(crate) fn forget_pages(&mut self, community: &CommunityId) {
        self.cache.forget_pages(community);
    }

    /// Everything of a community is stale.
    pub(crate) fn forget_community(&mut self, community: &CommunityId) {
        self.cache.forget_community(community);
    }
}
