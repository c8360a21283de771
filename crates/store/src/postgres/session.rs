//! A transaction on PostgreSQL.

use super::arrays::{Columns as Arrays, Type, unnest};
use super::client::{Client, Params};
use crate::sql::{
    Columns, Entity, Param, Select, Session, columns_of, corrupt, entry, facts_columns, read_facts, scope,
};
use chat::limits::SEARCH_MS_MAX;
use chat::rows::{AppendBatch, Found, Search, Sending, SendingFacts};
use chat::{CommunityId, Mention, Message, Sanction};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::LazyLock;
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type as SqlType, to_sql_checked};

/// A connection within a transaction.
pub(super) struct PostgresSession<'a> {
    client: &'a mut Client,
    /// The statement that begins the transaction, until it has begun: it is sent together with the first query.
    begin: Option<&'static str>,
    /// Appended rows that are not sent yet: they are sent together with the commit.
    appended: Vec<Appended>,
}

/// Rows to write with one statement.
struct Appended {
    sql: &'static str,
    rows: Arrays,
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        sql_type: &SqlType,
        out: &mut bytes::BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(sql_type, out),
            Self::Text(text) => text.as_ref().to_sql(sql_type, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql(sql_type, out),
        }
    }

    fn accepts(sql_type: &SqlType) -> bool {
        [SqlType::INT8, SqlType::TEXT, SqlType::BYTEA].contains(sql_type)
    }

    to_sql_checked!();
}

impl Columns for Row {
    fn integer(&self, at: usize) -> Found<Option<i64>> {
        self.try_get(at).map_err(|error| corrupt(error.to_string()))
    }

    fn text(&self, at: usize) -> Found<Option<&str>> {
        self.try_get(at).map_err(|error| corrupt(error.to_string()))
    }

    fn bytes(&self, at: usize) -> Found<Option<&[u8]>> {
        self.try_get(at).map_err(|error| corrupt(error.to_string()))
    }
}

fn borrowed<'a>(params: &'a [Param<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}

impl Session for PostgresSession<'_> {
    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        self.rows(sql, &borrowed(params), each)
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Found<u64> {
        self.change(sql, &borrowed(params))
    }

    fn index(&mut self, community: &CommunityId, message: &Message) -> Found<()> {
        let sql = "UPDATE messages SET words = CAST(CAST(?1 AS text) AS tsvector) \
                   WHERE community = ?2 AND conversation = ?3 AND seq = ?4";
        let params = [
            vector(community, &message.text),
            community.as_str().into(),
            Param::id(message.conversation.0),
            Param::number(message.seq.0),
        ];
        self.execute(sql, &params).map(drop)
    }

    /// The words are stored in the message's row and are removed with it.
    fn forget_words(&mut self, _: &CommunityId, _: &Message) -> Found<()> {
        Ok(())
    }

    fn search(&mut self, community: &CommunityId, search: &Search) -> Found<Vec<Message>> {
        // Applies until the transaction ends: what follows in it reads single rows.
        let deadline = format!("SET LOCAL statement_timeout = {SEARCH_MS_MAX}");
        self.come_to_date()?;
        self.client.batch(&deadline)?;
        let question = question(community, search);
        let mut select = Select::of(community)
            .and("t.words @@ CAST(CAST(? AS text) AS tsquery)", [question.into()])
            .within(&search.within);
        if let Some(before) = search.before {
            select = select.and("t.id < ?", [Param::id(before.0)]);
        }
        select.order("t.id DESC", search.limit).rows(self)
    }

    fn facts(&mut self, sendings: &[Sending<'_>]) -> Found<Vec<SendingFacts>> {
        let mut facts = vec![SendingFacts::default(); sendings.len()];
        let mut asked = Arrays::new(&[Type::Text, Type::Bytes, Type::Text, Type::Text]);
        for sending in sendings {
            asked.push([
                sending.community.as_str().into(),
                Param::id(sending.conversation.0),
                sending.sender.as_str().into(),
                sending.client_id.map_or(Param::Null, |id| id.as_str().into()),
            ]);
        }
        let params = asked.params();
        let (who, sent) = ([params[0], params[2]], [params[0], params[2], params[3]]);
        let mut questions: Vec<(&str, Params<'_>)> = vec![
            (LOCK.as_str(), &params[..2]),
            (FACTS.as_str(), &params[..3]),
            (SANCTIONS.as_str(), who.as_slice()),
        ];
        if sendings.iter().any(|sending| sending.client_id.is_some()) {
            questions.push((EARLIER.as_str(), sent.as_slice()));
        }
        // Each query sees what is committed when its turn comes, which is after the lock.
        let mut answers = self.ask_all(&questions)?.into_iter().skip(1);
        for row in answers.next().unwrap_or_default() {
            let facts = place(&mut facts, &row)?;
            facts.blocked = row.integer(1)? == Some(1);
            read_facts(&row, 2, facts)?;
        }
        for row in answers.next().unwrap_or_default() {
            place(&mut facts, &row)?.sanctions.push(Sanction::read(&row, 1)?);
        }
        for row in answers.next().unwrap_or_default() {
            place(&mut facts, &row)?.earlier = Some(Message::read(&row, 1)?);
        }
        Ok(facts)
    }

    fn append(&mut self, batch: &AppendBatch) -> Found<()> {
        let mut messages = Arrays::new(&MESSAGE_TYPES);
        let mut mentions = Arrays::new(&[Type::Text, Type::Text, Type::Bytes, Type::Integer]);
        for (community, message) in &batch.messages {
            let own = message.params().into_iter().chain([vector(community, &message.text)]);
            messages.push([Param::from(community.as_str())].into_iter().chain(own));
            for person in &message.mentions {
                let here = [Param::id(message.conversation.0), Param::number(message.seq.0)];
                mentions.push([community.as_str().into(), person.as_str().into()].into_iter().chain(here));
            }
        }
        self.appended.push(Appended { sql: &INSERT_MESSAGES, rows: messages });
        if batch.messages.iter().any(|(_, message)| !message.mentions.is_empty()) {
            self.appended.push(Appended { sql: &INSERT_MENTIONS, rows: mentions });
        }
        let mut conversations = Arrays::new(&[Type::Text, Type::Bytes, Type::Integer, Type::Integer]);
        for (community, row) in &batch.conversations {
            let numbers = [Param::number(row.last.0), Param::number(row.active.millis())];
            conversations.push([community.as_str().into(), Param::id(row.id.0)].into_iter().chain(numbers));
        }
        self.appended.push(Appended { sql: UPDATE_CONVERSATIONS, rows: conversations });
        let number = Type::Integer;
        let mut members = Arrays::new(&[Type::Text, Type::Bytes, Type::Text, number, number, number]);
        for (community, row) in &batch.members {
            members.push([
                community.as_str().into(),
                Param::id(row.conversation.0),
                row.person.as_str().into(),
                Param::number(row.sent.millis()),
                Param::number(row.delivered.0),
                Param::number(row.read.0),
            ]);
        }
        self.appended.push(Appended { sql: UPDATE_MEMBERS, rows: members });
        Ok(())
    }
}

