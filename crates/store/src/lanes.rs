//! Queued requests by community, and the order in which communities are served.
//!
//! Deficit round robin (Shreedhar and Varghese, 1996): communities with queued requests form a ring; each turn adds
//! [`QUANTUM`] to a community's credit, and served requests are subtracted by weight. So a community with few requests
//! is served within one round, however many others have queued, and one that is alone gets all the capacity.

use chat::{CommunityId, Request};
use std::collections::{HashMap, VecDeque};

/// Credit added to a community per turn, in [weights](chat::Verb::weight).
pub(crate) const QUANTUM: u32 = 8;

/// An item that is charged to a community's share.
pub(crate) trait Shared {
    /// The community; `None`: the operator.
    fn community(&self) -> Option<&CommunityId>;

    /// The weight; at least 1.
    fn weight(&self) -> u32;
}

impl Shared for Request {
    fn community(&self) -> Option<&CommunityId> {
        Request::community(self)
    }

    fn weight(&self) -> u32 {
        Request::weight(self)
    }
}

/// Non-empty lanes, in turn. Empty ones take no memory.
pub(crate) struct Lanes<T> {
    lanes: HashMap<Option<CommunityId>, Lane<T>>,
    ring: VecDeque<Option<CommunityId>>,
    waiting: usize,
}

struct Lane<T> {
    items: VecDeque<T>,
    credit: u32,
    /// Whether its turn was interrupted: then it continues without new credit.
    is_served: bool,
}

/// How a lane's turn ended.
enum Turn {
    Empty,
    OutOfCredit,
    Cut,
}

impl<T: Shared> Lanes<T> {
    pub(crate) fn new() -> Self {
        Self { lanes: HashMap::new(), ring: VecDeque::new(), waiting: 0 }
    }

    /// The number of queued items.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The number of queued items of a community.
    pub(crate) fn waiting_of(&self, community: Option<&CommunityId>) -> usize {
        self.lanes.get(&community.cloned()).map_or(0, |lane| lane.items.len())
    }

    /// Appends an item to its community's lane.
    pub(crate) fn push(&mut self, item: T) {
        let community = item.community().cloned();
        let lane = self.lanes.entry(community).or_insert_with_key(|community| {
            self.ring.push_back(community.clone());
            Lane { items: VecDeque::new(), credit: 0, is_served: false }
        });
        lane.items.push_back(item);
        self.waiting += 1;
    }

    /// Takes items with a total weight of up to `weight_max`, and at least one if any are queued.
    pub(crate) fn take(&mut self, weight_max: u32) -> Vec<T> {
        let (mut taken, mut left) = (Vec::new(), weight_max);
        while left > 0
            && let Some(community) = self.ring.pop_front()
        {
            let Some(lane) = self.lanes.get_mut(&community) else { continue };
            let before = taken.len();
            let turn = lane.serve(&mut left, &mut taken);
            self.waiting -= taken.len() - before;
            match turn {
                Turn::Empty => drop(self.lanes.remove(&community)),
                Turn::OutOfCredit => self.ring.push_back(community),
                Turn::Cut => {
                    self.ring.push_front(community);
                    break;
                }
            }
        }
        taken
    }

    /// Takes everything, in no particular order between communities.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.ring.clear();
        self.waiting = 0;
        self.lanes.drain().flat_map(|(_, lane)| lane.items).collect()
    }
}

