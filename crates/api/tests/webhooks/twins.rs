//! Two communities whose endpoints, rooms and people have the same ids: the site of each is told of its own.

use super::MESSAGES;
use super::site::{Site, heard};
use super::telling::eventually;
use crate::house::{House, NOTHING};
use chat::rows::Record;
use serde_json::json;
use std::sync::atomic::Ordering;

/// A community and its copy, with a site each.
struct Twins {
    house: House,
    sites: [Site; 2],
    keys: [String; 2],
    /// The id of the endpoint in either.
    endpoint: String,
}

const NAMES: [&str; 2] = ["acme", "other"];

impl Twins {
    async fn begin() -> Self {
        let (house, sites) = (House::new(), [Site::open().await, Site::open().await]);
        house.community("acme").await;
        house.room("acme", "lobby").await;
        let hook = json!({ "name": "site", "url": sites[0].url, "events": ["message.sent"] });
        let made = house.operate("POST", "/api/v1/communities/acme/webhooks", Some(hook)).await.ok();
        let other_url = json!(sites[1].url);
        let copied = house.export("acme").into_iter().filter_map(|record| match record {
            Record::Community(mut community) => {
                community.id = chat::CommunityId::parse("other").expect("a name");
                Some(Record::Community(community))
            }
            Record::Key(mut key) if key.purpose["kind"] == "webhook" => {
                key.community = chat::CommunityId::parse("other").expect("a name");
                key.purpose["url"] = other_url.clone();
                Some(Record::Key(key))
            }
            // Equal secrets would make equal credentials.
            Record::Key(_) => None,
            same => Some(same),
        });
        house.import("other", copied.collect());
        let keys = [house.key("acme", &["send"]).await, house.key("other", &["send"]).await];
        let api = house.api.clone();
        tokio::spawn(async move { api.deliver(std::future::pending()).await });
        Self { house, sites, keys, endpoint: made["id"].as_str().expect("an id").to_owned() }
    }

    /// Says the name of each community in it, with a word behind it.
    async fn say(&self, word: &str) {
        for (name, key) in NAMES.iter().zip(&self.keys) {
            let text = json!({ "text": format!("{name} {word}") });
            self.house.ask("POST", &MESSAGES.replace("acme", name), key, Some(text)).await.ok();
        }
    }

    fn endpoint_in(&self, community: &str) -> String {
        format!("/api/v1/communities/{community}/webhooks/{}", self.endpoint)
    }
}

#[tokio::test]
async fn each_site_is_told_of_its_own_community_and_neither_holds_up_the_other() {
    let mut twins = Twins::begin().await;
    for name in NAMES {
        let listed =
            twins.house.operate("GET", &format!("/api/v1/communities/{name}/webhooks"), NOTHING).await.ok();
        assert_eq!(listed["rows"][0]["id"], twins.endpoint, "in {name}");
    }
    twins.sites[0].open.send_replace(false);
    for word in ["first", "second"] {
        twins.say(word).await;
        assert_eq!(heard(&mut twins.sites[1]).await.1, format!("other {word}"));
    }
    twins.sites[0].open.send_replace(true);
    for word in ["first", "second"] {
        assert_eq!(heard(&mut twins.sites[0]).await.1, format!("acme {word}"));
    }
    assert!(twins.sites.iter_mut().all(|site| site.told.try_recv().is_err()), "nothing more is told");
}

#[tokio::test]
async fn what_is_given_up_in_one_is_seen_there_alone_and_outlasts_the_others_endpoint() {
    let mut twins = Twins::begin().await;
    for site in &twins.sites {
        site.status.store(500, Ordering::Relaxed);
    }
    twins.say("lost").await;
    for name in NAMES {
        let dead = eventually(&twins.house, &format!("{}/dead-letters", twins.endpoint_in(name))).await;
        assert_eq!(dead["body"]["data"]["text"], format!("{name} lost"));
    }
    twins.house.operate("DELETE", &twins.endpoint_in("acme"), NOTHING).await.ok();
    let dead = eventually(&twins.house, &format!("{}/dead-letters", twins.endpoint_in("other"))).await;
    assert_eq!(dead["body"]["data"]["text"], "other lost");
    for site in &mut twins.sites {
        site.status.store(204, Ordering::Relaxed);
        while site.told.try_recv().is_ok() {}
    }
    twins.say("later").await;
    assert_eq!(heard(&mut twins.sites[1]).await.1, "other later");
    assert!(twins.sites[0].told.try_recv().is_err(), "its endpoint was removed");
}
