//! Two nodes over one store, and what one is told by the other.

use crate::audience::{Activity, Choice, DeviceId, Due, Followed, LEASE, Reading, Status};
use crate::entrance::Credentials;
use crate::fault::Fault;
use crate::messenger::{Messenger, Settings, now};
use crate::outlet::Outlet;
use crate::scene::{self, Told, by, claims, id, run, somebody, token};
use chat::verbs::{Append, ChangeCommunity, ChangeRoom, EditText, Join, Meet, OpenDirect, Punish, Remove};
use chat::{
    By, CommunityLimits, Conversation, Draft, Failure, GuestPolicy, MemoryStore, Profile, RoomName,
    SanctionKind, Store,
};
use gateway::{FromNodes, NodeId};
use identity::{Revoked, UnixSeconds};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const ONE: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

/// The way out of a node: what clients are told, and what the other nodes are.
#[derive(Clone, Default)]
struct Ends {
    told: Told,
    words: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Outlet for Ends {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        self.told.tell(topic, event, payload)
    }

    fn close(&self, socket_id: &str, code: u16) {
        self.told.close(socket_id, code);
    }

    fn end_join(&self, socket_id: &str, topic: &str) {
        self.told.end_join(socket_id, topic);
    }

    fn has_nodes(&self) -> bool {
        true
    }

    fn tell_nodes(&self, words: Vec<u8>) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).push(words);
    }
}

struct Node {
    messenger: Messenger,
    ends: Ends,
}

impl Node {
    fn over(store: &Arc<dyn Store>) -> Self {
        let (messenger, ends) = (Messenger::new(store.clone(), Settings::default()), Ends::default());
        messenger.tell_through(ends.clone());
        messenger.hear(FromNodes::Up);
        messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        Self { messenger, ends }
    }

    /// What it has said to the others since this was asked last.
    fn words(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.ends.words.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hears what `other` has said.
    fn hear(&self, other: &Node) {
        for words in other.words() {
            self.messenger.hear(FromNodes::Told { node: OTHER, words: &words });
        }
    }

    /// Somebody is here with a device, who has the lobby open and is in it.
    fn welcome(&self, name: &str, device: u64, lobby: &Conversation) {
        let (audience, person) = (&self.messenger.inner.audience, somebody(name));
        audience.arrive(&id("one"), &person, DeviceId(device)).expect("there is room");
        audience.begin_following(&id("one"), &person);
        let followed = [Followed::of(lobby)];
        audience.follow_all(&id("one"), &person, Reading { followed: &followed, gone: &[] });
        let room = RoomName::parse("lobby").expect("a name");
        audience.open_room(&id("one"), lobby.id, &room, &person, DeviceId(device));
        audience.note_heads(&id("one"), &[(lobby.id, lobby.last)]);
    }

    fn events(&self) -> Vec<(String, String)> {
        self.ends.told.events()
    }

    async fn say(&self, name: &str, lobby: &Conversation, text: &str) -> u64 {
        let append = Append { conversation: lobby.id, draft: Draft::text(None, text) };
        self.messenger.ask(&id("one"), by(name), append).await.expect("said").message.seq.0
    }

    /// How somebody who shows a token comes in.
    async fn admit(&self, name: &str) -> &'static str {
        let credentials =
            Credentials { community: id("one"), token: Some(token(&claims("one", name))), name: None };
        self.messenger
            .admit(&credentials)
            .await
            .map_or_else(|rejection| Fault::from(rejection).code, |_| "in")
    }
}

/// Two nodes, and a community with a lobby, in which Ann and Bob are.
async fn begin() -> (Node, Node, Conversation) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let (here, there) = (Node::over(&store), Node::over(&store));
    let lobby = scene::community(&here.messenger, "one").await;
    scene::trust_site(&here.messenger, "one").await;
    for name in ["ann", "bob"] {
        scene::person(&here.messenger, "one", name, &lobby).await;
    }
    there.hear(&here);
    there.messenger.catch_up().await;
    here.hear(&there);
    here.messenger.catch_up().await;
    (here, there, lobby)
}

