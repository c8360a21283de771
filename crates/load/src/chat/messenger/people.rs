//! People: their names, their status, and who has the room open.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::chat::messenger::payload::Profile;

/// Maximum number of people whose names are kept; beyond it people are shown by ID.
const NAMES_MAX: usize = 10_000;
/// Maximum number of people listed for a room.
const LISTED_MAX: usize = 1000;
/// A typing notice is repeated while somebody types; without one for this long, they have stopped.
const TYPING_SILENCE: Duration = Duration::from_secs(6);
const TYPISTS_MAX: usize = 50;

#[derive(Debug, Default)]
pub(super) struct People {
    names: BTreeMap<String, Name>,
    /// People whose names still have to be requested.
    unasked: VecDeque<String>,
    statuses: BTreeMap<String, String>,
    /// People who have the room open, as far as the server says.
    here: BTreeSet<String>,
    /// Number of people who have it open.
    count: u64,
    /// Keyed by conversation and person, with the time of expiry.
    typing: BTreeMap<(String, String), Instant>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Name {
    PendingCall,
    Known(Profile),
    /// The name is not available.
    Unknown,
}

impl People {
    /// Registers a person whose name may not be known.
    pub(super) fn met(&mut self, person: &str) {
        if !person.is_empty() && self.names.len() < NAMES_MAX && !self.names.contains_key(person) {
            self.names.insert(person.to_owned(), Name::PendingCall);
            self.unasked.push_back(person.to_owned());
        }
    }

    /// Returns the person whose name is to be requested next.
    pub(super) fn next_unasked(&mut self) -> Option<String> {
        self.unasked.pop_front()
    }

    pub(super) fn named(&mut self, profile: Profile) {
        if self.names.len() < NAMES_MAX || self.names.contains_key(&profile.person) {
            self.names.insert(profile.person.clone(), Name::Known(profile));
        }
    }

    pub(super) fn not_named(&mut self, person: &str) {
        self.names.insert(person.to_owned(), Name::Unknown);
    }

    /// Returns whether the name is unknown but may still be answered.
    pub(super) fn is_awaited(&self, person: &str) -> bool {
        self.names.get(person) == Some(&Name::PendingCall)
    }

    /// Returns a person's name, or the ID while the name is not known.
    pub(super) fn name<'a>(&'a self, person: &'a str) -> &'a str {
        match self.names.get(person) {
            Some(Name::Known(profile)) => &profile.name,
            Some(Name::PendingCall | Name::Unknown) | None => person,
        }
    }

    pub(super) fn is_guest(&self, person: &str) -> bool {
        match self.names.get(person) {
            Some(Name::Known(profile)) => profile.is_guest,
            Some(Name::PendingCall | Name::Unknown) | None => person.starts_with("guest:"),
        }
    }

    /// Returns the people with this ID, or with this name, ignoring case. There may be several.
    pub(super) fn called(&self, name: &str) -> Vec<String> {
        let name = name.strip_prefix('@').unwrap_or(name);
        if self.names.contains_key(name) {
            return vec![name.to_owned()];
        }
        let wanted = name.to_lowercase();
        let known = self.names.values().filter_map(|name| match name {
            Name::Known(profile) => Some(profile),
            Name::PendingCall | Name::Unknown => None,
        });
        known
            .filter(|profile| profile.name.to_lowercase() == wanted)
            .map(|profile| profile.person.clone())
            .collect()
    }

