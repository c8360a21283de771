//! Who can be put into a conversation, and who can come back to it.

use crate::house::{House, NOTHING, token};
use serde_json::{Value, json};

const ROOMS: &str = "/api/v1/communities/acme/rooms";

/// A community with Ann, Bob and a private room; also returns the path of the room's members.
async fn furnished() -> (House, String, String) {
    let house = House::new();
    house.community("acme").await;
    let key = house.key("acme", &["list", "manage_people", "manage_rooms", "moderate"]).await;
    for person in ["ann", "bob"] {
        let path = format!("/api/v1/communities/acme/people/{person}");
        house.ask("PUT", &path, &key, Some(json!({ "name": person }))).await.ok();
    }
    let cellar = json!({ "name": "cellar", "kind": "private", "title": "Cellar" });
    let cellar = house.operate("POST", ROOMS, Some(cellar)).await.ok();
    let members = members_of(&cellar);
    (house, key, members)
}

fn members_of(conversation: &Value) -> String {
    let id = conversation["id"].as_str().expect("an id");
    format!("/api/v1/communities/acme/conversations/{id}/members")
}

#[tokio::test]
async fn who_was_put_into_a_private_room_and_removed_cannot_come_back_alone() {
    let (house, key, members) = furnished().await;
    let (one, bob) = (format!("{members}/bob"), token("acme", "bob"));
    for _ in 0..2 {
        let member = house.ask("PUT", &one, &key, Some(json!({}))).await.ok();
        assert_eq!(member["person"], "bob");
    }
    house.ask("DELETE", &one, &key, NOTHING).await.ok();
    assert_eq!(house.ask("PUT", &one, &bob, Some(json!({}))).await.code(), "not_found");
    house.ask("PUT", &one, &key, Some(json!({}))).await.ok();
    assert_eq!(house.ask("PUT", &one, &bob, Some(json!({}))).await.ok()["person"], "bob");
}

#[tokio::test]
async fn a_key_puts_people_into_groups_and_into_no_conversation_of_two() {
    let (house, key, _) = furnished().await;
    let (people, ann) = ("/api/v1/communities/acme/people/ann", token("acme", "ann"));
    let cat = "/api/v1/communities/acme/people/cat";
    house.ask("PUT", cat, &key, Some(json!({ "name": "Cat" }))).await.ok();
    let group = json!({ "with": ["bob"], "title": "We" });
    let group = house.ask("POST", &format!("{people}/groups"), &ann, Some(group)).await.ok();
    let in_group = format!("{}/cat", members_of(&group));
    house.ask("PUT", &in_group, &key, Some(json!({}))).await.ok();
    house.ask("DELETE", &in_group, &key, NOTHING).await.ok();
    let back = house.ask("PUT", &in_group, &token("acme", "cat"), Some(json!({}))).await;
    assert_eq!(back.code(), "not_found");
    let pair =
        house.ask("POST", &format!("{people}/direct"), &ann, Some(json!({ "with": "bob" }))).await.ok();
    let third = house.ask("PUT", &format!("{}/cat", members_of(&pair)), &key, Some(json!({}))).await;
    assert_eq!(third.code(), "not_found");
}

#[tokio::test]
async fn who_could_not_be_put_into_a_room_has_no_invitation_of_it() {
    let (house, key, members) = furnished().await;
    let (one, ban) = (format!("{members}/bob"), "/api/v1/communities/acme/sanctions/ban/bob");
    house.ask("PUT", ban, &key, Some(json!({}))).await.ok();
    let refused = house.ask("PUT", &one, &key, Some(json!({}))).await;
    assert!(refused.status.is_client_error(), "{}", refused.text);
    house.ask("DELETE", ban, &key, NOTHING).await.ok();
    let invitations =
        house.ask("GET", "/api/v1/communities/acme/people/bob/invitations", &key, NOTHING).await;
    assert_eq!(invitations.ok()["rows"], json!([]));
}

#[tokio::test]
async fn who_cannot_have_a_role_is_not_put_in_with_it() {
    let (house, key, members) = furnished().await;
    let lounge = json!({ "name": "lounge", "kind": "public", "title": "Lounge" });
    let lounge = house.operate("POST", ROOMS, Some(lounge)).await.ok();
    let gil =
        house.ask_with("POST", "/api/v1/communities/acme/guests", &[], Some("{}".to_owned())).await.ok();
    // A guest is stored with their first request.
    house.ask("GET", ROOMS, gil["token"].as_str().expect("a token"), NOTHING).await.ok();
    let gil = gil["person"].as_str().expect("an id").to_owned();
    for members in [members, members_of(&lounge)] {
        for (who, role) in [(gil.as_str(), "moderator"), ("bob", "guest")] {
            let one = format!("{members}/{who}");
            let refused = house.ask("PUT", &one, &key, Some(json!({ "role": role }))).await;
            assert_eq!(refused.code(), "not_permitted", "{who} as {role}");
            let listed = house.ask("GET", &members, &key, NOTHING).await.ok();
            assert_eq!(listed["rows"], json!([]), "{who} as {role}");
        }
        let one = format!("{members}/bob");
        let put = house.ask("PUT", &one, &key, Some(json!({ "role": "moderator" }))).await.ok();
        assert_eq!(put["role"], "moderator");
    }
}
