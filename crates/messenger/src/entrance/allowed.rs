//! The rooms that a token is valid for: the one place where that is decided.

use chat::{Conversation, RoomName};
use std::sync::Arc;

/// The rooms that a token is valid for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AllowedRooms(
    // A `Vec` instead of a slice, because a pointer to a slice is twice as long, and each connection has one.
    Option<Arc<Vec<RoomName>>>,
);

impl AllowedRooms {
    /// All rooms and conversations of its person.
    pub const ALL: Self = Self(None);

    /// These rooms only; with an empty list, none.
    pub fn only(rooms: impl IntoIterator<Item = RoomName>) -> Self {
        let mut rooms: Vec<RoomName> = rooms.into_iter().collect();
        rooms.sort_unstable();
        rooms.dedup();
        Self(Some(Arc::new(rooms)))
    }

    /// Converts a token's claim. Invalid room names are ignored.
    pub(super) fn claimed(rooms: Option<&[String]>) -> Self {
        let names = |rooms: &[String]| Self::only(rooms.iter().filter_map(|room| RoomName::parse(room).ok()));
        rooms.map_or(Self::ALL, names)
    }

    /// Returns whether the token is valid for all.
    pub fn are_all(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the rooms' names; empty if the token is valid for all.
    pub(crate) fn named(&self) -> &[RoomName] {
        self.0.as_ref().map_or(&[], |rooms| rooms.as_slice())
    }

    /// Returns whether the token is valid for a room.
    pub fn have(&self, room: &RoomName) -> bool {
        self.0.as_ref().is_none_or(|rooms| rooms.binary_search(room).is_ok())
    }

    /// Returns whether the token is valid for a conversation. One without a name is not a room, and is allowed only by
    /// a token for all.
    pub fn allow(&self, conversation: &Conversation) -> bool {
        self.allow_named(conversation.name.as_ref())
    }

    /// Like [`AllowedRooms::allow`], by the conversation's name.
    pub(crate) fn allow_named(&self, name: Option<&RoomName>) -> bool {
        self.are_all() || name.is_some_and(|room| self.have(room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, by, id, run, somebody};
    use chat::verbs::OpenDirect;

    #[test]
    fn what_has_no_name_is_no_room_of_a_token_for_some() {
        run(async {
            let (messenger, _) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            for name in ["ann", "bob"] {
                scene::person(&messenger, "one", name, &lobby).await;
            }
            let direct = OpenDirect { with: somebody("bob") };
            let direct = messenger.ask(&id("one"), by("ann"), direct).await.expect("a conversation");
            let claimed = |rooms: &[&str]| {
                AllowedRooms::claimed(Some(&rooms.iter().map(|room| (*room).to_owned()).collect::<Vec<_>>()))
            };
            for (rooms, in_lobby, in_direct) in [
                (AllowedRooms::ALL, true, true),
                (claimed(&["lobby", "den"]), true, false),
                (claimed(&["den", "Not A Name"]), false, false),
                (claimed(&[]), false, false),
            ] {
                assert_eq!((rooms.allow(&lobby), rooms.allow(&direct)), (in_lobby, in_direct), "{rooms:?}");
            }
            assert_eq!(claimed(&["lobby", "den"]), claimed(&["den", "lobby", "den"]));
        });
    }
}
