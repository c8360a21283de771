//! What is done on one node is sent to the clients of the other, and takes effect there.

use super::{begin, begin_over, pairs};
use crate::audience::DeviceId;
use crate::clock::now;
use crate::entrance::Credentials;
use crate::scene::{Held, by, claims, id, run, somebody, token};
use chat::verbs::{ChangeCommunity, EditText, ImposeSanction, Join, Meet, OpenDirect, React};
use chat::{By, Failure, GuestPolicy, Profile, SanctionKind, Seq};
use identity::{Revoked, UnixSeconds};
use std::sync::Arc;

#[test]
fn what_one_node_could_not_learn_of_the_store_the_other_finds_out_for_itself() {
    run(async {
        let held = Arc::new(Held::default());
        let (here, there, lobby) = begin_over(held.clone()).await;
        there.welcome("bob", 1, &lobby);
        here.say("ann", &lobby, "hi").await;
        there.hear(&here);
        drop(there.events());
        let missed = there.messenger.counts().missed_total;
        held.hold();
        let react = React { conversation: lobby.id, seq: Seq(1), emoji: "👍".to_owned(), on: true };
        let reacted = here.messenger.ask(&id("one"), by("ann"), react);
        held.lose();
        assert!(matches!(reacted.await, Err(Failure::Unavailable(_))));
        there.hear(&here);
        assert_eq!(there.events(), []);
        there.messenger.catch_up().await;
        assert_eq!(there.events(), pairs(&[("room:one/lobby", "react")]));
        assert_eq!(there.messenger.counts().missed_total, missed, "the other understands what it was told");
    });
}

#[test]
fn a_message_said_on_one_node_is_told_to_those_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        here.welcome("ann", 1, &lobby);
        there.welcome("bob", 1, &lobby);
        drop((here.events(), there.events()));
        assert_eq!(here.say("ann", &lobby, "hi").await, 1);
        assert_eq!(here.events(), pairs(&[("room:one/lobby", "msg:new"), ("person:one/ann", "msg:new")]));
        there.hear(&here);
        assert_eq!(there.events(), pairs(&[("room:one/lobby", "msg:new"), ("person:one/bob", "msg:new")]));
        assert_eq!(there.words().len(), 0, "what was heard is not said again");
        // A client that joins on the other node finds it, too.
        let page = there.messenger.newest(&id("one"), lobby.id, &somebody("bob")).await.expect("a page");
        assert_eq!(page.messages.len(), 1);
        here.say("ann", &lobby, "again").await;
        there.hear(&here);
        let page = there.messenger.newest(&id("one"), lobby.id, &somebody("bob")).await.expect("a page");
        assert_eq!(page.messages.len(), 2, "the page that was read before is stale");
    });
}

#[test]
fn a_message_edited_on_one_node_is_edited_in_what_the_other_has_read_of_long_ago() {
    run(async {
        let (here, there, lobby) = begin().await;
        for nth in 0..60 {
            here.say("ann", &lobby, &format!("said {nth}")).await;
        }
        there.hear(&here);
        let first = async || {
            let (one, bob) = (id("one"), somebody("bob"));
            let page = there.messenger.after(&one, lobby.id, &bob, Seq(0), 60).await.expect("a page");
            assert_eq!(page.messages.len(), 60);
            page.messages[0].message.text.clone()
        };
        assert_eq!(first().await, "said 0");
        let (conversation, text) = (lobby.id, "so".to_owned());
        let edit = EditText { conversation, seq: Seq(1), text, mentions: Vec::new() };
        here.messenger.ask(&id("one"), by("ann"), edit).await.expect("it is hers");
        assert_eq!(first().await, "said 0", "nobody has told it yet");
        there.hear(&here);
        assert_eq!(first().await, "so");
    });
}

#[test]
fn a_conversation_that_is_opened_on_one_node_is_followed_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        let direct = here.messenger.ask(&id("one"), by("ann"), OpenDirect { with: somebody("bob") });
        let direct = direct.await.expect("a conversation");
        here.messenger.inner.notices().typing(&id("one"), direct.id, &somebody("ann"), true);
        here.say("ann", &direct, "psst").await;
        drop(there.events());
        there.hear(&here);
        let events = ["conversation:new", "typing", "msg:new"].map(|event| ("person:one/bob", event));
        assert_eq!(there.events(), pairs(&events));
    });
}

#[test]
fn who_is_banned_on_one_node_is_out_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 7, &lobby);
        assert_eq!(there.admit("bob").await, "in");
        let standing = there.messenger.standing(&id("one"), lobby.id, &somebody("bob")).await;
        standing.expect("Bob may read");
        let ban = |conversation| ImposeSanction {
            person: somebody("bob"),
            conversation,
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        here.messenger.ask(&id("one"), By::Service, ban(Some(lobby.id))).await.expect("banned");
        drop(there.events());
        there.hear(&here);
        assert_eq!(there.events(), pairs(&[("person:one/bob", "sanction"), ("room:one/lobby", "end_join")]));
        let standing = there.messenger.standing(&id("one"), lobby.id, &somebody("bob")).await;
        assert!(matches!(standing, Err(Failure::Refused(_) | Failure::Absent(_))), "{standing:?}");
        here.messenger.ask(&id("one"), By::Service, ban(None)).await.expect("banned");
        there.hear(&here);
        assert_ne!(there.admit("bob").await, "in", "that he was met a moment ago does not count");
    });
}

