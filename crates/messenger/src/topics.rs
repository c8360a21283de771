//! The names of topics.

use chat::{CommunityId, PersonId, RoomName};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Prefix of the topics of rooms.
pub(crate) const ROOM: &str = "room:";
/// Prefix of the topics of people.
pub(crate) const PERSON: &str = "person:";

/// All events that are sent on the topics of people.
pub(crate) const TOLD_TO_PEOPLE: &[&str] = &[
    "block",
    "community:changed",
    "conversation:changed",
    "conversation:kept",
    "conversation:new",
    "conversations:changed",
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

/// All other events that tell clients what happened: those sent on the topics of rooms only.
const TOLD_OTHERWISE: &[&str] = &["head", "msg:changed"];

/// One of these events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event(&'static str);

impl Event {
    /// Converts the name of one of our own events.
    pub(crate) fn of(name: &'static str) -> Self {
        debug_assert!(told().any(|known| known == name), "{name} is not among what clients are told");
        Self(name)
    }

    pub(crate) const fn name(self) -> &'static str {
        self.0
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = told().find(|known| *known == name);
        known.map(Self).ok_or_else(|| D::Error::custom(format!("clients are told of no event {name:?}")))
    }
}

/// The topic of a room: `room:COMMUNITY/ROOM`.
pub fn room_topic(community: &CommunityId, room: &RoomName) -> Arc<str> {
    format!("{ROOM}{community}/{room}").into()
}

/// The topic of a person, which all their devices join: `person:COMMUNITY/PERSON`.
pub fn person_topic(community: &CommunityId, person: &PersonId) -> Arc<str> {
    format!("{PERSON}{community}/{person}").into()
}

/// What the events begin with that only the server sends, on any topic.
pub const RESERVED: [&str; 3] = ["phx_", "presence_", "msg:"];

/// Returns whether only the server sends events of this name, on any topic.
pub fn is_reserved(event: &str) -> bool {
    RESERVED.iter().any(|prefix| event.starts_with(prefix))
}

/// Returns whether an event on a topic is reserved to the messenger, so that nobody else may send it there: on topics
/// of rooms and people, its own events and everything with the same word before a colon.
pub fn is_of_messenger(topic: &str, event: &str) -> bool {
    let is_here = [ROOM, PERSON].iter().any(|prefix| topic.starts_with(prefix));
    is_here && told().any(|own| first_word(own) == first_word(event))
}

fn told() -> impl Iterator<Item = &'static str> {
    TOLD_TO_PEOPLE.iter().chain(TOLD_OTHERWISE).copied()
}

fn first_word(event: &str) -> &str {
    event.split(':').next().unwrap_or(event)
}

/// Returns the community of a topic, to share a resource between communities; `None` if it belongs to no community.
pub fn community_of(topic: &str) -> Option<&str> {
    let rest = [ROOM, PERSON].iter().find_map(|prefix| topic.strip_prefix(prefix))?;
    rest.split_once('/').map(|(community, _)| community)
}

/// Returns the community and the name in a topic; `None` if it does not have that form. Ids contain no slash.
pub(crate) fn parts<'t>(topic: &'t str, prefix: &str) -> Option<(CommunityId, &'t str)> {
    let (community, name) = topic.strip_prefix(prefix)?.split_once('/')?;
    Some((CommunityId::parse(community).ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events and where they are sent, according to the documentation.
    fn documented() -> Vec<(&'static str, &'static str)> {
        let document = include_str!("../../../docs/protocol.md");
        let (_, section) = document.split_once("### What clients are told").expect("the section is there");
        let section = section.split("\n### ").next().unwrap_or_default();
        let rows =
            section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
        let named = rows.filter(|(events, _)| events.starts_with('`'));
        named
            .flat_map(|(events, rest)| events.split(", ").map(move |event| (event.trim_matches('`'), rest)))
            .collect()
    }

    #[test]
    fn every_event_that_clients_are_told_is_the_messengers_own() {
        let documented: Vec<&str> = documented().into_iter().map(|(event, _)| event).collect();
        assert!(documented.len() > 10, "{documented:?}");
        for event in &documented {
            let is_own = ["room:acme/lobby", "person:acme/ann"].map(|topic| is_of_messenger(topic, event));
            // Events of the Phoenix protocol are reserved on every topic.
            assert!(is_own == [true; 2] || event.starts_with("phx_"), "{event} is in neither list");
        }
        for own in told() {
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

    /// An event missing there would pass [`Within`](crate::channels), to devices that must not receive it.
    #[test]
    fn all_events_that_people_are_told_of_are_known() {
        let places = ["both", "the conversation's", "the person's"];
        let to_people = |(_, rest): &(&str, &str)| places.iter().any(|place| rest.ends_with(place));
        let told = documented().into_iter().filter(to_people).map(|(event, _)| event);
        let mut documented: Vec<&str> = told.collect();
        documented.sort_unstable();
        assert_eq!(documented, TOLD_TO_PEOPLE);
    }

    #[test]
    fn topics_of_rooms_and_people_are_their_communitys() {
        for (topic, community) in [
            ("room:acme/lobby", Some("acme")),
            ("person:acme/ann", Some("acme")),
            ("rooms:lobby", None),
            ("room:lobby", None),
            ("news:acme/today", None),
        ] {
            assert_eq!(community_of(topic), community, "{topic}");
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
