//! Implements the messenger's rows with statements that both databases understand.

use super::communities::read_communities;
use super::moderation::scope;
use super::place::{AT_PLACE, IN_SPAN, id, place, span};
use super::select::{Entity as _, Select, insert};
use super::session::{Param, Session};
use super::values::read_at;
use chat::rows::{
    AppendBatch, Found, Membership, ReceiptCounts, Record, Rows, Scanned, Search, Sending, SendingFacts,
    Table, Target,
};
use chat::{
    Audit, AuditId, Block, ClientId, Community, CommunityId, Conversation, ConversationId, Delivery,
    DeliveryId, Edit, Invitation, InvitationId, Key, KeyId, Member, Mention, Message, MessageId, Moment,
    Pair, Person, PersonId, Reaction, Report, ReportId, Revision, Revocation, Role, RoomName, Sanction, Seq,
    Tally, UnfinishedErasure,
};
use std::ops::RangeInclusive;

/// Exceeds the length of any list without a limit of its own: those are bounded by rules.
const ALL: usize = 100_000;

/// A transaction, as rows.
pub(crate) struct SqlRows<'a, S>(pub(crate) &'a mut S);

impl<'a> Select<'a> {
    /// Only rows after `start`, if there is one.
    fn after(self, column: &str, start: Option<Param<'a>>) -> Self {
        match start {
            Some(start) => self.and(&format!("{column} > ?"), [start]),
            None => self,
        }
    }
}

