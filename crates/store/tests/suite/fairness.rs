//! Communities share one store: a flood of one does not delay another's message. Counts answers instead of measuring
//! time: the writer is blocked while the requests queue up.

use chat::verbs::{Append, CreateCommunity, CreateRoom, Erase, Join, Meet, ReadPage};
use chat::*;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::{SqliteOptions, SqliteStore};

static DRAWN: AtomicU64 = AtomicU64::new(1);
const DEADLINE: Duration = Duration::from_secs(120);
/// Many transactions.
const FLOOD: usize = 4_500;

fn call(community: &str, by: By) -> Call {
    let nth = DRAWN.fetch_add(1, Ordering::Relaxed);
    Call {
        community: CommunityId::parse(community).expect("it is a name"),
        by,
        now: Moment::from_millis(1_700_000_000_000 + nth),
        entropy: Entropy((u128::from(nth) << 8).to_be_bytes()),
    }
}

fn ann() -> By {
    By::Person(PersonId::parse("ann").expect("it is a name"))
}

/// Creates a community with a room that Ann is in.
fn community(store: &SqliteStore, name: &str) -> ConversationId {
    let settings = Settings::named(name);
    store.ask(call(name, By::Service).ask(CreateCommunity { settings })).expect("it is new");
    let room = CreateRoom::public(RoomName::parse("room").expect("it is a name"), "Room");
    let room = store.ask(call(name, By::Service).ask(room)).expect("it is new").id;
    let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
    store.ask(call(name, ann()).ask(Meet { profile })).expect("she may");
    store.ask(call(name, ann()).ask(Join { conversation: room, invitation: None })).expect("she may");
    room
}

fn append(community: &str, conversation: ConversationId) -> Asked<Append> {
    call(community, ann()).ask(Append { conversation, draft: Draft::text(None, "hello") })
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(SqliteOptions::new(path)).expect("a new file opens")
}

/// Blocks the writer until the sender is used or dropped.
fn hold(store: &SqliteStore, conversation: ConversationId) -> Sender<()> {
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    store.submit_verb(append("flood", conversation), move |_| {
        entered.send(()).expect("the test waits");
        // An error means that the sender was dropped.
        let _ = may_go_on.recv();
    });
    has_entered.recv_timeout(DEADLINE).expect("it is answered");
    go_on
}

#[test]
fn a_message_waits_behind_few_of_another_communitys_flood() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("fair.sqlite3"));
    let (flood, quiet) = (community(&store, "flood"), community(&store, "quiet"));
    let go_on = hold(&store, flood);
    let (answer, answers) = mpsc::channel();
    for (name, room, count) in [("flood", flood, FLOOD), ("quiet", quiet, 1)] {
        for _ in 0..count {
            let answer = answer.clone();
            let told = move |outcome: Result<_, Failure>| {
                answer.send((name, outcome.map(drop))).expect("the test waits");
            };
            store.submit_verb(append(name, room), told);
        }
    }
    drop(go_on);
    let mut ahead = 0;
    for nth in 0..=FLOOD {
        let (name, outcome) = answers.recv_timeout(DEADLINE).expect("everybody is answered");
        assert_eq!(outcome, Ok(()), "the {nth}th");
        if name == "quiet" {
            ahead = nth;
        }
    }
    assert!(ahead < 20, "it waited behind {ahead} of {FLOOD}");
}

#[test]
fn a_flood_that_fills_its_part_is_busy_and_nobody_else_is() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let options = SqliteOptions { queue_max: 100, ..SqliteOptions::new(folder.path().join("full.sqlite3")) };
    let store = SqliteStore::open(options).expect("a new file opens");
    let (flood, quiet) = (community(&store, "flood"), community(&store, "quiet"));
    let go_on = hold(&store, flood);
    let (answer, answers) = mpsc::channel();
    for (name, room, count) in [("flood", flood, 200), ("quiet", quiet, 10)] {
        for _ in 0..count {
            let answer = answer.clone();
            let told = move |outcome: Result<_, Failure>| {
                let code = outcome.map_or_else(|failure| failure.code(), |_| "stored");
                answer.send((name, code)).expect("the test waits");
            };
            store.submit_verb(append(name, room), told);
        }
    }
    drop((go_on, answer));
    let told: Vec<_> = (0..210).map(|_| answers.recv_timeout(DEADLINE).expect("it is answered")).collect();
    let count = |wanted| told.iter().filter(|told| **told == wanted).count();
    assert_eq!(count(("flood", "stored")), 50, "half of the queue, as it is alone");
    assert_eq!(count(("flood", "busy")), 150);
    assert_eq!(count(("quiet", "stored")), 10);
}

