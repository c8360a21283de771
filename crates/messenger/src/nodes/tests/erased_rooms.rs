//! A room that is erased on one node is gone on all nodes.

use super::{Node, begin, begin_over, pairs};
use crate::scene::{Held, by, id, run, somebody};
use crate::witness::{Happening, Witness};
use chat::verbs::{
    Conversations, CreateRoom, EraseConversation, Erased, FindRoom, OpenGroup, ReadConversation,
};
use chat::{By, CommunityId, Conversation, Failure, KeyId, PersonId, RoomName, Thing};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

const ABSENT: Failure = Failure::Absent(Thing::Conversation);

/// Records which conversations were erased.
#[derive(Clone, Default)]
struct Mourner(Arc<Mutex<Vec<Option<RoomName>>>>);

impl Witness for Mourner {
    fn witness(&self, _: &CommunityId, _: &PersonId, happening: &Happening<'_>) {
        if let Happening::ConversationErased(erased) = happening {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(erased.name.clone());
        }
    }

    fn keys_changed(&self, _: &CommunityId, _: Option<KeyId>) {}

    fn erased(&self, _: &CommunityId, _: &PersonId) {}

    fn closed(&self, _: &CommunityId) {}
}

impl Mourner {
    fn of(node: &Node) -> Self {
        let mourner = Self::default();
        node.messenger.witness_by(mourner.clone());
        mourner
    }

