//! Who may invite, give roles and remove with a person's own token: the same people as over channels.

use crate::house::{Answer, House, NOTHING, token, token_with};
use serde_json::{Value, json};

/// A conversation that Ann owns, with Moe, who moderates it, and Bob in it. Cat is not a member, and Eve owns another
/// room.
struct Owned {
    house: House,
    key: String,
    path: String,
    id: String,
}

const HERE: &str = "/api/v1/communities/acme";
/// All kinds that have an owner.
const KINDS: [&str; 4] = ["public", "members", "private", "group"];

impl Owned {
    async fn of(kind: &str) -> Self {
        let house = House::new();
        house.community("acme").await;
        let key = house.key("acme", &["list", "manage_people", "manage_rooms", "moderate", "send"]).await;
        for person in ["ann", "moe", "bob", "cat", "eve"] {
            let path = format!("{HERE}/people/{person}");
            house.ask("PUT", &path, &key, Some(json!({ "name": person }))).await.ok();
        }
        let ann = token("acme", "ann");
        let made = match kind {
            "group" => {
                let group = json!({ "with": ["moe", "bob"], "title": "We" });
                house.ask("POST", &format!("{HERE}/people/ann/groups"), &ann, Some(group)).await
            }
            kind => {
                let room = json!({ "name": "den", "kind": kind, "title": "Den" });
                house.ask("POST", &format!("{HERE}/rooms"), &ann, Some(room)).await
            }
        };
        let id = made.ok()["id"].as_str().expect("an id").to_owned();
        let path = format!("{HERE}/conversations/{id}");
        let owned = Self { house, key, path, id };
        if kind != "group" {
            for person in ["moe", "bob"] {
                owned.by("ann", "POST", "/invitations", Some(json!({ "person": person }))).await.ok();
                owned.put(person, person, json!({})).await.ok();
            }
        }
        assert_eq!(owned.put("ann", "moe", json!({ "role": "moderator" })).await.ok()["role"], "moderator");
        let attic = json!({ "name": "attic", "kind": "public", "title": "Attic" });
        owned.house.ask("POST", &format!("{HERE}/rooms"), &token("acme", "eve"), Some(attic)).await.ok();
        owned
    }

    async fn by(&self, who: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.house.ask(method, &format!("{}{path}", self.path), &token("acme", who), body).await
    }

    async fn put(&self, who: &str, whom: &str, body: Value) -> Answer {
        self.by(who, "PUT", &format!("/members/{whom}"), Some(body)).await
    }

    /// Bans or mutes a person here, or lifts it.
    async fn punish(&self, method: &str, kind: &str, whom: &str) {
        let path = format!("{HERE}/sanctions/{kind}/{whom}?conversation={}", self.id);
        let body = if method == "PUT" { Some(json!({})) } else { NOTHING };
        let answer = self.house.ask(method, &path, &self.key, body).await;
        assert!(answer.status.is_success(), "{}", answer.text);
    }

    /// Returns the members, with their roles.
    async fn members(&self) -> Vec<(String, String)> {
        let listed = self.house.ask("GET", &format!("{}/members", self.path), &self.key, NOTHING).await.ok();
        let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
        let rows = listed["rows"].as_array().expect("rows");
        rows.iter().map(|row| (text(row, "person"), text(row, "role"))).collect()
    }
}

#[tokio::test]
async fn owners_invite_give_roles_and_remove_in_every_kind_of_conversation() {
    for kind in KINDS {
        let owned = Owned::of(kind).await;
        for role in ["moderator", "owner", "member"] {
            let given = owned.put("ann", "bob", json!({ "role": role })).await;
            assert_eq!(given.ok()["role"], role, "{kind}");
        }
        let absent = owned.put("ann", "cat", json!({ "role": "member" })).await;
        assert_eq!(absent.code(), "not_found", "{kind}: by a role nobody comes in");
        owned.by("ann", "POST", "/invitations", Some(json!({ "person": "cat" }))).await.ok();
        assert_eq!(owned.put("cat", "cat", json!({})).await.ok()["role"], "member", "{kind}");
        let removed = owned.by("ann", "DELETE", "/members/bob", NOTHING).await;
        assert!(removed.status.is_success(), "{kind}: {}", removed.text);
        let left = [("ann", "owner"), ("cat", "member"), ("moe", "moderator")];
        let left = left.map(|(person, role)| (person.to_owned(), role.to_owned()));
        assert_eq!(owned.members().await, left, "{kind}");
    }
}

