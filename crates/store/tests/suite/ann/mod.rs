//! A test person, Ann, in a room of the community.

use crate::acme::{self, call};
use chat::verbs::{CreateRoom, Join, Meet};
use chat::{Ask as _, By, ConversationId, PersonId, Profile, RoomName, Store};

/// On Ann's behalf.
pub(crate) fn ann() -> By {
    By::Person(PersonId::parse("ann").expect("it is a name"))
}

/// Creates the community, and a room with Ann in it.
pub(crate) fn in_a_room(store: &dyn Store) -> ConversationId {
    acme::create(store);
    let name = RoomName::parse("lobby").expect("it is a name");
    let room = store.ask(call(By::Service).ask(CreateRoom::public(name, "Lobby"))).expect("new").id;
    let profile = Profile { name: "Ann".to_owned(), avatar: None, guest: false, role: None };
    store.ask(call(ann()).ask(Meet { profile })).expect("she may");
    store.ask(call(ann()).ask(Join { conversation: room, invitation: None })).expect("she may");
    room
}
