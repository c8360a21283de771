//! Who may give roles over channels: the same people as over REST (`crates/api/tests/suite/roles.rs`).

use super::isolation::ask_in;
use crate::channels::connection::Me;
use crate::entrance::AllowedRooms;
use crate::messenger::Messenger;
use crate::scene::{self, by, id, run, somebody};
use chat::verbs::{ChangeCommunity, ChangeRoom, ImposeSanction, Leave, OpenGroup, ReadPerson, SetRole};
use chat::{By, ConversationId, Kind, Role, SanctionKind, Settings};
use serde_json::{Value, json};

/// A conversation of that kind that Ann owns, with Moe, who moderates it, and Bob in it. Cat is not a member.
async fn owned(kind: Kind) -> (Messenger, ConversationId) {
    let (messenger, _) = scene::messenger();
    let (one, lobby) = (id("one"), scene::community(&messenger, "one").await);
    let settings = Settings { people_find_each_other: true, ..Settings::named("One") };
    messenger.ask(&one, By::Service, ChangeCommunity { settings }).await.expect("a key may");
    for who in ["ann", "moe", "bob", "cat"] {
        scene::person(&messenger, "one", who, &lobby).await;
    }
    if kind == Kind::Group {
        let open = OpenGroup { with: vec![somebody("moe"), somebody("bob")], title: String::new() };
        let group = messenger.ask(&one, by("ann"), open).await.expect("a group").id;
        let moderates = SetRole { conversation: group, person: somebody("moe"), role: Role::Moderator };
        messenger.ask(&one, by("ann"), moderates).await.expect("an owner may");
        return (messenger, group);
    }
    for (who, role) in [("ann", Role::Owner), ("moe", Role::Moderator)] {
        let set = SetRole { conversation: lobby.id, person: somebody(who), role };
        messenger.ask(&one, By::Service, set).await.expect("a key may");
    }
    messenger.ask(&one, by("cat"), Leave { conversation: lobby.id }).await.expect("Cat goes");
    let change = ChangeRoom { kind: Some(kind), ..ChangeRoom::of(lobby.id) };
    messenger.ask(&one, By::Service, change).await.expect("a key may");
    (messenger, lobby.id)
}

/// The outcome of a request on a person's own topic: the error code, or `ok`.
async fn answered(messenger: &Messenger, who: &str, event: &str, payload: Value) -> String {
    let person = messenger.ask(&id("one"), by(who), ReadPerson { person: somebody(who) }).await;
    let me = Me::somebody(&id("one"), person.expect("somebody"), AllowedRooms::ALL);
    match ask_in(messenger, &me, None, event, &payload).await {
        Ok(_) => "ok".to_owned(),
        Err(fault) => fault.code.to_owned(),
    }
}

#[test]
fn owners_give_roles_and_nobody_else_does() {
    run(async {
        for kind in [Kind::Public, Kind::Members, Kind::Private, Kind::Group] {
            let (messenger, conversation) = owned(kind).await;
            let give = async |who, whom, role| {
                let payload = json!({"conversation": conversation, "person": whom, "role": role});
                answered(&messenger, who, "member:role", payload).await
            };
            assert_eq!(give("ann", "bob", "moderator").await, "ok", "{kind:?}");
            assert_eq!(give("ann", "bob", "member").await, "ok", "{kind:?}");
            assert_eq!(give("ann", "ann", "member").await, "last_owner", "{kind:?}");
            assert_eq!(give("ann", "bob", "guest").await, "not_permitted", "{kind:?}");
            assert_eq!(give("ann", "cat", "member").await, "not_found", "{kind:?}: Cat is not in it");
            let outside =
                if matches!(kind, Kind::Public | Kind::Members) { "not_permitted" } else { "not_found" };
            for (who, code) in [("moe", "not_permitted"), ("bob", "not_permitted"), ("cat", outside)] {
                assert_eq!(give(who, "bob", "moderator").await, code, "{who} in {kind:?}");
            }
        }
    });
}

#[test]
fn an_owner_who_is_banned_gives_no_roles_and_one_who_is_muted_does() {
    run(async {
        for kind in [Kind::Public, Kind::Members, Kind::Private, Kind::Group] {
            let (messenger, conversation) = owned(kind).await;
            let banned = if kind == Kind::Private { "not_found" } else { "banned" };
            for (sanction, code) in [(SanctionKind::Mute, "ok"), (SanctionKind::Ban, banned)] {
                let punish = ImposeSanction {
                    person: somebody("ann"),
                    conversation: Some(conversation),
                    kind: sanction,
                    until: None,
                    reason: String::new(),
                };
                messenger.ask(&id("one"), By::Service, punish).await.expect("a key may");
                let role = json!({"conversation": conversation, "person": "bob", "role": "member"});
                assert_eq!(answered(&messenger, "ann", "member:role", role).await, code, "{kind:?}");
            }
        }
    });
}

#[test]
fn nobody_is_put_into_a_conversation_by_its_owner_but_invited() {
    run(async {
        for kind in [Kind::Public, Kind::Members, Kind::Private, Kind::Group] {
            let (messenger, conversation) = owned(kind).await;
            let invite = json!({"conversation": conversation, "person": "cat"});
            assert_eq!(answered(&messenger, "ann", "invite", invite).await, "ok", "{kind:?}");
            let role = json!({"conversation": conversation, "person": "cat", "role": "member"});
            assert_eq!(
                answered(&messenger, "ann", "member:role", role.clone()).await,
                "not_found",
                "{kind:?}"
            );
            let join = json!({"conversation": conversation});
            assert_eq!(answered(&messenger, "cat", "join", join).await, "ok", "{kind:?}");
            assert_eq!(answered(&messenger, "ann", "member:role", role).await, "ok", "{kind:?}");
        }
    });
}