impl<T: Shared> Lane<T> {
    fn serve(&mut self, left: &mut u32, taken: &mut Vec<T>) -> Turn {
        if !std::mem::replace(&mut self.is_served, false) {
            self.credit = self.credit.saturating_add(QUANTUM);
        }
        while let Some(item) = self.items.front() {
            let weight = item.weight();
            if weight > self.credit {
                return Turn::OutOfCredit;
            }
            // The first item is taken, however heavy it is.
            if weight > *left && !taken.is_empty() {
                self.is_served = true;
                return Turn::Cut;
            }
            self.credit -= weight;
            *left = left.saturating_sub(weight);
            taken.extend(self.items.pop_front());
        }
        Turn::Empty
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An item of a community, numbered by its position there.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub(crate) struct Item {
        community: Option<CommunityId>,
        pub(crate) nth: u32,
        weight: u32,
    }

    impl Shared for Item {
        fn community(&self) -> Option<&CommunityId> {
            self.community.as_ref()
        }

        fn weight(&self) -> u32 {
            self.weight
        }
    }

    pub(crate) fn item(community: &str, nth: u32) -> Item {
        weighing(community, nth, 1)
    }

    fn weighing(community: &str, nth: u32, weight: u32) -> Item {
        Item { community: Some(CommunityId::parse(community).expect("an id")), nth, weight }
    }

    fn flooded(nth_max: u32) -> Lanes<Item> {
        let mut lanes = Lanes::new();
        (0..nth_max).for_each(|nth| lanes.push(item("flood", nth)));
        lanes
    }

    /// How many items of the flood are taken before `wanted`, when up to `weight_max` is taken at a time.
    fn ahead_of(wanted: &Item, lanes: &mut Lanes<Item>, weight_max: u32) -> u32 {
        let mut ahead = 0;
        loop {
            let taken = lanes.take(weight_max);
            assert!(!taken.is_empty(), "it was never taken");
            for item in taken {
                if item == *wanted {
                    return ahead;
                }
                ahead += 1;
            }
        }
    }

    #[test]
    fn who_wants_little_waits_behind_one_turn_of_a_flood_however_long_it_is() {
        for flood in [100, 10_000] {
            for weight_max in [1, 1_000] {
                let mut lanes = flooded(flood);
                // The flood is being served.
                assert_eq!(lanes.take(1).len(), 1);
                let quiet = item("quiet", 0);
                lanes.push(quiet.clone());
                assert_eq!(ahead_of(&quiet, &mut lanes, weight_max), QUANTUM - 1);
            }
        }
    }

    #[test]
    fn several_floods_take_one_turn_each() {
        let mut lanes = flooded(1_000);
        for community in ["second", "third"] {
            (0..1_000).for_each(|nth| lanes.push(item(community, nth)));
        }
        let quiet = item("quiet", 0);
        lanes.push(quiet.clone());
        assert_eq!(ahead_of(&quiet, &mut lanes, 1), 3 * QUANTUM);
    }

    #[test]
    fn heavy_work_counts_by_its_weight() {
        let mut lanes = Lanes::new();
        (0..100).for_each(|nth| lanes.push(weighing("heavy", nth, 100)));
        (0..1_000).for_each(|nth| lanes.push(item("light", nth)));
        let taken = lanes.take(400);
        let heavy = taken.iter().filter(|item| item.weight == 100).count();
        assert!((1..=2).contains(&heavy), "half of it: {heavy}");
        assert!((200..=300).contains(&(taken.len() - heavy)), "the other half: {}", taken.len());
    }

    #[test]
    fn what_is_heavier_than_may_be_taken_at_once_is_taken_alone() {
        let mut lanes = Lanes::new();
        (0..3).for_each(|nth| lanes.push(weighing("heavy", nth, 100)));
        for nth in 0..3 {
            assert_eq!(lanes.take(1), [weighing("heavy", nth, 100)]);
        }
        assert!(lanes.take(1).is_empty());
    }

    #[test]
    fn each_community_keeps_its_order_and_nothing_is_lost() {
        let mut lanes = Lanes::new();
        for nth in 0..300 {
            for (community, every) in [("a", 1), ("b", 2), ("c", 7)] {
                if nth % every == 0 {
                    lanes.push(weighing(community, nth, 1 + nth % 13));
                }
            }
        }
        let waiting = lanes.waiting();
        let mut taken = Vec::new();
        while lanes.waiting() > 0 {
            taken.extend(lanes.take(50));
        }
        assert_eq!(taken.len(), waiting);
        for community in ["a", "b", "c"] {
            let own = item(community, 0).community;
            let places: Vec<_> =
                taken.iter().filter(|item| item.community == own).map(|item| item.nth).collect();
            assert!(places.is_sorted() && !places.is_empty(), "{community}: {places:?}");
        }
        assert!(lanes.lanes.is_empty() && lanes.ring.is_empty(), "an empty lane takes no memory");
    }
}
