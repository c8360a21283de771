//! People on one node are seen on the other.

use super::{Node, ONE, OTHER, begin, pairs};
use crate::audience::{Activity, Choice, DEVICES_MAX, DeviceId, Due, LEASE, Status};
use crate::clock::now;
use crate::scene::{id, run, somebody};
use chat::verbs::ChangeCommunity;
use chat::{By, CommunityLimits, Conversation, Moment};
use gateway::FromNodes;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Runs rounds of both, in which each receives what the other sends.
pub(super) fn exchange(here: &Node, there: &Node) {
    for _ in 0..3 {
        here.messenger.tick();
        there.messenger.tick();
        there.hear(here);
        here.hear(there);
        here.lose();
        there.lose();
    }
}

/// Returns who is seen in the lobby by a person on this node.
pub(super) fn seen_in(node: &Node, lobby: &Conversation) -> Vec<(String, Status)> {
    let (count, people) = node.messenger.present_in(&id("one"), lobby.id);
    let people = people.expect("they are few").into_iter();
    let mut seen: Vec<_> = people.map(|presence| (presence.person.to_string(), presence.status)).collect();
    seen.sort();
    assert_eq!(seen.len(), count);
    seen
}

/// Returns what was sent of a person's presence, by topic.
pub(super) fn told_of(node: &Node, name: &str) -> Vec<(String, String)> {
    let told = node.ends.told.take().into_iter().filter(|(_, event, _)| event == "presence");
    let payloads =
        told.map(|(topic, _, payload)| (topic, serde_json::from_str::<Value>(&payload).expect("JSON")));
    let theirs = payloads.filter(|(_, payload)| payload["person"] == name);
    theirs.map(|(topic, payload)| (topic, payload["status"].as_str().expect("a status").to_owned())).collect()
}

pub(super) fn leave(node: &Node, name: &str, device: u64) {
    let inner = &node.messenger.inner;
    inner.audience.depart(&id("one"), &somebody(name), DeviceId(device), now());
    let due = inner.audience.sweep(Instant::now() + 2 * LEASE, now(), true);
    due.announcements.iter().for_each(|announcement| inner.here().announce(announcement));
    inner.tell_roster(&due, Instant::now());
}

const ONLINE: Status = Status::Online;

#[test]
fn who_is_on_one_node_is_seen_on_the_other_with_what_changes() {
    run(async {
        let (here, there, lobby) = begin().await;
        here.welcome("ann", 1, &lobby);
        there.welcome("bob", 1, &lobby);
        drop((here.events(), there.events()));
        exchange(&here, &there);
        for node in [&here, &there] {
            assert_eq!(seen_in(node, &lobby), [("ann".to_owned(), ONLINE), ("bob".to_owned(), ONLINE)]);
        }
        assert_eq!(told_of(&here, "bob"), pairs(&[("room:one/lobby", "online")]));
        exchange(&here, &there);
        assert!(told_of(&here, "bob").is_empty(), "nothing has changed");

        let idle = Some(Activity::Idle);
        there.messenger.inner.audience.set_status(
            &id("one"),
            &somebody("bob"),
            DeviceId(1),
            idle,
            None,
            now(),
        );
        exchange(&here, &there);
        assert_eq!(told_of(&here, "bob"), pairs(&[("room:one/lobby", "away")]));

        leave(&there, "bob", 1);
        here.hear(&there);
        assert_eq!(told_of(&here, "bob"), pairs(&[("room:one/lobby", "offline")]));
        assert_eq!(seen_in(&here, &lobby), [("ann".to_owned(), ONLINE)]);
        assert!(here.messenger.inner.audience.abroad().is_empty());
    });
}

#[test]
fn devices_on_several_nodes_are_one_person_and_what_they_chose_on_one_counts_on_all() {
    run(async {
        let (here, there, lobby) = begin().await;
        for node in [&here, &there] {
            node.welcome("ann", 1, &lobby);
        }
        there.welcome("bob", 2, &lobby);
        exchange(&here, &there);
        drop((here.events(), there.events()));
        let choose = |choice| {
            let audience = &here.messenger.inner.audience;
            audience.set_status(&id("one"), &somebody("ann"), DeviceId(1), None, Some(choice), now());
        };
        choose(Choice::Invisible);
        exchange(&here, &there);
        assert_eq!(
            told_of(&there, "ann"),
            pairs(&[("room:one/lobby", "offline"), ("person:one/ann", "offline")])
        );
        let own = |node: &Node| node.messenger.inner.audience.own_status(&id("one"), &somebody("ann"));
        assert_eq!([own(&here), own(&there)], [Status::Invisible; 2]);

        leave(&here, "ann", 1);
        there.hear(&here);
        assert_eq!(own(&there), Status::Invisible, "they are still here");
        exchange(&here, &there);
        let seen = here.messenger.inner.audience.presence(&id("one"), &somebody("ann"));
        assert_eq!(seen.map(|presence| presence.status), Some(Status::Offline), "and nobody sees it");
        leave(&there, "ann", 1);
        exchange(&here, &there);
        assert!(here.messenger.inner.audience.presence(&id("one"), &somebody("ann")).is_none());
    });
}

