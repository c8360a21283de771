//! Publications to topics of the application's own.

use crate::furnished;
use serde_json::json;

#[tokio::test]
async fn a_publication_reaches_topics_of_its_own_community_alone() {
    let (house, key) = furnished().await;
    let path = "/api/v1/communities/acme/publications";
    let publication = |topic: &str, event: &str| {
        Some(json!({ "topic": topic, "event": event, "payload": { "b": 1, "a": 2 } }))
    };
    let taken = house.ask("POST", path, &key, publication("news:acme/today", "headline")).await;
    assert_eq!(taken.status.as_u16(), 202);
    for (topic, event) in [
        ("news:other/today", "headline"),
        ("news:acme/today", "phx_close"),
        ("room:acme/lobby", "msg:new"),
        ("room:acme/lobby", "presence"),
        ("room:acme/lobby", "typing"),
        ("person:acme/ann", "sanction"),
        ("person:acme/ann", "conversation:new"),
        ("today", "x"),
    ] {
        assert_eq!(
            house.ask("POST", path, &key, publication(topic, event)).await.code(),
            "invalid",
            "{topic} {event}"
        );
    }
    let published = house.live.published.lock().expect("not poisoned").clone();
    assert_eq!(published, [("news:acme/today".into(), "headline".into(), r#"{"a":2,"b":1}"#.into())]);
    for (topic, event) in [("room:acme/lobby", "parcel"), ("news:acme/today", "status")] {
        assert_eq!(
            house.ask("POST", path, &key, publication(topic, event)).await.status.as_u16(),
            202,
            "{event}"
        );
    }
}
