//! Fills a store with people, so that a server can be started on data that looks used. Writes the file through the
//! verbs, as real use would.
//!
//! ```text
//! cargo run --release --package store --example furnished -- FOLDER \
//!     --communities 10000 --rooms 1 --people 20 --messages 5
//! ```
//!
//! This makes the communities `c0`, `c1`, … with the public rooms `r0`, `r1`, …, the people `p0`, `p1`, …, each a
//! member of one room, and that many messages, one by each of the first people. Message rates are not limited there,
//! and people find each other.

#![allow(clippy::print_stdout, reason = "it is a program")]

use chat::verbs::{Append, CreateCommunity, CreateRoom, Join, Meet};
use chat::*;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use store::{FILE_NAME, SqliteOptions, SqliteStore};

/// Requests in flight: enough that the store commits many at once, fewer than its queue holds.
const UNDER_WAY_MAX: usize = 2_000;

static DRAWN: AtomicU64 = AtomicU64::new(1);

fn main() {
    let folder = std::env::args().nth(1).expect("say in which folder");
    let (communities, rooms) = (number("--communities", 10_000), number("--rooms", 1));
    let (people, messages) = (number("--people", 20), number("--messages", 5));
    let path = Path::new(&folder).join(FILE_NAME);
    let store = SqliteStore::open(SqliteOptions::new(&path)).expect("a new file opens");
    let names: Vec<CommunityId> = (0..communities).map(|nth| id(&format!("c{nth}"))).collect();
    let settings = |community: &CommunityId| Settings {
        people_find_each_other: true,
        limits: CommunityLimits { messages_per_minute: u32::MAX, ..CommunityLimits::default() },
        ..Settings::named(community.as_str())
    };
    let service = |community: &CommunityId| Call { by: By::Service, ..call(community, 0) };
    let create =
        |community: &CommunityId| service(community).ask(CreateCommunity { settings: settings(community) });
    each(&store, names.iter().map(create));
    let places = names.iter().flat_map(|community| (0..rooms).map(move |nth| (community, nth)));
    let made = each(
        &store,
        places.map(|(community, nth)| {
            let name = RoomName::parse(&format!("r{nth}")).expect("it is a name");
            service(community).ask(CreateRoom::public(name, &format!("Room {nth}")))
        }),
    );
    let everybody = || {
        let room_of = |place: usize, nth: usize| made[place * rooms + nth % rooms.max(1)].id;
        names.iter().enumerate().flat_map(move |(place, community)| {
            (0..people).map(move |nth| (community, room_of(place, nth), nth))
        })
    };
    let meet = |(community, _, nth): (&CommunityId, ConversationId, usize)| {
        let profile = Profile { name: format!("Person {nth}"), avatar: None, guest: false, role: None };
        call(community, nth).ask(Meet { profile })
    };
    each(&store, everybody().map(meet));
    let join = |(community, conversation, nth): (&CommunityId, ConversationId, usize)| {
        call(community, nth).ask(Join { conversation, invitation: None })
    };
    each(&store, everybody().map(join));
    let say = |(community, conversation, nth): (&CommunityId, ConversationId, usize)| {
        call(community, nth).ask(Append { conversation, draft: Draft::text(None, "a word or two") })
    };
    each(&store, everybody().filter(|(.., nth)| *nth < messages).map(say));
    println!("{communities} communities, {} people", communities * people);
}

/// Submits all verbs, many at a time, and returns their answers in order.
fn each<V: Verb>(store: &SqliteStore, verbs: impl Iterator<Item = V>) -> Vec<V::Answer> {
    let (tell, told) = mpsc::channel();
    let mut answers: Vec<Option<V::Answer>> = Vec::new();
    let mut open = 0;
    let take = |answers: &mut Vec<Option<V::Answer>>| {
        let (place, answer): (usize, Result<V::Answer, Failure>) = told.recv().expect("all are answered");
        answers[place] = Some(answer.unwrap_or_else(|failure| panic!("they may: {failure:?}")));
    };
    for (place, verb) in verbs.enumerate() {
        if open == UNDER_WAY_MAX {
            take(&mut answers);
            open -= 1;
        }
        answers.push(None);
        let tell = tell.clone();
        store.submit_verb(verb, move |answer| {
            tell.send((place, answer)).unwrap_or_else(|_| panic!("it is waited for"))
        });
        open += 1;
    }
    for _ in 0..open {
        take(&mut answers);
    }
    answers.into_iter().map(|answer| answer.expect("all are answered")).collect()
}

fn call(community: &CommunityId, nth: usize) -> Call {
    let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
    let by = By::Person(PersonId::parse(&format!("p{nth}")).expect("it is a name"));
    let now = Moment::from_millis(1_700_000_000_000 + drawn / 10);
    Call { community: community.clone(), by, now, entropy: Entropy((u128::from(drawn) << 8).to_be_bytes()) }
}

fn id(name: &str) -> CommunityId {
    CommunityId::parse(name).expect("it is a name")
}

fn number(name: &str, default: usize) -> usize {
    let value = std::env::args().skip_while(|argument| argument != name).nth(1);
    value.map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
}
