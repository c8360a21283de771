//! Filters what a device whose token is valid for some rooms only receives on its person's topic, which all their
//! devices join.

use super::connection::Me;
use crate::entrance::AllowedRooms;
use crate::messenger::Messenger;
use chat::{ConversationId, Failure, RoomName};
use serde::Deserialize;
use std::collections::HashSet;

/// The conversations that the token of one join is valid for.
pub(super) struct Within {
    rooms: AllowedRooms,
    /// Their ids, by which events name them, unless the token is valid for all.
    known: HashSet<ConversationId>,
}

/// Events about the person or the whole community, not about one conversation.
const OWN: [&str; 6] =
    ["block", "community:changed", "conversations:changed", "receipts", "sanction", "status"];

/// The conversation that an event is about.
#[derive(Deserialize)]
struct About {
    conversation: Option<Place>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Id(ConversationId),
    Whole { id: ConversationId, name: Option<RoomName> },
}

impl Within {
    /// Reads the rooms of a person's token. Rooms that do not exist yet become known when the person joins them.
    ///
    /// # Errors
    /// The store is unavailable.
    pub(super) async fn of(messenger: &Messenger, me: &Me) -> Result<Self, Failure> {
        let mut known = HashSet::new();
        for room in me.rooms().named() {
            match messenger.room(&me.community, room).await {
                Ok(conversation) => drop(known.insert(conversation)),
                Err(Failure::Absent(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(Self { rooms: me.rooms().clone(), known })
    }

    /// Returns whether everything is delivered.
    pub(super) fn is_everything(&self) -> bool {
        self.rooms.are_all()
    }

    /// Returns whether a conversation is among them.
    pub(super) fn has(&self, conversation: ConversationId) -> bool {
        self.is_everything() || self.known.contains(&conversation)
    }

    /// Returns whether the device may receive an event.
    pub(super) fn passes(&mut self, event: &str, payload: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        match serde_json::from_str::<About>(payload) {
            Ok(About { conversation: Some(Place::Id(id)) }) => self.has(id),
            Ok(About { conversation: Some(Place::Whole { id, name }) }) => {
                let is_one = name.is_some_and(|room| self.rooms.have(&room));
                if is_one {
                    self.known.insert(id);
                }
                is_one
            }
            Ok(About { conversation: None }) => OWN.contains(&event),
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, run};
    use serde_json::json;

    fn id(number: u8) -> ConversationId {
        ConversationId(chat::Ulid::from_bytes([number; 16]))
    }

    #[test]
    fn news_of_other_conversations_do_not_pass() {
        let room = RoomName::parse("lobby").expect("a name");
        let mut within = Within { rooms: AllowedRooms::only([room]), known: HashSet::from([id(1)]) };
        let table = [
            ("msg:new", json!({"conversation": id(1), "text": "hi"}), true),
            ("msg:new", json!({"conversation": id(2), "text": "hi"}), false),
            ("cursors", json!({"conversation": id(2), "read": 4}), false),
            ("sanction", json!({"conversation": id(2), "kind": "ban", "on": true}), false),
            ("sanction", json!({"conversation": null, "kind": "mute", "on": true}), true),
            ("status", json!({"status": "busy"}), true),
            ("conversations:changed", json!({}), true),
            ("presence", json!({"person": "bob", "status": "away"}), false),
            ("profile", json!({"person": "bob", "profile": {}}), false),
            ("invitation:withdrawn", json!({"id": id(3)}), false),
            ("conversation:changed", json!({"id": id(2), "kind": "group", "name": null}), false),
            ("conversation:new", json!({"conversation": {"id": id(2), "name": "den"}}), false),
            ("conversation:new", json!({"conversation": {"id": id(2), "name": null}}), false),
            ("msg:new", json!({"conversation": id(4)}), false),
            ("conversation:new", json!({"conversation": {"id": id(4), "name": "lobby"}}), true),
            ("msg:new", json!({"conversation": id(4)}), true),
        ];
        for (event, payload, passes) in table {
            assert_eq!(within.passes(event, &payload.to_string()), passes, "{event} {payload}");
        }
    }

    #[test]
    fn a_token_for_all_rooms_hears_everything_and_one_for_none_nothing_of_any() {
        let told = json!({"conversation": id(1)}).to_string();
        let presence = json!({"person": "bob"}).to_string();
        for (rooms, hears) in [(AllowedRooms::ALL, true), (AllowedRooms::only([]), false)] {
            let mut within = Within { rooms, known: HashSet::new() };
            assert_eq!(within.passes("msg:new", &told), hears);
            assert_eq!(within.passes("presence", &presence), hears);
            assert_eq!(within.has(id(1)), hears);
        }
    }

    #[test]
    fn the_rooms_of_a_token_are_known_whether_or_not_one_is_in_them() {
        run(async {
            let (messenger, _) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            let other = scene::community(&messenger, "two").await;
            let ann = scene::person(&messenger, "two", "ann", &other).await;
            let names = ["lobby", "not-there-yet"].map(|name| RoomName::parse(name).expect("a name"));
            let me = Me::somebody(&scene::id("one"), ann, AllowedRooms::only(names));
            let within = Within::of(&messenger, &me).await.expect("the store answers");
            assert_eq!((within.has(lobby.id), within.has(other.id)), (true, false));
        });
    }
}