fn pairs(events: &[(&str, &str)]) -> Vec<(String, String)> {
    events.iter().map(|(topic, event)| ((*topic).to_owned(), (*event).to_owned())).collect()
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
        // Whoever comes to the other node finds it, too.
        let page = there.messenger.newest(&id("one"), lobby.id, &somebody("bob")).await.expect("a page");
        assert_eq!(page.messages.len(), 1);
        here.say("ann", &lobby, "again").await;
        there.hear(&here);
        let page = there.messenger.newest(&id("one"), lobby.id, &somebody("bob")).await.expect("a page");
        assert_eq!(page.messages.len(), 2, "the page that was read before is stale");
    });
}

#[test]
fn a_conversation_that_is_opened_on_one_node_is_followed_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        let direct = here.messenger.ask(&id("one"), by("ann"), OpenDirect { with: somebody("bob") });
        let direct = direct.await.expect("a conversation");
        here.messenger.inner.bulletin().typing(&id("one"), direct.id, &somebody("ann"), true);
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
        let ban = |conversation| Punish {
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
        entrance.stand(socket, &id("one"), &somebody("bob"), &admitted.verified, None).expect("it counts");
        let until = Revoked::IssuedUntil(UnixSeconds(crate::messenger::now().millis() / 1_000 + 1));
        here.messenger.revoke(&id("one"), &somebody("bob"), until).await.expect("revoked");
        assert_eq!(there.admit("bob").await, "in", "nobody has told it yet");
        drop(there.events());
        there.hear(&here);
        assert_eq!(there.events(), pairs(&[(socket.text().as_str(), "close")]));
        assert_eq!(there.admit("bob").await, "token_revoked");
    });
}

#[test]
fn what_was_missed_is_seen_and_read_again() {
    run(async {
        let (here, there, lobby) = begin().await;
        let (one, messenger) = (id("one"), &here.messenger);
        for (device, name) in ["ann", "bob"].into_iter().enumerate() {
            there.welcome(name, device as u64, &lobby);
        }
        here.say("ann", &lobby, "hi").await;
        there.hear(&here);
        there.messenger.catch_up().await;
        // All of this is lost on the way.
        here.say("ann", &lobby, "you did not hear this").await;
        let edit = EditText {
            conversation: lobby.id,
            seq: chat::Seq(1),
            text: "ho".to_owned(),
            mentions: Vec::new(),
        };
        messenger.ask(&one, by("ann"), edit).await.expect("edited");
        let remove = Remove { conversation: lobby.id, person: somebody("bob") };
        messenger.ask(&one, By::Service, remove).await.expect("removed");
        let private = ChangeRoom { kind: Some(chat::Kind::Private), ..ChangeRoom::of(lobby.id) };
        messenger.ask(&one, By::Service, private).await.expect("changed");
        let until = Revoked::IssuedUntil(UnixSeconds(crate::messenger::now().millis() / 1_000 + 1));
        messenger.revoke(&one, &somebody("bob"), until).await.expect("revoked");
        assert!(here.words().len() >= 4);
        // This is the first that comes.
        here.say("ann", &lobby, "but this").await;
        drop(there.events());
        there.hear(&here);
        let missed = there.messenger.counts().missed_total;
        there.messenger.catch_up().await;
        let events = there.events();
        for expected in [
            ("room:one/lobby", "msg:new"),
            ("room:one/lobby", "conversation:changed"),
            ("room:one/lobby", "msg:edit"),
            ("room:one/lobby", "end_join"),
            ("person:one/bob", "conversations:changed"),
        ] {
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert!(events.contains(&expected), "{expected:?} is not in {events:?}");
        }
        let audience = &there.messenger.inner.audience;
        assert!(!audience.is_in(&one, lobby.id, &somebody("bob")));
        assert!(audience.is_in(&one, lobby.id, &somebody("ann")));
        assert!(!audience.is_evicted(&one, lobby.id, DeviceId(0)), "Ann may stay");
        assert_eq!(there.admit("bob").await, "token_revoked");
        here.say("ann", &lobby, "and this").await;
        there.hear(&here);
        assert_eq!(there.messenger.counts().missed_total, missed, "nothing is missing any more");
    });
}

#[test]
fn a_room_that_went_on_while_the_bus_was_away_says_how_far_it_has_come() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        there.messenger.hear(FromNodes::Down);
        here.say("ann", &lobby, "hi").await;
        drop((here.words(), there.events()));
        there.messenger.hear(FromNodes::Up);
        there.messenger.catch_up().await;
        let head = ("room:one/lobby".to_owned(), "head".to_owned());
        assert!(there.events().contains(&head));
        assert_eq!(there.words().len(), 1, "it says that it is back");
    });
}

