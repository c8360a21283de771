//! Tests the ledger against a simulated network that drops, repeats and reorders messages and keeps its own counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::draw::Rng;
use crate::ledger::{Account, Receipt, Rooms, Stamp, Tracker, Unjudged};
use crate::observe::{Nanos, UserId};

const MS: Nanos = 1_000_000;
const SETTLE_AFTER: Nanos = 400 * MS;
const USERS: u32 = 14;
const ROOMS: u64 = 3;

/// Probability of each fault per delivery, in thousandths.
struct Faults {
    drops: u64,
    repeats: u64,
    /// Maximum delivery delay.
    delay_ms: u64,
}

enum Event {
    Join(UserId),
    Leave(usize),
    /// The leave has been answered.
    Close(usize),
    Publish(UserId),
    Deliver(usize, String),
}

/// One user's stay in one room, as the network knows it.
struct Stay {
    user: UserId,
    room: u32,
    echo: bool,
    tracker: Option<Tracker>,
    departed: bool,
    /// Sender and time of each publication that it should receive, by index.
    expected: BTreeMap<u32, (UserId, Nanos)>,
    came: BTreeSet<u32>,
}

struct Network {
    rng: Rng,
    faults: Faults,
    now: Nanos,
    /// Ordered by time; ties are broken by order of creation.
    agenda: BinaryHeap<Reverse<(Nanos, usize)>>,
    events: Vec<Option<Event>>,
    rooms: Rooms,
    stays: Vec<Stay>,
    sequences: BTreeMap<UserId, u32>,
    withdrawn: BTreeSet<(u32, u32)>,
    /// Receivers of all publications, as the ledger counted them when they were sent.
    receivers: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl Network {
    fn new(seed: u64, faults: Faults) -> Self {
        let rooms = Rooms::new(SETTLE_AFTER);
        for room in 0..ROOMS {
            rooms.intern(&format!("room {room}")).expect("there is room");
        }
        Self {
            rng: Rng::for_user(seed, 0),
            faults,
            now: 0,
            agenda: BinaryHeap::new(),
            events: Vec::new(),
            rooms,
            stays: Vec::new(),
            sequences: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
            receivers: 0,
            counts: BTreeMap::new(),
        }
    }

    fn at(&mut self, at: Nanos, event: Event) {
        self.agenda.push(Reverse((at, self.events.len())));
        self.events.push(Some(event));
    }

    fn chance(&mut self, in_1000: u64) -> bool {
        self.rng.below(1_000) < in_1000
    }

    fn count(&mut self, what: &'static str, by: u64) {
        *self.counts.entry(what).or_default() += by;
    }

    /// Simulates ten seconds of users that join, publish and leave.
    fn run(mut self) -> BTreeMap<&'static str, u64> {
        for user in 0..USERS {
            for _ in 0..3 {
                let at = self.rng.below(3_000) * MS;
                self.at(at, Event::Join(user));
            }
            for _ in 0..500 {
                let at = self.rng.below(10_000_000) * MS / 1_000;
                self.at(at, Event::Publish(user));
            }
        }
        while let Some(Reverse((at, number))) = self.agenda.pop() {
            self.now = at;
            match self.events[number].take().expect("each happens once") {
                Event::Join(user) => self.join(user),
                Event::Leave(stay) => self.leave(stay),
                Event::Close(stay) => self.close(stay, false),
                Event::Publish(user) => self.publish(user),
                Event::Deliver(stay, text) => self.deliver(stay, &text),
            }
        }
        self.end();
        self.counts
    }

    fn join(&mut self, user: UserId) {
        let room = self.rng.below(ROOMS) as u32;
        if self.stays.iter().any(|stay| stay.user == user && stay.room == room && stay.tracker.is_some()) {
            return;
        }
        let echo = self.chance(500);
        let tracker = Some(self.rooms.join(room));
        let (expected, came) = (BTreeMap::new(), BTreeSet::new());
        self.stays.push(Stay { user, room, echo, tracker, departed: false, expected, came });
        if self.chance(500) {
            let at = self.now + self.rng.below(4_000) * MS;
            self.at(at, Event::Leave(self.stays.len() - 1));
        }
    }

