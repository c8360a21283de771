//! A person erased on one node is erased on all.

use super::{Node, OTHER, begin, begin_over};
use crate::audience::ERASED_REACTIONS_TOLD_MAX;
use crate::scene::{Held, by, id, run, somebody};
use crate::witness::{Happening, Witness};
use chat::limits::PAGE_MAX;
use chat::verbs::{Append, Around, Erase, EraseCommunity, ImposeSanction, React, ReadPage, ReadPerson};
use chat::{By, CommunityId, Draft, Failure, KeyId, PersonId, Revision, SanctionKind, Seq};
use gateway::FromNodes;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Records who was erased.
#[derive(Clone, Default)]
struct Mourner {
    noted: Arc<Mutex<Vec<PersonId>>>,
    /// How often a person was erased on this node.
    happened: Arc<AtomicUsize>,
    /// How often it was reported that the community is closed.
    closed: Arc<AtomicUsize>,
}

impl Witness for Mourner {
    fn witness(&self, _: &CommunityId, _: &PersonId, happening: &Happening<'_>) {
        self.happened.fetch_add(usize::from(matches!(happening, Happening::Erased(_))), Relaxed);
    }

    fn keys_changed(&self, _: &CommunityId, _: Option<KeyId>) {}

    fn erased(&self, _: &CommunityId, person: &PersonId) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(person.clone());
    }

    fn closed(&self, _: &CommunityId) {
        self.closed.fetch_add(1, Relaxed);
    }
}

impl Mourner {
    fn of(node: &Node) -> Self {
        let mourner = Self::default();
        node.messenger.witness_by(mourner.clone());
        mourner
    }

    fn noted(&self) -> Vec<PersonId> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[test]
fn who_is_erased_on_one_node_is_forgotten_on_the_other_and_who_is_banned_is_not() {
    run(async {
        let (here, there, _) = begin().await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        let (person, reason) = (somebody("bob"), String::new());
        let ban = ImposeSanction { person, conversation: None, kind: SanctionKind::Ban, until: None, reason };
        here.messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![], vec![]));
        let erase = Erase { person: somebody("ann") };
        while !here.messenger.ask(&id("one"), By::Service, erase.clone()).await.expect("erased").done {}
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![somebody("ann")], vec![somebody("ann")]));
        assert_eq!(there.words().len(), 0, "what was heard is not said again");
    });
}

#[test]
fn a_community_that_is_erased_on_one_node_is_closed_on_the_other() {
    run(async {
        let (here, there, _) = begin().await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        let closed = || (mine.closed.load(Relaxed), theirs.closed.load(Relaxed));
        let erase = || here.messenger.ask(&id("one"), By::Service, EraseCommunity);
        assert!(!erase().await.expect("the first part").done);
        there.hear(&here);
        assert_eq!(closed(), (1, 1));
        while !erase().await.expect("a further part").done {}
        there.hear(&here);
        assert_eq!(closed(), (2, 2), "once more at the end, and never between");
    });
}

#[test]
fn reactions_of_who_is_erased_vanish_on_both_nodes_up_to_a_bound_beyond_which_the_room_is_told_how_far_it_is()
{
    const EACH: usize = 2;
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        let (one, messages) = (id("one"), ERASED_REACTIONS_TOLD_MAX as usize / EACH + 1);
        for place in 1..=messages {
            here.say("bob", &lobby, "hi").await;
            for (name, emoji) in [("ann", "👍"), ("ann", "🎉"), ("bob", "👍")] {
                let (seq, emoji) = (Seq(place as u64), emoji.to_owned());
                let react = React { conversation: lobby.id, seq, emoji, on: true };
                here.messenger.ask(&one, by(name), react).await.expect("reacted");
            }
        }
        there.hear(&here);
        drop(there.ends.told.take());
        let erase = Erase { person: somebody("ann") };
        while !here.messenger.ask(&one, By::Service, erase.clone()).await.expect("erased").done {}
        there.hear(&here);
        let told = there.ends.told.take();
        let reacts: Vec<Value> = told
            .iter()
            .filter(|(topic, event, _)| topic == "room:one/lobby" && event == "react")
            .map(|(.., payload)| serde_json::from_str(payload).expect("JSON"))
            .collect();
        assert_eq!(reacts.len(), ERASED_REACTIONS_TOLD_MAX as usize);
        let last_of_first = &reacts[EACH - 1];
        assert_eq!((&last_of_first["person"], &last_of_first["on"]), (&json!("ann"), &json!(false)));
        assert_eq!(last_of_first["reactions"], json!([{"emoji": "👍", "count": 1}]));
        assert_eq!((&reacts[0]["emoji"], &reacts[1]["emoji"]), (&json!("🎉"), &json!("👍")));
        let reacted = 3 * messages as u64;
        assert_eq!(last_of_first["revision"], reacted + 1);
        assert_eq!(reacts[EACH]["revision"], reacted + 2, "clients find no revision missing");
        there.messenger.catch_up().await;
        let told = there.ends.told.take();
        let changed: Vec<Value> = told
            .iter()
            .filter(|(topic, event, _)| topic == "room:one/lobby" && event == "conversation:changed")
            .map(|(.., payload)| serde_json::from_str(payload).expect("JSON"))
            .collect();
        let [changed] = &*changed else { panic!("{told:?}") };
        assert_eq!(changed["revision"], reacted + messages as u64);
        there.messenger.catch_up().await;
        assert_eq!(there.events(), [], "that is told once");
        let read =
            ReadPage { conversation: lobby.id, around: Around::Changed(Revision(reacted)), limit: PAGE_MAX };
        let page = here.messenger.ask(&one, by("bob"), read).await.expect("read");
        assert_eq!(page.messages.len(), messages, "who comes back later learns of it, too");
    });
}