#[test]
fn when_a_community_takes_no_guests_any_more_those_who_are_here_hear_nothing_on_any_node() {
    run(async {
        let (here, there, lobby) = begin().await;
        let one = id("one");
        let profile = Profile { name: "Gus".to_owned(), avatar: None, guest: true, role: None };
        here.messenger.ask(&one, by("gus"), Meet { profile }).await.expect("met");
        let join = Join { conversation: lobby.id, invitation: None };
        here.messenger.ask(&one, by("gus"), join).await.expect("a member");
        let nodes = [&here, &there];
        for node in nodes {
            node.welcome("gus", 1, &lobby);
            node.welcome("ann", 2, &lobby);
        }
        there.hear(&here);
        let change = async |name: &str, guests| {
            let settings = chat::Settings { guests, ..chat::Settings::named(name) };
            here.messenger.ask(&one, By::Service, ChangeCommunity { settings }).await.expect("changed");
            there.hear(&here);
        };
        change("Another name", GuestPolicy::Write).await;
        for node in nodes {
            let overdue = node.messenger.inner.audience.overdue();
            assert!(
                overdue.to_judge.is_empty() && overdue.to_follow.is_empty(),
                "guests may what they might"
            );
            node.events();
        }
        change("Another name", GuestPolicy::Refused).await;
        for node in nodes {
            node.messenger.catch_up().await;
            let audience = &node.messenger.inner.audience;
            let is_in = |name| audience.is_in(&one, lobby.id, &somebody(name));
            let is_evicted = |device| audience.is_evicted(&one, lobby.id, DeviceId(device));
            assert_eq!([is_in("gus"), is_in("ann")], [false, true]);
            assert_eq!([is_evicted(1), is_evicted(2)], [true, false]);
            let events = [("room:one/lobby", "end_join"), ("person:one/gus", "conversations:changed")];
            assert_eq!(node.events(), pairs(&events));
        }
        here.say("ann", &lobby, "among us").await;
        there.hear(&here);
        for node in nodes {
            assert_eq!(node.events(), pairs(&[("room:one/lobby", "msg:new"), ("person:one/ann", "msg:new")]));
        }
        change("Another name", GuestPolicy::Read).await;
        for node in nodes {
            node.messenger.catch_up().await;
            assert!(node.messenger.inner.audience.is_in(&one, lobby.id, &somebody("gus")), "he hears again");
        }
    });
}

#[test]
fn a_token_that_is_revoked_on_one_node_is_refused_on_the_other_and_its_connections_end() {
    run(async {
        let (here, there, _) = begin().await;
        let credentials =
            Credentials { community: id("one"), token: Some(token(&claims("one", "bob"))), name: None };
        let admitted = there.messenger.admit(&credentials).await.expect("Bob is in");
        let entrance = &there.messenger.inner.entrance;
        let socket = entrance.socket();
        entrance
            .open_session(socket, &id("one"), &somebody("bob"), &admitted.verified, None)
            .expect("it counts");
        let until = Revoked::IssuedUntil(UnixSeconds(now().millis() / 1_000 + 1));
        here.messenger.revoke(&id("one"), &somebody("bob"), until).await.expect("revoked");
        assert_eq!(there.admit("bob").await, "in", "nobody has told it yet");
        drop(there.events());
        there.hear(&here);
        assert_eq!(there.events(), pairs(&[(socket.text().as_str(), "close")]));
        assert_eq!(there.admit("bob").await, "token_revoked");
    });
}

#[test]
fn who_is_met_on_one_node_is_seen_as_they_are_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        there.welcome("ann", 2, &lobby);
        let profile = Profile { name: "Anna".to_owned(), avatar: None, guest: false, role: None };
        let meet = Meet { profile };
        here.messenger.ask(&id("one"), by("ann"), meet.clone()).await.expect("met");
        drop(there.events());
        there.hear(&here);
        let events = there.events();
        assert!(events.iter().all(|(_, event)| event == "profile") && !events.is_empty(), "{events:?}");
        here.messenger.ask(&id("one"), by("ann"), meet).await.expect("met");
        assert_eq!(here.words().len(), 0, "nobody needs to hear what they know");
        let join = Join { conversation: lobby.id, invitation: None };
        here.messenger.ask(&id("one"), by("ann"), join).await.expect("a member already");
        assert_eq!(here.words().len(), 0);
    });
}
