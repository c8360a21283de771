//! SQLite files: versions, backups, moving data.

use chat::verbs::{Append, Around, Communities, CreateCommunity, CreateRoom, FindRoom, Join, Meet, ReadPage};
use chat::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{OpenError, SqliteOptions, SqliteStore, export, import};

static DRAWN: AtomicU64 = AtomicU64::new(1);
const NOW: Moment = Moment::from_millis(1_700_000_000_000);

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(SqliteOptions::new(path)).expect("the file opens")
}

fn call(by: By) -> Call {
    let entropy = Entropy((u128::from(DRAWN.fetch_add(1, Ordering::Relaxed)) << 8).to_be_bytes());
    Call { community: CommunityId::parse("c").expect("it is a name"), by, now: NOW, entropy }
}

fn ann() -> By {
    By::Person(PersonId::parse("ann").expect("it is a name"))
}

fn prepare(store: &dyn Store) -> ConversationId {
    store.ask(call(By::Service).ask(CreateCommunity { settings: Settings::named("C") })).expect("it is new");
    let name = RoomName::parse("room").expect("it is a name");
    let room = store.ask(call(By::Service).ask(CreateRoom::public(name, "Room"))).expect("it is new").id;
    let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
    store.ask(call(ann()).ask(Meet { profile })).expect("she may");
    store.ask(call(ann()).ask(Join { conversation: room, invitation: None })).expect("she may");
    room
}

fn send(store: &dyn Store, conversation: ConversationId, text: &str) -> Message {
    store
        .ask(call(ann()).ask(Append { conversation, draft: Draft::text(None, text) }))
        .expect("she may")
        .message
}

fn texts(store: &dyn Store, conversation: ConversationId) -> Vec<String> {
    let page = ReadPage { conversation, around: Around::Newest, limit: 200 };
    let page = store.ask(call(ann()).ask(page)).expect("she may");
    page.messages.into_iter().map(|shown| shown.message.text).collect()
}

#[test]
fn files_are_their_owners_alone() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("file.sqlite3");
    let store = open(&path);
    prepare(&store);
    store.backup(&folder.path().join("copy.sqlite3")).expect("it is written");
    let entries = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    let modes: Vec<_> = entries
        .map(|entry| (entry.file_name(), entry.metadata().expect("a file").permissions().mode() & 0o777))
        .collect();
    assert!(modes.len() >= 3, "the file, its log, and the copy: {modes:?}");
    assert!(modes.iter().all(|(_, mode)| *mode == 0o600), "{modes:?}");
}

#[test]
fn what_was_written_is_there_when_the_file_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("new/folder/file.sqlite3");
    let store = open(&path);
    let room = prepare(&store);
    let said = send(&store, room, "hello");
    let epoch = store.epoch().to_owned();
    drop(store);
    let store = open(&path);
    assert_eq!(texts(&store, room), ["hello"]);
    assert_eq!(store.epoch(), epoch, "the order goes on");
    assert_eq!(send(&store, room, "again").seq, said.seq.next());
}

#[test]
fn a_file_that_is_newer_than_the_program_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("file.sqlite3");
    drop(open(&path));
    let connection = rusqlite::Connection::open(&path).expect("it is a file");
    connection.pragma_update(None, "user_version", 1_000).expect("it is ours");
    drop(connection);
    let before = std::fs::read(&path).expect("it is a file");
    let refused = SqliteStore::open(SqliteOptions::new(&path)).map(drop);
    let Err(OpenError::Newer { found: 1_000, .. }) = &refused else { panic!("{refused:?}") };
    assert!(refused.is_err_and(|error| error.to_string().contains("version 1000")));
    assert_eq!(std::fs::read(&path).expect("it is a file"), before);
}

#[test]
fn a_file_of_another_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("file.sqlite3");
    let connection = rusqlite::Connection::open(&path).expect("a new file opens");
    connection.execute_batch("CREATE TABLE theirs (x)").expect("the file is new");
    drop(connection);
    assert_eq!(SqliteStore::open(SqliteOptions::new(&path)).map(drop), Err(OpenError::Foreign));
    std::fs::write(&path, "no database, but long enough to be taken for one".repeat(100))
        .expect("it is ours");
    assert!(SqliteStore::open(SqliteOptions::new(&path)).is_err());
}

