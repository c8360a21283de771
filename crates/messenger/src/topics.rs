//! The names of topics.

use chat::{CommunityId, PersonId, RoomName};
use std::sync::Arc;

/// How the topics of rooms begin.
pub(crate) const ROOM: &str = "room:";
/// How the topics of people begin.
pub(crate) const PERSON: &str = "person:";

/// The topic of a room: `room:COMMUNITY/ROOM`.
pub fn room_topic(community: &CommunityId, room: &RoomName) -> Arc<str> {
    format!("{ROOM}{community}/{room}").into()
}

/// The topic of a person, which all their devices join: `person:COMMUNITY/PERSON`.
pub fn person_topic(community: &CommunityId, person: &PersonId) -> Arc<str> {
    format!("{PERSON}{community}/{person}").into()
}

/// The community and the name in a topic; none if it is not of that form. No id has a slash in it.
pub(crate) fn parts<'t>(topic: &'t str, prefix: &str) -> Option<(CommunityId, &'t str)> {
    let (community, name) = topic.strip_prefix(prefix)?.split_once('/')?;
    Some((CommunityId::parse(community).ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_says_its_community_and_name() {
        let community = CommunityId::parse("acme").expect("an id");
        let topic = room_topic(&community, &RoomName::parse("lobby").expect("a name"));
        assert_eq!(parts(&topic, ROOM), Some((community, "lobby")));
        for topic in ["room:", "room:acme", "room:Acme/lobby", "rooms:acme/lobby"] {
            assert_eq!(parts(topic, ROOM), None, "{topic}");
        }
    }
}