#[test]
fn what_a_step_changes_is_told_to_the_other_node_in_messages_that_its_bus_takes() {
    const MENTIONS: usize = 100;
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        let text = "x".repeat(1 << 10);
        for _ in 0..MENTIONS {
            let draft = Draft { mentions: vec![somebody("ann")], ..Draft::text(None, &text) };
            let append = Append { conversation: lobby.id, draft };
            here.messenger.ask(&id("one"), by("bob"), append).await.expect("said");
        }
        there.hear(&here);
        drop(there.ends.told.take());
        here.messenger.ask(&id("one"), By::Service, Erase { person: somebody("ann") }).await.expect("a step");
        let words = here.words();
        assert!(words.len() > 1 && words.iter().all(|words| words.len() < 64 << 10));
        for words in words {
            there.messenger.hear(FromNodes::Told { node: OTHER, words: &words });
        }
        let edits = there.events().into_iter().filter(|(_, event)| event == "msg:edit");
        assert_eq!(edits.count(), MENTIONS);
    });
}

#[test]
fn who_is_erased_by_steps_of_unknown_outcome_is_forgotten_once_on_both_nodes() {
    /// Fails each step of Ann's erasure like this until she no longer exists. Returns how many steps there were.
    async fn erase(here: &Node, held: &Held, fail: fn(&Held)) -> usize {
        let ann = ReadPerson { person: somebody("ann") };
        for step in 0.. {
            if here.messenger.ask(&id("one"), By::Service, ann.clone()).await.is_err() {
                return step;
            }
            assert!(is_unknown(here, held, fail).await);
        }
        unreachable!("there are so many steps")
    }

    /// Returns whether the outcome of a step of Ann's erasure is unknown.
    async fn is_unknown(here: &Node, held: &Held, fail: fn(&Held)) -> bool {
        held.hold();
        let erased = here.messenger.ask(&id("one"), By::Service, Erase { person: somebody("ann") });
        fail(held);
        matches!(erased.await, Err(Failure::Unavailable(_)))
    }

    run(async {
        let held = Arc::new(Held::default());
        let (here, there, _) = begin_over(held.clone()).await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        assert!(is_unknown(&here, &held, Held::cut).await);
        here.messenger.catch_up().await;
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![], vec![]), "she is there");
        assert!(erase(&here, &held, Held::lose).await > 1);
        held.hold();
        tokio::join!(here.messenger.catch_up(), async {
            while held.count() == 0 {
                tokio::task::yield_now().await;
            }
            held.cut();
        });
        assert_eq!(mine.noted(), [], "the store cannot say yet");
        for times in [1, 0] {
            here.messenger.catch_up().await;
            there.hear(&here);
            assert_eq!(
                (mine.noted(), theirs.noted()),
                (vec![somebody("ann"); times], vec![somebody("ann"); times])
            );
        }
        assert_eq!((mine.happened.load(Relaxed), theirs.happened.load(Relaxed)), (1, 0));
    });
}

#[test]
fn whose_erasure_was_of_unknown_outcome_and_was_repeated_is_forgotten_once() {
    run(async {
        let held = Arc::new(Held::default());
        let (here, there, _) = begin_over(held.clone()).await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        held.hold();
        let erased = here.messenger.ask(&id("one"), By::Service, Erase { person: somebody("ann") });
        held.cut();
        assert!(erased.await.is_err());
        let erase = Erase { person: somebody("ann") };
        while !there.messenger.ask(&id("one"), By::Service, erase.clone()).await.expect("erased").done {}
        here.hear(&there);
        here.messenger.catch_up().await;
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![somebody("ann")], vec![somebody("ann")]));
        assert_eq!((mine.happened.load(Relaxed), theirs.happened.load(Relaxed)), (0, 1));
    });
}
