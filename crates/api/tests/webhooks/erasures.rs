//! What waits and is about a person or a room that is erased.

use super::MESSAGES;
use super::sending::{Sending, say, store_with_a_site, until_kept};
use super::site::{Site, heard};
use crate::house::{self, NOTHING};
use chat::Store;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
