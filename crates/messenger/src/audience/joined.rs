//! Who has a room open, by connection.

use super::present::DeviceId;
use chat::PersonId;
use std::collections::{HashMap, HashSet};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// The person of each connection.
    devices: HashMap<DeviceId, PersonId>,
    /// What is not the default; nearly all connections have no entry here.
    odd: HashMap<DeviceId, Odd>,
}

#[derive(PartialEq, Debug, Default)]
struct Odd {
    /// Further joins of this connection: while it joins again, it has two for a moment.
    more: u32,
    /// Whether it has to leave.
    evicted: bool,
    /// Whether it is a visitor.
    visits: bool,
}

impl Joined {
    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Adds a join of a connection. A new join is checked again.
    pub(super) fn come(&mut self, device: DeviceId, person: &PersonId) {
        let is_there = self.devices.insert(device, person.clone()).is_some();
        if is_there {
            self.change(device, |odd| *odd = Odd { more: odd.more + 1, ..Odd::default() });
        }
    }

    /// Removes one join of a connection.
    pub(super) fn go(&mut self, device: DeviceId) {
        match self.odd.get(&device) {
            Some(Odd { more: 1.., .. }) => self.change(device, |odd| odd.more -= 1),
            Some(_) | None => {
                self.devices.remove(&device);
                self.odd.remove(&device);
            }
        }
    }

    /// Marks a connection as a visitor.
    pub(super) fn visit(&mut self, device: DeviceId) {
        if self.devices.contains_key(&device) {
            self.change(device, |odd| odd.visits = true);
        }
    }

    /// Returns whether there are visitors.
    pub(super) fn has_visitors(&self) -> bool {
        self.odd.values().any(|odd| odd.visits)
    }

    /// Marks a person's connections as evicted, and returns them.
    pub(super) fn evict(&mut self, person: &PersonId) -> Vec<DeviceId> {
        let theirs = self.devices.iter().filter(|(_, whose)| *whose == person);
        let theirs = theirs.map(|(device, _)| *device).collect();
        self.evict_devices(theirs)
    }

    /// Marks all connections as evicted, and returns them.
    pub(super) fn evict_all(&mut self) -> Vec<DeviceId> {
        let all = self.devices.keys().copied().collect();
        self.evict_devices(all)
    }

    fn evict_devices(&mut self, devices: Vec<DeviceId>) -> Vec<DeviceId> {
        for device in &devices {
            self.change(*device, |odd| odd.evicted = true);
        }
        devices
    }

    pub(super) fn is_evicted(&self, device: DeviceId) -> bool {
        self.odd.get(&device).is_some_and(|odd| odd.evicted)
    }

    /// Returns the evicted connections.
    pub(super) fn evicted(&self) -> impl Iterator<Item = DeviceId> {
        self.odd.iter().filter(|(_, odd)| odd.evicted).map(|(device, _)| *device)
    }

    /// Returns who has it open, each person once.
    pub(super) fn people(&self) -> Vec<PersonId> {
        let people: HashSet<&PersonId> = self.devices.values().collect();
        people.into_iter().cloned().collect()
    }

    fn change(&mut self, device: DeviceId, change: impl FnOnce(&mut Odd)) {
        let odd = self.odd.entry(device).or_default();
        change(odd);
        if *odd == Odd::default() {
            self.odd.remove(&device);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::somebody;

    const FIRST: DeviceId = DeviceId(1);
    const SECOND: DeviceId = DeviceId(2);

    #[test]
    fn a_connection_is_there_until_the_last_of_its_joins_is_gone_and_each_of_them_is_judged_anew() {
        let ann = somebody("ann");
        let mut joined = Joined::default();
        joined.come(FIRST, &ann);
        joined.come(SECOND, &ann);
        assert_eq!((joined.people(), joined.has_visitors()), (vec![ann.clone()], false));
        joined.visit(FIRST);
        let mut evicted = joined.evict(&ann);
        evicted.sort_unstable();
        assert_eq!((evicted, joined.has_visitors()), (vec![FIRST, SECOND], true));
        joined.come(FIRST, &ann);
        assert_eq!(joined.evicted().collect::<Vec<_>>(), [SECOND]);
        assert!(joined.is_evicted(SECOND) && !joined.is_evicted(FIRST) && !joined.has_visitors());
        joined.go(FIRST);
        assert!(joined.devices.contains_key(&FIRST));
        joined.go(FIRST);
        joined.go(SECOND);
        assert!(joined.is_empty() && joined.odd.is_empty());
        joined.visit(FIRST);
        joined.go(FIRST);
        assert!(joined.is_empty() && joined.odd.is_empty(), "who is not there only looks at nothing");
    }
}
