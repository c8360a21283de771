//! Stores that older versions of the program left behind: each version's tables, with what people and their site leave in
//! them, become this version's, and nothing is lost.

use crate::acme::call;
use crate::ann::{self, ann};
use crate::postgres_server::PostgresServer;
use chat::verbs::*;
use chat::*;
use std::fs;
use std::path::Path;
use store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, export};

/// The server that has to send the delivery.
const HOLDER: &str = "node";
/// From these versions on there are revocations and deliveries, and a person reports a message once, in both databases.
const REVOCATIONS_SINCE: usize = 2;
const DELIVERIES_SINCE: usize = 3;
const ONE_REPORT_SINCE: usize = 4;
/// Greater than all ids that are drawn here.
const LATE_ID: &str = "ffffffffffffffffffffffffffffffff";

/// The steps of a database, in their order.
fn steps(database: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(database).join("migrations");
    let files = fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).expect("it can be read")).collect()
}

fn person(name: &str) -> PersonId {
    PersonId::parse(name).expect("it is a name")
}

fn delivery(endpoint: KeyId) -> Delivery {
    Delivery {
        endpoint,
        id: DeliveryId(Ulid::from_bytes([1; 16])),
        person: person("ann"),
        conversation: None,
        holder: HOLDER.into(),
        body: "{}".into(),
        queued: Moment::from_millis(1_700_000_000_000),
        attempts: 2,
        given_up: None,
    }
}

/// A store as it was left, and what is expected of it once it is upgraded.
struct Furnished {
    conversation: ConversationId,
    delivery: Delivery,
    exported: Vec<String>,
}

fn furnish(store: &dyn Store) -> Furnished {
    let conversation = ann::in_a_room(store);
    let bob = || By::Person(person("bob"));
    let profile = Profile { name: "Bob".into(), avatar: None, guest: false, role: None };
    store.ask(call(bob()).ask(Meet { profile })).expect("he may");
    store.ask(call(bob()).ask(Join { conversation, invitation: None })).expect("he may");
    for text in ["old words", "more words"] {
        let draft = Draft { mentions: vec![person("bob")], ..Draft::text(None, text) };
        store.ask(call(ann()).ask(Append { conversation, draft })).expect("she may");
    }
    let (seq, text) = (Seq(2), "better words".to_owned());
    store
        .ask(call(ann()).ask(EditText { conversation, seq, text, mentions: Vec::new() }))
        .expect("it is hers");
    store.ask(call(bob()).ask(React { conversation, seq, emoji: "👍".into(), on: true })).expect("he may");
    store.ask(call(bob()).ask(ReportMessage { conversation, seq, reason: "rude".into() })).expect("he may");
    store.ask(call(ann()).ask(BlockPerson { person: person("bob") })).expect("she may");
    let invite = Invite { conversation, person: None, until: None, uses: 9 };
    store.ask(call(By::Service).ask(invite)).expect("a key may");
    let (kind, reason) = (SanctionKind::Mute, "loud".to_owned());
    let mute =
        ImposeSanction { person: person("bob"), conversation: Some(conversation), kind, until: None, reason };
    store.ask(call(By::Service).ask(mute)).expect("a key may");
    let ends = Moment::from_millis(1_900_000_000_000);
    store
        .ask(call(By::Service).ask(Revoke { person: person("bob"), token: None, until_s: 7, ends }))
        .expect("ok");
    let key = CreateKey { name: "site".into(), purpose: serde_json::json!({}), hash: Vec::new() };
    let delivery = delivery(store.ask(call(By::Service).ask(key)).expect("a key may").id);
    store.ask(call(By::Service).ask(KeepDelivery { delivery: delivery.clone() })).expect("a key may");
    Furnished { conversation, delivery, exported: exported(store) }
}

