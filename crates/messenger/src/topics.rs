//! The names of topics.

use chat::{CommunityId, PersonId, RoomName};
use std::sync::Arc;

/// How the topics of rooms begin.
pub(crate) const ROOM: &str = "room:";
/// How the topics of people begin.
pub(crate) const PERSON: &str = "person:";

/// All events that the topics of people are told of.
pub(crate) const TOLD_TO_PEOPLE: &[&str] = &[
    "block",
    "conversation:changed",
    "conversation:kept",
    "conversation:new",
    "cursors",
    "invitation",
    "invitation:withdrawn",
    "member:in",
    "member:out",
    "member:role",
    "msg:delete",
    "msg:edit",
    "msg:new",
    "presence",
    "profile",
    "react",
    "receipt",
    "receipts",
    "sanction",
    "status",
    "typing",
];

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

    /// One that is missing would go past [`Within`](crate::channels), to devices that are not to hear it.
    #[test]
    fn all_events_that_people_are_told_of_are_known() {
        let document = include_str!("../../../docs/protocol.md");
        let told = document.split("### What clients are told").nth(1).expect("the chapter");
        let table = told.split("\n### ").next().expect("its text");
        let mut documented: Vec<&str> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
            .filter(|(_, rest)| {
                ["both", "the conversation's", "the person's"].iter().any(|of| rest.ends_with(of))
            })
            .flat_map(|(events, _)| events.split(", ").map(|event| event.trim_matches('`')))
            // A join pushes it itself.
            .filter(|event| *event != "conversations:changed")
            .collect();
        documented.sort_unstable();
        assert_eq!(documented, TOLD_TO_PEOPLE);
    }

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