    fn leave(&mut self, stay: usize) {
        let Stay { room, tracker, departed, .. } = &mut self.stays[stay];
        self.rooms.depart(*room, tracker.as_mut().expect("who leaves was there"));
        *departed = true;
        let at = self.now + self.rng.below(300) * MS;
        self.at(at, Event::Close(stay));
    }

    fn publish(&mut self, sender: UserId) {
        let room = self.rng.below(ROOMS) as u32;
        let publication = self.rooms.publish(room, sender, self.now).expect("there is such a room");
        let sequence = self.sequences.entry(sender).or_default();
        *sequence += 1;
        let stamp = Stamp {
            run_tag: 77,
            origin: 0,
            room,
            index: publication.index,
            sender,
            sequence: *sequence,
            intended: self.now,
            delay_ns: 0,
        };
        let never_went = self.chance(20);
        if never_went {
            self.rooms.withdraw(room, publication.index);
            self.withdrawn.insert((room, publication.index));
        }
        let mut own = 0;
        let mut receivers = 0;
        for stay in 0..self.stays.len() {
            let now = self.now;
            let Stay { user, room: joined, echo, tracker, departed, expected, .. } = &mut self.stays[stay];
            let Some(tracker) = tracker.as_mut().filter(|_| *joined == room) else { continue };
            if *departed {
                // The server may not have seen the leave yet.
                if !never_went && self.chance(500) {
                    self.send(stay, &stamp);
                }
                continue;
            }
            if *user == sender && !*echo {
                tracker.exclude(publication.index);
                own += 1;
                continue;
            }
            expected.insert(publication.index, (sender, now));
            receivers += 1;
            if !never_went && !self.chance(self.faults.drops) {
                self.send(stay, &stamp);
                if self.chance(self.faults.repeats) {
                    self.send(stay, &stamp);
                }
            }
        }
        assert_eq!(publication.members, receivers + own);
        self.receivers += u64::from(receivers);
        self.replay_to_newcomer(&stamp, never_went);
    }

    /// A user that joins right after a publication may still receive it.
    fn replay_to_newcomer(&mut self, stamp: &Stamp, never_went: bool) {
        let user = 1_000 + self.stays.len() as u32;
        if never_went || !self.chance(20) {
            return;
        }
        let tracker = Some(self.rooms.join(stamp.room));
        let (expected, came) = (BTreeMap::new(), BTreeSet::new());
        self.stays.push(Stay {
            user,
            room: stamp.room,
            echo: true,
            tracker,
            departed: false,
            expected,
            came,
        });
        self.send(self.stays.len() - 1, stamp);
        self.at(self.now + 1_000 * MS, Event::Leave(self.stays.len() - 1));
    }

