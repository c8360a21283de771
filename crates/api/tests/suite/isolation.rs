//! Two communities with equal ids everywhere: no operation with the credentials of one reveals or changes anything of
//! the other. The operations are taken from the OpenAPI document; one without a row here fails.

use crate::house::{Answer, House, token_with};
use api::Api;
use chat::rows::Record;
use chat::verbs::EraseCommunity;
use chat::{By, CommunityId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Contained in every text of the other community.
const MARK: &str = "theirs-alone";

/// The request of an operation: its path and query below the community, and its body.
struct Row {
    path: String,
    body: Option<Value>,
}

/// Ids that exist in both communities.
struct Ids {
    room: String,
    message: String,
    key: String,
    webhook: String,
    invitation: String,
    report: String,
}

/// One row per operation, by its id. `{}` is the community.
fn rows(ids: &Ids) -> BTreeMap<&'static str, Row> {
    let Ids { room, message, key, webhook, invitation, report } = ids;
    let conversation = format!("/communities/{{}}/conversations/{room}");
    let row = |path: String, body: Option<Value>| Row { path, body };
    let get = |path: &str| row(format!("/communities/{{}}{path}"), None);
    let with = |path: &str, body: Value| row(format!("/communities/{{}}{path}"), Some(body));
    let server = json!({ "kind": "server", "scopes": ["list"] });
    BTreeMap::from([
        ("list_communities", row("/communities".into(), None)),
        (
            "create_community",
            row("/communities".into(), Some(json!({ "id": "new", "settings": { "name": "New" } }))),
        ),
        ("server_stats", row("/stats".into(), None)),
        ("read_community", get("")),
        ("change_community", with("", json!({ "name": "Changed" }))),
        ("erase_community", get("")),
        ("community_stats", get("/stats")),
        ("list_keys", get("/keys")),
        ("create_key", with("/keys", json!({ "name": "one more", "purpose": server }))),
        ("revoke_key", get(&format!("/keys/{key}"))),
        ("list_people", get("/people")),
        ("read_person", get("/people/bob")),
        ("read_person_presence", get("/people/bob/presence")),
        ("welcome_guest", with("/guests", json!({ "name": "Gil" }))),
        ("put_person", with("/people/bob", json!({ "name": "Bob" }))),
        ("set_receipts", with("/people/ann/receipts", json!({ "on": false }))),
        ("revoke_tokens", with("/people/bob/revocations", json!({}))),
        ("list_blocks", get("/people/ann/blocks")),
        ("block_person", get("/people/ann/blocks/bob")),
        ("unblock_person", get("/people/ann/blocks/bob")),
        ("list_rooms", get("/rooms")),
        ("create_room", with("/rooms", json!({ "name": "fresh", "kind": "public", "title": "Fresh" }))),
        ("read_conversation", row(conversation.clone(), None)),
        ("erase_conversation", row(conversation.clone(), None)),
        ("change_conversation", row(conversation.clone(), Some(json!({ "topic": "changed" })))),
        ("read_presence", row(format!("{conversation}/presence"), None)),
        ("list_members", row(format!("{conversation}/members"), None)),
        ("put_member", row(format!("{conversation}/members/ann"), Some(json!({})))),
        ("remove_member", row(format!("{conversation}/members/bob"), None)),
        ("list_invitations", row(format!("{conversation}/invitations"), None)),
        ("invite", row(format!("{conversation}/invitations"), Some(json!({})))),
        ("list_invitations_of_person", get("/people/ann/invitations")),
        ("withdraw_invitation", get(&format!("/invitations/{invitation}"))),
        ("list_messages", row(format!("{conversation}/messages"), None)),
        ("read_message", get(&format!("/messages/{message}"))),
        ("list_edits", row(format!("{conversation}/messages/1/edits"), None)),
        ("read_receipts", row(format!("{conversation}/messages/1/receipts"), None)),
        ("send_message", row(format!("{conversation}/messages"), Some(json!({ "text": "ours" })))),
        ("edit_message", row(format!("{conversation}/messages/1"), Some(json!({ "text": "ours" })))),
        ("delete_message", row(format!("{conversation}/messages/2"), None)),
        ("add_reaction", row(format!("{conversation}/messages/1/reactions/x"), None)),
        ("remove_reaction", row(format!("{conversation}/messages/1/reactions/x"), None)),
        ("search_messages", get("/search?words=said")),
        ("list_conversations", get("/people/ann/conversations")),
        ("follow_conversation", with(&format!("/people/ann/conversations/{room}"), json!({ "read": 1 }))),
        ("open_direct", with("/people/ann/direct", json!({ "with": "bob" }))),
        ("open_group", with("/people/ann/groups", json!({ "with": ["bob"], "title": "We" }))),
        ("list_sanctions", get("/sanctions")),
        ("punish", with("/sanctions/mute/bob", json!({ "reason": "noise" }))),
        ("lift", get("/sanctions/mute/bob")),
        ("read_audit_log", get("/audit")),
        (
            "report_message",
            row(format!("{conversation}/messages/1/reports"), Some(json!({ "reason": "spam" }))),
        ),
        ("list_reports", get("/reports")),
        ("settle_report", with(&format!("/reports/{report}/settlement"), json!({ "note": "seen" }))),
        (
            "publish",
            with(
                "/publications",
                json!({ "topic": "room:acme/lobby", "event": "news", "payload": { "a": 1 } }),
            ),
        ),
        ("list_webhooks", get("/webhooks")),
        ("create_webhook", with("/webhooks", json!({ "name": "site", "url": "https://example.org/hook" }))),
        ("delete_webhook", get(&format!("/webhooks/{webhook}"))),
        ("list_dead_letters", get(&format!("/webhooks/{webhook}/dead-letters"))),
        ("read_authorizer", get("/authorizer")),
        (
            "put_authorizer",
            with(
                "/authorizer",
                json!({ "url": "https://example.org/may", "actions": ["send"], "unanswered": "allow" }),
            ),
        ),
        ("delete_authorizer", get("/authorizer")),
        ("forget_permissions", get("/people/ann/permissions")),
        ("export_community", get("/export")),
        ("export_person", get("/people/ann/export")),
        ("erase_person", get("/people/bob")),
        ("apply_retention", get("/retention")),
    ])
}

