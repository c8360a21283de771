//! What can be removed, by its key.

use crate::ids::{AuditId, ConversationId, DeliveryId, InvitationId, KeyId, PersonId, ReportId, Seq};
use crate::message::Message;
use crate::moderation::SanctionKind;
use crate::moment::Moment;

/// The key of something to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The community itself: of what is in it nothing goes along.
    Community,
    /// A key.
    Key(KeyId),
    /// A person.
    Person(PersonId),
    /// That `by` blocks `person`.
    Block {
        /// Who blocks.
        by: PersonId,
        /// Whom.
        person: PersonId,
    },
    /// Revocations that have ended.
    Revocations {
        /// Those that ended at this moment or before.
        ended_before: Moment,
    },
    /// Somebody's part in a conversation.
    Member {
        /// Where.
        conversation: ConversationId,
        /// Who.
        person: PersonId,
    },
    /// A conversation: of what is in it nothing goes along.
    Conversation(ConversationId),
    /// An invitation.
    Invitation(InvitationId),
    /// A report.
    Report(ReportId),
    /// An entry of the audit log.
    Audit(AuditId),
    /// A sanction.
    Sanction {
        /// Whose.
        person: PersonId,
        /// Where.
        conversation: Option<ConversationId>,
        /// Which.
        kind: SanctionKind,
    },
    /// A message, with its edits, reactions and mentions, in the search index too.
    Message(Box<Message>),
    /// The same of messages of one conversation that follow each other, with no other one between the first and the last.
    Messages(Vec<Message>),
    /// The former texts of a message.
    Edits {
        /// Where.
        conversation: ConversationId,
        /// Of which.
        seq: Seq,
    },
    /// One reaction.
    Reaction {
        /// Where.
        conversation: ConversationId,
        /// To which.
        seq: Seq,
        /// Whose.
        person: PersonId,
        /// Which.
        emoji: String,
    },
    /// Something that an endpoint is to be told.
    Delivery {
        /// Whom.
        endpoint: KeyId,
        /// Which.
        id: DeliveryId,
    },
    /// Everything that an endpoint is to be told, or was not.
    Deliveries {
        /// Whom.
        endpoint: KeyId,
    },
    /// Everything that endpoints are to be told of a person, or were not.
    DeliveriesOf(PersonId),
    /// What endpoints were not told.
    DeadLetters {
        /// What was given up before.
        given_up_before: Moment,
    },
    /// All reactions to a message.
    Reactions {
        /// Where.
        conversation: ConversationId,
        /// To which.
        seq: Seq,
    },
}