/// All that is exported, in an order of its own.
fn exported(store: &dyn Store) -> Vec<String> {
    let mut lines = Vec::new();
    export(store, Moment::from_millis(1_700_000_100_000), &mut lines, |_| ()).expect("it can be read");
    let mut lines: Vec<_> = String::from_utf8(lines).expect("JSON").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What was upgraded from that version is what was furnished, as far as that version knew it, and goes on.
fn check(store: &dyn Store, furnished: &Furnished, version: usize) {
    let knows = |line: &&String| version >= REVOCATIONS_SINCE || !line.contains(r#""record":"revocation""#);
    let expected: Vec<&String> = furnished.exported.iter().filter(knows).collect();
    assert!(expected.len() > 15, "{expected:?}");
    assert_eq!(exported(store).iter().collect::<Vec<_>>(), expected, "from version {version}");
    let waits = Undelivered { holder: HOLDER.into(), abandoned_before: Moment::default(), after: None };
    let waiting: Vec<_> = store.ask(waits).expect("it can be read").into_iter().map(|(_, row)| row).collect();
    let expected = (version >= DELIVERIES_SINCE).then_some(&furnished.delivery);
    assert_eq!(
        waiting.iter().collect::<Vec<_>>(),
        expected.into_iter().collect::<Vec<_>>(),
        "from {version}"
    );
    let said = Append { conversation: furnished.conversation, draft: Draft::text(None, "new words") };
    assert_eq!(store.ask(call(ann()).ask(said)).expect("she may").message.seq, Seq(3));
    let search = SearchMessages { query: "words".into(), conversation: None, before: None, limit: 9 };
    let found = store.ask(call(ann()).ask(search)).expect("she may").rows;
    let texts: Vec<&str> = found.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["new words", "better words", "old words"], "from version {version}");
}

/// A statement that adds a second report of the same person and message, and the columns that it needs.
fn report_again(columns: &[String], late_id: &str) -> String {
    let taken: Vec<&str> = columns.iter().map(|name| if name == "id" { late_id } else { name }).collect();
    format!("INSERT INTO reports ({}) SELECT {} FROM reports", columns.join(", "), taken.join(", "))
}

#[test]
fn each_older_sqlite_file_becomes_todays_with_all_that_is_in_it() {
    let (folder, steps) = (tempfile::tempdir().expect("a folder can be made"), steps("sqlite"));
    let path = folder.path().join("furnished.sqlite3");
    let open = |path: &Path| {
        let options = SqliteOptions { unindexed_max: 0, ..SqliteOptions::new(path) };
        SqliteStore::open(options).expect("the file opens")
    };
    let store = open(&path);
    let furnished = furnish(&store);
    drop(store);
    for version in 1..steps.len() {
        let older = folder.path().join(format!("{version}.sqlite3"));
        leave_sqlite(&older, &path, &steps[..version]);
        check(&open(&older), &furnished, version);
    }
}

/// A file as a program with these steps would have left it, with the rows of another one.
fn leave_sqlite(older: &Path, furnished: &Path, steps: &[String]) {
    let connection = rusqlite::Connection::open(older).expect("a new file opens");
    let run = |sql: &str| connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let list = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let rows = statement.query_map([], |row| row.get(0)).expect("it lists");
        rows.map(|row| row.expect("a name")).collect()
    };
    steps.iter().for_each(|step| run(step));
    run(&format!("PRAGMA application_id = {}; PRAGMA user_version = {}", 0x7468_7267, steps.len()));
    run(&format!("ATTACH '{}' AS furnished", furnished.display()));
    let columns_of = |table: &str| {
        list(&format!(
            "SELECT name FROM pragma_table_info('{table}', 'main') \
             INTERSECT SELECT name FROM pragma_table_info('{table}', 'furnished')"
        ))
    };
    // The search index's own tables are copied like all others.
    for table in
        list("SELECT name FROM main.sqlite_schema WHERE sql LIKE 'CREATE TABLE%' AND name NOT LIKE 'sqlite%'")
    {
        let columns = columns_of(&table).join(", ");
        run(&format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} ({columns}) SELECT {columns} FROM furnished.{table}"
        ));
    }
    if steps.len() < ONE_REPORT_SINCE {
        run(&report_again(&columns_of("reports"), &format!("x'{LATE_ID}'")));
    }
}

#[test]
fn each_older_postgresql_database_becomes_todays_with_all_that_is_in_it() {
    let (server, steps) = (PostgresServer::start(), steps("postgres"));
    let open = || PostgresStore::open(PostgresOptions::new(&server.url())).expect("it opens");
    let store = open();
    let furnished = furnish(&store);
    drop(store);
    let mut operator = postgres::Client::connect(&server.url(), postgres::NoTls).expect("it runs");
    operator.batch_execute("ALTER SCHEMA public RENAME TO furnished").expect("it may");
    for version in 1..steps.len() {
        leave_postgres(&mut operator, &steps[..version]);
        let store = open();
        check(&store, &furnished, version);
        drop(store);
        operator.batch_execute("DROP SCHEMA public CASCADE").expect("it may");
    }
}

/// A schema as a program with these steps would have left it, with the rows of another one.
fn leave_postgres(operator: &mut postgres::Client, steps: &[String]) {
    let mut run = |sql: &str| operator.batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("CREATE SCHEMA public; CREATE TABLE store (LIKE furnished.store INCLUDING ALL)");
    run(&format!("INSERT INTO store (version, epoch) SELECT {}, epoch FROM furnished.store", steps.len()));
    steps.iter().for_each(|step| run(step));
    let columns = "SELECT old.table_name::text, array_agg(old.column_name::text) \
        FROM information_schema.columns old JOIN information_schema.columns new \
        ON new.table_schema = 'furnished' AND new.table_name = old.table_name AND new.column_name = old.column_name \
        WHERE old.table_schema = 'public' AND old.table_name <> 'store' GROUP BY 1";
    let tables: Vec<(String, Vec<String>)> = operator
        .query(columns, &[])
        .unwrap_or_else(|error| panic!("{columns}: {error}"))
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    for (table, columns) in &tables {
        let columns = columns.join(", ");
        let sql = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM furnished.{table}");
        operator.batch_execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    if steps.len() < ONE_REPORT_SINCE {
        let (_, columns) = tables.iter().find(|(table, _)| table == "reports").expect("there are reports");
        let sql = report_again(columns, &format!("'\\x{LATE_ID}'::bytea"));
        operator.batch_execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}
