//! The sessions of each person.

use std::collections::HashMap;

use super::SessionId;
use crate::authority::Community;

#[derive(Debug, Default)]
pub(super) struct ByPerson {
    communities: HashMap<Community, HashMap<Box<str>, Devices>>,
}

/// Most people have one connection, which then costs no allocation of its own.
#[derive(Debug)]
enum Devices {
    One([SessionId; 1]),
    Several(Vec<SessionId>),
}

impl Devices {
    fn as_slice(&self) -> &[SessionId] {
        match self {
            Devices::One(one) => one,
            Devices::Several(several) => several,
        }
    }

    fn add(&mut self, id: SessionId) {
        match self {
            Devices::One([one]) => *self = Devices::Several(vec![*one, id]),
            Devices::Several(several) => several.push(id),
        }
    }

    /// Returns whether none is left.
    fn remove(&mut self, id: SessionId) -> bool {
        match self {
            Devices::One([one]) => *one == id,
            Devices::Several(several) => {
                several.retain(|other| *other != id);
                several.is_empty()
            }
        }
    }
}

impl ByPerson {
    pub(super) fn of(&self, community: &Community, subject: &str) -> &[SessionId] {
        let people = self.communities.get(community);
        people.and_then(|people| people.get(subject)).map_or(&[], Devices::as_slice)
    }

    pub(super) fn add(&mut self, community: &Community, subject: &str, id: SessionId) {
        let people = self.communities.entry(community.clone()).or_default();
        match people.get_mut(subject) {
            Some(devices) => devices.add(id),
            None => {
                people.insert(subject.into(), Devices::One([id]));
            }
        }
    }

    pub(super) fn remove(&mut self, community: &Community, subject: &str, id: SessionId) {
        let Some(people) = self.communities.get_mut(community) else { return };
        if people.get_mut(subject).is_some_and(|devices| devices.remove(id)) {
            people.remove(subject);
        }
        if people.is_empty() {
            self.communities.remove(community);
        }
    }
}
