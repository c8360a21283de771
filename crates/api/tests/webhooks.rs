//! Webhooks over real connections: what a host site is sent, in which order, and what is given up.

mod house;

use api::Rate;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use chat::verbs::{Append, Undelivered};
use chat::{
    Ask as _, By, CommunityId, ConversationId, Draft, MemoryStore, Moment, Request, Store, StoreError,
    StoreErrorKind,
};
use house::{House, NOTHING};
use identity::{SigningSecret, UnixSeconds, verify};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

const GENEROUS: Duration = Duration::from_secs(60);

/// A host site: what it received, and the status that it answers with while it is open.
struct Site {
    told: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
    status: Arc<AtomicU16>,
    open: watch::Sender<bool>,
    url: String,
}

type Answering = (mpsc::UnboundedSender<(HeaderMap, Bytes)>, Arc<AtomicU16>, watch::Receiver<bool>);

impl Site {
    async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (sender, told) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(204));
        let (open, is_open) = watch::channel(true);
        let state = (sender, status.clone(), is_open);
        let routes = Router::new().route("/hook", post(receive)).with_state(state);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { told, status, open, url }
    }

    async fn next(&mut self) -> (HeaderMap, Bytes) {
        tokio::time::timeout(GENEROUS, self.told.recv()).await.expect("in time").expect("the site is open")
    }
}

async fn receive(State(answering): State<Answering>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let (told, status, mut is_open) = answering;
    told.send((headers, body)).expect("the test listens");
    is_open.wait_for(|open| *open).await.expect("the test goes on");
    StatusCode::from_u16(status.load(Ordering::Relaxed)).expect("a status")
}

async fn furnished(url: &str, events: Value) -> (House, String, Value) {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &["send", "moderate", "list"]).await;
    let hook = Some(json!({ "name": "site", "url": url, "events": events }));
    let made = house.operate("POST", "/api/v1/communities/acme/webhooks", hook).await.ok();
    let api = house.api.clone();
    tokio::spawn(async move { api.deliver(std::future::pending()).await });
    (house, key, made)
}

const MESSAGES: &str = "/api/v1/communities/acme/conversations/room:lobby/messages";

#[tokio::test]
async fn a_site_is_told_in_order_what_it_asked_for_and_can_tell_that_it_is_us() {
    let mut site = Site::open().await;
    let (house, key, hook) = furnished(&site.url, json!(["message.sent", "message.deleted"])).await;
    for text in ["one", "two"] {
        house.ask("POST", MESSAGES, &key, Some(json!({ "text": text }))).await.ok();
    }
    house.ask("PUT", &format!("{MESSAGES}/1/reactions/x"), &key, NOTHING).await.ok();
    house.ask("DELETE", &format!("{MESSAGES}/1"), &key, NOTHING).await.ok();

    let secret = SigningSecret::parse(hook["secret"].as_str().expect("it is told once")).expect("a secret");
    let mut ids = Vec::new();
    for (event, text) in [("message.sent", "one"), ("message.sent", "two"), ("message.deleted", "")] {
        let (headers, body) = site.next().await;
        let header = |name: &str| headers[name].to_str().expect("text").to_owned();
        let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
        let now = UnixSeconds(house::seconds());
        verify(&secret, &id, &at, &header("webhook-signature"), &body, now).expect("it is signed");
        let told: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!((&told["type"], &told["community"]), (&json!(event), &json!("acme")));
        assert_eq!(told["data"]["text"], text);
        assert!(!ids.contains(&id), "each message has an id of its own");
        ids.push(id);
    }
}

#[tokio::test]
async fn a_room_that_is_erased_is_told_once_behind_what_happened_in_it() {
    let mut site = Site::open().await;
    let (house, key, _) = furnished(&site.url, json!(["message.sent", "member.left", "room.erased"])).await;
    let mut told = async || serde_json::from_slice::<Value>(&site.next().await.1).expect("JSON");
    let sent = house.ask("POST", MESSAGES, &key, Some(json!({ "text": "the last word" }))).await.ok();
    // Once the room is erased, what still waits of it is not told.
    assert_eq!(told().await["data"]["text"], "the last word");
    let room = "/api/v1/communities/acme/conversations/room:lobby";
    assert_eq!(house.operate("DELETE", room, NOTHING).await.ok()["done"], true);
    house.room("acme", "lobby").await;
    house.ask("POST", MESSAGES, &key, Some(json!({ "text": "the first word" }))).await.ok();
    let erased = told().await;
    assert_eq!((&erased["type"], &erased["by"]), (&json!("room.erased"), &json!("~service")));
    assert_eq!(erased["data"], json!({ "conversation": sent["conversation"], "name": "lobby" }));
    assert_eq!(told().await["data"]["text"], "the first word");
}

