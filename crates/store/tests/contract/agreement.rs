//! A store answers like the in-memory one, whatever commands run in whatever order.

use crate::Case;
use crate::scene::{Scene, client_id, person};
use chat::verbs::*;
use chat::*;
use std::fmt::Debug;
use std::sync::Arc;

pub(crate) const CASES: &[Case] = &[("random histories have the answers that the memory has", |scene| {
    for seed in 1..=6 {
        Pair::new(scene, seed).run(150);
    }
})];

const PEOPLE: [&str; 4] = ["ann", "bob", "cid", "gus"];
const WORDS: [&str; 5] = ["alpha", "beta", "gamma", "Älpha", "beta gamma"];

/// Two stores with the same history.
struct Pair {
    one: Scene,
    other: Scene,
    random: u64,
    rooms: Vec<ConversationId>,
    asked: u64,
}

impl Pair {
    fn new(scene: &Scene, seed: u64) -> Self {
        let one = scene.beside();
        let other = one.on(Arc::new(MemoryStore::default()));
        let mut pair = Self {
            one,
            other,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            rooms: Vec::new(),
            asked: 0,
        };
        pair.other.service(CreateCommunity { settings: Settings::named("A community") }).expect("it is new");
        let settings = Settings { people_find_each_other: true, ..Settings::named("A community") };
        // The communities were created at different times; from here on they agree.
        let call = pair.one.call(By::Service);
        for store in [&pair.one.store, &pair.other.store] {
            store.ask(call.clone().ask(ChangeCommunity { settings: settings.clone() })).expect("a key may");
        }
        for name in PEOPLE {
            let profile = Profile { guest: name == "gus", ..crate::scene::profile(name) };
            pair.ask(Some(name), Meet { profile }).expect("they may come");
        }
        for (name, kind) in [("a", Kind::Public), ("b", Kind::Members), ("c", Kind::Private)] {
            let name = RoomName::parse(name).expect("it is a name");
            let room =
                pair.ask(None, CreateRoom { kind, ..CreateRoom::public(name, "Room") }).expect("it is new");
            pair.rooms.push(room.id);
        }
        let direct = pair.ask(Some("ann"), OpenDirect { with: person("bob") }).expect("she finds him");
        pair.rooms.push(direct.id);
        pair
    }

    /// Runs the command on both stores and compares the answers.
    fn ask<C: Clone + Debug>(
        &mut self,
        by: Option<&str>,
        command: C,
    ) -> Result<<Asked<C> as Verb>::Answer, Failure>
    where
        Asked<C>: Verb,
        <Asked<C> as Verb>::Answer: Debug + PartialEq,
    {
        self.asked += 1;
        let by = by.map_or(By::Service, |name| By::Person(person(name)));
        let call = self.one.call(by);
        let one = self.one.store.ask(call.clone().ask(command.clone()));
        let other = self.other.store.ask(call.ask(command.clone()));
        assert_eq!(one, other, "question {} was {command:?}", self.asked);
        one
    }

    fn below(&mut self, bound: usize) -> usize {
        // xorshift64: any sequence works, as long as it is reproducible.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % bound as u64).expect("it is below")
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
        for who in PEOPLE {
            for conversation in self.rooms.clone() {
                let page = ReadPage { conversation, around: Around::Newest, limit: 200 };
                let _ = self.ask(Some(who), page);
            }
        }
    }

    /// Answers are compared; many of them are meant to be refusals.
    #[allow(clippy::too_many_lines, reason = "a table of what can be asked")]
    fn step(&mut self) {
        let who = PEOPLE[self.below(PEOPLE.len())];
        let by = Some(who);
        let whom = person(PEOPLE[self.below(PEOPLE.len())]);
        let nth = self.below(self.rooms.len());
        let conversation = self.rooms[nth];
        let seq = Seq(self.below(12) as u64);
        let text = WORDS[self.below(WORDS.len())].to_owned();
        match self.below(24) {
            0..=5 => {
                let id = client_id(&format!("c{}", self.below(60)));
                let draft = Draft { mentions: vec![whom], ..Draft::text(id, &text) };
                let _ = self.ask(by, Append { conversation, draft });
            }
            6 => drop(self.ask(by, Join { conversation, invitation: None })),
            7 => drop(self.ask(by, Leave { conversation })),
            8 => {
                let by = if self.below(2) == 0 { None } else { by };
                let _ = self.ask(by, Invite { conversation, person: Some(whom), until: None, uses: 1 });
            }
            9 => drop(self.ask(by, EditText { conversation, seq, text, mentions: vec![whom] })),
            10 => {
                let by = if self.below(3) == 0 { None } else { by };
                let _ = self.ask(by, Delete { conversation, seq });
            }
            11 | 12 => {
                let on = self.below(3) > 0;
                let emoji = ["👍", "🎉"][self.below(2)].to_owned();
                let _ = self.ask(by, React { conversation, seq, emoji, on });
            }
            13 | 14 => drop(self.ask(by, Advance { conversation, delivered: seq, read: Seq(seq.0 / 2) })),
            15 => drop(self.ask(by, Conversations { before: None, limit: 3 })),
            16 => {
                let around = match self.below(5) {
                    0 => Around::Newest,
                    1 => Around::Before(seq),
                    2 => Around::After(seq),
                    3 => Around::Place(seq),
                    _ => Around::Changed(Revision(seq.0)),
                };
                let limit = 1 + self.below(6);
                let _ = self.ask(by, ReadPage { conversation, around, limit });
            }
            17 => {
                let conversation = (self.below(2) == 0).then_some(conversation);
                let _ = self.ask(by, SearchMessages { query: text, conversation, before: None, limit: 4 });
            }
            18 => {
                let kind = [SanctionKind::Ban, SanctionKind::Mute][self.below(2)];
                let until = Some(self.one.now().after_ms(5_000));
                let conversation = Some(conversation);
                let _ =
                    self.ask(None, ImposeSanction { person: whom, conversation, kind, until, reason: text });
            }
            19 => {
                let role = Role::ALL[self.below(4)];
                let _ = self.ask(None, SetRole { conversation, person: whom, role });
            }
            20 => drop(self.ask(by, Members { conversation, after: None, limit: 3 })),
            21 => {
                let _ = if self.below(2) == 0 {
                    self.ask(by, BlockPerson { person: whom }).map(drop)
                } else {
                    self.ask(by, UnblockPerson { person: whom })
                };
            }
            22 => drop(self.ask(by, ReportMessage { conversation, seq, reason: text })),
            _ => {
                let _ = self.ask(None, Reports { conversation: None, after: None, limit: 3 });
                let _ = self.ask(None, AuditLog { conversation: None, before: None, limit: 5 });
                let _ = self.ask(by, Rooms { after: None, limit: 5 });
                let _ = self.ask(by, ReadReceipts { conversation, seq });
                let _ = self.ask(by, EditsOf { conversation, seq });
            }
        }
    }
}
