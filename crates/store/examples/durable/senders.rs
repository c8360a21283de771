//! Senders that use the store's interface, in direct conversations: a single one, or many concurrently.

use crate::measured::Measured;
use chat::verbs::{Append, CreateCommunity, CreateRoom, Join, Meet, OpenDirect};
use chat::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

static DRAWN: AtomicU64 = AtomicU64::new(1);

/// Two people and their conversation.
pub(crate) struct Pair {
    pub(crate) people: [String; 2],
    pub(crate) conversation: ConversationId,
}

/// The community of one run.
#[derive(Clone, Copy)]
struct Scene<'a>(&'a str);

/// One sender: sends, waits for the acknowledgement, and repeats.
pub(crate) fn one(kind: &str, store: &dyn Store, messages: usize) -> Measured {
    let name = format!("one-{kind}");
    let (scene, names) = (Scene(&name), ["p0".to_owned(), "p1".to_owned()]);
    let conversation = scene.conversations(store, &names)[0];
    let begun = Instant::now();
    let acks = (0..messages)
        .map(|nth| {
            let sent = Instant::now();
            store.ask(scene.append("p0", conversation, nth)).expect("they may");
            sent.elapsed()
        })
        .collect();
    Measured { acks, took: begun.elapsed() }
}

/// Many senders: each has one message in flight, and sends the next when it is acknowledged.
pub(crate) fn many(kind: &str, store: Arc<dyn Store>, senders: usize, messages: usize) -> Measured {
    let name = format!("many-{kind}");
    let scene = Scene(&name);
    let names: Vec<String> = (0..senders).map(|nth| format!("p{nth}")).collect();
    let conversations = scene.conversations(&*store, &names);
    let acks = Arc::new(Mutex::new(Vec::with_capacity(messages)));
    let (ready, is_ready) = mpsc::channel();
    let begun = Instant::now();
    let send = |sender: usize, nth: usize| {
        let (acks, ready, sent) = (acks.clone(), ready.clone(), Instant::now());
        store.submit_verb(scene.append(&names[sender], conversations[sender], nth), move |outcome| {
            outcome.expect("they may");
            acks.lock().unwrap_or_else(PoisonError::into_inner).push(sent.elapsed());
            ready.send(sender).expect("the program waits");
        });
    };
    for sender in 0..senders.min(messages) {
        send(sender, sender);
    }
    for nth in senders..messages {
        let sender = is_ready.recv().expect("all are answered");
        send(sender, nth);
    }
    for _ in 0..senders.min(messages) {
        is_ready.recv().expect("all are answered");
    }
    let took = begun.elapsed();
    let acks = acks.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Measured { acks, took }
}

/// Creates a community of `senders` people in pairs, for others to write their messages.
pub(crate) fn pairs(community: &str, store: &dyn Store, senders: usize) -> Vec<Pair> {
    let names: Vec<String> = (0..senders).map(|nth| format!("p{nth}")).collect();
    let conversations = Scene(community).conversations(store, &names);
    let pairs = names.chunks_exact(2).zip(conversations.into_iter().step_by(2));
    pairs.map(|(two, conversation)| Pair { people: [two[0].clone(), two[1].clone()], conversation }).collect()
}

impl Scene<'_> {
    /// Creates the people and their pairwise conversations; returns the conversation of each person.
    fn conversations(self, store: &dyn Store, names: &[String]) -> Vec<ConversationId> {
        let service = || Call { by: By::Service, ..self.call("p0") };
        let settings = Settings { people_find_each_other: true, ..Settings::named("Bench") };
        store.ask(service().ask(CreateCommunity { settings })).expect("it is new");
        let name = RoomName::parse("room").expect("it is a name");
        let room = store.ask(service().ask(CreateRoom::public(name, "Room"))).expect("it is new").id;
        for name in names {
            let profile = Profile { name: name.clone(), avatar: None, guest: false, role: None };
            store.ask(self.call(name).ask(Meet { profile })).expect("they may come");
            store.ask(self.call(name).ask(Join { conversation: room, invitation: None })).expect("they may");
        }
        let mut conversations = Vec::with_capacity(names.len());
        for pair in names.chunks(2) {
            let with = PersonId::parse(&pair[1]).expect("it is a name");
            let opened =
                store.ask(self.call(&pair[0]).ask(OpenDirect { with })).expect("they share the room");
            conversations.extend([opened.id, opened.id]);
        }
        conversations
    }

    fn call(self, name: &str) -> Call {
        let nth = DRAWN.fetch_add(1, Ordering::Relaxed);
        let community = CommunityId::parse(self.0).expect("it is a name");
        let by = By::Person(PersonId::parse(name).expect("it is a name"));
        let now = Moment::from_millis(1_700_000_000_000 + nth / 10);
        Call { community, by, now, entropy: Entropy((u128::from(nth) << 8).to_be_bytes()) }
    }

    fn append(self, name: &str, conversation: ConversationId, nth: usize) -> Asked<Append> {
        let client_id = ClientId::parse(&format!("c{nth}")).expect("it is an id");
        self.call(name).ask(Append { conversation, draft: Draft::text(Some(client_id), &text(nth)) })
    }
}

/// 64 bytes of varied words.
pub(crate) fn text(nth: usize) -> String {
    let mut text = format!("word{} number{} of many other words in a message", nth % 5_000, nth);
    text.truncate(64);
    text
}