#[tokio::test]
async fn a_role_is_told_as_one_and_not_as_coming_in() {
    let (mut both, mut roles) = (Site::open().await, Site::open().await);
    let (house, _, _) = furnished(&both.url, json!(["member.joined", "member.role"])).await;
    let beside = json!({ "name": "roles", "url": roles.url, "events": ["member.role"] });
    house.operate("POST", "/api/v1/communities/acme/webhooks", Some(beside)).await.ok();
    house.operate("PUT", "/api/v1/communities/acme/people/bob", Some(json!({ "name": "Bob" }))).await.ok();
    let bob = "/api/v1/communities/acme/conversations/room:lobby/members/bob";
    for body in [json!({ "role": "moderator" }), json!({}), json!({ "role": "owner" })] {
        house.operate("PUT", bob, Some(body)).await.ok();
    }
    let told = async |site: &mut Site| {
        let told: Value = serde_json::from_slice(&site.next().await.1).expect("JSON");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (text(&told["type"]), text(&told["data"]["person"]), text(&told["data"]["role"]))
    };
    let [came, given] = [("member.joined", "moderator"), ("member.role", "owner")]
        .map(|(event, role)| (event.to_owned(), "bob".to_owned(), role.to_owned()));
    assert_eq!(told(&mut both).await, came);
    assert_eq!(told(&mut both).await, given);
    assert_eq!(told(&mut roles).await, given);
}

#[tokio::test]
async fn what_is_given_up_can_be_seen_until_its_endpoint_is_removed() {
    let mut site = Site::open().await;
    let (house, key, hook) = furnished(&site.url, json!(["message.sent"])).await;
    site.status.store(500, Ordering::Relaxed);
    house.ask("POST", MESSAGES, &key, Some(json!({ "text": "lost" }))).await.ok();
    let mut attempts = Vec::new();
    for _ in 0..3 {
        let (headers, _) = site.next().await;
        attempts.push(headers["webhook-id"].clone());
    }
    assert!(attempts.iter().all(|id| *id == attempts[0]), "a repetition can be told: {attempts:?}");

    let one = format!("/api/v1/communities/acme/webhooks/{}", hook["id"].as_str().expect("an id"));
    let dead = eventually(&house, &format!("{one}/dead-letters")).await;
    assert_eq!((&dead["attempts"], &dead["body"]["data"]["text"]), (&json!(3), &json!("lost")));
    let stats = house.operate("GET", "/api/v1/communities/acme/stats", NOTHING).await.ok();
    assert_eq!(stats["webhooks_dead"], 1);

    house.operate("DELETE", &one, NOTHING).await.ok();
    let listed = house.operate("GET", "/api/v1/communities/acme/webhooks", NOTHING).await.ok();
    assert_eq!(listed["rows"], json!([]));
    assert_eq!(house.operate("GET", &format!("{one}/dead-letters"), NOTHING).await.code(), "not_found");
}

#[tokio::test]
async fn a_removed_endpoint_is_told_nothing_more_not_even_what_waited_for_it() {
    for route in ["webhooks", "keys"] {
        let (mut site, mut other) = (Site::open().await, Site::open().await);
        let (house, key, hook) = furnished(&site.url, json!(["message.sent"])).await;
        let beside = json!({ "name": "other", "url": other.url, "events": ["message.sent"] });
        house.operate("POST", "/api/v1/communities/acme/webhooks", Some(beside)).await.ok();
        site.open.send_replace(false);
        for text in ["one", "two"] {
            house.ask("POST", MESSAGES, &key, Some(json!({ "text": text }))).await.ok();
            other.next().await;
        }
        site.next().await;
        let one = format!("/api/v1/communities/acme/{route}/{}", hook["id"].as_str().expect("an id"));
        house.operate("DELETE", &one, NOTHING).await.ok();
        site.open.send_replace(true);
        delivered(&house, 3).await;
        house.ask("POST", MESSAGES, &key, Some(json!({ "text": "three" }))).await.ok();
        let (_, body) = other.next().await;
        assert!(body.windows(5).any(|part| part == b"three"));
        assert!(site.told.try_recv().is_err(), "by {route}");
    }
}