/// Operations for the operator only: people and keys of a community are refused.
const OPERATORS_ALONE: [&str; 6] = [
    "apply_retention",
    "create_community",
    "erase_community",
    "export_community",
    "list_communities",
    "server_stats",
];
/// The one of these that lists all communities.
const OF_ALL_COMMUNITIES: &str = "list_communities";

/// Returns method and path of each operation, according to the document.
fn documented() -> BTreeMap<String, String> {
    let document = Api::document();
    let mut found = BTreeMap::new();
    for methods in document["paths"].as_object().expect("paths").values() {
        for (method, operation) in methods.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("each has an id").to_owned();
            assert!(found.insert(id, method.to_uppercase()).is_none(), "ids are unique");
        }
    }
    found
}

const SCOPES: [&str; 8] =
    ["send", "list", "moderate", "manage_rooms", "manage_people", "manage_settings", "publish", "presence"];

/// A community that contains one object of each kind.
async fn furnish(house: &House) -> Ids {
    house.community("acme").await;
    let key = house.key("acme", &SCOPES).await;
    let at = |path: &str| format!("/api/v1/communities/acme{path}");
    let room = house.room("acme", "lobby").await["id"].as_str().expect("an id").to_owned();
    for person in ["ann", "bob"] {
        let path = at(&format!("/people/{person}"));
        house.ask("PUT", &path, &key, Some(json!({ "name": person }))).await.ok();
        let path = at(&format!("/conversations/{room}/members/{person}"));
        house.ask("PUT", &path, &key, Some(json!({}))).await.ok();
    }
    let as_ann = [("authorization", format!("Bearer {key}")), ("throng-person", "ann".to_owned())];
    let as_ann: Vec<(&str, &str)> = as_ann.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let messages = at(&format!("/conversations/{room}/messages"));
    let mut message = Value::Null;
    for text in ["said first", "said second"] {
        message =
            house.ask_with("POST", &messages, &as_ann, Some(json!({ "text": text }).to_string())).await.ok();
    }
    let first = at(&format!("/conversations/{room}/messages/1"));
    let edit = json!({ "text": "said otherwise" });
    house.ask_with("PATCH", &first, &as_ann, Some(edit.to_string())).await.ok();
    house.ask_with("PUT", &format!("{first}/reactions/x"), &as_ann, None).await.ok();
    let mute = json!({ "reason": "noise" });
    house.ask("PUT", &at("/sanctions/mute/bob"), &key, Some(mute)).await.ok();
    let path = at(&format!("/conversations/{room}/messages/1/reports"));
    let report =
        house.ask_with("POST", &path, &as_ann, Some(json!({ "reason": "said" }).to_string())).await.ok();
    let path = at(&format!("/conversations/{room}/invitations"));
    let invitation = house.ask("POST", &path, &key, Some(json!({ "uses": 5 }))).await.ok();
    let hook = json!({ "name": "site", "url": "https://example.org/hook" });
    let webhook = house.operate("POST", &at("/webhooks"), Some(hook)).await.ok();
    let purpose = json!({ "kind": "server", "scopes": ["list"] });
    let spare =
        house.operate("POST", &at("/keys"), Some(json!({ "name": "spare", "purpose": purpose }))).await.ok();
    // Nothing listens there, so every question is allowed at once.
    let site = json!({ "url": "https://127.0.0.1:1/may", "actions": ["send"], "unanswered": "allow" });
    house.operate("PUT", &at("/authorizer"), Some(site)).await.ok();
    let id = |made: &Value| made["id"].as_str().expect("an id").to_owned();
    Ids {
        message: id(&message),
        report: id(&report),
        invitation: id(&invitation),
        webhook: id(&webhook),
        key: id(&spare),
        room,
    }
}