impl<'a> PostgresSession<'a> {
    /// A transaction that begins with the statement `begin`.
    pub(super) fn new(client: &'a mut Client, begin: &'static str) -> Self {
        Self { client, begin: Some(begin), appended: Vec::new() }
    }

    /// Whether the server has confirmed that the transaction has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.begin.is_none()
    }

    /// Commits; durable when it returns. Appended rows are sent along: if one of their statements fails, the server
    /// rolls the whole transaction back at the `COMMIT` after it.
    pub(super) fn commit(&mut self) -> Found<()> {
        if self.appended.is_empty() {
            return if self.has_begun() { self.client.batch("COMMIT") } else { Ok(()) };
        }
        self.ensure_begun()?;
        self.write(Some("COMMIT"))
    }

    /// Sends read-only queries at once, with the transaction's `BEGIN` if it has not begun. Returns the rows of each.
    fn ask_all(&mut self, questions: &[(&str, Params<'_>)]) -> Found<Vec<Vec<Row>>> {
        if !self.appended.is_empty() {
            self.come_to_date()?;
        }
        let answers = self.client.at_once(self.begin, questions, None)?;
        self.begin = None;
        Ok(answers)
    }

    fn rows(
        &mut self,
        sql: &str,
        params: Params<'_>,
        each: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        let mut answers = self.ask_all(&[(sql, params)])?;
        answers.pop().unwrap_or_default().iter().try_for_each(|row| each(row))
    }

    fn change(&mut self, sql: &str, params: Params<'_>) -> Found<u64> {
        self.come_to_date()?;
        self.client.execute(sql, params)
    }

    /// Ensures that the transaction has begun and that the server has all appended rows.
    fn come_to_date(&mut self) -> Found<()> {
        self.ensure_begun()?;
        self.write(None)
    }

    /// Sends the `BEGIN` alone and waits for it, before writing: a write without a transaction would commit by itself.
    fn ensure_begun(&mut self) -> Found<()> {
        if let Some(begin) = self.begin {
            self.client.batch(begin)?;
            self.begin = None;
        }
        Ok(())
    }

    /// Sends the appended rows, and then `behind`.
    fn write(&mut self, behind: Option<&str>) -> Found<()> {
        if self.appended.is_empty() {
            return Ok(());
        }
        let appended = std::mem::take(&mut self.appended);
        let params: Vec<_> = appended.iter().map(|part| part.rows.params()).collect();
        let parts: Vec<(&str, Params<'_>)> =
            appended.iter().zip(&params).map(|(part, params)| (part.sql, params.as_slice())).collect();
        self.client.at_once(None, &parts, behind).map(drop)
    }
}

/// Returns the facts that a row belongs to: its first column is the query's number, from 1.
fn place<'a>(facts: &'a mut [SendingFacts], row: &dyn Columns) -> Found<&'a mut SendingFacts> {
    let place = row.integer(0)?.and_then(|place| usize::try_from(place - 1).ok());
    place
        .and_then(|place| facts.get_mut(place))
        .ok_or_else(|| corrupt("a result does not belong to any request"))
}

