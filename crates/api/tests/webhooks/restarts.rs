//! What a server that ends leaves to the one that starts.

use super::GENEROUS;
use super::sending::{Sending, kept, say, store_with_a_site, until_kept};
use super::site::{Site, heard};
use super::telling::eventually;
use crate::house::NOTHING;
use chat::{Request, Store, StoreError, StoreErrorKind};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

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