#[test]
fn heavy_work_of_one_community_does_not_stand_before_anothers_message() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("heavy.sqlite3"));
    let (flood, quiet) = (community(&store, "flood"), community(&store, "quiet"));
    let go_on = hold(&store, flood);
    let (answer, answers) = mpsc::channel();
    for _ in 0..200 {
        let answer = answer.clone();
        let person = PersonId::parse("nobody").expect("it is a name");
        let told = move |outcome: Result<_, Failure>| {
            assert!(matches!(outcome.map(drop), Err(Failure::Absent(_))), "nobody is called so");
            // A test that has seen enough no longer listens.
            let _ = answer.send("flood");
        };
        store.submit_verb(call("flood", By::Service).ask(Erase { person }), told);
    }
    store.submit_verb(append("quiet", quiet), move |outcome| {
        outcome.expect("she may");
        answer.send("quiet").expect("the test waits");
    });
    drop(go_on);
    let ahead = std::iter::from_fn(|| answers.recv_timeout(DEADLINE).ok()).position(|name| name == "quiet");
    assert!(ahead.is_some_and(|ahead| ahead < 10), "it waited behind {ahead:?} of 200");
}

#[test]
fn reading_is_shared_as_well() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("reads.sqlite3");
    let store = SqliteStore::open(SqliteOptions { readers: 1, ..SqliteOptions::new(path) });
    let store = store.expect("a new file opens");
    let (flood, quiet) = (community(&store, "flood"), community(&store, "quiet"));
    let read = |community: &str, conversation| {
        let page = ReadPage { conversation, around: chat::verbs::Around::Newest, limit: 1 };
        call(community, ann()).ask(page)
    };
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    store.submit_verb(read("flood", flood), move |_| {
        entered.send(()).expect("the test waits");
        let _ = may_go_on.recv();
    });
    has_entered.recv_timeout(DEADLINE).expect("it is answered");
    let (answer, answers) = mpsc::channel();
    for (name, room, count) in [("flood", flood, 1_000), ("quiet", quiet, 1)] {
        for _ in 0..count {
            let answer = answer.clone();
            let told = move |outcome: Result<_, Failure>| {
                answer.send((name, outcome.map(drop))).expect("the test waits");
            };
            store.submit_verb(read(name, room), told);
        }
    }
    drop((go_on, answer));
    let (mut ahead, mut flooded) = (None, 0);
    for (name, outcome) in std::iter::from_fn(|| answers.recv_timeout(DEADLINE).ok()) {
        assert_eq!(outcome, Ok(()));
        match name {
            "quiet" => ahead = Some(flooded),
            _ => flooded += 1,
        }
    }
    assert_eq!(flooded, 1_000);
    assert!(ahead.is_some_and(|ahead| ahead < 20), "it waited behind {ahead:?} of 1000");
}

/// Reads nothing, blocks until the test releases it, and counts as a long read, like a search.
struct LongRead {
    community: CommunityId,
    entered: Sender<()>,
    may_go_on: Arc<Mutex<Receiver<()>>>,
}

impl Verb for LongRead {
    type Answer = ();
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        Some(&self.community)
    }

    fn weight(&self) -> u32 {
        10
    }

    fn run(&self, _: &mut dyn Rows) -> Result<(), Failure> {
        self.entered.send(()).expect("the test waits");
        let may_go_on = self.may_go_on.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that the sender was dropped.
        let _ = may_go_on.recv();
        Ok(())
    }
}

#[test]
fn who_reads_a_page_waits_for_no_search() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = open(&folder.path().join("fair.sqlite3"));
    let (_, quiet) = (community(&store, "flood"), community(&store, "quiet"));
    let ((entered, has_entered), (go_on, may_go_on)) = (mpsc::channel(), mpsc::channel());
    let may_go_on = Arc::new(Mutex::new(may_go_on));
    let (answer, answers) = mpsc::channel();
    for _ in 0..100 {
        let community = CommunityId::parse("flood").expect("it is a name");
        let verb = LongRead { community, entered: entered.clone(), may_go_on: may_go_on.clone() };
        let answer = answer.clone();
        store.submit_verb(verb, move |outcome| answer.send(outcome).expect("the test waits"));
    }
    has_entered.recv_timeout(DEADLINE).expect("one has begun");
    for by in [By::Service, ann()] {
        let read = ReadPage { conversation: quiet, around: verbs::Around::Newest, limit: 9 };
        store.ask(call("quiet", by).ask(read)).expect("it is read");
    }
    assert!(answers.try_recv().is_err(), "none of them is over");
    drop(go_on);
    for _ in 0..100 {
        answers.recv_timeout(DEADLINE).expect("all are answered").expect("they may");
    }
}