/// Waits until this many messages were delivered in total.
async fn delivered(house: &House, count: u64) {
    let look = async {
        let so_far =
            async || house.operate("GET", "/api/v1/stats", NOTHING).await.ok()["webhooks_delivered"].as_u64();
        while so_far().await < Some(count) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GENEROUS, look).await.expect("it is delivered in time");
}

async fn eventually(house: &House, path: &str) -> Value {
    let look = async {
        loop {
            let rows = house.operate("GET", path, NOTHING).await.ok()["rows"].clone();
            if let Some(first) = rows.as_array().and_then(|rows| rows.first()) {
                return first.clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GENEROUS, look).await.expect("it is given up in time")
}

#[tokio::test]
async fn an_endpoint_inside_of_the_firewall_is_not_reached_by_a_name_or_plain_http() {
    let house = House::new();
    house.community("acme").await;
    for url in ["http://example.org/hook", "ftp://example.org", "https://user:secret@example.org/", "nowhere"]
    {
        let hook = Some(json!({ "name": "site", "url": url }));
        let refused = house.operate("POST", "/api/v1/communities/acme/webhooks", hook).await;
        assert_eq!(
            (refused.code().as_str(), &refused.json()["errors"][0]["field"]),
            ("invalid", &json!("url")),
            "{url}"
        );
    }
}

/// A server over a store that may have been another one's, and its delivery task: dropping it kills it, a message stops
/// it.
struct Sending {
    house: House,
    stop: oneshot::Sender<()>,
    work: JoinHandle<()>,
}

impl Sending {
    fn begin(store: &Arc<dyn Store>) -> Self {
        let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
        let (stop, stopped) = oneshot::channel();
        let api = house.api.clone();
        let work = tokio::spawn(async move { api.deliver(async { drop(stopped.await) }).await });
        Self { house, stop, work }
    }

    async fn end(self) {
        drop(self.stop);
        tokio::time::timeout(GENEROUS, self.work).await.expect("in time").expect("it does not panic");
    }

    async fn kill(self) {
        self.work.abort();
        assert!(self.work.await.is_err_and(|error| error.is_cancelled()));
    }
}

/// A store with a community whose site is sent messages, and a key that may write there.
async fn store_with_a_site(site: &Site) -> (Arc<dyn Store>, String, String) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &["send", "moderate", "list"]).await;
    let hook = json!({ "name": "site", "url": site.url, "events": ["message.sent"] });
    let made = house.operate("POST", "/api/v1/communities/acme/webhooks", Some(hook)).await.ok();
    (store, key, made["id"].as_str().expect("an id").to_owned())
}

async fn say(house: &House, key: &str, text: &str) {
    house.ask("POST", MESSAGES, key, Some(json!({ "text": text }))).await.ok();
}

#[tokio::test]
async fn what_waits_and_tells_of_who_was_erased_is_not_told_and_not_kept() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let sending = Sending::begin(&store);
    let ann = house::token("acme", "ann");
    let member = "/api/v1/communities/acme/conversations/room:lobby/members/ann";
    sending.house.ask("PUT", member, &ann, Some(json!({}))).await.ok();
    site.open.send_replace(false);
    site.status.store(500, Ordering::Relaxed);
    for (by, text) in [(&ann, "under way"), (&ann, "waits"), (&key, "others")] {
        say(&sending.house, by, text).await;
    }
    assert_eq!(heard(&mut site).await.1, "under way");
    until_kept(&store, 3).await;
    let one = "/api/v1/communities/acme/people/ann";
    assert_eq!(sending.house.ask("DELETE", one, &ann, NOTHING).await.ok()["done"], true);
    tells_of_others_alone(site, &store, sending).await;
}