impl<S: Session> Rows for SqlRows<'_, S> {
    fn community(&mut self, id: &CommunityId) -> Found<Option<Community>> {
        Ok(read_communities(self.0, "community = ?1", &[id.as_str().into()], 1)?.pop())
    }

    fn communities(&mut self, after: Option<&CommunityId>, limit: usize) -> Found<Vec<Community>> {
        read_communities(self.0, "community > ?1", &[after.map_or("", CommunityId::as_str).into()], limit)
    }

    fn half_erased_communities(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<CommunityId>> {
        let param = Param::number(untouched_since.millis());
        let left = read_communities(self.0, "erasing_ms < ?1", &[param], limit)?;
        Ok(left.into_iter().map(|community| community.id).collect())
    }

    fn key(&mut self, community: &CommunityId, key: KeyId) -> Found<Option<Key>> {
        Select::of(community).and("t.id = ?", [Param::id(key.0)]).row(self.0)
    }

    fn keys(&mut self, community: &CommunityId) -> Found<Vec<Key>> {
        Select::of(community).order("t.id", ALL).rows(self.0)
    }

    fn person(&mut self, community: &CommunityId, person: &PersonId) -> Found<Option<Person>> {
        Select::of(community).and("t.id = ?", [person.as_str().into()]).row(self.0)
    }

    fn people(
        &mut self,
        community: &CommunityId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Person>> {
        let after = after.map(|person| person.as_str().into());
        Select::of(community).after("t.id", after).order("t.id", limit).rows(self.0)
    }

    fn people_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Person>> {
        Select::of(community).among("t.id", people).order("t.id", ALL).rows(self.0)
    }

    fn half_erased(&mut self, untouched_since: Moment, limit: usize) -> Found<Vec<(CommunityId, PersonId)>> {
        let sql = format!(
            "SELECT community, id FROM people WHERE erasing_ms < ?1 ORDER BY community, id LIMIT {limit}"
        );
        let mut found = Vec::new();
        self.0.query(&sql, &[Param::number(untouched_since.millis())], &mut |row| {
            let mut reader = read_at(row, 0);
            found.push((reader.parsed(CommunityId::parse)?, reader.person()?));
            Ok(())
        })?;
        Ok(found)
    }

    fn is_remembered(&mut self, community: &CommunityId, person: &PersonId) -> Found<bool> {
        let trace = |table: &str, column: &str| {
            format!("EXISTS (SELECT 1 FROM {table} o WHERE o.community = t.community AND o.{column} = t.id)")
        };
        let traces = [("messages", "sender"), ("mentions", "person"), ("reactions", "person")];
        let traces = traces.map(|(table, column)| trace(table, column)).join(" OR ");
        let select = Select::of(community).and(&format!("t.id = ? AND ({traces})"), [person.as_str().into()]);
        Ok(select.row::<Person>(self.0)?.is_some())
    }

    fn share(&mut self, community: &CommunityId, one: &PersonId, other: &PersonId) -> Found<bool> {
        let condition = "t.person = ? AND EXISTS (SELECT 1 FROM members o WHERE o.community = t.community \
                         AND o.conversation = t.conversation AND o.person = ?)";
        let params = [one.as_str().into(), other.as_str().into()];
        let shared = Select::of(community).and(condition, params).order("t.conversation", 1);
        Ok(shared.row::<Member>(self.0)?.is_some())
    }

    fn block(&mut self, community: &CommunityId, by: &PersonId, person: &PersonId) -> Found<Option<Block>> {
        let params = [by.as_str().into(), person.as_str().into()];
        Select::of(community).and("t.by_person = ? AND t.person = ?", params).row(self.0)
    }

    fn blocks(&mut self, community: &CommunityId, by: &PersonId) -> Found<Vec<Block>> {
        Select::of(community).and("t.by_person = ?", [by.as_str().into()]).order("t.person", ALL).rows(self.0)
    }

    fn revocations(
        &mut self,
        community: &CommunityId,
        after: Option<(&PersonId, &str)>,
        limit: usize,
    ) -> Found<Vec<Revocation>> {
        let mut select = Select::of(community);
        if let Some((person, token)) = after {
            select = select.and("(t.person, t.token) > (?, ?)", [person.as_str().into(), token.into()]);
        }
        select.order("t.person, t.token", limit).rows(self.0)
    }

    fn revocation(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        token: &str,
    ) -> Found<Option<Revocation>> {
        let params = [person.as_str().into(), token.into()];
        Select::of(community).and("t.person = ? AND t.token = ?", params).row(self.0)
    }

    fn revocations_count(&mut self, community: &CommunityId) -> Found<u64> {
        Select::of(community).count(self.0, Revocation::TABLE)
    }

    fn conversation(&mut self, community: &CommunityId, of: ConversationId) -> Found<Option<Conversation>> {
        Select::of(community).and("t.id = ?", [id(of)]).row(self.0)
    }

    fn room(&mut self, community: &CommunityId, name: &RoomName) -> Found<Option<Conversation>> {
        Select::of(community).and("t.name = ?", [name.as_str().into()]).row(self.0)
    }

    fn direct(&mut self, community: &CommunityId, pair: &Pair) -> Found<Option<Conversation>> {
        Select::of(community).and("t.pair = ?", [pair.key().into()]).row(self.0)
    }

    fn rooms(
        &mut self,
        community: &CommunityId,
        after: Option<&RoomName>,
        private: bool,
        limit: usize,
    ) -> Found<Vec<Conversation>> {
        let after = after.map_or("", RoomName::as_str);
        let mut rooms = Select::of(community).and("t.name > ?", [after.into()]);
        if !private {
            rooms = rooms.and("t.kind <> 'private'", []);
        }
        rooms.order("t.name", limit).rows(self.0)
    }

    fn unfinished_erasure(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
    ) -> Found<Option<UnfinishedErasure>> {
        Select::of(community).and("t.conversation = ?", [id(of)]).row(self.0)
    }

    fn unfinished_erasure_named(
        &mut self,
        community: &CommunityId,
        name: &RoomName,
    ) -> Found<Option<UnfinishedErasure>> {
        Select::of(community).and("t.name = ?", [name.as_str().into()]).row(self.0)
    }

    fn unfinished_erasures(
        &mut self,
        community: &CommunityId,
        limit: usize,
    ) -> Found<Vec<UnfinishedErasure>> {
        Select::of(community).order("t.conversation", limit).rows(self.0)
    }

    fn abandoned_erasures(
        &mut self,
        untouched_since: Moment,
        limit: usize,
    ) -> Found<Vec<(CommunityId, ConversationId)>> {
        super::erasures::abandoned(self.0, untouched_since, limit)
    }

    fn put_unfinished_erasure(&mut self, community: &CommunityId, row: &UnfinishedErasure) -> Found<()> {
        insert(self.0, community, row)
    }

    fn member(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
    ) -> Found<Option<Member>> {
        let params = [id(of), person.as_str().into()];
        Select::of(community).and("t.conversation = ? AND t.person = ?", params).row(self.0)
    }

    fn members(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Member>> {
        let after = after.map(|person| person.as_str().into());
        let members = Select::of(community).and("t.conversation = ?", [id(of)]).after("t.person", after);
        members.order("t.person", limit).rows(self.0)
    }

    fn delivery(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        id: DeliveryId,
    ) -> Found<Option<Delivery>> {
        let params = [Param::id(endpoint.0), Param::id(id.0)];
        Select::of(community).and("t.endpoint = ? AND t.id = ?", params).row(self.0)
    }

    fn deliveries(
        &mut self,
        community: &CommunityId,
        endpoint: KeyId,
        given_up: bool,
        limit: usize,
    ) -> Found<Vec<Delivery>> {
        let which = if given_up { "t.given_up_ms IS NOT NULL" } else { "t.given_up_ms IS NULL" };
        let of = Select::of(community).and("t.endpoint = ?", [Param::id(endpoint.0)]);
        of.and(which, []).order("t.id", limit).rows(self.0)
    }

    fn dead_letters_count(&mut self, community: &CommunityId) -> Found<u64> {
        Select::of(community).and("t.given_up_ms IS NOT NULL", []).count(self.0, Delivery::TABLE)
    }

    fn undelivered(
        &mut self,
        holder: &str,
        abandoned_before: Moment,
        after: Option<&(CommunityId, KeyId, DeliveryId)>,
        limit: usize,
    ) -> Found<Vec<(CommunityId, Delivery)>> {
        super::delivery::undelivered(self.0, holder, abandoned_before, after, limit)
    }

    fn put_delivery(&mut self, community: &CommunityId, delivery: &Delivery) -> Found<()> {
        insert(self.0, community, delivery)
    }

    fn owners(&mut self, community: &CommunityId, of: ConversationId) -> Found<u64> {
        let params = [id(of), Role::Owner.name().into()];
        Select::of(community).and("t.conversation = ? AND t.role = ?", params).count(self.0, Member::TABLE)
    }

    fn first_with_role(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        role: Role,
        except: &PersonId,
    ) -> Found<Option<Member>> {
        let params = [id(of), role.name().into(), except.as_str().into()];
        let others = Select::of(community).and("t.conversation = ? AND t.role = ? AND t.person <> ?", params);
        others.order("t.person", 1).row(self.0)
    }

    fn memberships_count(&mut self, community: &CommunityId, person: &PersonId) -> Found<u64> {
        let all = Select::of(community).and("t.person = ?", [person.as_str().into()]);
        all.count(self.0, Member::TABLE)
    }

    fn memberships(
        &mut self,
        community: &CommunityId,
        person: &PersonId,
        before: Option<(Moment, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>> {
        super::memberships::memberships(self.0, community, person, before, limit)
    }

    fn memberships_among(
        &mut self,
        community: &CommunityId,
        people: &[PersonId],
        after: Option<&(PersonId, ConversationId)>,
        limit: usize,
    ) -> Found<Vec<Membership>> {
        super::memberships::memberships_among(self.0, community, people, after, limit)
    }

    fn receipts(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<ReceiptCounts> {
        super::memberships::receipts(self.0, community, of, seq)
    }

    fn invitation(&mut self, community: &CommunityId, invitation: InvitationId) -> Found<Option<Invitation>> {
        Select::of(community).and("t.id = ?", [Param::id(invitation.0)]).row(self.0)
    }

    fn invitations(
        &mut self,
        community: &CommunityId,
        into: Option<ConversationId>,
        person: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Invitation>> {
        let mut select = match person {
            Some(person) => Select::of(community).and("t.person = ?", [person.as_str().into()]),
            None => Select::of(community).and("t.person IS NULL", []),
        };
        if let Some(into) = into {
            select = select.and("t.conversation = ?", [id(into)]);
        }
        select.order("t.id", limit).rows(self.0)
    }

    fn sanctions(&mut self, community: &CommunityId, person: &PersonId) -> Found<Vec<Sanction>> {
        Select::of(community)
            .and("t.person = ?", [person.as_str().into()])
            .order("t.conversation, t.kind", ALL)
            .rows(self.0)
    }

    fn sanctions_among(&mut self, community: &CommunityId, people: &[PersonId]) -> Found<Vec<Sanction>> {
        let order = "t.person, t.conversation, t.kind";
        Select::of(community).among("t.person", people).order(order, ALL).rows(self.0)
    }

    fn sanctions_of(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<&PersonId>,
        limit: usize,
    ) -> Found<Vec<Sanction>> {
        let after = after.map(|person| person.as_str().into());
        let found = Select::of(community).and("t.conversation = ?", [scope(of)]).after("t.person", after);
        found.order("t.person, t.kind", limit).rows(self.0)
    }

    fn report(&mut self, community: &CommunityId, report: ReportId) -> Found<Option<Report>> {
        Select::of(community).and("t.id = ?", [Param::id(report.0)]).row(self.0)
    }

    fn report_by(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        seq: Seq,
        by: &PersonId,
    ) -> Found<Option<Report>> {
        Select::of(community)
            .and("t.conversation = ?", [id(of)])
            .and("t.seq = ?", [Param::number(seq.0)])
            .and("t.by_person = ?", [by.as_str().into()])
            // The same condition as the index, which leaves out reports by keys.
            .and("substr(t.by_person, 1, 1) <> '~'", [])
            .row(self.0)
    }

    fn reports(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        after: Option<ReportId>,
        limit: usize,
    ) -> Found<Vec<Report>> {
        let mut open = Select::of(community).and("t.settled_ms IS NULL", []);
        if let Some(of) = of {
            open = open.and("t.conversation = ?", [id(of)]);
        }
        open.after("t.id", after.map(|report| Param::id(report.0))).order("t.id", limit).rows(self.0)
    }

    fn audit(
        &mut self,
        community: &CommunityId,
        of: Option<ConversationId>,
        before: Option<AuditId>,
        limit: usize,
    ) -> Found<Vec<Audit>> {
        let mut entries = Select::of(community);
        if let Some(of) = of {
            entries = entries.and("t.conversation = ?", [id(of)]);
        }
        if let Some(before) = before {
            entries = entries.and("t.id < ?", [Param::id(before.0)]);
        }
        entries.order("t.id DESC", limit).rows(self.0)
    }

    fn message(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Option<Message>> {
        Select::of(community).and(AT_PLACE, place(of, seq)).row(self.0)
    }

    fn message_named(&mut self, community: &CommunityId, message: MessageId) -> Found<Option<Message>> {
        Select::of(community).and("t.id = ?", [Param::id(message.0)]).row(self.0)
    }

    fn message_sent(
        &mut self,
        community: &CommunityId,
        by: &PersonId,
        sent: &ClientId,
    ) -> Found<Option<Message>> {
        let params = [by.as_str().into(), sent.as_str().into()];
        Select::of(community).and("t.sender = ? AND t.client_id = ?", params).row(self.0)
    }

    fn messages(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        places: RangeInclusive<Seq>,
        backwards: bool,
        limit: usize,
    ) -> Found<Vec<Message>> {
        let order = if backwards { "t.seq DESC" } else { "t.seq" };
        Select::of(community).and(IN_SPAN, span(of, &places)).order(order, limit).rows(self.0)
    }

    fn changed(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        after: Revision,
        limit: usize,
    ) -> Found<Vec<Message>> {
        // The index on changed messages is limited to `revision > 0`.
        let condition = "t.conversation = ? AND t.revision > ? AND t.revision > 0";
        let changed = Select::of(community).and(condition, [id(of), Param::number(after.0)]);
        changed.order("t.revision", limit).rows(self.0)
    }

    fn edits(&mut self, community: &CommunityId, of: ConversationId, seq: Seq) -> Found<Vec<Edit>> {
        Select::of(community).and(AT_PLACE, place(of, seq)).order("t.nth", ALL).rows(self.0)
    }

    fn tallies(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        places: RangeInclusive<Seq>,
        asker: &PersonId,
    ) -> Found<Vec<(Seq, Tally)>> {
        super::reactions::tallies(self.0, community, span(of, &places), asker)
    }

    fn own_reactions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        places: RangeInclusive<Seq>,
        person: &PersonId,
    ) -> Found<Vec<Reaction>> {
        let own = Select::of(community).and("t.person = ?", [person.as_str().into()]);
        own.and(IN_SPAN, span(of, &places)).order("t.seq, t.emoji", ALL).rows(self.0)
    }

    fn mentions(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        person: &PersonId,
        after: Seq,
    ) -> Found<u64> {
        let params = [person.as_str().into(), id(of), Param::number(after.0)];
        let mentions = Select::of(community).and("t.person = ? AND t.conversation = ? AND t.seq > ?", params);
        mentions.count(self.0, Mention::TABLE)
    }

    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        self.0.search(community, search)
    }

    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        self.0.facts(sendings)
    }

    fn append(&mut self, batch: &AppendBatch) -> Found<()> {
        self.0.append(batch)
    }

    fn replace(&mut self, community: &CommunityId, old: &Message, new: &Message) -> Found<()> {
        super::writing::replace(self.0, community, old, new)
    }

    fn put(&mut self, community: &CommunityId, record: &Record) -> Found<()> {
        super::writing::put(self.0, community, record)
    }

    fn remove(&mut self, community: &CommunityId, target: &Target) -> Found<()> {
        super::removal::remove(self.0, community, target)
    }

    fn outdated(
        &mut self,
        community: &CommunityId,
        before: MessageId,
        limit: usize,
    ) -> Found<Vec<(ConversationId, Seq)>> {
        let oldest = Select::of(community).and("t.id < ?", [Param::id(before.0)]).order("t.id", limit);
        let found: Vec<Message> = oldest.rows(self.0)?;
        Ok(found.into_iter().map(|message| (message.conversation, message.seq)).collect())
    }

    fn scan(
        &mut self,
        community: &CommunityId,
        table: Table,
        person: Option<&PersonId>,
        after: Option<&str>,
        limit: usize,
    ) -> Found<Vec<Scanned>> {
        super::scan::scan(self, community, &super::scan::Part { table, person, after, limit })
    }

    fn records_of(
        &mut self,
        community: &CommunityId,
        of: ConversationId,
        table: Table,
        limit: usize,
    ) -> Found<Vec<Record>> {
        super::erasures::records_of(self.0, community, of, table, limit)
    }
}
