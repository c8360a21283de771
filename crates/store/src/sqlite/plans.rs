//! Checks SQLite's query plans: what belongs to one person or one conversation must never be searched for in the whole
//! community.

use super::migrations::migrate;
use super::session::FACTS;
use crate::sql::{Columns, Param, Session, SqlRows};
use chat::rows::{AppendBatch, Found, Rows, Search, Sending, SendingFacts, Table};
use chat::*;
use rusqlite::Connection;

/// Collects the plans of statements, and returns no rows.
struct Explaining<'a> {
    connection: &'a Connection,
    steps: Vec<String>,
}

impl Explaining<'_> {
    fn explain(&mut self, sql: &str) {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = self.connection.prepare(&sql).expect("a statement");
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().expect("a plan") {
            self.steps.push(row.get(3).expect("a step"));
        }
    }
}

impl Session for Explaining<'_> {
    fn query(
        &mut self,
        sql: &str,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        self.explain(sql);
        Ok(())
    }

    fn execute(&mut self, sql: &str, _: &[Param<'_>]) -> Found<u64> {
        self.explain(sql);
        Ok(0)
    }

    fn index(&mut self, _: &CommunityId, _: &Message) -> Found<()> {
        Ok(())
    }

    fn forget_words(&mut self, _: &CommunityId, _: &Message) -> Found<()> {
        Ok(())
    }

    fn search(&mut self, _: &CommunityId, _: &Search) -> Found<Vec<Message>> {
        Ok(Vec::new())
    }

    fn facts(&mut self, _: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        Ok(Vec::new())
    }

    fn append(&mut self, _: &AppendBatch) -> Found<()> {
        Ok(())
    }
}

type Asked = fn(&mut dyn Rows);

fn acme() -> CommunityId {
    CommunityId::parse("acme").expect("an id")
}

fn ann() -> PersonId {
    PersonId::parse("ann").expect("an id")
}

fn ulid() -> Ulid {
    Ulid::from_bytes([7; 16])
}

fn there() -> ConversationId {
    ConversationId(ulid())
}

/// The tables from which an erasure of a conversation removes rows.
const ERASED: [Table; 7] = [
    Table::Reaction,
    Table::Message,
    Table::Member,
    Table::Invitation,
    Table::Sanction,
    Table::Report,
    Table::Audit,
];

const SPAN: std::ops::RangeInclusive<Seq> = Seq(1)..=Seq(9);

/// Queries about one person, one conversation or one thing, by name.
const OF_ONE: &[(&str, Asked)] = &[
    ("key", |rows| drop(rows.key(&acme(), KeyId(ulid())))),
    ("person", |rows| drop(rows.person(&acme(), &ann()))),
    ("is_remembered", |rows| drop(rows.is_remembered(&acme(), &ann()))),
    ("share", |rows| drop(rows.share(&acme(), &ann(), &ann()))),
    ("block", |rows| drop(rows.block(&acme(), &ann(), &ann()))),
    ("blocks", |rows| drop(rows.blocks(&acme(), &ann()))),
    ("conversation", |rows| drop(rows.conversation(&acme(), there()))),
    ("room", |rows| drop(rows.room(&acme(), &RoomName::parse("lobby").expect("a name")))),
    ("unfinished_erasure", |rows| drop(rows.unfinished_erasure(&acme(), there()))),
    ("unfinished_erasure_named", |rows| {
        drop(rows.unfinished_erasure_named(&acme(), &RoomName::parse("lobby").expect("a name")));
    }),
    ("records_of", |rows| {
        for table in ERASED {
            drop(rows.records_of(&acme(), there(), table, 10));
        }
    }),
    ("member", |rows| drop(rows.member(&acme(), there(), &ann()))),
    ("members", |rows| drop(rows.members(&acme(), there(), None, 10))),
    ("members after", |rows| drop(rows.members(&acme(), there(), Some(&ann()), 10))),
    ("owners", |rows| drop(rows.owners(&acme(), there()))),
    ("memberships_count", |rows| drop(rows.memberships_count(&acme(), &ann()))),
    ("memberships", |rows| drop(rows.memberships(&acme(), &ann(), None, 10))),
    ("memberships before", |rows| {
        drop(rows.memberships(&acme(), &ann(), Some((Moment::default(), there())), 10));
    }),
    ("receipts", |rows| drop(rows.receipts(&acme(), there(), Seq(1)))),
    ("invitation", |rows| drop(rows.invitation(&acme(), InvitationId(ulid())))),
    ("invitations of a person", |rows| drop(rows.invitations(&acme(), None, Some(&ann()), 10))),
    ("invitations of both", |rows| drop(rows.invitations(&acme(), Some(there()), Some(&ann()), 10))),
    ("sanctions", |rows| drop(rows.sanctions(&acme(), &ann()))),
    ("sanctions_of", |rows| drop(rows.sanctions_of(&acme(), Some(there()), None, 10))),
    ("sanctions_of after", |rows| drop(rows.sanctions_of(&acme(), Some(there()), Some(&ann()), 10))),
    ("report", |rows| drop(rows.report(&acme(), ReportId(ulid())))),
    ("report_by", |rows| drop(rows.report_by(&acme(), there(), Seq(1), &ann()))),
    ("reports", |rows| drop(rows.reports(&acme(), Some(there()), None, 10))),
    ("audit", |rows| drop(rows.audit(&acme(), Some(there()), None, 10))),
    ("delivery", |rows| drop(rows.delivery(&acme(), KeyId(ulid()), DeliveryId(ulid())))),
    ("deliveries", |rows| drop(rows.deliveries(&acme(), KeyId(ulid()), false, 10))),
    ("message", |rows| drop(rows.message(&acme(), there(), Seq(1)))),
    ("message_named", |rows| drop(rows.message_named(&acme(), MessageId(ulid())))),
    ("message_sent", |rows| {
        drop(rows.message_sent(&acme(), &ann(), &ClientId::parse("c1").expect("an id")));
    }),
    ("messages", |rows| drop(rows.messages(&acme(), there(), SPAN, false, 10))),
    ("messages backwards", |rows| drop(rows.messages(&acme(), there(), SPAN, true, 10))),
    ("changed", |rows| drop(rows.changed(&acme(), there(), Revision(1), 10))),
    ("edits", |rows| drop(rows.edits(&acme(), there(), Seq(1)))),
    ("tallies", |rows| drop(rows.tallies(&acme(), there(), SPAN, &ann()))),
    ("own_reactions", |rows| drop(rows.own_reactions(&acme(), there(), SPAN, &ann()))),
    ("mentions", |rows| drop(rows.mentions(&acme(), there(), &ann(), Seq(0)))),
];