#[tokio::test]
async fn what_waits_and_tells_of_a_room_that_was_erased_is_not_told_and_not_kept() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let sending = Sending::begin(&store);
    sending.house.room("acme", "den").await;
    site.open.send_replace(false);
    site.status.store(500, Ordering::Relaxed);
    let in_den = MESSAGES.replace("lobby", "den");
    for (to, text) in [(&*in_den, "under way"), (&*in_den, "waits"), (MESSAGES, "others")] {
        sending.house.ask("POST", to, &key, Some(json!({ "text": text }))).await.ok();
    }
    assert_eq!(heard(&mut site).await.1, "under way");
    until_kept(&store, 3).await;
    let den = "/api/v1/communities/acme/conversations/room:den";
    assert_eq!(sending.house.operate("DELETE", den, NOTHING).await.ok()["done"], true);
    tells_of_others_alone(site, &store, sending).await;
}

/// Insists that only the message "others" is left, and that nothing else is told.
async fn tells_of_others_alone(mut site: Site, store: &Arc<dyn Store>, sending: Sending) {
    until_kept(store, 1).await;
    // The attempt in progress fails, and is not repeated.
    site.open.send_replace(true);
    for _ in 0..3 {
        assert_eq!(heard(&mut site).await.1, "others");
    }
    until_kept(store, 0).await;
    sending.end().await;
    assert!(site.told.try_recv().is_err(), "nothing more is told");
}

/// Returns the id and the text of what arrives next.
async fn heard(site: &mut Site) -> (String, String) {
    let (headers, body) = site.next().await;
    let told: Value = serde_json::from_slice(&body).expect("JSON");
    let text = told["data"]["text"].as_str().expect("a text").to_owned();
    (headers["webhook-id"].to_str().expect("text").to_owned(), text)
}

/// Returns what the store keeps for a server that starts.
fn kept(store: &Arc<dyn Store>) -> Vec<String> {
    let waits = Undelivered { holder: "house".into(), abandoned_before: Moment::default(), after: None };
    let rows = store.ask(waits).expect("it can be read");
    rows.into_iter().map(|(_, delivery)| format!("evt_{}", delivery.id)).collect()
}

async fn until_kept(store: &Arc<dyn Store>, count: usize) {
    let look = async {
        while kept(store).len() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GENEROUS, look).await.expect("it is kept in time");
}

#[tokio::test]
async fn what_waits_when_the_server_is_killed_is_told_by_the_one_that_starts() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let first = Sending::begin(&store);
    site.open.send_replace(false);
    for text in ["one", "two", "three"] {
        say(&first.house, &key, text).await;
    }
    let under_way = heard(&mut site).await;
    until_kept(&store, 3).await;
    let ids = kept(&store);
    first.kill().await;

    site.open.send_replace(true);
    let second = Sending::begin(&store);
    say(&second.house, &key, "four").await;
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(heard(&mut site).await);
    }
    assert_eq!(told[0], under_way, "nobody knew that it had arrived");
    assert_eq!(
        told.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
        ["one", "two", "three", "four"]
    );
    assert_eq!(told.iter().take(3).map(|(id, _)| id.clone()).collect::<Vec<_>>(), ids);
    until_kept(&store, 0).await;
    second.end().await;
}

#[tokio::test]
async fn a_server_that_ends_in_order_leaves_nothing_to_tell_twice_and_nothing_untold() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let first = Sending::begin(&store);
    say(&first.house, &key, "one").await;
    assert_eq!(heard(&mut site).await.1, "one");
    site.open.send_replace(false);
    say(&first.house, &key, "two").await;
    assert_eq!(heard(&mut site).await.1, "two");
    // It is being sent when the shutdown begins, and what happens then waits for the next start.
    drop(first.stop);
    say(&first.house, &key, "three").await;
    site.open.send_replace(true);
    tokio::time::timeout(GENEROUS, first.work).await.expect("in time").expect("it does not panic");
    until_kept(&store, 1).await;

    let second = Sending::begin(&store);
    assert_eq!(heard(&mut site).await.1, "three");
    until_kept(&store, 0).await;
    second.end().await;
    assert!(site.told.try_recv().is_err(), "nothing comes twice");
}

