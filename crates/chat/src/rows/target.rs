//! Keys of the records to remove.

use crate::ids::{AuditId, ConversationId, DeliveryId, InvitationId, KeyId, PersonId, ReportId, Seq};
use crate::message::Message;
use crate::moderation::SanctionKind;
use crate::moment::Moment;
use crate::rows::Record;

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
    /// The unfinished erasure of a conversation.
    UnfinishedErasure(ConversationId),
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
    /// All deliveries and dead letters about a conversation.
    DeliveriesAbout(ConversationId),
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

impl Target {
    /// The target that removes a record; `None` for records that are not removed one by one: former texts and mentions
    /// go with their message, and revocations are removed together.
    pub(crate) fn of(record: Record) -> Option<Self> {
        Some(match record {
            Record::Community(_) => Self::Community,
            Record::Key(row) => Self::Key(row.id),
            Record::Person(row) => Self::Person(row.id),
            Record::Block(row) => Self::Block { by: row.by, person: row.person },
            Record::Conversation(row) => Self::Conversation(row.id),
            Record::Member(row) => Self::Member { conversation: row.conversation, person: row.person },
            Record::Invitation(row) => Self::Invitation(row.id),
            Record::Sanction(row) => {
                Self::Sanction { person: row.person, conversation: row.conversation, kind: row.kind }
            }
            Record::Message(message) => Self::Message(Box::new(message)),
            Record::Reaction(row) => Self::Reaction {
                conversation: row.conversation,
                seq: row.seq,
                person: row.person,
                emoji: row.emoji,
            },
            Record::Report(row) => Self::Report(row.id),
            Record::Audit(row) => Self::Audit(row.id),
            Record::Revocation(_) | Record::Edit(_) | Record::Mention(_) => return None,
        })
    }
}
