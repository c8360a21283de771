//! What a database must offer: rows, without a rule.
//!
//! Every rule of the messenger is above this trait, once, in [`crate::verbs`] and [`crate::access`]; an implementation
//! reads and writes what it is told to, within one transaction, and never decides. Each method takes the community, and
//! must look at nothing outside of it.

mod blocking;
mod record;
mod search;
mod sending;
mod target;

pub(crate) use blocking::block_between;
pub use blocking::blocked;
pub use record::{Record, Scanned, Table};
pub use search::{Search, Within};
pub use sending::{Appendix, Sending, SendingFacts};
pub use target::Target;

use crate::Trouble;
use crate::community::{Community, Key};
use crate::conversation::{Conversation, Invitation, Member, Pair};
use crate::delivery::Delivery;
use crate::ids::{
    AuditId, ClientId, CommunityId, ConversationId, DeliveryId, InvitationId, KeyId, MessageId, PersonId,
    ReportId, Revision, RoomName, Seq,
};
use crate::message::{Edit, Message, Reaction, Tally};
use crate::moderation::{Audit, Report, Sanction};
use crate::moment::Moment;
use crate::permissions::Role;
use crate::person::{Block, Person};
use crate::revocation::Revocation;
pub use crate::words::words;
use serde::Serialize;
use std::ops::RangeInclusive;

/// What reading or writing rows gives.
pub type Found<T> = Result<T, Trouble>;

/// One transaction on a database. Lists are never longer than the `limit` that they are asked with.
pub trait Rows {
    /// A community.
    fn community(&mut self, id: &CommunityId) -> Found<Option<Community>>;
    /// Communities by id, after one.
    fn communities(&mut self, after: Option<&CommunityId>, limit: usize) -> Found<Vec<Community>>;
    /// A key.
    fn key(&mut self, community: &CommunityId, id: KeyId) -> Found<Option<Key>>;
    /// All keys of a community, by id.
    fn keys(&mut self, community: &CommunityId) -> Found<Vec<Key>>;

