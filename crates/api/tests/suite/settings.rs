//! Which of its settings a community changes itself, with a key for that or as an owner, and which only the operator
//! does.

use crate::house::{self, Answer, House, token_with};
use serde_json::{Value, json};

const ACME: &str = "/api/v1/communities/acme";

async fn furnished() -> House {
    let house = House::new();
    house.community("acme").await;
    let limits =
        json!({ "people_online": 10, "messages_per_minute": 5, "history_days": 30, "upload_bytes": 1 });
    let settings = json!({ "name": "acme", "limits": limits });
    house.operate("PUT", ACME, Some(settings)).await.ok();
    house
}

async fn limits(house: &House) -> Value {
    house.operate("GET", ACME, house::NOTHING).await.ok()["limits"].clone()
}

/// Sends a change with the key, and as an owner of the community.
async fn change(house: &House, settings: Value) -> [Answer; 2] {
    let key = house.key("acme", &["manage_settings"]).await;
    let owner = token_with("acme", "olga", &json!({ "roles": ["owner"] }));
    let settings = Some(settings);
    [house.ask("PUT", ACME, &key, settings.clone()).await, house.ask("PUT", ACME, &owner, settings).await]
}

#[tokio::test]
async fn a_community_changes_what_is_its_own_and_its_limits_stay() {
    let house = furnished().await;
    let before = limits(&house).await;
    let look = json!({ "color": "#112233", "logo_url": "https://acme.example/logo.svg", "locale": "de" });
    let own = json!({ "name": "Acme", "origins": ["https://acme.example"], "guests": "read", "history_days": 7,
        "people_make_rooms": true, "people_find_each_other": true, "look": look });
    for changed in change(&house, own.clone()).await {
        let changed = changed.ok();
        for (name, value) in own.as_object().expect("settings") {
            assert_eq!(changed[name], *value, "{name}");
        }
        assert_eq!(changed["limits"], before);
    }
    // What was read can be sent back.
    let shown = house.operate("GET", ACME, house::NOTHING).await.ok();
    let mut given = shown.clone();
    for name in ["id", "created"] {
        given.as_object_mut().expect("settings").remove(name);
    }
    for changed in change(&house, given).await {
        assert_eq!(changed.ok(), shown);
    }
    let audit = house.operate("GET", &format!("{ACME}/audit"), house::NOTHING).await.ok();
    let deeds = audit["rows"].as_array().expect("rows").iter();
    assert_eq!(deeds.filter(|entry| entry["deed"] == "change_community").count(), 5);
}

#[tokio::test]
async fn a_community_raises_none_of_its_limits_and_learns_that_it_did_not() {
    let house = furnished().await;
    let before = limits(&house).await;
    for (name, value) in [
        ("people_online", json!(1_000)),
        ("people_online", Value::Null),
        ("messages_per_minute", json!(1_000)),
        ("history_days", json!(400)),
        ("upload_bytes", json!(1 << 30)),
    ] {
        let mut raised = before.clone();
        raised[name] = value;
        for refused in change(&house, json!({ "name": "Acme", "limits": raised })).await {
            assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "not_permitted"), "{name}");
        }
        assert_eq!(limits(&house).await, before, "{name}");
    }
    // For the operator it does not matter who set them.
    let settings = json!({ "name": "Acme", "limits": { "messages_per_minute": 1_000 } });
    house.operate("PUT", ACME, Some(settings)).await.ok();
    assert_eq!(limits(&house).await["messages_per_minute"], 1_000);
}

#[tokio::test]
async fn a_key_without_the_scope_and_one_of_another_community_change_nothing() {
    let house = furnished().await;
    house.community("other").await;
    let settings = || Some(json!({ "name": "Taken" }));
    let all = ["send", "list", "moderate", "manage_rooms", "manage_people", "publish", "presence"];
    let unscoped = house.key("acme", &all).await;
    let refused = house.ask("PUT", ACME, &unscoped, settings()).await;
    assert_eq!((refused.code().as_str(), refused.status.as_u16()), ("scope_missing", 403));
    let foreign = house.key("other", &["manage_settings"]).await;
    assert_eq!(house.ask("PUT", ACME, &foreign, settings()).await.code(), "key_invalid");
    let member = token_with("acme", "ann", &json!({}));
    assert_eq!(house.ask("PUT", ACME, &member, settings()).await.code(), "not_permitted");
    assert_eq!(house.operate("GET", ACME, house::NOTHING).await.ok()["name"], "acme");
    let key = house.key("acme", &["manage_settings"]).await;
    for (method, path) in [("DELETE", ACME.to_owned()), ("GET", format!("{ACME}/keys"))] {
        let refused = house.ask(method, &path, &key, house::NOTHING).await;
        assert_eq!(refused.status.as_u16(), 403, "{method} {path}");
    }
}
