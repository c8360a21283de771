//! Scans the in-memory rows, for export and erasure.

use super::Shelf;
use crate::ids::{ConversationId, PersonId};
use crate::message::Mention;
use crate::rows::{Record, Scanned, Table};

impl Shelf {
    pub(super) fn scan(
        &self,
        table: Table,
        person: Option<&PersonId>,
        after: Option<&str>,
        limit: usize,
    ) -> Vec<Scanned> {
        // A key's text form sorts as the key does where its parts are ids; all that matters is that the order is
        // stable.
        let mut found: Vec<Scanned> = self
            .records(table)
            .into_iter()
            .filter(|record| person.is_none_or(|person| self.is_about(record, person)))
            .map(|record| Scanned { position: position(&record), record })
            .filter(|scanned| after.is_none_or(|after| scanned.position.as_str() > after))
            .collect();
        found.sort_by(|one, other| one.position.cmp(&other.position));
        found.truncate(limit);
        found
    }

    pub(super) fn records_of(&self, of: ConversationId, table: Table, limit: usize) -> Vec<Record> {
        // All are sorted by keys in which the conversation's part is the same.
        let all = self.records(table).into_iter();
        all.filter(|record| record.conversation() == Some(of)).take(limit).collect()
    }

    fn records(&self, table: Table) -> Vec<Record> {
        fn all<'a, T: Clone + Into<Record> + 'a>(rows: impl Iterator<Item = &'a T>) -> Vec<Record> {
            rows.cloned().map(Into::into).collect()
        }
        match table {
            Table::Community => all(self.community.iter()),
            Table::Key => all(self.keys.values()),
            Table::Person => all(self.people.values()),
            Table::Block => all(self.blocks.values()),
            Table::Revocation => all(self.revocations.values()),
            Table::Conversation => all(self.conversations.values()),
            Table::Member => all(self.members.values()),
            Table::Invitation => all(self.invitations.values()),
            Table::Sanction => all(self.sanctions.values()),
            Table::Message => all(self.messages.values()),
            Table::Edit => all(self.edits.values()),
            Table::Reaction => all(self.reactions.values()),
            Table::Mention => {
                let row = |(person, conversation, seq): &(PersonId, _, _)| {
                    Mention { person: person.clone(), conversation: *conversation, seq: *seq }.into()
                };
                self.mentions.iter().map(row).collect()
            }
            Table::Report => all(self.reports.values()),
            Table::Audit => all(self.audit.values()),
        }
    }

    fn is_about(&self, record: &Record, person: &PersonId) -> bool {
        match record {
            Record::Community(_) | Record::Key(_) => false,
            Record::Person(row) => row.id == *person,
            Record::Block(row) => row.by == *person || row.person == *person,
            Record::Revocation(row) => row.person == *person,
            Record::Conversation(row) => self.members.contains_key(&(row.id, person.clone())),
            Record::Member(row) => row.person == *person,
            Record::Invitation(row) => row.by == *person || row.person.as_ref() == Some(person),
            Record::Sanction(row) => row.person == *person || row.by == *person,
            Record::Message(row) => row.sender == *person,
            Record::Edit(row) => {
                let edited = self.messages.get(&(row.conversation, row.seq));
                edited.is_some_and(|message| message.sender == *person)
            }
            Record::Reaction(row) => row.person == *person,
            Record::Mention(row) => row.person == *person,
            Record::Report(row) => {
                let settled_by = row.settled.as_ref().map(|settled| &settled.by);
                row.author == *person || row.by == *person || settled_by == Some(person)
            }
            Record::Audit(row) => row.by == *person || row.person.as_ref() == Some(person),
        }
    }
}

fn position(record: &Record) -> String {
    match record {
        Record::Community(row) => row.id.to_string(),
        Record::Key(row) => row.id.to_string(),
        Record::Person(row) => row.id.to_string(),
        Record::Block(row) => format!("{} {}", row.by, row.person),
        Record::Revocation(row) => format!("{} {}", row.person, row.token_or_all()),
        Record::Conversation(row) => row.id.to_string(),
        Record::Member(row) => format!("{} {}", row.conversation, row.person),
        Record::Invitation(row) => row.id.to_string(),
        Record::Sanction(row) => {
            let place = row.conversation.map(|id| id.to_string()).unwrap_or_default();
            format!("{} {place} {}", row.person, row.kind.name())
        }
        Record::Message(row) => format!("{} {:020}", row.conversation, row.seq.0),
        Record::Edit(row) => format!("{} {:020} {:010}", row.conversation, row.seq.0, row.nth),
        Record::Reaction(row) => {
            format!("{} {:020} {} {}", row.conversation, row.seq.0, row.person, row.emoji)
        }
        Record::Mention(row) => format!("{} {} {:020}", row.person, row.conversation, row.seq.0),
        Record::Report(row) => row.id.to_string(),
        Record::Audit(row) => row.id.to_string(),
    }
}
