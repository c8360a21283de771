//! Checks retries, edits, deletes and reactions against a model, over random histories, with devices that come back,
//! ask for what changed, and must then show what the model has.

use chat::verbs::*;
use chat::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const PEOPLE: [&str; 3] = ["ann", "bob", "cid"];
const TEXTS: [&str; 3] = ["one", "two", "three"];
const EMOJI: [&str; 2] = ["👍", "🎉"];
const DEVICES: usize = 3;
/// Smaller than the number of changes, so that devices request several pages.
const PAGE: usize = 3;

/// One step of a history. `None` in place of a person is a key of the community.
#[derive(Clone, Debug)]
enum Step {
    Send { who: usize, id: u8, text: usize },
    Edit { who: usize, seq: u64, text: usize },
    Delete { who: Option<usize>, seq: u64 },
    React { who: usize, seq: u64, emoji: usize, on: bool },
    ComeBack { device: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let (who, seq, text) = (0..PEOPLE.len(), 1..9_u64, 0..TEXTS.len());
    prop_oneof![
        5 => (who.clone(), 0..6_u8, text.clone()).prop_map(|(who, id, text)| Step::Send { who, id, text }),
        4 => (who.clone(), seq.clone(), text).prop_map(|(who, seq, text)| Step::Edit { who, seq, text }),
        1 => (proptest::option::of(who.clone()), seq.clone()).prop_map(|(who, seq)| Step::Delete { who, seq }),
        4 => (who, seq, 0..EMOJI.len(), any::<bool>())
            .prop_map(|(who, seq, emoji, on)| Step::React { who, seq, emoji, on }),
        3 => (0..DEVICES).prop_map(|device| Step::ComeBack { device }),
    ]
}

/// A message as a reader sees it: its text, or `None` if deleted, and the reactions with who gave them.
#[derive(Clone, PartialEq, Debug, Default)]
struct Seen {
    text: Option<String>,
    edits: usize,
    counts: BTreeMap<String, u64>,
}

/// A message in the model.
struct Said {
    who: usize,
    former: Vec<String>,
    text: Option<String>,
    reactions: BTreeSet<(usize, usize)>,
}

impl Said {
    fn seen(&self) -> Seen {
        let mut counts = BTreeMap::new();
        for (emoji, _) in &self.reactions {
            *counts.entry(EMOJI[*emoji].to_owned()).or_default() += 1;
        }
        Seen { text: self.text.clone(), edits: self.former.len(), counts }
    }
}

/// What a device shows, and its revision.
#[derive(Default)]
struct Device {
    shown: BTreeMap<u64, Seen>,
    revision: Revision,
}

struct World {
    store: MemoryStore,
    room: ConversationId,
    drawn: u64,
    /// By sequence number, from 1.
    said: Vec<Said>,
    /// Sequence numbers by sender and client id.
    ids: BTreeMap<(usize, u8), u64>,
    changes: u64,
    devices: Vec<Device>,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            store: MemoryStore::default(),
            room: ConversationId(Ulid::from_bytes([0; 16])),
            drawn: 0,
            said: Vec::new(),
            ids: BTreeMap::new(),
            changes: 0,
            devices: (0..DEVICES).map(|_| Device::default()).collect(),
        };
        world
            .ask(By::Service, CreateCommunity { settings: Settings::named("Everybody") })
            .expect("it is new");
        let name = RoomName::parse("room").expect("it is a name");
        world.room = world.ask(By::Service, CreateRoom::public(name, "Room")).expect("it is new").id;
        for (who, name) in PEOPLE.iter().enumerate() {
            let profile = Profile { name: (*name).into(), avatar: None, guest: false, role: None };
            world.ask(by(who), Meet { profile }).expect("they may come");
            world
                .ask(by(who), Join { conversation: world.room, invitation: None })
                .expect("they may come in");
        }
        world
    }

    fn ask<C>(&mut self, by: By, command: C) -> Result<<Asked<C> as Verb>::Answer, Failure>
    where
        Asked<C>: Verb,
    {
        self.drawn += 1;
        let entropy = Entropy((u128::from(self.drawn) << 8).to_be_bytes());
        let community = CommunityId::parse("c").expect("it is a name");
        let now = Moment::from_millis(1_700_000_000_000 + self.drawn);
        self.store.ask(Call { community, by, now, entropy }.ask(command))
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Send { who, id, text } => self.send(who, id, text),
            Step::Edit { who, seq, text } => self.edit(who, seq, text),
            Step::Delete { who, seq } => self.delete(who, seq),
            Step::React { who, seq, emoji, on } => self.react(who, seq, emoji, on),
            Step::ComeBack { device } => self.come_back(device),
        }
    }

    /// The same client id stores a message once, whatever became of it; a used id cannot be reused for another.
    fn send(&mut self, who: usize, id: u8, text: usize) {
        let client_id = ClientId::parse(&format!("c{id}")).expect("it is an id");
        let draft = Draft::text(Some(client_id), TEXTS[text]);
        let answer = self.ask(by(who), Append { conversation: self.room, draft });
        let Some(&seq) = self.ids.get(&(who, id)) else {
            let said =
                Said { who, former: Vec::new(), text: Some(TEXTS[text].into()), reactions: BTreeSet::new() };
            self.said.push(said);
            self.ids.insert((who, id), self.said.len() as u64);
            let answer = answer.expect("it is new");
            assert_eq!((answer.message.seq.0, answer.repeated), (self.said.len() as u64, false));
            return;
        };
        let said = &self.said[seq as usize - 1];
        let is_untouched = said.former.is_empty() && said.text.is_some();
        if is_untouched && said.text.as_deref() != Some(TEXTS[text]) {
            assert_eq!(answer, Err(Failure::Conflict(Conflict::ClientIdReused)));
        } else {
            let answer = answer.expect("it is a retry");
            assert_eq!((answer.message.seq.0, answer.repeated), (seq, true));
            assert_eq!(answer.message.text, said.text.clone().unwrap_or_default());
        }
    }

    fn edit(&mut self, who: usize, seq: u64, text: usize) {
        let edit = EditText {
            conversation: self.room,
            seq: Seq(seq),
            text: TEXTS[text].into(),
            mentions: Vec::new(),
        };
        let answer = self.ask(by(who), edit);
        let Some(said) = self.said.get_mut(seq as usize - 1) else {
            return assert_eq!(answer, Err(Failure::Absent(Thing::Message)));
        };
        if said.who != who {
            return assert_eq!(answer, Err(Failure::Refused(Refusal::NotPermitted(Action::Send))));
        }
        let Some(old) = said.text.clone() else {
            return assert_eq!(answer, Err(Failure::Conflict(Conflict::Deleted)));
        };
        let differs = old != TEXTS[text];
        if differs {
            said.former.push(old);
            said.text = Some(TEXTS[text].into());
        }
        self.changed(answer, seq, differs);
    }

    fn delete(&mut self, who: Option<usize>, seq: u64) {
        let answer = self.ask(who.map_or(By::Service, by), Delete { conversation: self.room, seq: Seq(seq) });
        let Some(said) = self.said.get_mut(seq as usize - 1) else {
            return assert_eq!(answer, Err(Failure::Absent(Thing::Message)));
        };
        if who.is_some_and(|who| who != said.who) {
            return assert_eq!(answer, Err(Failure::Refused(Refusal::NotPermitted(Action::DeleteAny))));
        }
        let was_there = said.text.take().is_some();
        said.reactions.clear();
        self.changed(answer, seq, was_there);
    }

    fn react(&mut self, who: usize, seq: u64, emoji: usize, on: bool) {
        let react = React { conversation: self.room, seq: Seq(seq), emoji: EMOJI[emoji].into(), on };
        let answer = self.ask(by(who), react);
        let Some(said) = self.said.get_mut(seq as usize - 1) else {
            return assert_eq!(answer, Err(Failure::Absent(Thing::Message)));
        };
        if said.text.is_none() {
            return assert_eq!(answer, Err(Failure::Conflict(Conflict::Deleted)));
        }
        let own = (emoji, who);
        let differs = if on { said.reactions.insert(own) } else { said.reactions.remove(&own) };
        self.changed(answer, seq, differs);
    }

    /// The answer shows the message as it is now, and a change incremented the revision by one.
    fn changed(&mut self, answer: Result<Changed, Failure>, seq: u64, differs: bool) {
        let Changed { message, reactions, changed } = answer.expect("they may");
        assert_eq!(changed, differs);
        if differs {
            self.changes += 1;
            assert_eq!(message.revision, Revision(self.changes));
        }
        assert_eq!(seen(&message, &reactions), self.said[seq as usize - 1].seen());
    }

    /// A device has missed the messages after the last one that it shows, and the changes after its revision.
    fn come_back(&mut self, device: usize) {
        let Device { mut shown, revision } = std::mem::take(&mut self.devices[device]);
        let last = shown.last_key_value().map_or(0, |(&seq, _)| seq);
        let mut place = Seq(last);
        loop {
            let page = self.read(Around::After(place));
            for one in &page.messages {
                place = one.message.seq;
                shown.insert(place.0, seen(&one.message, &one.reactions));
            }
            if !page.more {
                break;
            }
        }
        let mut since = revision;
        loop {
            let page = self.read(Around::Changed(since));
            for one in &page.messages {
                assert!(one.message.revision > since, "changes come in their order, each message once");
                since = one.message.revision;
                shown.insert(one.message.seq.0, seen(&one.message, &one.reactions));
            }
            if !page.more {
                break;
            }
        }
        assert!(since.0 <= self.changes);
        let model: BTreeMap<u64, Seen> =
            (1..).zip(&self.said).map(|(seq, said)| (seq, said.seen())).collect();
        assert_eq!(shown, model);
        self.devices[device] = Device { shown, revision: since };
    }

    fn read(&mut self, around: Around) -> Page {
        let conversation = self.room;
        self.ask(by(0), ReadPage { conversation, around, limit: PAGE }).expect("they may read")
    }

    /// Former texts are kept, oldest first; deleted messages have none.
    fn look_at_former_texts(&mut self) {
        for place in 0..self.said.len() {
            let edits = EditsOf { conversation: self.room, seq: Seq(place as u64 + 1) };
            let former = self.ask(By::Service, edits).expect("a key may");
            let former: Vec<String> = former.into_iter().map(|edit| edit.text).collect();
            let said = &self.said[place];
            let kept = if said.text.is_some() { said.former.clone() } else { Vec::new() };
            assert_eq!(former, kept);
        }
    }
}

fn by(who: usize) -> By {
    By::Person(PersonId::parse(PEOPLE[who]).expect("it is a name"))
}

fn seen(message: &Message, reactions: &[Tally]) -> Seen {
    let text = message.deleted.is_none().then(|| message.text.clone());
    let counts = reactions.iter().map(|tally| (tally.emoji.clone(), tally.count)).collect();
    Seen { text, edits: message.edits as usize, counts }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whoever_comes_back_shows_what_a_model_has(steps in proptest::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
        }
        for device in 0..DEVICES {
            world.come_back(device);
        }
        world.look_at_former_texts();
    }
}
