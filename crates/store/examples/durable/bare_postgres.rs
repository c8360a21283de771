//! The baseline without rules on PostgreSQL: writes all rows that the store writes for each message, with one statement
//! per table, and sends the next transaction before the previous one is answered.

use crate::measured::Measured;
use crate::senders::{Pair, text};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Transactions sent but not yet answered: enough that the server always has one to run.
const ON_THEIR_WAY: usize = 2;

const INSERT: &str = "INSERT INTO messages \
    (community, conversation, seq, id, sender, client_id, at_ms, text, mentions, attachments, edits, moderated, revision, words) \
    SELECT $1, a.conversation, a.seq, a.id, a.sender, a.client_id, $2, a.text, '', '', 0, 0, 0, CAST(a.words AS tsvector) \
    FROM unnest($3::bytea[], $4::bigint[], $5::bytea[], $6::text[], $7::text[], $8::text[], $9::text[]) \
    AS a (conversation, seq, id, sender, client_id, text, words)";

const CONVERSATIONS: &str = "UPDATE conversations c SET last_seq = a.seq, active_ms = $2 \
    FROM unnest($3::bytea[], $4::bigint[]) AS a (id, seq) WHERE c.community = $1 AND c.id = a.id";

const MEMBERS: &str = "UPDATE members m SET sent_ms = $2, delivered_seq = a.seq, read_seq = a.seq \
    FROM unnest($3::bytea[], $4::text[], $5::bigint[]) AS a (conversation, person, seq) \
    WHERE m.community = $1 AND m.conversation = a.conversation AND m.person = a.person";

/// Sends messages of both people of each pair, one of each per transaction, until `messages` were sent.
pub(crate) fn run(url: &str, community: &str, pairs: &[Pair], messages: usize) -> Measured {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is room");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server is there");
        let moving = tokio::spawn(connection);
        let bare = Arc::new(Bare::prepare(client, community.to_owned()).await);
        let begun = Instant::now();
        let mut acks = Vec::with_capacity(messages);
        let mut on_their_way = VecDeque::new();
        let mut sent = 0;
        while acks.len() < messages {
            while sent < messages && on_their_way.len() < ON_THEIR_WAY {
                let rows = Rows::of(pairs, sent, messages);
                sent += rows.count();
                on_their_way.push_back(tokio::spawn(Arc::clone(&bare).transaction(rows)));
            }
            let answered = on_their_way.pop_front().expect("one is on its way");
            acks.extend(answered.await.expect("the server takes them"));
        }
        let took = begun.elapsed();
        drop(bare);
        moving.await.expect("nothing panics").expect("the connection lasts");
        Measured { acks, took }
    })
}

struct Bare {
    client: Client,
    community: String,
    insert: Statement,
    conversations: Statement,
    members: Statement,
}

/// A transaction's rows, in columns.
#[derive(Default)]
struct Rows {
    conversations: Vec<Vec<u8>>,
    seqs: Vec<i64>,
    ids: Vec<Vec<u8>>,
    senders: Vec<String>,
    client_ids: Vec<String>,
    texts: Vec<String>,
    // One entry per conversation.
    of_conversations: Vec<Vec<u8>>,
    last_seqs: Vec<i64>,
}

impl Rows {
    /// The next message of each person, after `sent` earlier ones; at most `messages` in total.
    fn of(pairs: &[Pair], sent: usize, messages: usize) -> Self {
        let mut rows = Self::default();
        let round = sent / (2 * pairs.len());
        for pair in pairs {
            let conversation = pair.conversation.0.to_bytes().to_vec();
            for (place, person) in pair.people.iter().enumerate() {
                let nth = sent + rows.count();
                if nth == messages {
                    break;
                }
                rows.conversations.push(conversation.clone());
                rows.seqs.push((2 * round + place + 1) as i64);
                rows.ids.push((nth as u128).to_be_bytes().to_vec());
                rows.senders.push(person.clone());
                rows.client_ids.push(format!("c{nth}"));
                rows.texts.push(text(nth));
            }
            if let Some(last) = rows.seqs.last()
                && rows.conversations.last() == Some(&conversation)
            {
                rows.last_seqs.push(*last);
                rows.of_conversations.push(conversation);
            }
        }
        rows
    }

    fn count(&self) -> usize {
        self.texts.len()
    }
}

impl Bare {
    async fn prepare(client: Client, community: String) -> Self {
        let insert = client.prepare(INSERT).await.expect("it is SQL");
        let conversations = client.prepare(CONVERSATIONS).await.expect("it is SQL");
        let members = client.prepare(MEMBERS).await.expect("it is SQL");
        Self { client, community, insert, conversations, members }
    }

    /// Runs one transaction; returns the latency of each of its messages.
    async fn transaction(self: Arc<Self>, rows: Rows) -> Vec<Duration> {
        let Self { client, community, insert, conversations, members } = &*self;
        let sent = Instant::now();
        let words: Vec<String> = rows.texts.iter().map(|text| format!("{community} {text}")).collect();
        let at_ms = rows.seqs.last().copied().unwrap_or_default();
        let insert_params: Params<'_> = &[
            community,
            &at_ms,
            &rows.conversations,
            &rows.seqs,
            &rows.ids,
            &rows.senders,
            &rows.client_ids,
            &rows.texts,
            &words,
        ];
        let conversations_params: Params<'_> = &[community, &at_ms, &rows.of_conversations, &rows.last_seqs];
        let members_params: Params<'_> = &[community, &at_ms, &rows.conversations, &rows.senders, &rows.seqs];
        let done = tokio::try_join!(
            client.batch_execute("BEGIN"),
            client.execute(insert, insert_params),
            client.execute(conversations, conversations_params),
            client.execute(members, members_params),
            client.batch_execute("COMMIT"),
        );
        let (.., members, ()) = done.expect("the server takes them");
        assert_eq!(members as usize, rows.count(), "each message is one of a member");
        vec![sent.elapsed(); rows.count()]
    }
}