#[test]
fn what_is_one_persons_or_one_conversations_is_not_looked_for_in_the_whole_community() {
    let mut connection = Connection::open_in_memory().expect("a database");
    migrate(&mut connection).expect("tables");
    let mut searched = Vec::new();
    for (name, ask) in OF_ONE {
        let mut session = Explaining { connection: &connection, steps: Vec::new() };
        ask(&mut SqlRows(&mut session));
        assert!(!session.steps.is_empty(), "{name} asks nothing");
        let is_wide = |step: &String| step.contains("SCAN") || step.contains("(community=?)");
        searched.extend(session.steps.into_iter().filter(is_wide).map(|step| format!("{name}: {step}")));
    }
    assert_eq!(searched, Vec::<String>::new());
}

#[test]
fn erasures_that_were_broken_off_are_found_without_reading_all_communities_and_people() {
    let mut connection = Connection::open_in_memory().expect("a database");
    migrate(&mut connection).expect("tables");
    let asked: [(&str, Asked); 2] = [
        ("communities", |rows| drop(rows.half_erased_communities(Moment::default(), 10))),
        ("people", |rows| drop(rows.half_erased(Moment::default(), 10))),
    ];
    for (table, ask) in asked {
        let mut session = Explaining { connection: &connection, steps: Vec::new() };
        ask(&mut SqlRows(&mut session));
        let index = format!("INDEX {table}_erasing (erasing_ms<?)");
        let (indexed, rest): (Vec<_>, Vec<_>) =
            session.steps.into_iter().partition(|step| step.contains(&index));
        assert_eq!(indexed.len(), 1, "{rest:?}");
        // What was found is sorted.
        assert!(rest.iter().all(|step| step.starts_with("USE TEMP B-TREE")), "{rest:?}");
    }
}

#[test]
fn what_is_looked_up_before_a_message_is_found_by_indexes() {
    let mut connection = Connection::open_in_memory().expect("a database");
    migrate(&mut connection).expect("tables");
    let mut session = Explaining { connection: &connection, steps: Vec::new() };
    session.explain(&FACTS);
    let (indexed, steps): (Vec<_>, Vec<_>) =
        session.steps.into_iter().partition(|step| step.contains("SCAN indexed"));
    assert_eq!(indexed.len(), 1, "of one row");
    let is_wide = |step: &&String| step.contains("SCAN") || step.contains("(community=?)");
    assert_eq!(steps.iter().find(is_wide), None, "{steps:?}");
    let alone = steps.iter().any(|step| step.contains("COVERING INDEX messages_sent"));
    assert!(alone, "an earlier message is looked for without reading it: {steps:?}");
}
