//! Sending messages, and paging through lists and histories.

use crate::house::{NOTHING, token};
use crate::{LOBBY, furnished, send};
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn a_message_that_is_sent_twice_is_stored_once() {
    let (house, key) = furnished().await;
    let ann = token("acme", "ann");
    let path = format!("{LOBBY}/messages");
    let bearer = format!("Bearer {ann}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", "try-1")];
    let body = json!({ "text": "once" }).to_string();
    let first = house.ask_with("POST", &path, &headers, Some(body.clone())).await;
    let again = house.ask_with("POST", &path, &headers, Some(body)).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.json(), again.json());
    let quoted = [headers[0], ("idempotency-key", "\"try-1\"")];
    let again = house.ask_with("POST", &path, &quoted, Some(json!({ "text": "once" }).to_string())).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, first.json()));
    let other = house.ask_with("POST", &path, &headers, Some(json!({ "text": "else" }).to_string())).await;
    assert_eq!((other.status.as_u16(), other.code().as_str()), (409, "client_id_reused"));
    let both = json!({ "text": "once", "client_id": "try-2" }).to_string();
    assert_eq!(house.ask_with("POST", &path, &headers, Some(both)).await.code(), "invalid");
    let page = house.ask("GET", &path, &key, NOTHING).await.ok();
    assert_eq!(page["messages"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn history_is_read_by_places_without_holes() {
    let (house, key) = furnished().await;
    for number in 1..=10 {
        assert_eq!(send(&house, &key, &format!("message {number}")).await.ok()["seq"], number);
    }
    for (query, seqs, more) in [
        ("limit=3", vec![8, 9, 10], true),
        ("before=4&limit=2", vec![2, 3], true),
        ("before=3", vec![1, 2], false),
        ("after=8", vec![9, 10], false),
        ("around=5&limit=4", vec![4, 5, 6, 7], true),
        ("changed_since=0", vec![], false),
    ] {
        let page = house.ask("GET", &format!("{LOBBY}/messages?{query}"), &key, NOTHING).await.ok();
        let found: Vec<u64> = page["messages"]
            .as_array()
            .expect("messages")
            .iter()
            .filter_map(|one| one["seq"].as_u64())
            .collect();
        assert_eq!((found, page["more"].as_bool()), (seqs, Some(more)), "{query}");
    }
    let both = house.ask("GET", &format!("{LOBBY}/messages?before=4&after=2"), &key, NOTHING).await;
    assert_eq!(both.code(), "invalid");
}

#[tokio::test]
async fn a_list_is_gone_through_page_by_page() {
    let (house, key) = furnished().await;
    for number in 0..7 {
        house.room("acme", &format!("room-{number}")).await;
    }
    let (mut names, mut after, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let path = format!("/api/v1/communities/acme/rooms?limit=3{after}");
        let page = house.ask("GET", &path, &key, NOTHING).await.ok();
        names.extend(page["rows"].as_array().expect("rows").iter().map(|room| room["name"].to_string()));
        pages += 1;
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!((names.len(), distinct.len(), pages), (8, 8, 3));
}

#[tokio::test]
async fn the_conversations_tab_is_gone_through_page_by_page_and_cursors_only_move_forward() {
    let (house, key) = furnished().await;
    let ann = token("acme", "ann");
    for number in 0..3 {
        let room = house.room("acme", &format!("room-{number}")).await;
        let id = room["id"].as_str().expect("an id").to_owned();
        let path = format!("/api/v1/communities/acme/conversations/{id}");
        house.ask("PUT", &format!("{path}/members/ann"), &ann, Some(json!({}))).await.ok();
        house.ask("POST", &format!("{path}/messages"), &key, Some(json!({ "text": "news" }))).await.ok();
    }
    let path = "/api/v1/communities/acme/people/ann/conversations";
    let first = house.ask("GET", &format!("{path}?limit=2"), &ann, NOTHING).await.ok();
    let next = first["next"].as_str().expect("there are more").to_owned();
    let second = house.ask("GET", &format!("{path}?limit=2&before={next}"), &ann, NOTHING).await.ok();
    assert_eq!(
        (first["rows"].as_array().map(Vec::len), second["rows"].as_array().map(Vec::len)),
        (Some(2), Some(2))
    );
    assert_eq!(first["rows"][0]["unread"], 1);

    let room = format!("{path}/room:room-0");
    let read = house.ask("PATCH", &room, &ann, Some(json!({ "read": 1, "muted": true }))).await.ok();
    assert_eq!((read["unread"].as_u64(), read["member"]["muted"].as_bool()), (Some(0), Some(true)));
    let back = house.ask("PATCH", &room, &ann, Some(json!({ "read": 0 }))).await.ok();
    assert_eq!(back["member"]["read"], 1);
    let others = house.ask("GET", path, &token("acme", "bob"), NOTHING).await;
    assert_eq!(others.code(), "not_found");
}