#[tokio::test]
async fn what_was_delivered_while_the_store_could_not_note_it_is_not_told_again_after_an_orderly_end() {
    for is_noted_before_the_end in [true, false] {
        let mut site = Site::open().await;
        let (rows, key, _) = store_with_a_site(&site).await;
        let store =
            Arc::new(Refusing { rows, refuses: AtomicBool::new(false), refused: watch::Sender::new(0) });
        let dynamic: Arc<dyn Store> = store.clone();
        let first = Sending::begin(&dynamic);
        site.open.send_replace(false);
        say(&first.house, &key, "one").await;
        until_kept(&dynamic, 1).await;
        assert_eq!(heard(&mut site).await.1, "one");
        let refused = *store.refused.borrow();
        store.refuses.store(true, Ordering::Relaxed);
        site.open.send_replace(true);
        let mut refusals = store.refused.subscribe();
        let noted = refusals.wait_for(|count| *count > refused);
        tokio::time::timeout(GENEROUS, noted).await.expect("in time").expect("the store is there");
        if is_noted_before_the_end {
            store.refuses.store(false, Ordering::Relaxed);
            until_kept(&dynamic, 0).await;
            first.end().await;
        } else {
            drop(first.stop);
            store.refuses.store(false, Ordering::Relaxed);
            tokio::time::timeout(GENEROUS, first.work).await.expect("in time").expect("it does not panic");
        }
        assert_eq!(kept(&dynamic), Vec::<String>::new(), "noted before the end: {is_noted_before_the_end}");
    }
}

/// A store that refuses writes for a time.
struct Refusing {
    rows: Arc<dyn Store>,
    refuses: AtomicBool,
    /// How many.
    refused: watch::Sender<u32>,
}

impl Store for Refusing {
    fn epoch(&self) -> &str {
        self.rows.epoch()
    }

    fn submit(&self, request: Request) {
        let is_written = matches!(request, Request::Write(_) | Request::Append(_));
        if is_written && self.refuses.load(Ordering::Relaxed) {
            request.refuse(StoreError::new(StoreErrorKind::Away, "planned"));
            return self.refused.send_modify(|count| *count += 1);
        }
        self.rows.submit(request);
    }
}

#[tokio::test]
async fn what_was_given_up_is_seen_by_the_server_that_starts() {
    let mut site = Site::open().await;
    let (store, key, hook) = store_with_a_site(&site).await;
    site.status.store(500, Ordering::Relaxed);
    let first = Sending::begin(&store);
    say(&first.house, &key, "lost").await;
    let letters = format!("/api/v1/communities/acme/webhooks/{hook}/dead-letters");
    let dead = eventually(&first.house, &letters).await;
    first.kill().await;
    let id = heard(&mut site).await.0;
    let second = Sending::begin(&store);
    assert_eq!(second.house.operate("GET", &letters, NOTHING).await.ok()["rows"], json!([dead.clone()]));
    assert_eq!((&dead["id"], &dead["attempts"]), (&json!(id), &json!(3)));
    second.end().await;
}

#[tokio::test]
async fn an_endpoint_is_told_what_is_said_as_soon_as_it_is_made_and_nothing_when_it_was_removed() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let sending = Sending::begin(&store);
    let house = &sending.house;
    house.community("beside").await;
    house.room("beside", "lobby").await;
    let other = house.key("beside", &["send"]).await;
    let path = "/api/v1/communities/beside/conversations/room:lobby/messages";
    let (mut late, hooks) = (Site::open().await, "/api/v1/communities/beside/webhooks");
    for round in ["first", "second"] {
        // From here on it is cached that there is no endpoint.
        house.ask("POST", path, &other, Some(json!({ "text": format!("before {round}") }))).await.ok();
        say(house, &key, round).await;
        assert_eq!(heard(&mut site).await.1, round);
        let hook = json!({ "name": "late", "url": late.url, "events": ["message.sent"] });
        let made = house.operate("POST", hooks, Some(hook)).await.ok();
        house.ask("POST", path, &other, Some(json!({ "text": round }))).await.ok();
        assert_eq!(heard(&mut late).await.1, round);
        let one = format!("{hooks}/{}", made["id"].as_str().expect("an id"));
        house.operate("DELETE", &one, NOTHING).await.ok();
        house.ask("POST", path, &other, Some(json!({ "text": format!("after {round}") }))).await.ok();
    }
    say(house, &key, "last").await;
    assert_eq!(heard(&mut site).await.1, "last");
    assert!(late.told.try_recv().is_err(), "it was removed");
    sending.end().await;
}