    fn noted(&self) -> Vec<Option<RoomName>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn erase(conversation: &Conversation) -> EraseConversation {
    EraseConversation { which: Erased::Id(conversation.id) }
}

fn lobby() -> RoomName {
    RoomName::parse("lobby").expect("a name")
}

/// Whether the node still finds the lobby, directly or in its cache: its name, a person's standing, and its newest
/// page.
async fn finds(node: &Node, lobby_id: &Conversation, who: &str) -> [bool; 3] {
    let (one, conversation) = (id("one"), lobby_id.id);
    [
        node.messenger.room(&one, &lobby()).await.is_ok(),
        node.messenger.standing(&one, conversation, &somebody(who)).await.is_ok(),
        node.messenger.newest_page(&one, conversation).await.is_ok(),
    ]
}

fn socket(device: u64) -> String {
    crate::entrance::SocketId(crate::audience::DeviceId(device)).text()
}

#[test]
fn with_the_first_part_its_people_are_told_and_out_of_it_on_both_nodes_and_nothing_kept_of_it_is_found() {
    run(async {
        let (here, there, lobby_id) = begin().await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        here.welcome("ann", 1, &lobby_id);
        there.welcome("bob", 2, &lobby_id);
        // For a visitor only the join ends.
        let (audience, one) = (&there.messenger.inner.audience, id("one"));
        let visitor = crate::audience::DeviceId(3);
        audience.arrive(&one, &somebody("eve"), visitor).expect("there is room");
        audience.open_room(&one, lobby_id.id, &lobby(), &somebody("eve"), visitor);
        for (node, who) in [(&here, "ann"), (&there, "bob")] {
            assert_eq!(finds(node, &lobby_id, who).await, [true; 3]);
            drop(node.ends.told.take());
        }
        here.messenger.ask(&one, By::Service, erase(&lobby_id)).await.expect("the first part");
        there.hear(&here);
        let told = here.ends.told.take();
        let [(topic, event, payload), (ended, end_join, of)] = &*told else { panic!("{told:?}") };
        assert_eq!((topic.as_str(), event.as_str()), ("person:one/ann", "member:out"));
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        assert_eq!(payload, json!({ "conversation": lobby_id.id, "person": "ann", "why": "erased" }));
        assert_eq!((ended.as_str(), end_join.as_str(), of), ("room:one/lobby", "end_join", &socket(1)));
        let told = there.events();
        let end = ("room:one/lobby", "end_join");
        assert_eq!(told, pairs(&[("person:one/bob", "member:out"), end, end]));
        for (node, who) in [(&here, "ann"), (&there, "bob")] {
            assert_eq!(finds(node, &lobby_id, who).await, [false; 3]);
            assert!(!node.messenger.inner.audience.is_in(&one, lobby_id.id, &somebody(who)));
        }
        assert!(audience.is_evicted(&one, lobby_id.id, visitor), "also who is on the way in");
        assert_eq!((mine.noted(), theirs.noted()), (vec![Some(lobby())], vec![]), "once");
        while !there.messenger.ask(&one, By::Service, erase(&lobby_id)).await.expect("a part").done {}
        here.hear(&there);
        assert_eq!((here.events(), there.events()), (vec![], vec![]), "all of it was told");
        assert_eq!((mine.noted(), theirs.noted()), (vec![], vec![]));
        let again = CreateRoom::public(lobby(), "Again");
        let again = here.messenger.ask(&one, By::Service, again).await.expect("its name is free");
        there.hear(&here);
        for node in [&here, &there] {
            assert_eq!(node.messenger.room(&one, &lobby()).await, Ok(again.id));
        }
    });
}

#[test]
fn the_people_of_a_group_are_told_on_both_nodes() {
    run(async {
        let (here, there, lobby_id) = begin().await;
        here.welcome("ann", 1, &lobby_id);
        there.welcome("bob", 2, &lobby_id);
        let (one, open) = (id("one"), OpenGroup { with: vec![somebody("bob")], title: "We".to_owned() });
        let group = here.messenger.ask(&one, by("ann"), open).await.expect("they see each other");
        there.hear(&here);
        drop((here.ends.told.take(), there.ends.told.take()));
        here.messenger.ask(&one, by("ann"), erase(&group)).await.expect("it is hers");
        there.hear(&here);
        assert_eq!(here.events(), pairs(&[("person:one/ann", "member:out")]));
        assert_eq!(there.events(), pairs(&[("person:one/bob", "member:out")]));
        here.say("ann", &lobby_id, "hello").await;
    });
}

#[test]
fn who_missed_it_finds_out_as_soon_as_it_is_known_that_something_was_missed() {
    run(async {
        let (here, there, lobby_id) = begin().await;
        there.welcome("bob", 2, &lobby_id);
        drop(there.ends.told.take());
        assert_eq!(finds(&there, &lobby_id, "bob").await, [true; 3]);
        while !here.messenger.ask(&id("one"), By::Service, erase(&lobby_id)).await.expect("a part").done {}
        drop(here.words());
        assert_eq!(there.events(), [], "it did not hear of that");
        // The next news that it hears shows that some are missing.
        let den = CreateRoom::public(RoomName::parse("den").expect("a name"), "Den");
        let den = here.messenger.ask(&id("one"), By::Service, den).await.expect("a room");
        let change =
            chat::verbs::ChangeRoom { topic: Some("new".to_owned()), ..chat::verbs::ChangeRoom::of(den.id) };
        here.messenger.ask(&id("one"), By::Service, change).await.expect("changed");
        there.hear(&here);
        there.messenger.catch_up().await;
        let told = there.events();
        for expected in [("person:one/bob", "conversations:changed"), ("room:one/lobby", "end_join")] {
            assert!(told.contains(&(expected.0.to_owned(), expected.1.to_owned())), "{told:?}");
        }
        assert_eq!(finds(&there, &lobby_id, "bob").await, [false; 3]);
        assert!(!there.messenger.inner.audience.is_in(&id("one"), lobby_id.id, &somebody("bob")));
    });
}

#[test]
fn whose_first_part_is_of_unknown_outcome_is_gone_all_the_same() {
    run(async {
        let held = Arc::new(Held::default());
        let (here, there, lobby_id) = begin_over(held.clone()).await;
        here.welcome("ann", 1, &lobby_id);
        there.welcome("bob", 2, &lobby_id);
        for (node, who) in [(&here, "ann"), (&there, "bob")] {
            assert_eq!(finds(node, &lobby_id, who).await, [true; 3]);
            drop(node.ends.told.take());
        }
        held.hold();
        let erased = here.messenger.ask(&id("one"), By::Service, erase(&lobby_id));
        held.lose();
        assert!(matches!(erased.await, Err(Failure::Unavailable(_))));
        there.hear(&here);
        for (node, who) in [(&here, "ann"), (&there, "bob")] {
            node.messenger.catch_up().await;
            let told = node.events();
            for expected in [
                (format!("person:one/{who}"), "conversations:changed"),
                ("room:one/lobby".into(), "end_join"),
            ] {
                assert!(told.contains(&(expected.0, expected.1.to_owned())), "{told:?}");
            }
            assert_eq!(finds(node, &lobby_id, who).await, [false; 3]);
        }
        while !here.messenger.ask(&id("one"), By::Service, erase(&lobby_id)).await.expect("a part").done {}
    });
}

#[test]
fn who_is_on_the_way_in_when_it_is_erased_follows_it_no_more_and_lists_again() {
    run(async {
        let (here, _, lobby_id) = begin().await;
        let (one, ann, audience) = (id("one"), somebody("ann"), &here.messenger.inner.audience);
        let device = crate::audience::DeviceId(1);
        audience.arrive(&one, &ann, device).expect("there is room");
        audience.begin_following(&one, &ann);
        let read = here.messenger.ask(&one, by("ann"), Conversations { before: None, limit: 9 });
        assert_eq!(read.await.expect("she is known").rows.len(), 1);
        here.messenger.ask(&one, By::Service, erase(&lobby_id)).await.expect("the first part");
        let followed = [crate::audience::Followed::of(&lobby_id)];
        audience.follow_all(&one, &ann, crate::audience::Reading { followed: &followed, gone: &[] });
        assert!(!audience.is_in(&one, lobby_id.id, &ann));
        let told = audience.end_joining(&one, &ann, device).expect("it is not too much");
        assert_eq!(told, [("conversations:changed", "{}".into())]);
        let find = here.messenger.ask(&one, by("ann"), FindRoom { name: lobby() });
        assert_eq!(find.await, Err(ABSENT));
        let read = here.messenger.ask(&one, by("ann"), ReadConversation { conversation: lobby_id.id });
        assert_eq!(read.await, Err(ABSENT));
    });
}
