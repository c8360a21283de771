//! Communities whose keys cannot be read for a time.

use super::sending::{Sending, until_kept};
use super::site::{Site, heard};
use crate::house::House;
use api::Rate;
use chat::verbs::Append;
use chat::{By, CommunityId, ConversationId, Draft, MemoryStore, Request, Store, StoreError, StoreErrorKind};
use serde_json::json;
use std::sync::{Arc, Mutex};

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
