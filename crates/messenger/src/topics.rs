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

/// The events by which clients are told, on topics of rooms and of people, what happened; as docs/protocol.md lists them.
const TOLD: [&str; 24] = [
    "msg:new",
    "msg:edit",
    "msg:delete",
    "msg:changed",
    "react",
    "typing",
    "member:in",
    "member:out",
    "member:role",
    "conversation:changed",
    "head",
    "presence",
    "profile",
    "conversation:new",
    "conversations:changed",
    "conversation:kept",
    "cursors",
    "receipt",
    "invitation",
    "invitation:withdrawn",
    "sanction",
    "block",
    "receipts",
    "status",
];

/// Whether an event on a topic is the messenger's own, so that nobody else may say it there: on topics of rooms and of people
/// those by which it tells what happened, and whatever has the same word before a colon.
pub fn is_of_messenger(topic: &str, event: &str) -> bool {
    let is_here = [ROOM, PERSON].iter().any(|prefix| topic.starts_with(prefix));
    is_here && TOLD.iter().any(|own| first_word(own) == first_word(event))
}

fn first_word(event: &str) -> &str {
    event.split(':').next().unwrap_or(event)
}

/// The community and the name in a topic; none if it is not of that form. No id has a slash in it.
pub(crate) fn parts<'t>(topic: &'t str, prefix: &str) -> Option<(CommunityId, &'t str)> {
    let (community, name) = topic.strip_prefix(prefix)?.split_once('/')?;
    Some((CommunityId::parse(community).ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the first column of a table of the documentation, from its heading to the next.
    fn documented(heading: &str) -> Vec<&'static str> {
        let document = include_str!("../../../docs/protocol.md");
        let (_, section) = document.split_once(heading).expect("the section is there");
        let section = section.split("\n### ").next().unwrap_or_default();
        let cells =
            section.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
        cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`')).collect()
    }

    #[test]
    fn every_event_that_clients_are_told_is_the_messengers_own() {
        let documented = documented("### What clients are told");
        assert!(documented.len() > 10, "{documented:?}");
        for event in &documented {
            let is_own = ["room:acme/lobby", "person:acme/ann"].map(|topic| is_of_messenger(topic, event));
            // The protocol's are nobody's to say on any topic.
            assert!(is_own == [true; 2] || event.starts_with("phx_"), "{event} is not in `TOLD`");
        }
        for own in TOLD {
            assert!(documented.contains(&own), "{own} is not in docs/protocol.md");
        }
    }

    #[test]
    fn other_events_and_other_topics_are_for_everybody() {
        for (topic, event, own) in [
            ("room:acme/lobby", "member:named", true),
            ("room:acme/lobby", "parcel", false),
            ("room:acme/lobby", "membership", false),
            ("news:acme/today", "status", false),
            ("rooms:acme/today", "status", false),
        ] {
            assert_eq!(is_of_messenger(topic, event), own, "{topic} {event}");
        }
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