/// Copies a community with all its ids into another one, in which every text is marked. Keys are not copied: equal
/// secrets would make equal credentials.
fn copy_with_mark(house: &House) {
    let copied = house.export("acme").into_iter().filter_map(|record| {
        Some(match record {
            Record::Community(mut community) => {
                community.id = chat::CommunityId::parse("other").expect("a community");
                community.settings.name = MARK.to_owned();
                Record::Community(community)
            }
            Record::Key(_) => return None,
            Record::Conversation(mut conversation) => {
                conversation.title = MARK.to_owned();
                Record::Conversation(conversation)
            }
            Record::Message(mut message) => {
                message.text = format!("{} {MARK}", message.text);
                Record::Message(message)
            }
            Record::Person(mut person) => {
                person.profile.name = MARK.to_owned();
                Record::Person(person)
            }
            Record::Report(mut report) => {
                report.reason = MARK.to_owned();
                Record::Report(report)
            }
            Record::Audit(mut audit) => {
                audit.note = MARK.to_owned();
                Record::Audit(audit)
            }
            Record::Sanction(mut sanction) => {
                sanction.reason = MARK.to_owned();
                Record::Sanction(sanction)
            }
            Record::Edit(mut edit) => {
                edit.text = format!("{} {MARK}", edit.text);
                Record::Edit(edit)
            }
            Record::Reaction(mut reaction) => {
                reaction.emoji = MARK.to_owned();
                Record::Reaction(reaction)
            }
            same @ (Record::Block(_)
            | Record::Revocation(_)
            | Record::Member(_)
            | Record::Invitation(_)
            | Record::Mention(_)) => same,
        })
    });
    house.import("other", copied.collect());
}

async fn ask(house: &House, method: &str, row: &Row, community: &str, bearer: &str) -> Answer {
    let path = format!("/api/v1{}", row.path.replace("{}", community));
    house.ask(method, &path, bearer, row.body.clone()).await
}

#[tokio::test]
async fn every_operation_has_a_row_here() {
    let house = House::new();
    let ids = furnish(&house).await;
    let (rows, documented) = (rows(&ids), documented());
    let without: Vec<&String> = documented.keys().filter(|id| !rows.contains_key(id.as_str())).collect();
    assert!(without.is_empty(), "operations without a row in tests/isolation.rs: {without:?}");
    let unknown: Vec<&&str> = rows.keys().filter(|id| !documented.contains_key(**id)).collect();
    assert!(unknown.is_empty(), "rows of operations that are not documented: {unknown:?}");
}

#[tokio::test]
async fn credentials_of_one_community_are_nothing_in_another_and_nobody_learns_which_exist() {
    let house = House::new();
    let ids = furnish(&house).await;
    copy_with_mark(&house);
    let key = house.key("acme", &SCOPES).await;
    let owner = token_with("acme", "ann", &json!({ "roles": ["owner"] }));
    let before = house.export("other");
    for (id, method) in documented() {
        let row = &rows(&ids)[id.as_str()];
        for bearer in [&key, &owner] {
            let there = ask(&house, &method, row, "other", bearer).await;
            let nowhere = ask(&house, &method, row, "nowhere", bearer).await;
            assert!(there.status.is_client_error(), "{id}: {} {}", there.status, there.text);
            assert_eq!((there.status, &there.text), (nowhere.status, &nowhere.text), "{id}");
            assert!(!there.text.contains(MARK), "{id}: {}", there.text);
        }
    }
    assert_eq!(house.export("other"), before, "nothing of the other community has changed");
}