#[tokio::test]
async fn nobody_else_gives_roles() {
    for kind in KINDS {
        let owned = Owned::of(kind).await;
        // For those who may not know of it, it does not exist.
        let outside = if matches!(kind, "public" | "members") { "not_permitted" } else { "not_found" };
        for (who, code) in
            [("moe", "not_permitted"), ("bob", "not_permitted"), ("cat", outside), ("eve", outside)]
        {
            for (whom, role) in [("bob", "moderator"), (who, "owner"), ("ann", "member")] {
                let refused = owned.put(who, whom, json!({ "role": role })).await;
                assert_eq!(refused.code(), code, "{who} makes {whom} {role} in {kind}");
            }
        }
        let members = owned.members().await;
        assert_eq!(members.len(), 3, "who tried did not come in by it: {members:?}");
        owned.house.community("other").await;
        let elsewhere = token_with("other", "ann", &json!({ "roles": ["owner"] }));
        let path = format!("{}/members/bob", owned.path);
        let body = Some(json!({ "role": "owner" }));
        let refused = owned.house.ask("PUT", &path, &elsewhere, body.clone()).await;
        assert_eq!(refused.status.as_u16(), 401, "{kind}: {}", refused.text);
        // A role in the whole community counts in rooms only.
        let over_all = token_with("acme", "eve", &json!({ "roles": ["owner"] }));
        let answer = owned.house.ask("PUT", &path, &over_all, body).await;
        assert_eq!(answer.status.as_u16(), if kind == "group" { 404 } else { 200 }, "{kind}");
    }
}

#[tokio::test]
async fn who_has_a_role_in_the_whole_community_comes_into_every_room_uninvited() {
    for kind in KINDS {
        let owned = Owned::of(kind).await;
        let expected = if kind == "group" { 404 } else { 200 };
        for role in ["moderator", "owner"] {
            let claimed = token_with("acme", &format!("claims-{role}"), &json!({ "roles": [role] }));
            let path = format!("{}/members/claims-{role}", owned.path);
            let answer = owned.house.ask("PUT", &path, &claimed, Some(json!({}))).await;
            assert_eq!(answer.status.as_u16(), expected, "{role} in {kind}: {}", answer.text);
            // A key puts them in like anybody else, without leaving an invitation.
            let person = format!("{HERE}/people/{role}");
            let given = json!({ "name": "Zoe", "role": role });
            owned.house.ask("PUT", &person, &owned.key, Some(given)).await.ok();
            let path = format!("{}/members/{role}", owned.path);
            let member = owned.house.ask("PUT", &path, &owned.key, Some(json!({}))).await.ok();
            assert_eq!(member["role"], "member", "{role} in {kind}");
            let invitations = format!("{person}/invitations");
            let left = owned.house.ask("GET", &invitations, &owned.key, NOTHING).await.ok();
            assert_eq!(left["rows"], json!([]), "{role} in {kind}");
        }
    }
    let owned = Owned::of("public").await;
    for role in ["guest", "member"] {
        let less = json!({ "name": "Zoe", "role": role });
        let refused = owned.house.ask("PUT", &format!("{HERE}/people/zoe"), &owned.key, Some(less)).await;
        assert_eq!(refused.json()["errors"][0]["field"], "role", "{role} in the whole community");
    }
}

