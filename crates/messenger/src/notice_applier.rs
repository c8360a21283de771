//! Applies notices on this node, whichever node they come from: notifies topics, updates who follows what, drops what
//! is stale.

use crate::audience::{Announcement, Audience, Followed, Untold};
use crate::cache::{Cache, Key};
use crate::clock::now;
use crate::entrance::{Entrance, SocketId};
use crate::erasures::DoubtedErasures;
use crate::known::Known;
use crate::notice::{Departure, Notice};
use crate::outlet::Outlets;
use crate::reading::PAGE;
use chat::{
    CommunityId, Conversation, ConversationId, Member, Message, Moment, Person, PersonId, Revision, RoomName,
    Seq,
};
use identity::{Revocation, Revoked};
use serde_json::json;

/// See the module.
pub(crate) struct NoticeApplier<'a> {
    pub(crate) audience: &'a Audience,
    pub(crate) cache: &'a Cache,
    pub(crate) entrance: &'a Entrance,
    pub(crate) erasures: &'a DoubtedErasures,
    pub(crate) out: &'a Outlets,
}

impl NoticeApplier<'_> {
    /// Applies a notice.
    pub(crate) fn apply(&mut self, community: &CommunityId, notice: &Notice<'_>) {
        match notice {
            Notice::Said { message } => self.said(community, message),
            Notice::Doubted { conversation } => self.doubted(community, *conversation),
            Notice::ChangeDoubted { conversation, change } => {
                self.change_doubted(community, *conversation, change);
            }
            Notice::ChangesDoubted => self.changes_doubted(community),
            Notice::Revised { conversation, revision, event, payload } => {
                self.revised(community, *conversation, *revision, event.name(), payload);
            }
            Notice::ReactionsErased(erased) => self.reactions_erased(community, erased),
            Notice::Changed { conversation, event, payload } => {
                self.changed(community, *conversation, event.name(), payload);
            }
            Notice::Person { person, event, payload } => {
                self.person(community, person, event.name(), payload)
            }
            Notice::Receipt { conversation, person, payload } => {
                self.others(community, *conversation, person, "receipt", payload);
            }
            Notice::Typing { conversation, person, on } => {
                let payload = json!({ "conversation": conversation, "person": person, "on": on });
                self.others(community, *conversation, person, "typing", &payload.to_string());
            }
            Notice::Entered { conversation, member } => self.entered(community, conversation, member),
            Notice::Opened { conversation, people } => self.opened(community, conversation, people),
            Notice::Left { conversation, person, how } => self.left(community, *conversation, person, *how),
            Notice::ConversationErased { conversation, name } => {
                self.conversation_erased(community, *conversation, name.as_deref());
            }
            Notice::Banned { conversation, person, until } => {
                self.banned(community, *conversation, person, *until);
            }
            Notice::Expelled { person } => self.expelled(community, person),
            Notice::Erased { person } => {
                self.erasures.settle(community, person);
                self.out.erased(community, person);
                self.expelled(community, person);
            }
            Notice::Revoked { person, token, until_s } => {
                self.revoked(community, person, token.as_deref(), *until_s);
            }
            Notice::JudgeAgain { conversation } => self.judge_again(community, *conversation),
            Notice::JudgeEverybody => self.audience.doubt_community(community),
            Notice::FollowAgain { person } => self.follow_again(community, person),
            Notice::Met { person } => drop(self.met(community, person)),
            Notice::StandingStale { conversation, person } => {
                self.forget_standing(community, *conversation, person);
            }
            Notice::PersonStale { person } => self.cache.forget_person(community, person),
            Notice::KeysChanged { revoked } => {
                self.cache.forget(&Key::Community(community.clone()));
                self.out.keys_changed(community, *revoked);
            }
            Notice::PagesStale => self.cache.forget_pages(community),
            Notice::CommunityStale => {
                self.cache.forget_community(community);
                self.audience.doubt_look(community);
            }
            Notice::CommunityClosed => self.closed(community),
        }
    }

    /// A message was stored.
    fn said(&mut self, community: &CommunityId, message: &Message) {
        // Serialized directly, without building a JSON tree first: this runs for every message.
        let payload = &serde_json::to_string(message).expect("texts and numbers can be written");
        self.cache.said(community, message, PAGE);
        let reach = self.audience.said(community, message, payload);
        if let Some(topic) = &reach.room {
            self.out.tell(topic, "msg:new", payload);
        }
        for topic in &reach.people {
            self.out.tell(topic, "msg:new", payload);
        }
    }

    /// It is unknown whether a message was stored: this node reads the conversation's head in a later round.
    pub(crate) fn doubted(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        self.audience.doubt(community, conversation);
    }

    /// A conversation's head was read from the store.
    pub(crate) fn found(&mut self, community: &CommunityId, conversation: ConversationId, last: Seq) {
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        self.audience.found(community, conversation, last);
    }

    /// Sends the conversation's head to followers who were told of less than is known.
    pub(crate) fn tell_what_is_untold(&mut self) {
        for Untold { community, conversation, last, reach } in self.audience.take_untold() {
            self.cache.forget(&Key::Newest(community, conversation));
            if let Some(topic) = &reach.room {
                let payload = json!({ "conversation": conversation, "seq": last }).to_string();
                self.out.tell(topic, "head", &payload);
            }
            for topic in &reach.people {
                self.out.tell(topic, "conversations:changed", "{}");
            }
        }
    }

    /// A message was edited, deleted or reacted to.
    pub(crate) fn revised(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        revision: Revision,
        event: &'static str,
        payload: &str,
    ) {
        self.cache.forget_messages(community, conversation);
        self.audience.revised(community, conversation, revision);
        self.changed(community, conversation, event, payload);
    }

    /// Something about a conversation changed: its followers are notified.
    pub(crate) fn changed(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        event: &'static str,
        payload: &str,
    ) {
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        let reach = self.audience.changed(community, conversation, event, payload);
        for topic in reach.room.iter().chain(&reach.people) {
            self.out.tell(topic, event, payload);
        }
    }

    /// Sends an event to all devices of a person.
    pub(crate) fn person(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) {
        if let Some(topic) = self.audience.tell_person(community, person, event, payload) {
            self.out.tell(&topic, event, payload);
        }
    }

    /// Sends an event to each of the others in a small conversation; in a large one, to nobody.
    fn others(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        event: &'static str,
        payload: &str,
    ) {
        for topic in self.audience.tell_others(community, conversation, person, event, payload) {
            self.out.tell(&topic, event, payload);
        }
    }

    /// A person joined a conversation.
    fn entered(&mut self, community: &CommunityId, conversation: &Conversation, member: &Member) {
        let person = &member.person;
        self.forget_standing(community, conversation.id, person);
        self.cache.forget(&Key::Newest(community.clone(), conversation.id));
        let is_new = self.audience.follow(community, person, &Followed::of(conversation));
        let payload = json!({ "conversation": conversation, "member": member }).to_string();
        self.person(community, person, "conversation:new", &payload);
        let payload = json!({ "conversation": conversation.id, "person": person, "role": member.role });
        self.changed(community, conversation.id, "member:in", &payload.to_string());
        if is_new {
            self.acquaint(community, conversation.id, std::slice::from_ref(person));
        }
    }

    /// These people are in a conversation that was just opened, or existed already.
    fn opened(&mut self, community: &CommunityId, conversation: &Conversation, people: &[PersonId]) {
        let payload = json!({ "conversation": conversation }).to_string();
        let mut newcomers = Vec::new();
        for person in people {
            self.forget_standing(community, conversation.id, person);
            if self.audience.follow(community, person, &Followed::of(conversation)) {
                self.person(community, person, "conversation:new", &payload);
                newcomers.push(person.clone());
            }
        }
        self.acquaint(community, conversation.id, &newcomers);
    }

    /// These people follow a conversation from now on: they and the people already in it are sent each other's
    /// presence.
    fn acquaint(&mut self, community: &CommunityId, conversation: ConversationId, newcomers: &[PersonId]) {
        for announcement in self.audience.acquaint(community, conversation, newcomers) {
            self.announce(&announcement);
        }
    }

    /// A person left a conversation, or was removed.
    fn left(
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
        // This comes first, so that a join still in progress does not follow the conversation again.
        match how {
            Departure::Left => self.audience.evict_later(community, conversation, person),
            Departure::Removed => self.evict(community, conversation, person),
        }
        self.audience.unfollow(community, person, conversation);
    }

    /// A conversation is being erased: its members are told on their own topics, and all joins of it end.
    fn conversation_erased(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        name: Option<&RoomName>,
    ) {
        if let Some(name) = name {
            self.cache.forget(&Key::Room(community.clone(), name.clone()));
        }
        self.cache.forget_standings(community, conversation);
        self.cache.forget_messages(community, conversation);
        let payload = |person: &PersonId| {
            json!({ "conversation": conversation, "person": person, "why": "erased" }).to_string()
        };
        let gone = self.audience.erase(community, conversation, "member:out", &payload);
        for (topic, payload) in &gone.people {
            self.out.tell(topic, "member:out", payload);
        }
        for (device, topic) in &gone.joins {
            self.out.end_join(&SocketId(*device).text(), topic);
        }
    }

    /// A person is banned from a room or a group, until the given time or for good: they stay a member, but receive
    /// nothing of it.
    fn banned(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        until: Option<Moment>,
    ) {
        self.evict(community, conversation, person);
        self.audience.ban(community, person, conversation, until);
    }

    /// Ends a person's joins of a room.
    pub(crate) fn evict(&mut self, community: &CommunityId, conversation: ConversationId, person: &PersonId) {
        for (device, topic) in self.audience.evict(community, conversation, person) {
            self.out.end_join(&SocketId(device).text(), &topic);
        }
    }

    /// The rules for who may be in a room changed: everybody who has it open is checked again in a later round.
    fn judge_again(&mut self, community: &CommunityId, conversation: ConversationId) {
        self.cache.forget_standings(community, conversation);
        self.audience.judge_again(community, conversation);
    }

    /// Tokens were revoked: the connections that rely on them are closed.
    fn revoked(&mut self, community: &CommunityId, person: &PersonId, token: Option<&str>, until_s: u64) {
        let what = match token {
            Some(token) => Revoked::TokenId(token.to_owned()),
            None => Revoked::IssuedUntil(identity::UnixSeconds(until_s)),
        };
        let name = identity::Community::new(community.as_str());
        let revocation = Revocation { community: name, subject: person.to_string(), what };
        match self.entrance.revoke(&revocation) {
            Ok(ended) => ended.iter().for_each(|(socket, code)| self.out.close(socket, *code)),
            Err(_) => {
                // The next admission reads the revocations from the store, and is refused while there is no room for
                // them.
                self.cache.forget(&Key::Community(community.clone()));
                tracing::warn!(%community, "a token revocation by another node could not be kept in memory");
            }
        }
    }

    /// A person was banned from the whole community, or erased: their connections are closed.
    pub(crate) fn expelled(&mut self, community: &CommunityId, person: &PersonId) {
        for socket in self.entrance.sockets_of(community, person) {
            self.out.close(&socket, identity::CLOSE_TOKEN_REVOKED);
        }
    }

    /// A community was closed for everybody: its people's connections are closed a few at a time, as for expired
    /// tokens.
    pub(crate) fn closed(&mut self, community: &CommunityId) {
        self.cache.forget_community(community);
        self.out.closed(community);
        self.entrance.close_community(community);
    }

    /// A person's conversations are read again in a later round.
    fn follow_again(&mut self, community: &CommunityId, person: &PersonId) {
        self.cache.forget_person(community, person);
        self.audience.follow_again(community, person);
    }

    /// A person came in. If their visible profile differs from the one known here, those who know them are notified.
    /// Returns whether the profile was known already.
    pub(crate) fn met(&mut self, community: &CommunityId, person: &Person) -> bool {
        let same = |known: &Known| known.has(&person.profile) && known.receipts() == person.receipts;
        if self.cache.note_person(community, person, now(), same) {
            return true;
        }
        let payload = json!({ "person": person.id, "profile": person.profile }).to_string();
        for topic in self.audience.acquaintances(community, &person.id) {
            self.out.tell(&topic, "profile", &payload);
        }
        false
    }

    /// Announces a change of a person's presence.
    pub(crate) fn announce(&mut self, announcement: &Announcement) {
        for topic in &announcement.topics {
            self.out.tell(topic, "presence", &announcement.payload);
        }
    }

    /// A person's standing in a conversation is stale.
    fn forget_standing(&mut self, community: &CommunityId, conversation: ConversationId, person: &PersonId) {
        self.cache.forget(&Key::Standing(community.clone(), conversation, person.clone()));
    }
}