    /// A person.
    fn person(&mut self, community: &CommunityId, id: &PersonId) -> Found<Option<Person>>;
    /// People by id, after one.
    fn people(
        &mut self,
        community: &CommunityId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Person>>;
    /// Those of these people who are known, by id.
    fn people_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Person>>;
    /// Who is being erased, of whom nothing was erased since that time, by community and id. It is a list over all communities.
    fn half_erased(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<(CommunityId, PersonId)>>;
    /// Whether others see anything of somebody: a message, be it deleted, a mention or a reaction.
    fn is_remembered(&mut self, community: &CommunityId, person: &PersonId) -> Found<bool>;
    /// Whether two people are in a conversation together.
    fn share(&mut self, community: &CommunityId, one: &PersonId, other: &PersonId) -> Found<bool>;
    /// A block.
    fn block(&mut self, community: &CommunityId, by: &PersonId, person: &PersonId) -> Found<Option<Block>>;
    /// Whom somebody blocks, by id.
    fn blocks(&mut self, community: &CommunityId, by: &PersonId) -> Found<Vec<Block>>;
    /// Revocations by person and token, after one; all of a person's tokens are the empty name.
    fn revocations(
        &mut self,
        community: &CommunityId,
        after: Option<(&PersonId, &str)>,
        limit: usize,
    ) -> Found<Vec<Revocation>>;
    /// How many revocations a community has.
    fn revocations_count(&mut self, community: &CommunityId) -> Found<u64>;

    /// A conversation.
    fn conversation(&mut self, community: &CommunityId, id: ConversationId) -> Found<Option<Conversation>>;
    /// A room.
    fn room(&mut self, community: &CommunityId, name: &RoomName) -> Found<Option<Conversation>>;
    /// The conversation of two.
    fn direct(&mut self, community: &CommunityId, pair: &Pair) -> Found<Option<Conversation>>;
    /// Rooms by name, after one; private ones only with `private`.
    fn rooms(
        &mut self,
        community: &CommunityId,
        after: Option<&RoomName>,
        private: bool,
        limit: usize,
    ) -> Found<Vec<Conversation>>;
    /// Somebody in a conversation.
    fn member(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
    ) -> Found<Option<Member>>;
    /// Who is in a conversation, by id, after one.
    fn members(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Member>>;
    /// How many of a conversation's members are owners.
    fn owners(&mut self, community: &CommunityId, of: ConversationId) -> Found<u64>;
    /// Of a conversation's members with that role the first by id who is not `except`.
    fn first_with_role(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        role: Role,
        except: &PersonId,
    ) -> Found<Option<Member>>;
    /// In how many conversations somebody is.
    fn memberships_count(&mut self, community: &CommunityId, person: &PersonId) -> Found<u64>;
    /// Somebody's conversations, the most recently active first, then by id; after `before`.
    fn memberships(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        before: Option<(Moment, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>>;
    /// Conversations of these people, by person and id, after one.
    fn memberships_among(
        &mut self,
        community: &CommunityId,
        people: &[PersonId],
        after: Option<&(PersonId, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>>;
    /// How many members have read up to `seq`, of those who tell; and to how many it was delivered.
    fn receipts(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<ReceiptCounts>;
    /// An invitation.
    fn invitation(&mut self, community: &CommunityId, id: InvitationId) -> Found<Option<Invitation>>;
    /// Invitations for a person, or without `person` into a conversation for whom it may concern; by id.
    fn invitations(
        &mut self,
        community: &CommunityId,
        into: Option<ConversationId>,
        person: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Invitation>>;

    /// Somebody's sanctions, everywhere, also those that are over.
    fn sanctions(&mut self, community: &CommunityId, person: &PersonId) -> Found<Vec<Sanction>>;
    /// Sanctions of these people, everywhere, also those that are over, by person.
    fn sanctions_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Sanction>>;
    /// Sanctions of a conversation, or of the whole community, by person and kind.
    fn sanctions_of(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Sanction>>;
    /// A report.
    fn report(&mut self, community: &CommunityId, id: ReportId) -> Found<Option<Report>>;
    /// What a person reported of a message: there is one at most.
    fn report_by(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        seq: Seq,
        by: &PersonId,
    ) -> Found<Option<Report>>;
    /// Reports that are not settled, of a conversation or of all, the oldest first.
    fn reports(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<ReportId>,
        limit: usize,
    ) -> Found<Vec<Report>>;
    /// The audit log, of a conversation or whole, the newest first.
    fn audit(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        before: Option<AuditId>,
        limit: usize,
    ) -> Found<Vec<Audit>>;

    /// Something that an endpoint is to be told.
    fn delivery(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        id: DeliveryId,
    ) -> Found<Option<Delivery>>;
    /// What was given up of an endpoint, or what waits for it, by id.
    fn deliveries(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        given_up: bool,
        limit: usize,
    ) -> Found<Vec<Delivery>>;
    /// How much of a community's was given up, of all endpoints.
    fn dead_letters_count(&mut self, community: &CommunityId) -> Found<u64>;
    /// What waits with a holder, or with anybody since before `abandoned_before`, by community, endpoint and id, after one. It
    /// is a list over all communities.
    fn undelivered(
        &mut self,
        holder: &str,
        abandoned_before: Moment,
        after: Option<&(CommunityId, KeyId, DeliveryId)>,
        limit: usize,
    ) -> Found<Vec<(CommunityId, Delivery)>>;
    /// Writes a delivery, in place of one with the same endpoint and id.
    fn put_delivery(&mut self, community: &CommunityId, delivery: &Delivery) -> Found<()>;

    /// A message by its place.
    fn message(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Option<Message>>;
    /// A message by its name.
    fn message_named(&mut self, community: &CommunityId, id: MessageId) -> Found<Option<Message>>;
    /// A message by what its sender called it.
    fn message_sent(
        &mut self,
        community: &CommunityId,
        by: &PersonId,
        id: &ClientId,
    ) -> Found<Option<Message>>;
    /// Messages between two places, both included: the first `limit` of them, from the end where `backwards`.
    fn messages(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        backwards: bool,
        limit: usize,
    ) -> Found<Vec<Message>>;
    /// Messages that changed after a revision, by revision.
    fn changed(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Revision,
        limit: usize,
    ) -> Found<Vec<Message>>;
    /// Former texts, the first first.
    fn edits(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Vec<Edit>>;
    /// How often which reaction was given to the messages between two places, both included: by place, the oldest first, then
    /// by emoji; `mine` is `asker`'s. However many have reacted, there are [`REACTIONS_MAX`](crate::limits::REACTIONS_MAX) a
    /// message at most.
    fn tallies(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        asker: &PersonId,
    ) -> Found<Vec<(Seq, Tally)>>;
    /// What one person has reacted with to the messages between two places, both included, by place and emoji.
    fn own_reactions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        person: &PersonId,
    ) -> Found<Vec<Reaction>>;
    /// How many messages after a place mention somebody.
    fn mentions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
        after: Seq,
    ) -> Found<u64>;
    /// Messages that have all words, the newest first. Fails with [`TroubleKind::Overdue`](crate::TroubleKind::Overdue) when
    /// they are not found within [`SEARCH_MS_MAX`](crate::limits::SEARCH_MS_MAX); then the transaction can ask nothing more.
    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>>;

    /// What the rules need to know before each of these is appended. Where several writers share the database, it keeps
    /// others away from these conversations until the transaction ends.
    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        sendings.iter().map(|sending| sending.look_up(self)).collect()
    }
    /// Appends messages, and what their conversations and senders become by it: of a conversation `last` and `active`
    /// are written, of a member `sent`, `delivered` and `read`.
    fn append(&mut self, appendix: &Appendix) -> Found<()>;
    /// Writes a message in place of the one with the same place, the search index and mentions included.
    fn replace(&mut self, community: &CommunityId, old: &Message, new: &Message) -> Found<()>;
    /// Writes a record, in place of one with the same key. A message only if it is new: see [`replace`](Self::replace).
    fn put(&mut self, community: &CommunityId, record: &Record) -> Found<()>;
    /// Removes what has that key, if it is there.
    fn remove(&mut self, community: &CommunityId, target: &Target) -> Found<()>;
    /// Places of the oldest messages whose id is before `before`, the oldest first.
    fn outdated(
        &mut self,
        community: &CommunityId,
        before: MessageId,
        limit: usize,
    ) -> Found<Vec<(ConversationId, Seq)>>;
    /// Records of one kind, by key, after the one that an earlier scan ended with. With `person` only those about them:
    /// their messages, reactions, blocks either way, their conversations, what others did to them and they to others.
    fn scan(
        &mut self,
        community: &CommunityId,
        table: Table,
        person: Option<&PersonId>,
        after: Option<&str>,
        limit: usize,
    ) -> Found<Vec<Scanned>>;
}

/// Somebody's part in a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Membership {
    /// Their part.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
}

/// How far a message has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ReceiptCounts {
    /// Members whose devices have it.
    pub delivered: u64,
    /// Members who have read it and let others know.
    pub read: u64,
}