#[test]
fn a_backup_is_one_moments_state_and_begins_a_new_epoch() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("file.sqlite3"));
    let room = prepare(&store);
    send(&store, room, "before");
    let copy = folder.path().join("copy.sqlite3");
    store.backup(&copy).expect("there is room");
    send(&store, room, "after");
    assert!(store.backup(&copy).is_err(), "nothing is overwritten");
    let restored = open(&copy);
    assert_eq!(texts(&restored, room), ["before"]);
    assert_ne!(restored.epoch(), store.epoch());
    assert_eq!(texts(&store, room), ["before", "after"]);
}

#[test]
fn who_only_copies_changes_no_table_of_an_older_program() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (path, to) = (folder.path().join("file.sqlite3"), folder.path().join("copy.sqlite3"));
    let store = open(&path);
    let room = prepare(&store);
    send(&store, room, "before");
    drop(store);
    let version_of = |path| -> i64 {
        let connection = rusqlite::Connection::open(path).expect("it is a file");
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("it is ours")
    };
    let known = version_of(&path);
    let connection = rusqlite::Connection::open(&path).expect("it is a file");
    connection.pragma_update(None, "user_version", known - 1).expect("it is ours");
    drop(connection);
    SqliteStore::backup_of(&SqliteOptions::new(&path), &to).expect("it is written");
    let refused = SqliteStore::open_current(SqliteOptions::new(&path)).map(drop);
    assert_eq!(refused, Err(OpenError::Older { found: known - 1, known }));
    assert_eq!((version_of(&path), version_of(&to)), (known - 1, known - 1));
    let connection = rusqlite::Connection::open(&path).expect("it is a file");
    connection.pragma_update(None, "user_version", known).expect("it is ours");
    drop(connection);
    let store = SqliteStore::open_current(SqliteOptions::new(&path)).expect("it is this program's");
    assert_eq!(texts(&store, room), ["before"]);
}

#[test]
fn a_backup_can_be_made_while_others_write() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("file.sqlite3"));
    let room = prepare(&store);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for nth in 0..200 {
                send(&store, room, &format!("{nth}"));
            }
        });
        for nth in 0..3 {
            let copy = folder.path().join(format!("copy{nth}.sqlite3"));
            store.backup(&copy).expect("there is room");
            let restored = open(&copy);
            let there = texts(&restored, room);
            let whole: Vec<String> = (0..there.len()).map(|nth| nth.to_string()).collect();
            assert_eq!(there, whole, "it has a beginning of the history, whole");
        }
        writer.join().expect("it may write");
    });
}

#[test]
fn a_compacted_file_has_nothing_of_what_was_deleted() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("file.sqlite3");
    let store = open(&path);
    let room = prepare(&store);
    for _ in 0..50 {
        send(&store, room, "unspeakable");
    }
    for seq in 1..=50 {
        let delete = chat::verbs::Delete { conversation: room, seq: Seq(seq) };
        store.ask(call(ann()).ask(delete)).expect("it is hers");
    }
    store.compact().expect("there is room");
    send(&store, room, "goes on");
    drop(store);
    for entry in std::fs::read_dir(folder.path()).expect("it is ours") {
        let bytes = std::fs::read(entry.expect("it is ours").path()).expect("it is a file");
        assert!(!bytes.windows(11).any(|window| window == b"unspeakable"), "something is left");
    }
}

#[test]
fn an_export_of_one_store_is_an_import_of_another() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("file.sqlite3"));
    let room = prepare(&store);
    for nth in 0..450 {
        send(&store, room, &format!("number {nth}"));
    }
    let mut lines = Vec::new();
    let count = export(&store, NOW, &mut lines, |_| {}).expect("it can be read");
    assert_eq!(count, lines.iter().filter(|&&byte| byte == b'\n').count() as u64);
    let other = MemoryStore::default();
    assert_eq!(import(&other, NOW, &mut lines.as_slice(), |_| {}).expect("it is an export"), count);
    assert_eq!(texts(&other, room), texts(&store, room));
    let name = RoomName::parse("room").expect("it is a name");
    assert!(other.ask(call(ann()).ask(FindRoom { name })).is_ok());
    assert_eq!(other.ask(Communities { after: None, limit: 9 }).expect("it can be read").rows.len(), 1);
    let mut again = Vec::new();
    assert_eq!(export(&other, NOW, &mut again, |_| {}).expect("it can be read"), count);
    other.ask(call(By::Service).ask(chat::verbs::EraseCommunity)).expect("the first part");
    assert_eq!(export(&other, NOW, &mut Vec::new(), |_| {}).expect("the others can be read"), 0);
    let broken = import(&other, NOW, &mut b"{\"of\":\"c\"}\n".as_slice(), |_| {});
    assert!(broken.is_err_and(|error| error.to_string().starts_with("line 1 is not a valid record")));
}
