//! The database interface: rows, without rules.
//!
//! All of the messenger's rules are above this trait, in [`crate::verbs`] and [`crate::access`]. An implementation
//! reads and writes what it is told to, within one transaction, and decides nothing. Each method takes the community
//! and must not look outside of it.

mod blocking;
mod record;
mod search;
mod sending;
mod target;

pub(crate) use blocking::block_between;
pub use blocking::blocked;
pub use record::{Record, Scanned, Table};
pub use search::{Search, Within};
pub use sending::{AppendBatch, Sending, SendingFacts};
pub use target::Target;

use crate::StoreError;
use crate::community::{Community, Key};
use crate::conversation::{Conversation, Invitation, Member, Pair, UnfinishedErasure};
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

/// The result of reading or writing rows.
pub type Found<T> = Result<T, StoreError>;

/// A transaction on a database. Lists are never longer than the given `limit`.
pub trait Rows {
    /// Returns a community.
    fn community(&mut self, id: &CommunityId) -> Found<Option<Community>>;
    /// Returns communities by id, after `after`.
    fn communities(&mut self, after: Option<&CommunityId>, limit: usize) -> Found<Vec<Community>>;
    /// Returns communities whose erasure has begun but not advanced since `untouched_since`, by id.
    fn half_erased_communities(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<CommunityId>>;
    /// Returns a key.
    fn key(&mut self, community: &CommunityId, id: KeyId) -> Found<Option<Key>>;
    /// Returns all keys of a community, by id.
    fn keys(&mut self, community: &CommunityId) -> Found<Vec<Key>>;

    /// Returns a person.
    fn person(&mut self, community: &CommunityId, id: &PersonId) -> Found<Option<Person>>;
    /// Returns people by id, after `after`.
    fn people(
        &mut self,
        community: &CommunityId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Person>>;
    /// Returns those of `people` who are known, by id.
    fn people_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Person>>;
    /// Returns people whose erasure has begun but not advanced since `untouched_since`, of all communities, by
    /// community and id.
    fn half_erased(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<(CommunityId, PersonId)>>;
    /// Whether others still see traces of a person: a message (even a deleted one), a mention or a reaction.
    fn is_remembered(&mut self, community: &CommunityId, person: &PersonId) -> Found<bool>;
    /// Whether two people share a conversation.
    fn share(&mut self, community: &CommunityId, one: &PersonId, other: &PersonId) -> Found<bool>;
    /// Returns a block.
    fn block(&mut self, community: &CommunityId, by: &PersonId, person: &PersonId) -> Found<Option<Block>>;
    /// Returns the blocks that a person made, by the blocked person's id.
    fn blocks(&mut self, community: &CommunityId, by: &PersonId) -> Found<Vec<Block>>;
    /// Returns revocations by person and token, after `after`; one of all of a person's tokens has the empty token id.
    fn revocations(
        &mut self,
        community: &CommunityId,
        after: Option<(&PersonId, &str)>,
        limit: usize,
    ) -> Found<Vec<Revocation>>;
    /// Returns a person's revocation of one token, or of all with the empty token id.
    fn revocation(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        token: &str,
    ) -> Found<Option<Revocation>>;
    /// Counts a community's revocations.
    fn revocations_count(&mut self, community: &CommunityId) -> Found<u64>;

    /// Returns a conversation.
    fn conversation(&mut self, community: &CommunityId, id: ConversationId) -> Found<Option<Conversation>>;
    /// Returns a room by its name.
    fn room(&mut self, community: &CommunityId, name: &RoomName) -> Found<Option<Conversation>>;
    /// Returns the direct conversation of two people.
    fn direct(&mut self, community: &CommunityId, pair: &Pair) -> Found<Option<Conversation>>;
    /// Returns rooms by name, after `after`; private ones only with `private`.
    fn rooms(
        &mut self,
        community: &CommunityId,
        after: Option<&RoomName>,
        private: bool,
        limit: usize,
    ) -> Found<Vec<Conversation>>;
    /// Returns the unfinished erasure of a conversation.
    fn unfinished_erasure(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
    ) -> Found<Option<UnfinishedErasure>>;
    /// Returns the unfinished erasure of the room with this name.
    fn unfinished_erasure_named(
        &mut self,
        community: &CommunityId,
        name: &RoomName,
    ) -> Found<Option<UnfinishedErasure>>;
    /// Lists the unfinished erasures of conversations, by id.
    fn unfinished_erasures(&mut self, community: &CommunityId, limit: usize)
    -> Found<Vec<UnfinishedErasure>>;
    /// Lists conversations whose unfinished erasure has had no step since `untouched_since`, by community and id,
    /// across all communities.
    fn abandoned_erasures(
        &mut self,
        untouched_since: Moment,
        limit: usize,
    ) -> Found<Vec<(CommunityId, ConversationId)>>;
    /// Writes an unfinished erasure, replacing an existing one of the same conversation.
    fn put_unfinished_erasure(&mut self, community: &CommunityId, row: &UnfinishedErasure) -> Found<()>;
    /// Returns a person's membership in a conversation.
    fn member(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
    ) -> Found<Option<Member>>;
    /// Returns a conversation's members by id, after `after`.
    fn members(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Member>>;
    /// Counts a conversation's owners.
    fn owners(&mut self, community: &CommunityId, of: ConversationId) -> Found<u64>;
    /// Returns the first member by id with that role, other than `except`.
    fn first_with_role(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        role: Role,
        except: &PersonId,
    ) -> Found<Option<Member>>;
    /// Counts the conversations that a person is in.
    fn memberships_count(&mut self, community: &CommunityId, person: &PersonId) -> Found<u64>;
    /// Returns a person's conversations, most recently active first, then by id; those after `before`.
    fn memberships(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        before: Option<(Moment, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>>;
    /// Returns memberships of these people, by person and conversation id, after `after`.
    fn memberships_among(
        &mut self,
        community: &CommunityId,
        people: &[PersonId],
        after: Option<&(PersonId, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>>;
    /// Counts the members who have read up to `seq`, of those who share receipts, and the members to whom it was
    /// delivered.
    fn receipts(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<ReceiptCounts>;
    /// Returns an invitation.
    fn invitation(&mut self, community: &CommunityId, id: InvitationId) -> Found<Option<Invitation>>;
    /// Returns the invitations for a person, or, without `person`, those into a conversation that are for anybody; by
    /// id.
    fn invitations(
        &mut self,
        community: &CommunityId,
        into: Option<ConversationId>,
        person: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Invitation>>;

    /// Returns all of a person's sanctions, including expired ones.
    fn sanctions(&mut self, community: &CommunityId, person: &PersonId) -> Found<Vec<Sanction>>;
    /// Returns all sanctions of these people, including expired ones, by person.
    fn sanctions_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Sanction>>;
    /// Returns the sanctions of a conversation, or community-wide ones, by person and kind.
    fn sanctions_of(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Sanction>>;
    /// Returns a report.
    fn report(&mut self, community: &CommunityId, id: ReportId) -> Found<Option<Report>>;
    /// Returns a person's report of a message: there is at most one.
    fn report_by(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        seq: Seq,
        by: &PersonId,
    ) -> Found<Option<Report>>;
    /// Returns open reports, of a conversation or of all, oldest first.
    fn reports(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<ReportId>,
        limit: usize,
    ) -> Found<Vec<Report>>;
    /// Returns the audit log, of a conversation or whole, newest first.
    fn audit(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        before: Option<AuditId>,
        limit: usize,
    ) -> Found<Vec<Audit>>;

    /// Returns a delivery.
    fn delivery(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        id: DeliveryId,
    ) -> Found<Option<Delivery>>;
    /// Returns an endpoint's dead letters or its waiting deliveries, by id.
    fn deliveries(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        given_up: bool,
        limit: usize,
    ) -> Found<Vec<Delivery>>;
    /// Counts a community's dead letters, of all endpoints.
    fn dead_letters_count(&mut self, community: &CommunityId) -> Found<u64>;
    /// Returns deliveries that wait with `holder`, or with anybody since before `abandoned_before`, of all communities,
    /// by community, endpoint and id, after one.
    fn undelivered(
        &mut self,
        holder: &str,
        abandoned_before: Moment,
        after: Option<&(CommunityId, KeyId, DeliveryId)>,
        limit: usize,
    ) -> Found<Vec<(CommunityId, Delivery)>>;
    /// Writes a delivery, replacing one with the same endpoint and id.
    fn put_delivery(&mut self, community: &CommunityId, delivery: &Delivery) -> Found<()>;

    /// Returns a message by its sequence number.
    fn message(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Option<Message>>;
    /// Returns a message by its id.
    fn message_named(&mut self, community: &CommunityId, id: MessageId) -> Found<Option<Message>>;
    /// Returns a message by its sender and client id.
    fn message_sent(
        &mut self,
        community: &CommunityId,
        by: &PersonId,
        id: &ClientId,
    ) -> Found<Option<Message>>;
    /// Returns messages of an inclusive range of sequence numbers: the first `limit`, counted from the end with
    /// `backwards`.
    fn messages(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        backwards: bool,
        limit: usize,
    ) -> Found<Vec<Message>>;
    /// Returns messages that changed after a revision, by revision.
    fn changed(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Revision,
        limit: usize,
    ) -> Found<Vec<Message>>;
    /// Returns a message's former texts, oldest first.
    fn edits(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Vec<Edit>>;
    /// Counts the reactions to the messages of an inclusive range: by message, then oldest reaction first, then by
    /// emoji; `mine` refers to `asker`. However many people reacted, there are at most
    /// [`REACTIONS_MAX`](crate::limits::REACTIONS_MAX) per message.
    fn tallies(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        asker: &PersonId,
    ) -> Found<Vec<(Seq, Tally)>>;
    /// Returns one person's reactions to the messages of an inclusive range, by message and emoji.
    fn own_reactions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        person: &PersonId,
    ) -> Found<Vec<Reaction>>;
    /// Counts the messages after a sequence number that mention a person.
    fn mentions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
        after: Seq,
    ) -> Found<u64>;
    /// Returns messages that contain all words, newest first. Fails with
    /// [`StoreErrorKind::Overdue`](crate::StoreErrorKind::Overdue) if that takes longer than
    /// [`SEARCH_MS_MAX`](crate::limits::SEARCH_MS_MAX); the transaction cannot be used any further then.
    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>>;

    /// Returns what the rules need to know before each of these messages is appended. Where several writers share the
    /// database, it locks these conversations until the transaction ends.
    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        sendings.iter().map(|sending| sending.look_up(self)).collect()
    }
    /// Appends messages and updates their conversations and senders: writes `last` and `active` of a conversation,
    /// `sent`, `delivered` and `read` of a member.
    fn append(&mut self, batch: &AppendBatch) -> Found<()>;
    /// Replaces the message with the same sequence number, including its mentions and search index entries.
    fn replace(&mut self, community: &CommunityId, old: &Message, new: &Message) -> Found<()>;
    /// Writes a record, replacing one with the same key. A message must be new: see [`replace`](Self::replace).
    fn put(&mut self, community: &CommunityId, record: &Record) -> Found<()>;
    /// Removes the record with that key, if it exists.
    fn remove(&mut self, community: &CommunityId, target: &Target) -> Found<()>;
    /// Returns the sequence numbers of the oldest messages whose id is before `before`, oldest first.
    fn outdated(
        &mut self,
        community: &CommunityId,
        before: MessageId,
        limit: usize,
    ) -> Found<Vec<(ConversationId, Seq)>>;
    /// Returns records of one table by key, after the position where an earlier scan ended. With `person`, only records
    /// about them: their messages, reactions, blocks in either direction, their conversations, what others did to them
    /// and they to others.
    fn scan(
        &mut self,
        community: &CommunityId,
        table: Table,
        person: Option<&PersonId>,
        after: Option<&str>,
        limit: usize,
    ) -> Found<Vec<Scanned>>;
    /// Lists the records of one table that [belong](Record::conversation) to a conversation, by key; messages by place.
    fn records_of(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        table: Table,
        limit: usize,
    ) -> Found<Vec<Record>>;
}

/// A person's membership together with the conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Membership {
    /// The membership.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
}

/// How many members have received and read a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ReceiptCounts {
    /// Members to whom it was delivered.
    pub delivered: u64,
    /// Members who have read it and share receipts.
    pub read: u64,
}
