//! What the rules need to know before a message is appended, and what a batch of them writes.

use super::{Found, Rows, blocked};
use crate::community::GuestPolicy;
use crate::conversation::{Conversation, Member};
use crate::ids::{ClientId, CommunityId, ConversationId, PersonId};
use crate::message::Message;
use crate::moderation::Sanction;
use crate::person::Person;

/// Somebody wants to send.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// Where.
    pub community: &'a CommunityId,
    /// Into which conversation.
    pub conversation: ConversationId,
    /// Who.
    pub sender: &'a PersonId,
    /// What they call it.
    pub client_id: Option<&'a ClientId>,
}

/// What the rules need to know of somebody who wants to send.
#[derive(Clone, Debug, Default)]
pub struct SendingFacts {
    /// The conversation.
    pub conversation: Option<Conversation>,
    /// The sender's part in it.
    pub member: Option<Member>,
    /// The sender.
    pub person: Option<Person>,
    /// The sender's sanctions.
    pub sanctions: Vec<Sanction>,
    /// In a conversation of two: whether one has blocked the other.
    pub blocked: bool,
    /// What the sender has sent under the same client id.
    pub earlier: Option<Message>,
    /// What guests may do in the community, where somebody has looked already: it is the same for all of a batch, a page or
    /// a search. Only for guests is it looked at.
    pub guests: Option<GuestPolicy>,
}

impl Sending<'_> {
    /// Gathers the facts by single reads.
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
    /// Gathers by single reads how a person stands before a conversation. The conversation itself is not in it.
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

/// What a batch of appends comes to.
#[derive(Clone, Debug, Default)]
pub struct Appendix {
    /// New messages; those of one conversation in their order.
    pub messages: Vec<(CommunityId, Message)>,
    /// What their conversations become, each once.
    pub conversations: Vec<(CommunityId, Conversation)>,
    /// What their senders become, each once.
    pub members: Vec<(CommunityId, Member)>,
}
