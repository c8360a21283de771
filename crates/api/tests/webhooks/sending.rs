//! A server that sends webhooks, and what its store keeps to be sent.

use super::site::Site;
use super::{GENEROUS, MESSAGES, until};
use crate::house::House;
use api::Rate;
use chat::verbs::Undelivered;
use chat::{Ask as _, MemoryStore, Moment, Store};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server over a store that may have been another one's, and its delivery task: dropping it kills it, a message stops
/// it.
pub(super) struct Sending {
    pub(super) house: House,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) work: JoinHandle<()>,
}

impl Sending {
    pub(super) fn begin(store: &Arc<dyn Store>) -> Self {
        let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
        let (stop, stopped) = oneshot::channel();
        let api = house.api.clone();
        let work = tokio::spawn(async move { api.deliver(async { drop(stopped.await) }).await });
        Self { house, stop, work }
    }

    pub(super) async fn end(self) {
        drop(self.stop);
        tokio::time::timeout(GENEROUS, self.work).await.expect("in time").expect("it does not panic");
    }

    pub(super) async fn kill(self) {
        self.work.abort();
        assert!(self.work.await.is_err_and(|error| error.is_cancelled()));
    }
}

/// A store with a community whose site is sent messages, and a key that may write there.
pub(super) async fn store_with_a_site(site: &Site) -> (Arc<dyn Store>, String, String) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &["send", "moderate", "list"]).await;
    let hook = json!({ "name": "site", "url": site.url, "events": ["message.sent"] });
    let made = house.operate("POST", "/api/v1/communities/acme/webhooks", Some(hook)).await.ok();
    (store, key, made["id"].as_str().expect("an id").to_owned())
}

pub(super) async fn say(house: &House, key: &str, text: &str) {
    house.ask("POST", MESSAGES, key, Some(json!({ "text": text }))).await.ok();
}

/// Returns what the store keeps for a server that starts.
pub(super) fn kept(store: &Arc<dyn Store>) -> Vec<String> {
    let waits = Undelivered { holder: "house".into(), abandoned_before: Moment::default(), after: None };
    let rows = store.ask(waits).expect("it can be read");
    rows.into_iter().map(|(_, delivery)| format!("evt_{}", delivery.id)).collect()
}

pub(super) async fn until_kept(store: &Arc<dyn Store>, count: usize) {
    until("it is kept in time", async || (kept(store).len() == count).then_some(())).await;
}