    /// Returns the names that begin with `start`, for completion.
    pub(super) fn beginning(&self, start: &str) -> Vec<String> {
        let start = start.to_lowercase();
        let mut names: Vec<String> = self
            .names
            .keys()
            .map(|person| self.name(person).to_owned())
            .filter(|name| name.to_lowercase().starts_with(&start))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Sets who has the newly opened room open; `None` if there are too many to list.
    pub(super) fn in_room(&mut self, count: u64, people: Option<Vec<(String, String)>>) {
        self.count = count;
        self.here.clear();
        for (person, status) in people.into_iter().flatten().take(LISTED_MAX) {
            self.met(&person);
            self.here.insert(person.clone());
            self.status(person, status);
        }
    }

    /// Sets somebody's status, reported by the room or by a conversation. Returns whether it has changed.
    pub(super) fn changed(&mut self, person: String, status: String, in_room: bool) -> bool {
        self.met(&person);
        let is_here = status != "offline";
        if in_room {
            let was_here = self.here.contains(&person);
            if is_here && !was_here && self.here.len() < LISTED_MAX {
                self.here.insert(person.clone());
                self.count += 1;
            } else if !is_here && was_here {
                self.here.remove(&person);
                self.count = self.count.saturating_sub(1);
            }
        }
        self.status(person, status)
    }

    fn status(&mut self, person: String, status: String) -> bool {
        if self.statuses.len() >= NAMES_MAX && !self.statuses.contains_key(&person) {
            return false;
        }
        self.statuses.insert(person, status.clone()).as_deref() != Some(status.as_str())
    }

    pub(super) fn status_of(&self, person: &str) -> Option<&str> {
        self.statuses.get(person).map(String::as_str)
    }

    /// Returns the people who have the room open, sorted by name, and their number.
    pub(super) fn here(&self) -> (Vec<&str>, u64) {
        let mut people: Vec<&str> = self.here.iter().map(String::as_str).collect();
        people.sort_by_key(|person| (self.name(person).to_lowercase(), *person));
        let count = self.count.max(people.len() as u64);
        (people, count)
    }

    /// Somebody is typing or has stopped. Returns whether that is a change.
    pub(super) fn types(&mut self, conversation: &str, person: &str, on: bool, now: Instant) -> bool {
        if !on {
            return self.stops_typing(conversation, person);
        }
        self.met(person);
        let key = (conversation.to_owned(), person.to_owned());
        if self.typing.len() >= TYPISTS_MAX && !self.typing.contains_key(&key) {
            return false;
        }
        self.typing.insert(key, now + TYPING_SILENCE).is_none()
    }

    /// Somebody has stopped typing. Returns whether they were typing.
    pub(super) fn stops_typing(&mut self, conversation: &str, person: &str) -> bool {
        self.typing.remove(&(conversation.to_owned(), person.to_owned())).is_some()
    }

    /// Removes typing notices that have expired.
    pub(super) fn tick(&mut self, now: Instant) {
        self.typing.retain(|_, until| *until > now);
    }

    pub(super) fn typing_in(&self, conversation: &str) -> Vec<&str> {
        self.typing
            .keys()
            .filter(|(place, _)| place == conversation)
            .map(|(_, person)| self.name(person))
            .collect()
    }

    /// Handles the loss of the connection: presence is unknown, and unanswered requests must be repeated.
    pub(super) fn fall_silent(&mut self) {
        self.statuses.clear();
        self.here.clear();
        self.count = 0;
        self.typing.clear();
        self.unasked = self
            .names
            .iter()
            .filter(|(_, name)| **name == Name::PendingCall)
            .map(|(person, _)| person.clone())
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(person: &str, name: &str) -> Profile {
        Profile { person: person.into(), name: name.into(), is_guest: false }
    }

    #[test]
    fn a_name_is_asked_for_once_until_the_connection_is_lost() {
        let mut people = People::default();
        people.met("bob");
        people.met("bob");
        assert_eq!(people.next_unasked().as_deref(), Some("bob"));
        assert_eq!((people.next_unasked(), people.is_awaited("bob")), (None, true));
        people.fall_silent();
        assert_eq!(people.next_unasked().as_deref(), Some("bob"));
        people.named(profile("bob", "Bob"));
        people.fall_silent();
        assert_eq!((people.next_unasked(), people.name("bob")), (None, "Bob"));
    }

    #[test]
    fn people_are_found_by_id_and_by_name() {
        let mut people = People::default();
        for (person, name) in [("b1", "Bob"), ("b2", "bob"), ("ann", "Ann Lee")] {
            people.named(profile(person, name));
        }
        assert_eq!(people.called("b1"), ["b1"]);
        assert_eq!(people.called("@BOB"), ["b1", "b2"]);
        assert_eq!(people.called("ann lee"), ["ann"]);
        assert_eq!(people.called("cat"), [""; 0]);
        assert_eq!(people.beginning("an"), ["Ann Lee"]);
    }

    #[test]
    fn who_comes_and_goes_is_counted_once() {
        let mut people = People::default();
        people.in_room(1, Some(vec![("ann".into(), "online".into())]));
        assert!(people.changed("bob".into(), "online".into(), true));
        assert!(!people.changed("bob".into(), "online".into(), true));
        assert!(people.changed("bob".into(), "away".into(), true));
        assert_eq!(people.here(), (vec!["ann", "bob"], 2));
        assert!(people.changed("bob".into(), "offline".into(), true));
        assert_eq!(people.here(), (vec!["ann"], 1));
    }

    #[test]
    fn who_is_silent_types_no_more() {
        let (mut people, now) = (People::default(), Instant::now());
        assert!(people.types("c", "bob", true, now));
        assert!(!people.types("c", "bob", true, now + Duration::from_secs(3)));
        people.tick(now + Duration::from_secs(8));
        assert_eq!((people.typing_in("c"), people.typing_in("d")), (vec!["bob"], vec![]));
        people.tick(now + Duration::from_secs(9));
        assert_eq!(people.typing_in("c"), [""; 0]);
    }
}
