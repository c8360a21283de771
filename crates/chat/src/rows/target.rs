//! Keys of the records to remove.

use crate::ids::{AuditId, ConversationId, DeliveryId, InvitationId, KeyId, PersonId, ReportId, Seq};
use crate::message::Message;
use crate::moderation::SanctionKind;
use crate::moment::Moment;

/// The key of a record, or of several, to remove.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The community row itself; nothing inside of the community is removed with it.
    Community,
    /// A key.
    Key(KeyId),
    /// A person.
    Person(PersonId),
    /// A block of `person` by `by`.
    Block {
        /// Who blocks.
        by: PersonId,
        /// The blocked person.
        person: PersonId,
    },
    /// Expired revocations.
    Revocations {
        /// Those that ended at this moment or before.
        ended_before: Moment,
    },
    /// A membership.
    Member {
        /// The conversation.
        conversation: ConversationId,
        /// The member.
        person: PersonId,
    },
    /// The conversation row itself; nothing inside of the conversation is removed with it.
    Conversation(ConversationId),
    /// An invitation.
    Invitation(InvitationId),
    /// A report.
    Report(ReportId),
    /// An entry of the audit log.
    Audit(AuditId),
    /// A sanction.
    Sanction {
        /// The sanctioned person.
        person: PersonId,
        /// Where it applies.
        conversation: Option<ConversationId>,
        /// The kind of sanction.
        kind: SanctionKind,
    },
    /// A message, with its edits, reactions, mentions and search index entries.
    Message(Box<Message>),
    /// Like `Message`, for several messages of one conversation with no other message between the first and the last.
    Messages(Vec<Message>),
    /// The former texts of a message.
    Edits {
        /// The conversation.
        conversation: ConversationId,
        /// The message.
        seq: Seq,
    },
    /// One reaction.
    Reaction {
        /// The conversation.
        conversation: ConversationId,
        /// The message.
        seq: Seq,
        /// Who reacted.
        person: PersonId,
        /// The emoji or short name.
        emoji: String,
    },
    /// A delivery.
    Delivery {
        /// The endpoint.
        endpoint: KeyId,
        /// The delivery's id.
        id: DeliveryId,
    },
    /// All deliveries and dead letters of an endpoint.
    Deliveries {
        /// The endpoint.
        endpoint: KeyId,
    },
    /// All deliveries and dead letters about a person.
    DeliveriesOf(PersonId),
    /// Old dead letters.
    DeadLetters {
        /// Those given up before this moment.
        given_up_before: Moment,
    },
    /// All reactions to a message.
    Reactions {
        /// The conversation.
        conversation: ConversationId,
        /// The message.
        seq: Seq,
    },
}
