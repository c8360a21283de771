//! What the rules need to know before a message is appended, and what a batch of appends writes.

use super::{Found, Rows, blocked};
use crate::community::GuestPolicy;
use crate::conversation::{Conversation, Member};
use crate::ids::{ClientId, CommunityId, ConversationId, PersonId};
use crate::message::Message;
use crate::moderation::Sanction;
use crate::person::Person;

/// A message that is about to be appended.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// The community.
    pub community: &'a CommunityId,
    /// The conversation.
    pub conversation: ConversationId,
    /// The sender.
    pub sender: &'a PersonId,
    /// The sender's id for the message.
    pub client_id: Option<&'a ClientId>,
}

/// What the rules need to know about a sender before a message is appended.
#[derive(Clone, Debug, Default)]
pub struct SendingFacts {
    /// The conversation.
    pub conversation: Option<Conversation>,
    /// The sender's membership.
    pub member: Option<Member>,
    /// The sender.
    pub person: Option<Person>,
    /// The sender's sanctions.
    pub sanctions: Vec<Sanction>,
    /// In a direct conversation: whether either has blocked the other.
    pub blocked: bool,
    /// The message that the sender already sent under the same client id.
    pub earlier: Option<Message>,
    /// The community's guest policy, if it was already looked up: it is the same for all of a batch, a page or a
    /// search. It is only looked up for guests.
    pub guests: Option<GuestPolicy>,
}

impl Sending<'_> {
    /// Looks up the facts by individual reads.
    pub(super) fn look_up<R: Rows + ?Sized>(&self, rows: &mut R) -> Found<SendingFacts> {
        let conversation = rows.conversation(self.community, self.conversation)?;
        let facts = match &conversation {
            Some(conversation) => SendingFacts::before(rows, self.community, self.sender, conversation)?,
            None => SendingFacts::default(),
        };
        let earlier = match self.client_id {
            Some(id) => rows.message_sent(self.community, self.sender, id)?,
            None => None,
        };
        Ok(SendingFacts { conversation, earlier, ..facts })
    }
}

impl SendingFacts {
    /// Looks up, by individual reads, how a person stands to a conversation. Does not set the conversation itself.
    pub(crate) fn before<R: Rows + ?Sized>(
        rows: &mut R,
        community: &CommunityId,
        person: &PersonId,
        conversation: &Conversation,
    ) -> Found<Self> {
        Ok(Self {
            conversation: None,
            member: rows.member(community, conversation.id, person)?,
            person: rows.person(community, person)?,
            sanctions: rows.sanctions(community, person)?,
            blocked: blocked(rows, community, person, conversation)?,
            earlier: None,
            guests: None,
        })
    }
}

/// What a batch of appends writes.
#[derive(Clone, Debug, Default)]
pub struct AppendBatch {
    /// New messages; those of one conversation are in order.
    pub messages: Vec<(CommunityId, Message)>,
    /// The updated conversations, each once.
    pub conversations: Vec<(CommunityId, Conversation)>,
    /// The updated members, each once.
    pub members: Vec<(CommunityId, Member)>,
}