    fn send(&mut self, stay: usize, stamp: &Stamp) {
        let stamp = std::str::from_utf8(&stamp.to_text()).expect("it is ASCII").to_owned();
        let text = format!(r#"[null,null,"room","msg",{{"stamp":"{stamp}","text":"~St~ is a magic word"}}]"#);
        let at = self.now + self.rng.below(self.faults.delay_ms * 1_000) * MS / 1_000;
        self.at(at, Event::Deliver(stay, text));
    }

    /// Compares the ledger's verdict on a delivery with what the network knows.
    fn deliver(&mut self, stay: usize, text: &str) {
        let stamp = Stamp::find(text.as_bytes()).expect("every message has one");
        assert_eq!((stamp.run_tag, stamp.origin), (77, 0));
        let Stay { tracker, expected, came, .. } = &mut self.stays[stay];
        let Some(tracker) = tracker else { return };
        let overtaken = came
            .range(stamp.index + 1..)
            .any(|later| expected.get(later).is_some_and(|&(by, _)| by == stamp.sender));
        let known = match (expected.contains_key(&stamp.index), came.insert(stamp.index)) {
            (false, _) => Receipt::Unexpected,
            (true, false) => Receipt::Duplicate,
            (true, true) if overtaken => Receipt::Reordered,
            (true, true) => Receipt::Ok,
        };
        assert_eq!(self.rooms.receive(tracker, &stamp), known, "{stamp:?}");
        match known {
            Receipt::Ok => self.count("in order", 1),
            Receipt::Reordered => self.count("reordered", 1),
            Receipt::Duplicate => self.count("duplicates", 1),
            Receipt::Unexpected => self.count("unexpected", 1),
            Receipt::Stale => unreachable!("the network knows everything"),
        }
    }

    fn close(&mut self, stay: usize, stayed: bool) {
        let Stay { room, tracker, expected, came, .. } = &mut self.stays[stay];
        let room = *room;
        let account = self.rooms.account(room, tracker.take().expect("it is closed once"), self.now);
        let delivered = expected.keys().filter(|index| came.contains(index)).count() as u64;
        let missing: Vec<Nanos> = expected
            .iter()
            .filter(|(index, _)| !came.contains(index) && !self.withdrawn.contains(&(room, **index)))
            .map(|(_, &(_, sent))| sent)
            .collect();
        let all = missing.len() as u64;
        let old = missing.iter().filter(|&&sent| sent + SETTLE_AFTER <= self.now).count() as u64;
        assert_eq!((account.expected, account.delivered), (delivered + all, delivered));
        assert_eq!(account.lost + account.in_flight, all);
        assert!(account.lost <= old, "what may be on its way is not lost");
        if stayed {
            assert_eq!(account, Account { expected: delivered + all, delivered, lost: all, in_flight: 0 });
        }
        self.count("expected", account.expected);
        self.count("lost", account.lost);
        self.count("in flight", account.in_flight);
    }

    fn end(&mut self) {
        self.now += SETTLE_AFTER;
        for stay in 0..self.stays.len() {
            if self.stays[stay].tracker.is_some() {
                self.close(stay, true);
            }
        }
        let expected: u64 = self.stays.iter().map(|stay| stay.expected.len() as u64).sum();
        assert_eq!(self.receivers, expected, "who should get it was known when it was sent");
        assert_eq!(self.rooms.unjudged(), Unjudged::default());
        let sum = |names: [&str; 4]| {
            names.map(|name| self.counts.get(name).copied().unwrap_or(0)).iter().sum::<u64>()
        };
        assert_eq!(
            sum(["expected", "", "", ""]),
            sum(["in order", "reordered", "lost", "in flight"]),
            "it adds up"
        );
        assert!((0..ROOMS as u32).all(|room| self.rooms.members(room) == 0));
    }
}

#[test]
fn the_ledgers_counts_are_the_networks_own() {
    for seed in (0..30).step_by(8) {
        eprintln!("seed {seed}");
        let faults = Faults { drops: 10 + seed, repeats: 10 + 3 * seed, delay_ms: 1 + 12 * seed };
        let counts = Network::new(seed, faults).run();
        eprintln!("{counts:?}");
        for what in ["in order", "duplicates", "unexpected", "lost"] {
            assert!(counts.get(what).is_some_and(|&count| count > 0), "{what} happened");
        }
        assert!(seed == 0 || counts.contains_key("reordered"));
    }
}

#[test]
fn a_perfect_network_has_no_faults() {
    for seed in 0..3 {
        let counts = Network::new(seed, Faults { drops: 0, repeats: 0, delay_ms: 0 }).run();
        let fault = |what: &str| counts.get(what).copied().unwrap_or(0);
        assert_eq!(
            (fault("lost"), fault("duplicates"), fault("reordered")),
            (0, 0, 0),
            "seed {seed}: {counts:?}"
        );
    }
}
