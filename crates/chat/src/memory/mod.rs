//! An in-memory store for tests and simulations: the same verbs and rules, without durability.

mod index;
mod reactions;
mod rows;
mod scan;
mod search;

use crate::Pair;
use crate::community::{Community, Key};
use crate::conversation::{Conversation, Invitation, Member, UnfinishedErasure};
use crate::delivery::Delivery;
use crate::ids::{
    AuditId, ClientId, CommunityId, ConversationId, DeliveryId, InvitationId, KeyId, MessageId, PersonId,
    ReportId, RoomName, Seq,
};
use crate::message::{Edit, Message, Reaction};
use crate::moderation::{Audit, Report, Sanction, SanctionKind};
use crate::person::{Block, Person};
use crate::revocation::Revocation;
use crate::store::{Request, Store, Verb as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps everything in memory for its own lifetime. Requests run immediately, on the thread that submits them.
#[derive(Debug, Default)]
pub struct MemoryStore {
    communities: Mutex<MemoryRows>,
}

/// The rows of all communities, in memory. They cannot roll back: a caller that may need to runs its transaction on a
/// clone.
#[derive(Clone, Debug, Default)]
pub struct MemoryRows(BTreeMap<CommunityId, Shelf>);

/// The rows of one community, by their keys.
#[derive(Clone, Debug, Default)]
struct Shelf {
    community: Option<Community>,
    keys: BTreeMap<KeyId, Key>,
    people: BTreeMap<PersonId, Person>,
    blocks: BTreeMap<(PersonId, PersonId), Block>,
    revocations: BTreeMap<(PersonId, String), Revocation>,
    conversations: BTreeMap<ConversationId, Conversation>,
    rooms: BTreeMap<RoomName, ConversationId>,
    pairs: BTreeMap<Pair, ConversationId>,
    unfinished_erasures: BTreeMap<ConversationId, UnfinishedErasure>,
    members: BTreeMap<(ConversationId, PersonId), Member>,
    memberships: BTreeSet<(PersonId, ConversationId)>,
    invitations: BTreeMap<InvitationId, Invitation>,
    sanctions: BTreeMap<(PersonId, Option<ConversationId>, SanctionKind), Sanction>,
    messages: BTreeMap<(ConversationId, Seq), Message>,
    names: BTreeMap<MessageId, (ConversationId, Seq)>,
    sent: BTreeMap<(PersonId, ClientId), (ConversationId, Seq)>,
    edits: BTreeMap<(ConversationId, Seq, u32), Edit>,
    reactions: BTreeMap<(ConversationId, Seq, PersonId, String), Reaction>,
    mentions: BTreeSet<(PersonId, ConversationId, Seq)>,
    deliveries: BTreeMap<(KeyId, DeliveryId), Delivery>,
    reports: BTreeMap<ReportId, Report>,
    audit: BTreeMap<AuditId, Audit>,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, MemoryRows> {
        // Verbs decide before they write, so a panic in one leaves nothing half done.
        self.communities.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    /// Constant, so that simulations are reproducible.
    fn epoch(&self) -> &str {
        "memory"
    }

    fn submit(&self, request: Request) {
        match request {
            Request::Append(append) => {
                let answer = append.asked.run(&mut *self.lock());
                append.settle(answer);
            }
            Request::Write(mut work) | Request::Read(mut work) => {
                let outcome = work.run(&mut *self.lock());
                work.settle(outcome);
            }
        }
    }
}
