//! Checks cursors and unread counts against a model, over random histories and devices.

use chat::verbs::*;
use chat::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PEOPLE: [&str; 3] = ["ann", "bob", "cid"];

/// One step on one of a person's devices. A device knows what it was last sent, which may be outdated.
#[derive(Clone, Debug)]
enum Step {
    Send { who: usize },
    Read { who: usize, device: usize, seq: u64 },
    Deliver { who: usize, device: usize, seq: u64 },
    Delete { seq: u64 },
    Look { who: usize, device: usize },
    Drop { through: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..PEOPLE.len();
    prop_oneof![
        4 => who.clone().prop_map(|who| Step::Send { who }),
        4 => (who.clone(), 0..3_usize, 0..30_u64).prop_map(|(who, device, seq)| Step::Read { who, device, seq }),
        2 => (who.clone(), 0..3_usize, 0..30_u64).prop_map(|(who, device, seq)| Step::Deliver { who, device, seq }),
        1 => (1..20_u64).prop_map(|seq| Step::Delete { seq }),
        3 => (who, 0..3_usize).prop_map(|(who, device)| Step::Look { who, device }),
        1 => (0..20_u64).prop_map(|through| Step::Drop { through }),
    ]
}

/// A model that keeps every message and who has read it.
#[derive(Default)]
struct Model {
    /// Sequence numbers that are kept.
    kept: Vec<u64>,
    last: u64,
    read: BTreeMap<usize, u64>,
    delivered: BTreeMap<usize, u64>,
}

impl Model {
    fn unread(&self, who: usize) -> u64 {
        let read = self.read.get(&who).copied().unwrap_or(0);
        self.kept.iter().filter(|&&seq| seq > read).count() as u64
    }

    fn advance(&mut self, who: usize, delivered: u64, read: u64) {
        let own = self.read.entry(who).or_default();
        *own = (*own).max(read.min(self.last));
        let floor = *own;
        let own = self.delivered.entry(who).or_default();
        *own = (*own).max(delivered.min(self.last)).max(floor);
    }
}

struct World {
    store: MemoryStore,
    room: ConversationId,
    drawn: u64,
    now: Moment,
    model: Model,
    /// The newest message that each device knows.
    devices: BTreeMap<(usize, usize), u64>,
}

impl World {
    fn new() -> Self {
        let room = ConversationId(Ulid::from_bytes([0; 16]));
        let now = Moment::from_millis(1_700_000_000_000);
        let mut world = Self {
            store: MemoryStore::default(),
            room,
            drawn: 0,
            now,
            model: Model::default(),
            devices: BTreeMap::new(),
        };
        let limits = CommunityLimits { history_days: Some(1), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("Everybody") };
        world.ask(By::Service, CreateCommunity { settings });
        let name = RoomName::parse("room").expect("it is a name");
        world.room = world.ask(By::Service, CreateRoom::public(name, "Room")).id;
        for name in PEOPLE {
            let profile = Profile { name: name.into(), avatar: None, guest: false, role: None };
            world.ask(by(name), Meet { profile });
            world.ask(by(name), Join { conversation: world.room, invitation: None });
        }
        world
    }

    fn ask<C>(&mut self, by: By, command: C) -> <Asked<C> as Verb>::Answer
    where
        Asked<C>: Verb,
    {
        self.drawn += 1;
        let entropy = Entropy((u128::from(self.drawn) << 8).to_be_bytes());
        let community = CommunityId::parse("c").expect("it is a name");
        let call = Call { community, by, now: self.now, entropy };
        self.store.ask(call.ask(command)).expect("everybody here may")
    }

    fn take(&mut self, step: &Step) {
        let conversation = self.room;
        match *step {
            Step::Send { who } => {
                let draft = Draft::text(None, "x");
                let said = self.ask(by(PEOPLE[who]), Append { conversation, draft }).message;
                self.model.last += 1;
                self.model.kept.push(self.model.last);
                self.model.advance(who, self.model.last, self.model.last);
                assert_eq!(said.seq.0, self.model.last);
            }
            // A device reads what it knows; another one may be further.
            Step::Read { who, device, seq } => self.advance(who, 0, seq.min(self.known(who, device))),
            // The server must not trust what a device claims.
            Step::Deliver { who, device, seq } => self.advance(who, seq + self.known(who, device), 0),
            Step::Delete { seq } if self.model.kept.contains(&seq) => {
                // A tombstone keeps its sequence number, and stays unread if it was.
                self.ask(By::Service, Delete { conversation, seq: Seq(seq) });
            }
            Step::Delete { .. } => {}
            Step::Look { who, device } => {
                self.look(who);
                self.devices.insert((who, device), self.model.last);
            }
            Step::Drop { through } => self.drop_old(through),
        }
    }

    fn known(&self, who: usize, device: usize) -> u64 {
        self.devices.get(&(who, device)).copied().unwrap_or(0)
    }

    fn advance(&mut self, who: usize, delivered: u64, read: u64) {
        let conversation = self.room;
        let before = (self.model.read.get(&who).copied(), self.model.delivered.get(&who).copied());
        self.model.advance(who, delivered, read);
        let after = (self.model.read.get(&who).copied(), self.model.delivered.get(&who).copied());
        let advance = Advance { conversation, delivered: Seq(delivered), read: Seq(read) };
        let advanced = self.ask(by(PEOPLE[who]), advance);
        assert_eq!(advanced.unread, self.model.unread(who));
        let moved =
            before.0.unwrap_or(0) != after.0.unwrap_or(0) || before.1.unwrap_or(0) != after.1.unwrap_or(0);
        assert_eq!(advanced.moved, moved);
    }

    /// What any of their devices shows in the list of conversations.
    fn look(&mut self, who: usize) {
        let tabs = self.ask(by(PEOPLE[who]), Conversations { before: None, limit: 10 });
        let tab = &tabs.rows[0];
        assert_eq!(tab.unread, self.model.unread(who));
        assert_eq!(tab.member.read.0, self.model.read.get(&who).copied().unwrap_or(0));
        assert_eq!(tab.member.delivered.0, self.model.delivered.get(&who).copied().unwrap_or(0));
        assert!(tab.member.read <= tab.member.delivered && tab.member.delivered <= tab.conversation.last);
    }

    /// Advances time until everything is old; with an even `through`, it is dropped then.
    fn drop_old(&mut self, through: u64) {
        self.now = self.now.after_ms(3 * 24 * 60 * 60 * 1_000);
        if through.is_multiple_of(2) {
            while self.ask(By::Service, Expire).more {}
            self.model.kept.clear();
        }
    }
}

fn by(name: &str) -> By {
    By::Person(PersonId::parse(name).expect("it is a name"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unread_is_what_a_model_counts(steps in proptest::collection::vec(step(), 1..80)) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
        }
        for who in 0..PEOPLE.len() {
            world.look(who);
        }
    }
}