/// A store in memory that for a time does not answer reads of one community.
#[derive(Default)]
struct Silent {
    rows: MemoryStore,
    community: Mutex<Option<CommunityId>>,
}

impl Silent {
    /// The community of which it answers no reads.
    fn about(&self, community: Option<&str>) {
        let community = community.map(|id| CommunityId::parse(id).expect("an id"));
        *self.community.lock().expect("not poisoned") = community;
    }
}

impl Store for Silent {
    fn epoch(&self) -> &str {
        self.rows.epoch()
    }

    fn submit(&self, request: Request) {
        let is_silent = match &request {
            Request::Read(work) => work
                .community()
                .is_some_and(|asked| self.community.lock().expect("not poisoned").as_ref() == Some(asked)),
            Request::Append(_) | Request::Write(_) => false,
        };
        if is_silent {
            return request.refuse(StoreError::new(StoreErrorKind::Away, "planned"));
        }
        self.rows.submit(request);
    }
}

/// Communities with a room each, whose sites are sent messages.
async fn two_with_sites(store: &Arc<Silent>, sites: [&Site; 2]) -> [ConversationId; 2] {
    let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
    let mut rooms = Vec::new();
    for (community, site) in ["acme", "other"].into_iter().zip(sites) {
        house.community(community).await;
        let room = house.room(community, "lobby").await;
        rooms.push(serde_json::from_value(room["id"].clone()).expect("an id"));
        let hook = json!({ "name": "site", "url": site.url, "events": ["message.sent"] });
        house.operate("POST", &format!("/api/v1/communities/{community}/webhooks"), Some(hook)).await.ok();
    }
    rooms.try_into().expect("two rooms")
}

/// Sends a message without reading anything before.
async fn append(house: &House, community: &str, room: ConversationId, text: &str) {
    let id = CommunityId::parse(community).expect("an id");
    let append = Append { conversation: room, draft: Draft::text(None, text) };
    house.messenger.ask(&id, By::Service, append).await.expect("it is stored");
}

#[tokio::test]
async fn a_community_whose_keys_cannot_be_read_holds_up_no_other_one() {
    let (mut site, mut other) = (Site::open().await, Site::open().await);
    let store = Arc::new(Silent::default());
    let [acme, beside] = two_with_sites(&store, [&site, &other]).await;
    let dynamic: Arc<dyn Store> = store.clone();
    let sending = Sending::begin(&dynamic);
    store.about(Some("acme"));
    // If these were waited for one after the other, it would take seconds each.
    for nth in 0..100 {
        append(&sending.house, "acme", acme, &format!("untold {nth}")).await;
    }
    append(&sending.house, "other", beside, "hello").await;
    assert_eq!(heard(&mut other).await.1, "hello");
    store.about(None);
    append(&sending.house, "acme", acme, "after all").await;
    while heard(&mut site).await.1 != "after all" {}
    sending.end().await;
}

#[tokio::test]
async fn what_waits_of_a_community_whose_keys_cannot_be_read_at_the_start_is_told_when_they_can_and_others_at_once()
 {
    let (mut site, mut other) = (Site::open().await, Site::open().await);
    let store = Arc::new(Silent::default());
    let [acme, beside] = two_with_sites(&store, [&site, &other]).await;
    let dynamic: Arc<dyn Store> = store.clone();
    let first = Sending::begin(&dynamic);
    for closed in [&site, &other] {
        closed.open.send_replace(false);
    }
    append(&first.house, "acme", acme, "before").await;
    append(&first.house, "other", beside, "before").await;
    until_kept(&dynamic, 2).await;
    let under_way = [heard(&mut site).await, heard(&mut other).await];
    first.kill().await;
    for opened in [&site, &other] {
        opened.open.send_replace(true);
    }
    store.about(Some("acme"));
    let second = Sending::begin(&dynamic);
    append(&second.house, "other", beside, "after").await;
    assert_eq!(heard(&mut other).await, under_way[1]);
    assert_eq!(heard(&mut other).await.1, "after");
    store.about(None);
    append(&second.house, "acme", acme, "after").await;
    assert_eq!(heard(&mut site).await, under_way[0], "in its order");
    assert_eq!(heard(&mut site).await.1, "after");
    until_kept(&dynamic, 0).await;
    second.end().await;
}
