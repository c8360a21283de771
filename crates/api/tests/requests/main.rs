//! The outcomes of requests: problems of every kind, retries, pages, who may act as whom, limits.

#[path = "../house/mod.rs"]
mod house;

mod callers;
mod erasure;
mod messages;
mod problems;
mod publications;
mod rates;

use house::{Answer, House};
use serde_json::json;

const ALL: [&str; 8] =
    ["send", "list", "moderate", "manage_rooms", "manage_people", "manage_settings", "publish", "presence"];
const LOBBY: &str = "/api/v1/communities/acme/conversations/room:lobby";

async fn furnished() -> (House, String) {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &ALL).await;
    for person in ["ann", "bob"] {
        house
            .ask(
                "PUT",
                &format!("/api/v1/communities/acme/people/{person}"),
                &key,
                Some(json!({ "name": person })),
            )
            .await
            .ok();
        house.ask("PUT", &format!("{LOBBY}/members/{person}"), &key, Some(json!({}))).await.ok();
    }
    (house, key)
}

async fn send(house: &House, bearer: &str, text: &str) -> Answer {
    house.ask("POST", &format!("{LOBBY}/messages"), bearer, Some(json!({ "text": text }))).await
}