#[tokio::test]
async fn an_owner_who_is_banned_gives_no_roles_and_one_who_is_muted_does() {
    for kind in KINDS {
        let owned = Owned::of(kind).await;
        let role = || json!({ "role": "member" });
        owned.punish("PUT", "mute", "ann").await;
        owned.put("ann", "bob", role()).await.ok();
        owned.punish("PUT", "ban", "ann").await;
        let code = if kind == "private" { "not_found" } else { "banned" };
        assert_eq!(owned.put("ann", "bob", role()).await.code(), code, "{kind}");
        owned.punish("DELETE", "ban", "ann").await;
        owned.put("ann", "bob", role()).await.ok();
    }
}

#[tokio::test]
async fn the_last_owner_stays_one_guests_stay_guests_and_a_role_is_to_be_said() {
    let owned = Owned::of("public").await;
    assert_eq!(owned.put("ann", "ann", json!({ "role": "member" })).await.code(), "last_owner");
    let gil = owned.house.ask_with("POST", &format!("{HERE}/guests"), &[], Some("{}".to_owned())).await.ok();
    let (person, shown) = (gil["person"].as_str().expect("an id"), gil["token"].as_str().expect("a token"));
    let member = format!("{}/members/{person}", owned.path);
    assert_eq!(owned.house.ask("PUT", &member, shown, Some(json!({}))).await.ok()["role"], "guest");
    assert_eq!(owned.put("ann", person, json!({ "role": "member" })).await.code(), "not_permitted");
    assert_eq!(owned.put("ann", "bob", json!({ "role": "guest" })).await.code(), "not_permitted");
    // Whether they are members or not, and whoever asks.
    for (who, whom) in [("ann", "bob"), ("ann", "cat"), ("cat", "bob")] {
        let refused = owned.put(who, whom, json!({})).await;
        assert_eq!(
            (refused.code().as_str(), &refused.json()["errors"][0]["field"]),
            ("invalid", &json!("role"))
        );
    }
}

#[tokio::test]
async fn who_blocks_the_owner_is_not_invited_and_a_full_group_takes_nobody() {
    let owned = Owned::of("group").await;
    let block = format!("{HERE}/people/cat/blocks/ann");
    let (cat, invite) = (token("acme", "cat"), |whom: &str| Some(json!({ "person": whom })));
    owned.house.ask("PUT", &block, &cat, NOTHING).await.ok();
    assert_eq!(owned.by("ann", "POST", "/invitations", invite("cat")).await.code(), "not_found");
    owned.house.ask("DELETE", &block, &cat, NOTHING).await;
    owned.by("ann", "POST", "/invitations", invite("cat")).await.ok();
    for number in 0..47 {
        let person = format!("p{number}");
        let path = format!("{HERE}/people/{person}");
        owned.house.ask("PUT", &path, &owned.key, Some(json!({ "name": person }))).await.ok();
        let path = format!("{}/members/{person}", owned.path);
        owned.house.ask("PUT", &path, &owned.key, Some(json!({}))).await.ok();
    }
    let refused = owned.put("cat", "cat", json!({})).await;
    assert_eq!((refused.code().as_str(), &refused.json()["limit"]), ("limit_reached", &json!("group_max")));
}

#[tokio::test]
async fn who_gives_a_role_does_not_learn_how_far_somebody_has_read() {
    let owned = Owned::of("public").await;
    owned.by("ann", "POST", "/messages", Some(json!({ "text": "hi" }))).await.ok();
    let path = format!("{HERE}/people/bob/conversations/{}", owned.id);
    let kept = json!({ "read": 1, "muted": true });
    let own = owned.house.ask("PATCH", &path, &token("acme", "bob"), Some(kept)).await.ok();
    assert_eq!((&own["member"]["read"], &own["member"]["muted"]), (&json!(1), &json!(true)));
    let path = format!("{}/members/bob", owned.path);
    for shown in [&token("acme", "ann"), &owned.key] {
        let given = owned.house.ask("PUT", &path, shown, Some(json!({ "role": "moderator" }))).await.ok();
        assert_eq!((&given["read"], &given["delivered"]), (&json!(0), &json!(0)), "{given}");
        assert_eq!(given["muted"], json!(false), "{given}");
    }
}
