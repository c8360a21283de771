//! Reads of the in-memory rows.

use super::{MemoryRows, Shelf};
use crate::community::{Community, Key};
use crate::conversation::{Conversation, Invitation, Member, Pair, UnfinishedErasure};
use crate::delivery::Delivery;
use crate::ids::{
    AuditId, ClientId, CommunityId, ConversationId, DeliveryId, InvitationId, KeyId, MessageId, PersonId,
    ReportId, Revision, RoomName, Seq,
};
use crate::kind::Kind;
use crate::message::{Edit, Message, Reaction, Tally};
use crate::moderation::{Audit, Report, Sanction};
use crate::moment::Moment;
use crate::permissions::Role;
use crate::person::{Block, Person};
use crate::revocation::Revocation;
use crate::rows::{
    AppendBatch, Found, Membership, ReceiptCounts, Record, Rows, Scanned, Search, Table, Target,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

impl MemoryRows {
    fn of(&self, id: &CommunityId) -> &Shelf {
        static EMPTY: LazyLock<Shelf> = LazyLock::new(Shelf::default);
        self.0.get(id).unwrap_or(&EMPTY)
    }
}

fn after<T>(start: Option<T>) -> (std::ops::Bound<T>, std::ops::Bound<T>) {
    (start.map_or(Unbounded, Excluded), Unbounded)
}

fn first<'a, T: Clone + 'a>(rows: impl Iterator<Item = &'a T>, limit: usize) -> Found<Vec<T>> {
    Ok(rows.take(limit).cloned().collect())
}

impl Rows for MemoryRows {
    fn community(&mut self, id: &CommunityId) -> Found<Option<Community>> {
        Ok(self.of(id).community.clone())
    }

    fn communities(&mut self, start: Option<&CommunityId>, limit: usize) -> Found<Vec<Community>> {
        let shelves = self.0.range::<CommunityId, _>(after(start));
        first(shelves.filter_map(|(_, shelf)| shelf.community.as_ref()), limit)
    }

    fn half_erased_communities(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<CommunityId>> {
        let all = self.0.values().filter_map(|shelf| shelf.community.as_ref());
        let left = all.filter(|community| community.erasing.is_some_and(|last| last < untouched_since));
        Ok(left.map(|community| community.id.clone()).take(limit).collect())
    }

    fn key(&mut self, community: &CommunityId, id: KeyId) -> Found<Option<Key>> {
        Ok(self.of(community).keys.get(&id).cloned())
    }

    fn keys(&mut self, community: &CommunityId) -> Found<Vec<Key>> {
        first(self.of(community).keys.values(), usize::MAX)
    }

    fn person(&mut self, community: &CommunityId, id: &PersonId) -> Found<Option<Person>> {
        Ok(self.of(community).people.get(id).cloned())
    }

    fn people(
        &mut self,
        community: &CommunityId,
        start: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Person>> {
        first(self.of(community).people.range::<PersonId, _>(after(start)).map(|(_, person)| person), limit)
    }

    fn people_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Person>> {
        let shelf = self.of(community);
        let people: BTreeSet<&PersonId> = people.iter().collect();
        first(people.into_iter().filter_map(|person| shelf.people.get(person)), usize::MAX)
    }

    fn half_erased(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<(CommunityId, PersonId)>> {
        let all = self
            .0
            .iter()
            .flat_map(|(community, shelf)| shelf.people.values().map(move |person| (community, person)));
        let left = all.filter(|(_, person)| person.erasing.is_some_and(|last| last < untouched_since));
        Ok(left.map(|(community, person)| (community.clone(), person.id.clone())).take(limit).collect())
    }

    fn is_remembered(&mut self, community: &CommunityId, person: &PersonId) -> Found<bool> {
        for table in [Table::Message, Table::Mention, Table::Reaction] {
            if !self.scan(community, table, Some(person), None, 1)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn share(&mut self, community: &CommunityId, one: &PersonId, other: &PersonId) -> Found<bool> {
        let shelf = self.of(community);
        Ok(shelf.conversations_of(one).any(|id| shelf.members.contains_key(&(id, other.clone()))))
    }

    fn block(&mut self, community: &CommunityId, by: &PersonId, person: &PersonId) -> Found<Option<Block>> {
        Ok(self.of(community).blocks.get(&(by.clone(), person.clone())).cloned())
    }

    fn blocks(&mut self, community: &CommunityId, by: &PersonId) -> Found<Vec<Block>> {
        first(self.of(community).blocks.values().filter(|block| block.by == *by), usize::MAX)
    }

    fn revocations(
        &mut self,
        community: &CommunityId,
        start: Option<(&PersonId, &str)>,
        limit: usize,
    ) -> Found<Vec<Revocation>> {
        let start = start.map(|(person, token)| (person.clone(), token.to_owned()));
        first(self.of(community).revocations.range(after(start)).map(|(_, row)| row), limit)
    }

    fn revocation(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        token: &str,
    ) -> Found<Option<Revocation>> {
        Ok(self.of(community).revocations.get(&(person.clone(), token.to_owned())).cloned())
    }

    fn revocations_count(&mut self, community: &CommunityId) -> Found<u64> {
        Ok(self.of(community).revocations.len() as u64)
    }

    fn conversation(&mut self, community: &CommunityId, id: ConversationId) -> Found<Option<Conversation>> {
        Ok(self.of(community).conversations.get(&id).cloned())
    }

    fn room(&mut self, community: &CommunityId, name: &RoomName) -> Found<Option<Conversation>> {
        let shelf = self.of(community);
        Ok(shelf.rooms.get(name).and_then(|id| shelf.conversations.get(id)).cloned())
    }

    fn direct(&mut self, community: &CommunityId, pair: &Pair) -> Found<Option<Conversation>> {
        let shelf = self.of(community);
        Ok(shelf.pairs.get(pair).and_then(|id| shelf.conversations.get(id)).cloned())
    }

    fn rooms(
        &mut self,
        community: &CommunityId,
        start: Option<&RoomName>,
        private: bool,
        limit: usize,
    ) -> Found<Vec<Conversation>> {
        let shelf = self.of(community);
        let rooms = shelf.rooms.range::<RoomName, _>(after(start));
        let rooms = rooms.filter_map(|(_, id)| shelf.conversations.get(id));
        first(rooms.filter(|room| private || room.kind != Kind::Private), limit)
    }

    fn unfinished_erasure(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
    ) -> Found<Option<UnfinishedErasure>> {
        Ok(self.of(community).unfinished_erasures.get(&of).cloned())
    }

    fn unfinished_erasure_named(
        &mut self,
        community: &CommunityId,
        name: &RoomName,
    ) -> Found<Option<UnfinishedErasure>> {
        let mut all = self.of(community).unfinished_erasures.values();
        Ok(all.find(|row| row.name.as_ref() == Some(name)).cloned())
    }

    fn unfinished_erasures(
        &mut self,
        community: &CommunityId,
        limit: usize,
    ) -> Found<Vec<UnfinishedErasure>> {
        first(self.of(community).unfinished_erasures.values(), limit)
    }

    fn abandoned_erasures(
        &mut self,
        untouched_since: Moment,
        limit: usize,
    ) -> Found<Vec<(CommunityId, ConversationId)>> {
        let all = self.0.iter().flat_map(|(community, shelf)| {
            shelf.unfinished_erasures.values().map(move |row| (community, row))
        });
        let left = all.filter(|(_, row)| row.last < untouched_since);
        Ok(left.map(|(community, row)| (community.clone(), row.conversation)).take(limit).collect())
    }

    fn put_unfinished_erasure(&mut self, community: &CommunityId, row: &UnfinishedErasure) -> Found<()> {
        self.shelf(community).unfinished_erasures.insert(row.conversation, row.clone());
        Ok(())
    }

    fn member(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
    ) -> Found<Option<Member>> {
        Ok(self.of(community).members.get(&(of, person.clone())).cloned())
    }

    fn members(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        start: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Member>> {
        let members = self.of(community).members_of(of);
        first(members.filter(|member| start.is_none_or(|start| member.person > *start)), limit)
    }

    fn delivery(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        id: DeliveryId,
    ) -> Found<Option<Delivery>> {
        Ok(self.of(community).deliveries.get(&(endpoint, id)).cloned())
    }

    fn deliveries(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        given_up: bool,
        limit: usize,
    ) -> Found<Vec<Delivery>> {
        let rows = self.of(community).deliveries.values().filter(|row| row.endpoint == endpoint);
        first(rows.filter(|row| row.given_up.is_some() == given_up), limit)
    }

    fn dead_letters_count(&mut self, community: &CommunityId) -> Found<u64> {
        let rows = self.of(community).deliveries.values();
        Ok(rows.filter(|row| row.given_up.is_some()).count() as u64)
    }

    fn undelivered(
        &mut self,
        holder: &str,
        abandoned_before: Moment,
        start: Option<&(CommunityId, KeyId, DeliveryId)>,
        limit: usize,
    ) -> Found<Vec<(CommunityId, Delivery)>> {
        let all = self.0.iter().flat_map(|(community, shelf)| {
            shelf.deliveries.values().map(move |row| (community.clone(), row.clone()))
        });
        let waits = |row: &Delivery| {
            row.given_up.is_none() && (row.holder == holder || row.queued < abandoned_before)
        };
        let later = all.filter(|(community, row)| {
            start.is_none_or(|start| (community, &row.endpoint, &row.id) > (&start.0, &start.1, &start.2))
        });
        Ok(later.filter(|(_, row)| waits(row)).take(limit).collect())
    }

    fn put_delivery(&mut self, community: &CommunityId, delivery: &Delivery) -> Found<()> {
        let shelf = self.0.entry(community.clone()).or_default();
        shelf.deliveries.insert((delivery.endpoint, delivery.id), delivery.clone());
        Ok(())
    }

    fn owners(&mut self, community: &CommunityId, of: ConversationId) -> Found<u64> {
        Ok(self.of(community).members_of(of).filter(|member| member.role == Role::Owner).count() as u64)
    }

    fn first_with_role(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        role: Role,
        except: &PersonId,
    ) -> Found<Option<Member>> {
        let mut members = self.of(community).members_of(of);
        Ok(members.find(|member| member.role == role && member.person != *except).cloned())
    }

    fn memberships_count(&mut self, community: &CommunityId, person: &PersonId) -> Found<u64> {
        Ok(self.of(community).conversations_of(person).count() as u64)
    }

    fn memberships(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        before: Option<(Moment, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>> {
        let shelf = self.of(community);
        let mut found: Vec<Membership> = shelf
            .conversations_of(person)
            .filter_map(|id| {
                let member = shelf.members.get(&(id, person.clone()))?.clone();
                Some(Membership { member, conversation: shelf.conversations.get(&id)?.clone() })
            })
            .collect();
        let place = |row: &Membership| (Reverse(row.conversation.active), row.conversation.id);
        found.sort_by_key(place);
        found.retain(|row| before.is_none_or(|(active, id)| place(row) > (Reverse(active), id)));
        found.truncate(limit);
        Ok(found)
    }

    fn memberships_among(
        &mut self,
        community: &CommunityId,
        people: &[PersonId],
        start: Option<&(PersonId, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>> {
        let shelf = self.of(community);
        let people: BTreeSet<&PersonId> = people.iter().collect();
        let places = people
            .into_iter()
            .flat_map(|person| shelf.conversations_of(person).map(move |id| (person, id)))
            .filter(|place| start.is_none_or(|(person, id)| *place > (person, *id)));
        let rows = places.filter_map(|(person, id)| {
            let member = shelf.members.get(&(id, person.clone()))?.clone();
            Some(Membership { member, conversation: shelf.conversations.get(&id)?.clone() })
        });
        Ok(rows.take(limit).collect())
    }

    fn receipts(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<ReceiptCounts> {
        let shelf = self.of(community);
        let telling =
            |member: &&Member| shelf.people.get(&member.person).is_some_and(|person| person.receipts);
        let mut counts = ReceiptCounts::default();
        for member in shelf.members_of(of).filter(telling) {
            counts.delivered += u64::from(member.delivered >= seq);
            counts.read += u64::from(member.read >= seq);
        }
        Ok(counts)
    }

    fn invitation(&mut self, community: &CommunityId, id: InvitationId) -> Found<Option<Invitation>> {
        Ok(self.of(community).invitations.get(&id).cloned())
    }

    fn invitations(
        &mut self,
        community: &CommunityId,
        into: Option<ConversationId>,
        person: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Invitation>> {
        let wanted = |row: &&Invitation| {
            into.is_none_or(|into| row.conversation == into) && row.person.as_ref() == person
        };
        first(self.of(community).invitations.values().filter(wanted), limit)
    }

    fn sanctions(&mut self, community: &CommunityId, person: &PersonId) -> Found<Vec<Sanction>> {
        first(self.of(community).sanctions.values().filter(|row| row.person == *person), usize::MAX)
    }

    fn sanctions_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Sanction>> {
        first(self.of(community).sanctions.values().filter(|row| people.contains(&row.person)), usize::MAX)
    }

    fn sanctions_of(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        start: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Sanction>> {
        let wanted =
            |row: &&Sanction| row.conversation == of && start.is_none_or(|start| row.person > *start);
        first(self.of(community).sanctions.values().filter(wanted), limit)
    }

    fn report(&mut self, community: &CommunityId, id: ReportId) -> Found<Option<Report>> {
        Ok(self.of(community).reports.get(&id).cloned())
    }

    fn report_by(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        seq: Seq,
        by: &PersonId,
    ) -> Found<Option<Report>> {
        let mut reports = self.of(community).reports.values();
        let theirs = |row: &&Report| row.conversation == of && row.seq == seq && row.by == *by;
        Ok(reports.find(theirs).cloned())
    }

    fn reports(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        start: Option<ReportId>,
        limit: usize,
    ) -> Found<Vec<Report>> {
        let reports = self.of(community).reports.range(after(start)).map(|(_, report)| report);
        let open = reports.filter(|row| row.settled.is_none() && of.is_none_or(|of| row.conversation == of));
        first(open, limit)
    }

    fn audit(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        before: Option<AuditId>,
        limit: usize,
    ) -> Found<Vec<Audit>> {
        let end = before.map_or(Unbounded, Excluded);
        let entries = self.of(community).audit.range((Unbounded, end)).rev().map(|(_, entry)| entry);
        first(entries.filter(|entry| of.is_none_or(|of| entry.conversation == Some(of))), limit)
    }

    fn message(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Option<Message>> {
        Ok(self.of(community).messages.get(&(of, seq)).cloned())
    }

    fn message_named(&mut self, community: &CommunityId, id: MessageId) -> Found<Option<Message>> {
        let shelf = self.of(community);
        Ok(shelf.names.get(&id).and_then(|place| shelf.messages.get(place)).cloned())
    }

    fn message_sent(
        &mut self,
        community: &CommunityId,
        by: &PersonId,
        id: &ClientId,
    ) -> Found<Option<Message>> {
        let shelf = self.of(community);
        Ok(shelf.sent.get(&(by.clone(), id.clone())).and_then(|place| shelf.messages.get(place)).cloned())
    }

    fn messages(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        backwards: bool,
        limit: usize,
    ) -> Found<Vec<Message>> {
        if span.is_empty() {
            return Ok(Vec::new());
        }
        let range = self.of(community).messages.range((of, *span.start())..=(of, *span.end()));
        let rows = range.map(|(_, message)| message);
        if backwards { first(rows.rev(), limit) } else { first(rows, limit) }
    }

    fn changed(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        start: Revision,
        limit: usize,
    ) -> Found<Vec<Message>> {
        let all = self.of(community).messages.range((of, Seq(0))..=(of, Seq(u64::MAX)));
        let mut found: Vec<&Message> =
            all.map(|(_, message)| message).filter(|message| message.revision > start).collect();
        found.sort_by_key(|message| message.revision);
        first(found.into_iter(), limit)
    }

    fn edits(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Vec<Edit>> {
        let edits = self.of(community).edits.range((of, seq, 0)..=(of, seq, u32::MAX));
        first(edits.map(|(_, edit)| edit), usize::MAX)
    }

    fn tallies(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        asker: &PersonId,
    ) -> Found<Vec<(Seq, Tally)>> {
        Ok(self.of(community).tallies(of, &span, asker))
    }

    fn own_reactions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        span: RangeInclusive<Seq>,
        person: &PersonId,
    ) -> Found<Vec<Reaction>> {
        let all = self.of(community).reactions.values();
        let own =
            all.filter(|row| row.conversation == of && span.contains(&row.seq) && row.person == *person);
        first(own, usize::MAX)
    }

    fn mentions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
        after: Seq,
    ) -> Found<u64> {
        let range = (person.clone(), of, after.next())..=(person.clone(), of, Seq(u64::MAX));
        Ok(self.of(community).mentions.range(range).count() as u64)
    }

    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        first(self.of(community).found(search), search.limit)
    }

    fn append(&mut self, batch: &AppendBatch) -> Found<()> {
        for (community, message) in &batch.messages {
            self.shelf(community).insert_message(message);
        }
        for (community, row) in &batch.conversations {
            if let Some(conversation) = self.shelf(community).conversations.get_mut(&row.id) {
                conversation.last = row.last;
                conversation.active = row.active;
            }
        }
        for (community, row) in &batch.members {
            let key = (row.conversation, row.person.clone());
            if let Some(member) = self.shelf(community).members.get_mut(&key) {
                member.sent = row.sent;
                member.delivered = row.delivered;
                member.read = row.read;
            }
        }
        Ok(())
    }

    fn replace(&mut self, community: &CommunityId, old: &Message, new: &Message) -> Found<()> {
        let shelf = self.shelf(community);
        shelf.forget_message(old);
        shelf.insert_message(new);
        Ok(())
    }

    fn put(&mut self, community: &CommunityId, record: &Record) -> Found<()> {
        self.shelf(community).put(record);
        Ok(())
    }

    fn remove(&mut self, community: &CommunityId, target: &Target) -> Found<()> {
        self.shelf(community).remove(target);
        Ok(())
    }

    fn outdated(
        &mut self,
        community: &CommunityId,
        before: MessageId,
        limit: usize,
    ) -> Found<Vec<(ConversationId, Seq)>> {
        Ok(self.of(community).names.range(..before).map(|(_, &place)| place).take(limit).collect())
    }

    fn scan(
        &mut self,
        community: &CommunityId,
        table: Table,
        person: Option<&PersonId>,
        start: Option<&str>,
        limit: usize,
    ) -> Found<Vec<Scanned>> {
        Ok(self.of(community).scan(table, person, start, limit))
    }

    fn records_of(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        table: Table,
        limit: usize,
    ) -> Found<Vec<Record>> {
        Ok(self.of(community).records_of(of, table, limit))
    }
}