/// A `tsvector` as text. Words contain no quotes and no backslashes.
fn vector<'a>(community: &CommunityId, text: &str) -> Param<'a> {
    entry(community, text).map_or(Param::Null, |words| {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        Param::from(quoted.join(" "))
    })
}

/// A `tsquery` as text: all words and the community.
fn question(community: &CommunityId, search: &Search) -> String {
    let mut question = format!("'{}'", scope(community));
    for word in &search.words {
        let _ = write!(question, " & '{word}'");
    }
    if search.beginning {
        question.push_str(":*");
    }
    question
}

/// Locks in a fixed order, so that two writers cannot deadlock.
static LOCK: LazyLock<String> = LazyLock::new(|| {
    let pairs = unnest(&[Type::Text, Type::Bytes]);
    format!(
        "SELECT 1 FROM conversations WHERE (community, id) IN (SELECT * FROM {pairs}) ORDER BY community, id FOR UPDATE"
    )
});

/// SQL for the other person of a sender's direct conversation.
const PARTNER: &str = "CASE s.sender WHEN split_part(c.pair, ' ', 1) THEN split_part(c.pair, ' ', 2) \
     WHEN split_part(c.pair, ' ', 2) THEN split_part(c.pair, ' ', 1) END";

/// All joins use whole keys that are columns of `s`: with part of a key from the conversation and part from the sender,
/// PostgreSQL would look up all of the community in the index, and compare the rest row by row.
static FACTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT s.n, (EXISTS (SELECT 1 FROM blocks b \
                 WHERE b.community = s.community AND b.by_person = s.sender AND b.person = {PARTNER}) \
             OR EXISTS (SELECT 1 FROM blocks b \
                 WHERE b.community = s.community AND b.by_person = {PARTNER} AND b.person = s.sender))::int::bigint, \
             {} \
         FROM {} WITH ORDINALITY AS s (community, conversation, sender, n) \
         JOIN conversations c ON c.community = s.community AND c.id = s.conversation \
         LEFT JOIN members m ON m.community = s.community AND m.conversation = s.conversation AND m.person = s.sender \
         LEFT JOIN people p ON p.community = s.community AND p.id = s.sender",
        facts_columns(),
        unnest(&[Type::Text, Type::Bytes, Type::Text]),
    )
});

static SANCTIONS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT s.n, {} FROM {} WITH ORDINALITY AS s (community, sender, n) \
         JOIN sanctions t ON t.community = s.community AND t.person = s.sender ORDER BY s.n, t.conversation, t.kind",
        columns_of::<Sanction>("t"),
        unnest(&[Type::Text, Type::Text]),
    )
});

static EARLIER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT s.n, {} FROM {} WITH ORDINALITY AS s (community, sender, client_id, n) \
         JOIN messages t ON t.community = s.community AND t.sender = s.sender AND t.client_id = s.client_id",
        columns_of::<Message>("t"),
        unnest(&[Type::Text, Type::Text, Type::Text]),
    )
});

/// The community, a message's columns, and its words.
const MESSAGE_TYPES: [Type; 17] = {
    use Type::{Bytes, Integer, Text};
    [
        Text, Bytes, Integer, Bytes, Text, Text, Integer, Text, Integer, Text, Text, Integer, Integer,
        Integer, Integer, Integer, Text,
    ]
};

static INSERT_MESSAGES: LazyLock<String> = LazyLock::new(|| {
    let columns = Message::COLUMNS.join(", ");
    format!(
        "INSERT INTO messages (community, {columns}, words) SELECT community, {columns}, CAST(words AS tsvector) \
         FROM {} AS a (community, {columns}, words)",
        unnest(&MESSAGE_TYPES)
    )
});

static INSERT_MENTIONS: LazyLock<String> = LazyLock::new(|| {
    let columns = Mention::COLUMNS.join(", ");
    let rows = unnest(&[Type::Text, Type::Text, Type::Bytes, Type::Integer]);
    format!("INSERT INTO mentions (community, {columns}) SELECT * FROM {rows}")
});

const UPDATE_CONVERSATIONS: &str = "UPDATE conversations c SET last_seq = a.last, active_ms = a.active \
     FROM unnest(?1::text[], ?2::bytea[], ?3::bigint[], ?4::bigint[]) AS a (community, id, last, active) \
     WHERE c.community = a.community AND c.id = a.id";

const UPDATE_MEMBERS: &str = "UPDATE members m SET sent_ms = a.sent, delivered_seq = a.delivered, read_seq = a.read \
     FROM unnest(?1::text[], ?2::bytea[], ?3::text[], ?4::bigint[], ?5::bigint[], ?6::bigint[]) \
     AS a (community, conversation, person, sent, delivered, read) \
     WHERE m.community = a.community AND m.conversation = a.conversation AND m.person = a.person";
