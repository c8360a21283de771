//! Nothing is announced before it is durable, and the requester is answered last.

use chat::verbs::{Append, Appended, CreateCommunity, CreateRoom, Join, Meet};
use chat::{
    By, CommunityId, ConversationId, Draft, Failure, MemoryStore, PersonId, Profile, Request, RoomName,
    Store, StoreError, StoreErrorKind,
};
use messenger::{Answer, Messenger, Outlet, Settings};
use std::sync::{Arc, Mutex};

/// A store whose commits the test controls.
#[derive(Clone, Default)]
struct Held(Arc<Inner>);

#[derive(Default)]
struct Inner {
    rows: MemoryStore,
    waiting: Mutex<Option<Vec<Request>>>,
}

impl Held {
    /// Holds all commits from now on.
    fn hold(&self) {
        *self.0.waiting.lock().expect("no test panics with it") = Some(Vec::new());
    }

    fn held(&self) -> Vec<Request> {
        self.0.waiting.lock().expect("no test panics with it").take().unwrap_or_default()
    }

    fn commit(&self) {
        self.held().into_iter().for_each(|request| self.0.rows.submit(request));
    }

    fn fail(&self) {
        let trouble = || StoreError::new(StoreErrorKind::Full, "no space left on /secret/path");
        self.held().into_iter().for_each(|request| request.refuse(trouble()));
    }
}

impl Store for Held {
    fn epoch(&self) -> &str {
        "held"
    }

    fn submit(&self, request: Request) {
        match &mut *self.0.waiting.lock().expect("no test panics with it") {
            Some(waiting) => waiting.push(request),
            None => self.0.rows.submit(request),
        }
    }
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn count(&self) -> usize {
        self.0.lock().expect("no test panics with it").len()
    }
}

impl Outlet for Told {
    fn tell(&self, topic: &str, event: &str, _: &str) -> bool {
        self.0.lock().expect("no test panics with it").push(format!("{topic} {event}"));
        true
    }

    fn close(&self, _: &str, _: u16) {}

    fn end_join(&self, _: &str, _: &str) {}
}

struct Scene {
    store: Held,
    told: Told,
    messenger: Messenger,
    community: CommunityId,
    lobby: ConversationId,
}

impl Scene {
    /// Ann is in the lobby.
    async fn begin() -> Result<Self, Failure> {
        let (store, told) = (Held::default(), Told::default());
        let messenger = Messenger::new(Arc::new(store.clone()), Settings::default());
        messenger.tell_through(told.clone());
        let community = CommunityId::parse("one").expect("an id");
        let settings = chat::Settings::named("One");
        messenger.ask(&community, By::Service, CreateCommunity { settings }).await?;
        let room = CreateRoom::public(RoomName::parse("lobby").expect("a name"), "Lobby");
        let lobby = messenger.ask(&community, By::Service, room).await?.id;
        let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
        messenger.ask(&community, ann(), Meet { profile }).await?;
        messenger.ask(&community, ann(), Join { conversation: lobby, invitation: None }).await?;
        Ok(Self { store, told, messenger, community, lobby })
    }

    fn say(&self, text: &str) -> Answer<Appended> {
        let draft = Draft::text(None, text);
        self.messenger.ask(&self.community, ann(), Append { conversation: self.lobby, draft })
    }
}

fn ann() -> By {
    By::Person(PersonId::parse("ann").expect("an id"))
}

fn run(test: impl Future<Output = Result<(), Failure>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(test).expect("the store does it");
}

#[test]
fn messages_are_stored_in_the_order_in_which_they_were_asked_whoever_waits_for_them() {
    run(async {
        let scene = Scene::begin().await?;
        scene.store.hold();
        let (first, second, third) = (scene.say("1"), scene.say("2"), scene.say("3"));
        drop(second);
        scene.store.commit();
        assert_eq!(third.await?.message.seq.0, 3);
        assert_eq!(first.await?.message.seq.0, 1);
        Ok(())
    });
}

#[test]
fn what_the_store_could_not_do_is_told_to_nobody() {
    run(async {
        let scene = Scene::begin().await?;
        let before = scene.told.count();
        scene.store.hold();
        let said = scene.say("lost");
        scene.store.fail();
        assert!(matches!(said.await, Err(Failure::Unavailable(_))));
        assert_eq!(scene.told.count(), before);
        assert_eq!(scene.messenger.counts().unavailable_total, 1);
        Ok(())
    });
}

#[test]
fn a_store_that_ends_leaves_nobody_waiting() {
    run(async {
        let scene = Scene::begin().await?;
        scene.store.hold();
        let said = scene.say("cut");
        drop(scene.store.held());
        assert!(matches!(said.await, Err(Failure::Unavailable(_))));
        Ok(())
    });
}