#[test]
fn nodes_over_another_store_are_none_and_what_cannot_be_read_counts_as_missed() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        drop(there.events());
        here.say("ann", &lobby, "hi").await;
        let words = here.words().remove(0);
        let of_another = String::from_utf8(words).expect("JSON");
        let epoch = serde_json::json!(here.messenger.epoch()).to_string();
        let of_another = of_another.replace(&epoch, r#""another""#);
        let missed = || there.messenger.counts().missed_total;
        let before = missed();
        there.messenger.hear(FromNodes::Told { node: OTHER, words: of_another.as_bytes() });
        assert_eq!((there.events(), missed()), (Vec::new(), before));
        let odd = [&b""[..], b"{}", &[0xff; 9], br#"{"number":-1}"#];
        for words in odd {
            there.messenger.hear(FromNodes::Told { node: OTHER, words });
        }
        let unknown = r#"{"number":9,"epoch":"e","community":"one","notices":[{"danced":{"person":"ann"}}]}"#;
        there.messenger.hear(FromNodes::Told { node: OTHER, words: unknown.as_bytes() });
        assert_eq!((there.events(), missed()), (Vec::new(), before + odd.len() as u64 + 1));
    });
}

#[test]
fn who_is_met_on_one_node_is_seen_as_they_are_on_the_other() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        there.welcome("ann", 2, &lobby);
        let profile = chat::Profile { name: "Anna".to_owned(), avatar: None, guest: false, role: None };
        let meet = chat::verbs::Meet { profile };
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

/// Each round of both, and what each says in it is heard by the other.
fn exchange(here: &Node, there: &Node) {
    for _ in 0..3 {
        here.messenger.tick();
        there.messenger.tick();
        there.hear(here);
        here.hear(there);
    }
}

/// Who is seen in the lobby by somebody on this node.
fn seen_in(node: &Node, lobby: &Conversation) -> Vec<(String, Status)> {
    let (count, people) = node.messenger.present_in(&id("one"), lobby.id);
    let people = people.expect("they are few").into_iter();
    let mut seen: Vec<_> = people.map(|presence| (presence.person.to_string(), presence.status)).collect();
    seen.sort();
    assert_eq!(seen.len(), count);
    seen
}

/// What was told of somebody's presence, by topic.
fn told_of(node: &Node, name: &str) -> Vec<(String, String)> {
    let told = node.ends.told.take().into_iter().filter(|(_, event, _)| event == "presence");
    let payloads =
        told.map(|(topic, _, payload)| (topic, serde_json::from_str::<Value>(&payload).expect("JSON")));
    let theirs = payloads.filter(|(_, payload)| payload["person"] == name);
    theirs.map(|(topic, payload)| (topic, payload["status"].as_str().expect("a status").to_owned())).collect()
}

fn leave(node: &Node, name: &str, device: u64) {
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
        leave(&there, "ann", 1);
        exchange(&here, &there);
        assert!(here.messenger.inner.audience.presence(&id("one"), &somebody("ann")).is_none());
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
        assert_eq!(here.admit("ann").await, "in", "the node is gone");
    });
}

#[test]
fn who_missed_something_asks_and_is_told_who_is_there() {
    run(async {
        let (here, there, lobby) = begin().await;
        here.welcome("ann", 1, &lobby);
        for (device, name) in ["bob", "cat"].into_iter().enumerate() {
            there.welcome(name, device as u64, &lobby);
        }
        exchange(&here, &there);
        assert_eq!(seen_in(&here, &lobby).len(), 3);
        leave(&there, "cat", 1);
        there.welcome("dan", 3, &lobby);
        there.messenger.tick();
        assert!(!there.words().is_empty(), "what is lost");
        drop(here.events());
        there.say("bob", &lobby, "hi").await;
        exchange(&here, &there);
        let names: Vec<String> = seen_in(&here, &lobby).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ann", "bob", "dan"]);
        assert!(told_of(&here, "bob").is_empty(), "nothing changed for whom it was only in doubt");
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
            assert_eq!(seen_in(&here, &lobby).len(), seen);
        }
        here.messenger.hear(FromNodes::Up);
        here.messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        exchange(&here, &there);
        assert_eq!(seen_in(&here, &lobby).len(), 2);
    });
}
