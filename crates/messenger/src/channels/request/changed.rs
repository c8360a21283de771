//! What changed, for all who ask at once.

use super::{Asker, answer};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::messenger::Messenger;
use crate::scene::{self, Held, by, id, run, somebody};
use chat::limits::PAGE_MAX;
use chat::verbs::{Append, EditText, ImposeSanction, React};
use chat::{By, Conversation, Draft, Revision, SanctionKind, Seq};
use gateway::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

const PEOPLE: [&str; 2] = ["ann", "bob"];

struct Lobby {
    messenger: Messenger,
    held: Arc<Held>,
    room: Conversation,
    people: Vec<Arc<Me>>,
}

impl Lobby {
    /// Ann has sent a message in it. Everybody is a member.
    async fn new() -> Self {
        let (messenger, held) = scene::holding();
        let room = scene::community(&messenger, "one").await;
        let mut people = Vec::new();
        for name in PEOPLE {
            let person = scene::person(&messenger, "one", name, &room).await;
            people.push(Me::somebody(&id("one"), person, AllowedRooms::ALL));
        }
        let lobby = Self { messenger, held, room, people };
        lobby.say().await;
        lobby.stand().await;
        lobby
    }

    async fn say(&self) {
        let said = Append { conversation: self.room.id, draft: Draft::text(None, "hi") };
        self.messenger.ask(&id("one"), by("ann"), said).await.expect("a message");
    }

    /// Caches that everybody may read there.
    async fn stand(&self) {
        for name in PEOPLE {
            self.messenger.standing(&id("one"), self.room.id, &somebody(name)).await.expect("they are in it");
        }
    }

    async fn edit(&self, text: &str) {
        let edit =
            EditText { conversation: self.room.id, seq: Seq(1), text: text.into(), mentions: Vec::new() };
        self.messenger.ask(&id("one"), by("ann"), edit).await.expect("it is hers");
    }

    async fn react(&self, who: &str, seq: u64) {
        let react = React { conversation: self.room.id, seq: Seq(seq), emoji: "+1".into(), on: true };
        self.messenger.ask(&id("one"), by(who), react).await.expect("they may");
    }

    /// Returns the answer to a person's client that asks on the room's topic.
    async fn asked(&self, person: usize) -> Value {
        let turns = Turns::default();
        let (messenger, me) = (&self.messenger, &self.people[person]);
        let asker = Asker { messenger, me, room: Some(self.room.id), turns: &turns };
        let payload = json!({ "changed": 0, "limit": 200 }).to_string();
        let asked = answer(&asker, "history", Payload::Json(&payload)).expect("it is asked");
        asked.await.expect("a page")
    }

    fn readings(&self) -> u64 {
        let counts = self.messenger.inner.cache.counts().find(|(name, ..)| *name == "changed_page");
        counts.map_or(0, |(.., misses)| misses)
    }
}

#[test]
fn those_who_ask_what_changed_at_once_are_answered_by_one_reading_until_something_changes() {
    run(async {
        let lobby = Lobby::new().await;
        lobby.edit("one").await;
        lobby.held.hold();
        let (ann, bob, again, ()) = tokio::join!(lobby.asked(0), lobby.asked(1), lobby.asked(1), async {
            assert_eq!(lobby.held.count(), 1, "one reading for all");
            lobby.held.commit();
        });
        assert_eq!(
            (&ann["messages"][0]["text"], &ann["conversation"]["revision"]),
            (&json!("one"), &json!(1))
        );
        assert_eq!((&ann, &ann), (&bob, &again));
        lobby.edit("two").await;
        assert_eq!(lobby.asked(1).await["messages"][0]["text"], "two");
        lobby.say().await;
        assert_eq!(lobby.asked(1).await["conversation"]["last"], 2);
    });
}

#[test]
fn to_each_it_is_said_which_reactions_are_their_own_however_far_the_messages_lie_apart() {
    run(async {
        let lobby = Lobby::new().await;
        lobby.react("ann", 1).await;
        for apart in [false, true] {
            let readings = lobby.readings();
            for (person, mine) in [(0, true), (1, false)] {
                let page = lobby.asked(person).await;
                assert_eq!(
                    page["messages"][0]["reactions"],
                    json!([{"emoji": "+1", "count": 1, "mine": mine}])
                );
                assert_eq!(page["messages"].as_array().map(Vec::len), Some(1 + usize::from(apart)));
            }
            assert_eq!(lobby.readings(), readings + 1);
            if !apart {
                for _ in 0..PAGE_MAX {
                    lobby.say().await;
                }
                lobby.react("bob", 1 + PAGE_MAX as u64).await;
                lobby.stand().await;
            }
        }
    });
}

#[test]
fn who_may_not_read_there_any_more_is_not_told_what_others_have_read() {
    run(async {
        let lobby = Lobby::new().await;
        let (one, bob) = (id("one"), somebody("bob"));
        let changed = || lobby.messenger.changed(&one, lobby.room.id, &bob, Revision(0), PAGE_MAX);
        lobby.edit("one").await;
        assert!(changed().await.is_ok());
        let ban = ImposeSanction {
            person: bob.clone(),
            conversation: Some(lobby.room.id),
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        lobby.messenger.ask(&one, By::Service, ban).await.expect("a ban");
        lobby.asked(0).await;
        assert!(changed().await.is_err());
    });
}