#[test]
fn a_person_has_a_bounded_number_of_devices_on_all_nodes_together() {
    run(async {
        let (here, there, _) = begin().await;
        let arrive = |node: &Node, device| {
            node.messenger.inner.audience.arrive(&id("one"), &somebody("ann"), DeviceId(device)).is_ok()
        };
        for device in 0..DEVICES_MAX as u64 {
            assert!(arrive(&here, device));
        }
        exchange(&here, &there);
        assert!(!arrive(&there, 99));
        let [_, people, devices, _] = there.messenger.inner.audience.counts();
        assert_eq!((people, devices), (0, 0), "nothing is left of who was refused");
        here.messenger.inner.audience.depart(&id("one"), &somebody("ann"), DeviceId(0), now());
        exchange(&here, &there);
        assert!(arrive(&there, 99));
        there.messenger.hear(FromNodes::Nodes(&[ONE]));
        there.lose();
        for device in 100..DEVICES_MAX as u64 + 99 {
            assert!(arrive(&there, device), "the node is gone");
        }
        assert!(!arrive(&there, 999));
    });
}

#[test]
fn a_node_that_is_gone_takes_its_people_with_it() {
    run(async {
        let (here, there, lobby) = begin().await;
        here.welcome("ann", 1, &lobby);
        there.welcome("bob", 1, &lobby);
        exchange(&here, &there);
        drop(here.events());
        here.messenger.hear(FromNodes::Nodes(&[ONE]));
        here.lose();
        assert_eq!(told_of(&here, "bob"), pairs(&[("room:one/lobby", "offline")]));
        assert_eq!(seen_in(&here, &lobby), [("ann".to_owned(), ONLINE)]);
    });
}

#[test]
fn a_community_holds_so_many_people_on_all_nodes_together_and_each_counts_once() {
    run(async {
        let (here, there, lobby) = begin().await;
        let limits = CommunityLimits { people_online: Some(1), ..CommunityLimits::default() };
        let settings = chat::Settings { limits, ..chat::Settings::named("One") };
        here.messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        there.welcome("bob", 1, &lobby);
        assert_eq!(here.admit("ann").await, "in", "nobody has told it of Bob");
        exchange(&here, &there);
        assert_eq!(here.admit("ann").await, "community_full");
        assert_eq!(here.admit("bob").await, "in", "he has his place already");

        there.messenger.inner.audience.depart(&id("one"), &somebody("bob"), DeviceId(1), now());
        exchange(&here, &there);
        assert_eq!(here.admit("ann").await, "in", "who may come back has no connection");
        there.welcome("bob", 1, &lobby);
        exchange(&here, &there);
        assert_eq!(here.admit("ann").await, "community_full");
        here.messenger.hear(FromNodes::Nodes(&[ONE]));
        here.lose();
        assert_eq!(here.admit("ann").await, "in", "the node is gone");
    });
}

#[test]
fn what_is_chosen_later_counts_whatever_the_clock_of_another_node_says() {
    run(async {
        let (here, there, lobby) = begin().await;
        for node in [&here, &there] {
            node.welcome("ann", 1, &lobby);
        }
        let choose = |node: &Node, choice, at| {
            let audience = &node.messenger.inner.audience;
            audience.set_status(&id("one"), &somebody("ann"), DeviceId(1), None, Some(choice), at);
        };
        let fast = Moment::from_millis(now().millis() + 3_000);
        choose(&here, Choice::Busy, fast);
        exchange(&here, &there);
        choose(&there, Choice::Invisible, now());
        exchange(&here, &there);
        let own = |node: &Node| node.messenger.inner.audience.own_status(&id("one"), &somebody("ann"));
        assert_eq!([own(&here), own(&there)], [Status::Invisible; 2]);
    });
}

#[test]
fn while_the_bus_is_away_who_is_elsewhere_is_there_for_a_lease() {
    run(async {
        let (here, there, lobby) = begin().await;
        here.welcome("ann", 1, &lobby);
        there.welcome("bob", 1, &lobby);
        exchange(&here, &there);
        here.messenger.hear(FromNodes::Down);
        let inner = &here.messenger.inner;
        for (later, seen) in [(Duration::ZERO, 2), (LEASE, 1)] {
            inner.tell_roster(&Due::default(), Instant::now() + later);
            here.lose();
            assert_eq!(seen_in(&here, &lobby).len(), seen);
        }
        here.messenger.hear(FromNodes::Up);
        here.messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        exchange(&here, &there);
        assert_eq!(seen_in(&here, &lobby).len(), 2);
    });
}
