//! Two communities whose endpoints, rooms and people have the same ids: the site of each is told of its own, whatever
//! becomes of the other one.

use super::MESSAGES;
use super::sending::{Sending, until_kept};
use super::site::{Site, heard};
use super::telling::eventually;
use crate::house::NOTHING;
use chat::rows::Record;
use chat::{CommunityId, MemoryStore, Store};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const NAMES: [&str; 2] = ["acme", "other"];

/// A community and its copy, with a site each.
struct Twins {
    store: Arc<dyn Store>,
    sending: Sending,
    sites: [Site; 2],
    keys: [String; 2],
    /// The id of the endpoint in either.
    endpoint: String,
}

impl Twins {
    async fn begin() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let (sending, sites) = (Sending::begin(&store), [Site::open().await, Site::open().await]);
        let house = &sending.house;
        house.community("acme").await;
        house.room("acme", "lobby").await;
        let hook = json!({ "name": "site", "url": sites[0].url, "events": ["message.sent"] });
        let made = house.operate("POST", "/api/v1/communities/acme/webhooks", Some(hook)).await.ok();
        let (other, other_url) = (CommunityId::parse("other").expect("a name"), json!(sites[1].url));
        let copied = house.export("acme").into_iter().filter_map(|record| match record {
            Record::Community(mut community) => {
                community.id = other.clone();
                Some(Record::Community(community))
            }
            Record::Key(mut key) if key.purpose["kind"] == "webhook" => {
                key.community = other.clone();
                key.purpose["url"] = other_url.clone();
                Some(Record::Key(key))
            }
            // Equal secrets would make equal credentials.
            Record::Key(_) => None,
            same => Some(same),
        });
        house.import("other", copied.collect());
        let keys = [house.key("acme", &["send"]).await, house.key("other", &["send"]).await];
        let endpoint = made["id"].as_str().expect("an id").to_owned();
        for name in NAMES {
            let path = format!("/api/v1/communities/{name}/webhooks");
            let listed = house.operate("GET", &path, NOTHING).await.ok();
            assert_eq!(listed["rows"][0]["id"], json!(endpoint), "in {name}");
        }
        Self { store, sending, sites, keys, endpoint }
    }

    /// The server is killed, and another one starts on what it left.
    async fn restarted(self) -> Self {
        let Self { store, sending, sites, keys, endpoint } = self;
        sending.kill().await;
        Self { sending: Sending::begin(&store), store, sites, keys, endpoint }
    }

    /// Says the name of a community in it, with a word behind it.
    async fn say_in(&self, community: usize, word: &str) {
        let text = json!({ "text": format!("{} {word}", NAMES[community]) });
        let path = MESSAGES.replace("acme", NAMES[community]);
        self.sending.house.ask("POST", &path, &self.keys[community], Some(text)).await.ok();
    }

    async fn say(&self, word: &str) {
        self.say_in(0, word).await;
        self.say_in(1, word).await;
    }

    /// What the site is told next is this word of its own community.
    async fn hears(&mut self, community: usize, word: &str) {
        assert_eq!(heard(&mut self.sites[community]).await.1, format!("{} {word}", NAMES[community]));
    }

    fn open(&self, community: usize, is_open: bool) {
        self.sites[community].open.send_replace(is_open);
    }

    fn endpoint_in(&self, community: &str) -> String {
        format!("/api/v1/communities/{community}/webhooks/{}", self.endpoint)
    }

    /// The first one's site was told nothing more, though the other's was told something twice since.
    async fn only_the_other_hears(&mut self) {
        for word in ["later", "last"] {
            self.say_in(1, word).await;
            self.hears(1, word).await;
        }
        assert!(self.sites[0].told.try_recv().is_err(), "nothing more is told of the first");
    }
}

#[tokio::test]
async fn each_site_is_told_of_its_own_community_and_neither_holds_up_the_other() {
    let mut twins = Twins::begin().await;
    for (closed, other) in [(0, 1), (1, 0)] {
        twins.open(closed, false);
        for word in ["first", "second"] {
            twins.say(word).await;
            twins.hears(other, word).await;
        }
        twins.open(closed, true);
        for word in ["first", "second"] {
            twins.hears(closed, word).await;
        }
    }
    // There was nothing between.
    twins.say("last").await;
    twins.hears(0, "last").await;
    twins.hears(1, "last").await;
}

#[tokio::test]
async fn what_waits_of_each_is_told_to_its_own_site_by_the_server_that_starts() {
    let mut twins = Twins::begin().await;
    twins.open(0, false);
    twins.open(1, false);
    twins.say("waits").await;
    twins.hears(0, "waits").await;
    twins.hears(1, "waits").await;
    until_kept(&twins.store, 2).await;
    let mut twins = twins.restarted().await;
    twins.open(0, true);
    twins.open(1, true);
    twins.say("goes on").await;
    for word in ["waits", "goes on"] {
        twins.hears(0, word).await;
        twins.hears(1, word).await;
    }
}

#[tokio::test]
async fn what_is_given_up_in_one_is_seen_there_alone_and_outlasts_the_others_endpoint() {
    let mut twins = Twins::begin().await;
    for site in &twins.sites {
        site.status.store(500, Ordering::Relaxed);
    }
    twins.say("lost").await;
    let dead_in = async |twins: &Twins, name: &str| {
        let path = format!("{}/dead-letters", twins.endpoint_in(name));
        eventually(&twins.sending.house, &path).await["body"]["data"]["text"].clone()
    };
    for name in NAMES {
        assert_eq!(dead_in(&twins, name).await, format!("{name} lost"));
    }
    twins.sending.house.operate("DELETE", &twins.endpoint_in("acme"), NOTHING).await.ok();
    assert_eq!(dead_in(&twins, "other").await, "other lost");
    for site in &mut twins.sites {
        site.status.store(204, Ordering::Relaxed);
        while site.told.try_recv().is_ok() {}
    }
    twins.say_in(0, "unheard").await;
    twins.only_the_other_hears().await;
}

#[tokio::test]
async fn what_waits_of_one_is_told_though_the_other_is_erased() {
    let mut twins = Twins::begin().await;
    twins.open(0, false);
    twins.open(1, false);
    for word in ["under way", "waits"] {
        twins.say(word).await;
    }
    twins.hears(0, "under way").await;
    twins.hears(1, "under way").await;
    let erased = twins.sending.house.operate("DELETE", "/api/v1/communities/acme", NOTHING).await.ok();
    assert_eq!(erased["done"], true);
    twins.open(0, true);
    twins.open(1, true);
    twins.hears(1, "waits").await;
    twins.only_the_other_hears().await;
}
