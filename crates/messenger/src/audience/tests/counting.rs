//! How many are online: in a conversation, compared with a full count after many moves, and in a community.

use super::super::limits::PRESENCE_EACH_MAX;
use super::super::remote_people::There;
use super::*;
use std::collections::{BTreeMap, BTreeSet};

const ROOMS: u8 = 2;
const NODES: u64 = 3;
/// Enough for a crowd on this node, on other nodes, and on both.
const PEOPLE: u64 = 700;

/// A generator with the same numbers in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// Mostly the first room.
    fn room(&mut self) -> u8 {
        (self.below(8 * u64::from(ROOMS)) as u8).saturating_sub(7 * ROOMS)
    }

    fn rooms(&mut self) -> BTreeSet<u8> {
        let bits = self.below(1 << ROOMS);
        (0..ROOMS).filter(|room| bits & (1 << room) != 0).collect()
    }
}

/// Who is where, recorded in the simplest way, beside the audience that gets the same moves.
struct Counted {
    audience: Audience,
    here: BTreeMap<u64, BTreeSet<u8>>,
    departed: BTreeSet<u64>,
    abroad: BTreeMap<(u64, u64), BTreeSet<u8>>,
    doubted: BTreeSet<(u64, u64)>,
}

fn name(person: u64) -> PersonId {
    somebody(&format!("p{person}"))
}

impl Counted {
    fn arrive(&mut self, person: u64, room: u8) {
        let device = DeviceId(person);
        self.audience.arrive(&id("one"), &name(person), device).expect("there is room");
        self.audience.follow(&id("one"), &name(person), &super::room(room));
        self.here.entry(person).or_default().insert(room);
        self.departed.remove(&person);
    }

    fn unfollow(&mut self, person: u64, room: u8) {
        self.audience.unfollow(&id("one"), &name(person), conversation(room));
        self.here.get_mut(&person).map(|rooms| rooms.remove(&room));
    }

    fn depart(&mut self, person: u64) {
        self.audience.depart(&id("one"), &name(person), DeviceId(person), minute(1));
        self.departed.insert(person);
    }

    fn end_leases(&mut self) {
        self.audience.sweep(Instant::now() + 2 * LEASE, minute(1), true);
        for person in std::mem::take(&mut self.departed) {
            self.here.remove(&person);
        }
    }

    fn hear(&mut self, node: u64, person: u64, rooms: Option<BTreeSet<u8>>) {
        let here = rooms.as_ref().map(|rooms| There {
            activity: Some(Activity::Active),
            devices: 1,
            choice: Choice::Auto,
            chosen: Moment::default(),
            conversations: rooms.iter().copied().map(conversation).collect(),
        });
        let told = PersonReport { person: name(person), here, seen: None };
        self.audience.hear(&id("one"), NodeId(node), told, &|_, _, _| {});
        self.doubted.remove(&(node, person));
        match rooms {
            Some(rooms) => drop(self.abroad.insert((node, person), rooms)),
            None => drop(self.abroad.remove(&(node, person))),
        }
    }

    fn doubt(&mut self, node: u64) {
        self.audience.doubt_abroad(Some(NodeId(node)));
        self.doubted.extend(self.abroad.keys().filter(|(of, _)| *of == node));
    }

    fn lose(&mut self, node: u64, all: bool) {
        self.audience.begin_to_lose(NodeId(node), all);
        while self.audience.lose_some(&|_, _, _| {}).is_some() {}
        let doubted = std::mem::take(&mut self.doubted);
        self.abroad.retain(|stay, _| stay.0 != node || (!all && !doubted.contains(stay)));
        self.doubted = doubted.into_iter().filter(|(of, _)| *of != node).collect();
    }

    /// One move, chosen from those that bring people or those that take them away.
    fn step(&mut self, dice: &mut Dice, comes: bool) {
        let (person, node, room) = (dice.below(PEOPLE), dice.below(NODES), dice.room());
        match (dice.below(40), comes) {
            (0, _) => self.end_leases(),
            (1, _) => self.doubt(node),
            (2, false) if dice.below(4) == 0 => self.lose(node, false),
            (3, false) if dice.below(8) == 0 => self.lose(node, true),
            (4..20, true) => self.arrive(person, room),
            (_, true) => {
                let rooms = dice.rooms();
                self.hear(node, person, Some(rooms));
            }
            (4..16, false) => self.unfollow(person, room),
            (16..24, false) => self.depart(person),
            (_, false) => self.hear(node, person, None),
        }
    }

    /// Counts who is online in a room: a person here and elsewhere counts once, but twice in a crowd.
    fn recount(&self, room: u8) -> usize {
        let here = self.here.iter().filter(|(_, rooms)| rooms.contains(&room)).map(|(person, _)| *person);
        let abroad = self.abroad.iter().filter(|(_, rooms)| rooms.contains(&room));
        let (here, abroad): (BTreeSet<u64>, BTreeSet<u64>) =
            (here.collect(), abroad.map(|(stay, _)| stay.1).collect());
        match here.len().max(abroad.len()) > PRESENCE_EACH_MAX {
            true => here.len() + abroad.len(),
            false => here.union(&abroad).count(),
        }
    }
}

#[test]
fn how_many_are_online_is_what_a_count_of_everybody_says() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut counted = Counted {
        audience: Audience::new(),
        here: BTreeMap::new(),
        departed: BTreeSet::new(),
        abroad: BTreeMap::new(),
        doubted: BTreeSet::new(),
    };
    let (mut crowds, mut few) = (0, 0);
    for step in 0..8_000 {
        // First people mostly come, then they mostly go.
        let comes = dice.below(20) < if step < 4_000 { 19 } else { 4 };
        counted.step(&mut dice, comes);
        if step % 20 > 0 {
            continue;
        }
        for room in 0..ROOMS {
            let (count, people) = counted.audience.present_in(&id("one"), conversation(room));
            assert_eq!(count, counted.recount(room), "room {room} after {step} steps");
            *if people.is_none() { &mut crowds } else { &mut few } += 1;
        }
    }
    assert!(crowds > 50 && few > 50, "{crowds} and {few}");
}

#[test]
fn devices_and_open_rooms_are_counted_while_they_come_and_go() {
    let audience = Audience::new();
    let (one, ann) = (id("one"), somebody("ann"));
    let counts = || audience.counts_in(&one);
    let open = |number, device| {
        let name = RoomName::parse("lobby").expect("a name");
        audience.open_room(&one, conversation(number), &name, &ann, DeviceId(device));
    };
    let close = |number, device| audience.close_room(&one, conversation(number), DeviceId(device));
    for device in [1, 1, 2] {
        audience.arrive(&one, &ann, DeviceId(device)).expect("there is room");
    }
    assert_eq!(counts(), [1, 2, 0], "a device that joins again is one");
    for (number, device) in [(1, 1), (1, 1), (1, 2), (2, 2)] {
        open(number, device);
    }
    assert_eq!(counts(), [1, 2, 2]);
    for (number, device, rooms_open) in [(1, 1, 2), (1, 2, 2), (1, 1, 1), (1, 1, 1), (2, 2, 0)] {
        close(number, device);
        assert_eq!(counts()[2], rooms_open, "device {device} left {number}");
    }
    for (device, devices) in [(1, 1), (1, 1), (3, 1), (2, 0)] {
        audience.depart(&one, &ann, DeviceId(device), minute(1));
        assert_eq!(counts()[1], devices, "device {device} left");
    }
    audience.sweep(Instant::now() + 2 * LEASE, minute(2), false);
    assert_eq!(counts(), [0; 3]);
}