#[tokio::test]
async fn what_is_answered_and_changed_is_of_ones_own_community() {
    let owner = token_with("acme", "ann", &json!({ "roles": ["owner"] }));
    let mut refused = Vec::new();
    for (id, method) in documented() {
        // A fresh server each, so that every operation finds its objects, whatever the others do with them.
        let house = House::new();
        let ids = furnish(&house).await;
        copy_with_mark(&house);
        let key = house.key("acme", &SCOPES).await;
        let before = house.export("other");
        let row = &rows(&ids)[id.as_str()];
        let is_operators = OPERATORS_ALONE.contains(&id.as_str());
        let mut answers = vec![ask(&house, &method, row, "acme", &owner).await];
        answers.push(ask(&house, &method, row, "acme", &key).await);
        if is_operators {
            assert!(answers.iter().all(|answer| answer.status.is_client_error()), "{id}: {answers:?}");
            let path = format!("/api/v1{}", row.path.replace("{}", "acme"));
            answers.push(house.operate(&method, &path, row.body.clone()).await);
        }
        for answer in &answers {
            assert!(!answer.status.is_server_error(), "{id}: {} {}", answer.status, answer.text);
            assert!(id == OF_ALL_COMMUNITIES || !answer.text.contains(MARK), "{id}: {}", answer.text);
        }
        if !answers.iter().any(|answer| answer.status.is_success()) {
            refused.push(format!("{id}: {} {}", answers[0].text, answers[1].text));
        }
        assert_eq!(house.export("other"), before, "{id}: nothing of the other community has changed");
    }
    assert!(refused.is_empty(), "what is refused to all proves nothing: {refused:#?}");
}

#[tokio::test]
async fn of_two_communities_one_is_erased_and_the_other_stays() {
    let house = House::new();
    furnish(&house).await;
    copy_with_mark(&house);
    let key = house.key("acme", &SCOPES).await;
    let before = house.export("other");
    let report = house.operate("DELETE", "/api/v1/communities/acme", None).await.ok();
    assert_eq!((&report["done"], &report["messages"]), (&json!(true), &json!(2)), "{report}");
    for bearer in [&key, &token_with("acme", "ann", &json!({ "roles": ["owner"] }))] {
        let answer = house.ask("GET", "/api/v1/communities/acme/people", bearer, None).await;
        let nowhere = house.ask("GET", "/api/v1/communities/nowhere/people", bearer, None).await;
        assert!(answer.status.is_client_error());
        assert_eq!((answer.status, answer.text), (nowhere.status, nowhere.text));
    }
    assert_eq!(house.operate("DELETE", "/api/v1/communities/acme", None).await.status.as_u16(), 404);
    assert_eq!(house.export("other"), before, "nothing of the other community is gone");
    house.community("acme").await;
    let is_new = |record: &Record| matches!(record, Record::Community(_) | Record::Key(_) | Record::Audit(_));
    let left = house.export("acme");
    assert!(left.iter().all(is_new) && left.len() == 3, "itself, a key, and who made that: {left:?}");
}

#[tokio::test]
async fn an_erasure_that_was_broken_off_is_asked_for_again_and_what_a_part_told_is_not_lost() {
    let house = House::new();
    furnish(&house).await;
    house
        .messenger
        .ask(&CommunityId::parse("acme").expect("an id"), By::Service, EraseCommunity)
        .await
        .expect("the first part");
    let people = house.operate("GET", "/api/v1/communities/acme/people", None).await;
    assert_eq!(people.status.as_u16(), 404, "it is there for nobody");
    let report = house.operate("DELETE", "/api/v1/communities/acme", None).await.ok();
    assert_eq!((&report["done"], &report["messages"]), (&json!(true), &json!(2)), "{report}");
    assert_eq!(house.operate("DELETE", "/api/v1/communities/acme", None).await.status.as_u16(), 404);
}

#[tokio::test]
async fn what_is_hidden_and_what_does_not_exist_are_answered_alike() {
    let house = House::new();
    house.community("acme").await;
    let private = json!({ "name": "cellar", "kind": "private", "title": "Cellar" });
    let cellar = house.operate("POST", "/api/v1/communities/acme/rooms", Some(private)).await.ok();
    let stranger = token_with("acme", "eve", &json!({}));
    let hidden = cellar["id"].as_str().expect("an id").to_owned();
    for (existing, missing) in
        [(hidden.as_str(), "01ARZ3NDEKTSV4RRFFQ69G5FAV"), ("room:cellar", "room:attic")]
    {
        for (method, path, body) in [
            ("GET", "", None),
            ("GET", "/messages", None),
            ("GET", "/members", None),
            ("POST", "/messages", Some(json!({ "text": "hello" }))),
            ("PUT", "/members/eve", Some(json!({}))),
            ("PUT", "/messages/1/reactions/x", None),
        ] {
            let ask = async |conversation: &str| {
                let path = format!("/api/v1/communities/acme/conversations/{conversation}{path}");
                house.ask(method, &path, &stranger, body.clone()).await
            };
            let (there, nowhere) = (ask(existing).await, ask(missing).await);
            assert_eq!(there.status.as_u16(), 404, "{method} {path}: {}", there.text);
            assert_eq!((there.status, there.text), (nowhere.status, nowhere.text), "{method} {path}");
        }
    }
}
