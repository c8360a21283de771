//! A store that fails in the middle of a verb: the verb must report that, and not mistake it for anything else.

use chat::rows::*;
use chat::verbs::*;
use chat::*;
use std::any::type_name;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows whose `nth` query, counted from 0, fails.
struct Failing<'a> {
    rows: &'a mut dyn Rows,
    nth: usize,
    asked: usize,
}

fn trouble() -> StoreError {
    StoreError::new(StoreErrorKind::Away, "it went away for a moment")
}

macro_rules! hand_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Rows for Failing<'_> {
            $(fn $name(&mut self, $($argument: $type),*) -> Found<$answer> {
                self.asked += 1;
                if self.asked == self.nth + 1 { Err(trouble()) } else { self.rows.$name($($argument),*) }
            })*
        }
    };
}

hand_on! {
    community(id: &CommunityId) -> Option<Community>;
    communities(after: Option<&CommunityId>, limit: usize) -> Vec<Community>;
    half_erased_communities(untouched_since: Moment, limit: usize) -> Vec<CommunityId>;
    key(community: &CommunityId, id: KeyId) -> Option<Key>;
    keys(community: &CommunityId) -> Vec<Key>;
    person(community: &CommunityId, id: &PersonId) -> Option<Person>;
    people(community: &CommunityId, after: Option<&PersonId>, limit: usize) -> Vec<Person>;
    people_among(community: &CommunityId, people: &[PersonId]) -> Vec<Person>;
    half_erased(untouched_since: Moment, limit: usize) -> Vec<(CommunityId, PersonId)>;
    is_remembered(community: &CommunityId, person: &PersonId) -> bool;
    share(community: &CommunityId, one: &PersonId, other: &PersonId) -> bool;
    block(community: &CommunityId, by: &PersonId, person: &PersonId) -> Option<Block>;
    blocks(community: &CommunityId, by: &PersonId) -> Vec<Block>;
    revocations(community: &CommunityId, after: Option<(&PersonId, &str)>, limit: usize) -> Vec<Revocation>;
    revocation(community: &CommunityId, person: &PersonId, token: &str) -> Option<Revocation>;
    revocations_count(community: &CommunityId) -> u64;
    conversation(community: &CommunityId, id: ConversationId) -> Option<Conversation>;
    room(community: &CommunityId, name: &RoomName) -> Option<Conversation>;
    direct(community: &CommunityId, pair: &Pair) -> Option<Conversation>;
    rooms(community: &CommunityId, after: Option<&RoomName>, private: bool, limit: usize) -> Vec<Conversation>;
    unfinished_erasure(community: &CommunityId, of: ConversationId) -> Option<UnfinishedErasure>;
    unfinished_erasure_named(community: &CommunityId, name: &RoomName) -> Option<UnfinishedErasure>;
    unfinished_erasures(community: &CommunityId, limit: usize) -> Vec<UnfinishedErasure>;
    abandoned_erasures(untouched_since: Moment, limit: usize) -> Vec<(CommunityId, ConversationId)>;
    put_unfinished_erasure(community: &CommunityId, row: &UnfinishedErasure) -> ();
    member(community: &CommunityId, of: ConversationId, person: &PersonId) -> Option<Member>;
    members(community: &CommunityId, of: ConversationId, after: Option<&PersonId>, limit: usize) -> Vec<Member>;
    owners(community: &CommunityId, of: ConversationId) -> u64;
    first_with_role(
        community: &CommunityId, of: ConversationId, role: Role, except: &PersonId
    ) -> Option<Member>;
    memberships_count(community: &CommunityId, person: &PersonId) -> u64;
    memberships(
        community: &CommunityId, person: &PersonId, before: Option<(Moment, ConversationId)>, limit: usize
    ) -> Vec<Membership>;
    memberships_among(
        community: &CommunityId, people: &[PersonId], after: Option<&(PersonId, ConversationId)>, limit: usize
    ) -> Vec<Membership>;
    receipts(community: &CommunityId, of: ConversationId, seq: Seq) -> ReceiptCounts;
    invitation(community: &CommunityId, id: InvitationId) -> Option<Invitation>;
    invitations(
        community: &CommunityId, into: Option<ConversationId>, person: Option<&PersonId>, limit: usize
    ) -> Vec<Invitation>;
    sanctions(community: &CommunityId, person: &PersonId) -> Vec<Sanction>;
    sanctions_among(community: &CommunityId, people: &[PersonId]) -> Vec<Sanction>;
    sanctions_of(
        community: &CommunityId, of: Option<ConversationId>, after: Option<&PersonId>, limit: usize
    ) -> Vec<Sanction>;
    report(community: &CommunityId, id: ReportId) -> Option<Report>;
    report_by(community: &CommunityId, of: ConversationId, seq: Seq, by: &PersonId) -> Option<Report>;
    reports(
        community: &CommunityId, of: Option<ConversationId>, after: Option<ReportId>, limit: usize
    ) -> Vec<Report>;
    audit(
        community: &CommunityId, of: Option<ConversationId>, before: Option<AuditId>, limit: usize
    ) -> Vec<Audit>;
    delivery(community: &CommunityId, endpoint: KeyId, id: DeliveryId) -> Option<Delivery>;
    deliveries(community: &CommunityId, endpoint: KeyId, given_up: bool, limit: usize) -> Vec<Delivery>;
    dead_letters_count(community: &CommunityId) -> u64;
    undelivered(
        holder: &str, before: Moment, after: Option<&(CommunityId, KeyId, DeliveryId)>, limit: usize
    ) -> Vec<(CommunityId, Delivery)>;
    put_delivery(community: &CommunityId, delivery: &Delivery) -> ();
    message(community: &CommunityId, of: ConversationId, seq: Seq) -> Option<Message>;
    message_named(community: &CommunityId, id: MessageId) -> Option<Message>;
    message_sent(community: &CommunityId, by: &PersonId, id: &ClientId) -> Option<Message>;
    messages(
        community: &CommunityId, of: ConversationId, span: RangeInclusive<Seq>, backwards: bool, limit: usize
    ) -> Vec<Message>;
    changed(community: &CommunityId, of: ConversationId, after: Revision, limit: usize) -> Vec<Message>;
    edits(community: &CommunityId, of: ConversationId, seq: Seq) -> Vec<Edit>;
    tallies(
        community: &CommunityId, of: ConversationId, span: RangeInclusive<Seq>, asker: &PersonId
    ) -> Vec<(Seq, Tally)>;
    own_reactions(
        community: &CommunityId, of: ConversationId, span: RangeInclusive<Seq>, person: &PersonId
    ) -> Vec<Reaction>;
    mentions(community: &CommunityId, of: ConversationId, person: &PersonId, after: Seq) -> u64;
    search(community: &CommunityId, search: &Search) -> Vec<Message>;
    append(batch: &AppendBatch) -> ();
    replace(community: &CommunityId, old: &Message, new: &Message) -> ();
    put(community: &CommunityId, record: &Record) -> ();
    remove(community: &CommunityId, target: &Target) -> ();
    outdated(community: &CommunityId, before: MessageId, limit: usize) -> Vec<(ConversationId, Seq)>;
    scan(
        community: &CommunityId, table: Table, person: Option<&PersonId>, after: Option<&str>, limit: usize
    ) -> Vec<Scanned>;
    records_of(community: &CommunityId, of: ConversationId, table: Table, limit: usize) -> Vec<Record>;
}

/// Another verb on such rows: its outcome, and whether it reached the failing query.
struct Troubled<V> {
    verb: V,
    nth: usize,
}

impl<V: Verb> Verb for Troubled<V> {
    type Answer = (Result<V::Answer, Failure>, bool);
    const WRITES: bool = V::WRITES;

    fn community(&self) -> Option<&CommunityId> {
        self.verb.community()
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        let mut failing = Failing { rows, nth: self.nth, asked: 0 };
        let outcome = self.verb.run(&mut failing);
        Ok((outcome, failing.asked > self.nth))
    }
}

/// A room of ann and bob with a message in it, and a direct conversation between them; bob has reported messages in
/// both. `mod` moderates the community.
struct World {
    store: MemoryStore,
    drawn: AtomicU64,
    room: ConversationId,
    said: MessageId,
    invitation: InvitationId,
    reports: [ReportId; 2],
}

fn person(name: &str) -> PersonId {
    PersonId::parse(name).expect("it is a name")
}

fn by(name: &str) -> By {
    if name == "key" { By::Service } else { By::Person(person(name)) }
}

impl World {
    fn new() -> Self {
        let nothing = Ulid::from_bytes([0; 16]);
        let mut world = Self {
            store: MemoryStore::default(),
            drawn: AtomicU64::new(1),
            room: ConversationId(nothing),
            said: MessageId(nothing),
            invitation: InvitationId(nothing),
            reports: [ReportId(nothing); 2],
        };
        world.ask("key", CreateCommunity { settings: Settings::named("A community") });
        for (name, role) in [("ann", None), ("bob", None), ("mod", Some(Role::Moderator))] {
            world
                .ask(name, Meet { profile: Profile { name: name.into(), avatar: None, guest: false, role } });
        }
        let name = RoomName::parse("lobby").expect("it is a name");
        world.room = world.ask("key", CreateRoom::public(name, "Lobby")).id;
        for name in ["ann", "bob"] {
            world.ask(name, Join { conversation: world.room, invitation: None });
        }
        let direct = world.ask("ann", OpenDirect { with: person("bob") }).id;
        world.reports = [world.room, direct].map(|conversation| {
            let draft = Draft::text(None, "some words");
            world.said = world.ask("ann", Append { conversation, draft }).message.id;
            world.ask("bob", ReportMessage { conversation, seq: Seq(1), reason: "rude".into() }).report.id
        });
        let invite = Invite { conversation: world.room, person: None, until: None, uses: 1 };
        world.invitation = world.ask("key", invite).invitation.id;
        world
    }

    fn call(&self, name: &str) -> Call {
        let nth = u128::from(self.drawn.fetch_add(1, Ordering::Relaxed)) << 8;
        let community = CommunityId::parse("default").expect("it is a name");
        Call { community, by: by(name), now: Moment::from_millis(1_000), entropy: Entropy(nth.to_be_bytes()) }
    }

    fn ask<C>(&self, name: &str, command: C) -> <Asked<C> as Verb>::Answer
    where
        Asked<C>: Verb,
    {
        self.store.ask(self.call(name).ask(command)).expect("they may")
    }
}

/// Runs the command once per query that it makes, in a new world each time, and lets another query fail.
fn each_question_fails<C>(name: &str, command: impl Fn(&World) -> C)
where
    Asked<C>: Verb,
    <Asked<C> as Verb>::Answer: Debug,
{
    let what = type_name::<C>();
    for nth in 0.. {
        let world = World::new();
        let verb = Troubled { verb: world.call(name).ask(command(&world)), nth };
        let (outcome, failed) = world.store.ask(verb).expect("it is an answer");
        if !failed {
            assert!(outcome.is_ok() && nth > 0, "{what} of {name}: {outcome:?}");
            return;
        }
        let said = matches!(&outcome, Err(Failure::Unavailable(said)) if *said == trouble());
        assert!(said, "{what} of {name}, without an answer to question {nth}: {outcome:?}");
    }
}

#[test]
fn what_the_storage_does_not_say_is_not_taken_for_a_no() {
    each_question_fails("ann", |_| Rooms { after: None, limit: 9 });
    each_question_fails("mod", |_| Rooms { after: None, limit: 9 });
    for nth in 0..2 {
        each_question_fails("mod", |world| Settle { report: world.reports[nth], note: "seen".into() });
    }
    each_question_fails("mod", |world| Withdraw { invitation: world.invitation });
    each_question_fails("bob", |world| ReadMessage { message: world.said });
    each_question_fails("bob", |_| SearchMessages {
        query: "words".into(),
        conversation: None,
        before: None,
        limit: 9,
    });
    each_question_fails("bob", |_| Conversations { before: None, limit: 9 });
    each_question_fails("key", |_| MembershipsOf { people: vec![person("bob")], after: None, limit: 9 });
    each_question_fails("mod", |_| Reports { conversation: None, after: None, limit: 9 });
    each_question_fails("ann", |world| Members { conversation: world.room, after: None, limit: 9 });
}

#[test]
fn what_the_storage_does_not_write_is_not_taken_for_done() {
    each_question_fails("ann", |world| Append {
        conversation: world.room,
        draft: Draft { mentions: vec![person("bob")], ..Draft::text(None, "hello") },
    });
    each_question_fails("ann", |world| EditText {
        conversation: world.room,
        seq: Seq(1),
        text: "other words".into(),
        mentions: vec![person("bob")],
    });
    each_question_fails("mod", |world| Delete { conversation: world.room, seq: Seq(1) });
    each_question_fails("bob", |world| React {
        conversation: world.room,
        seq: Seq(1),
        emoji: "+".into(),
        on: true,
    });
    each_question_fails("mod", |world| ImposeSanction {
        person: person("bob"),
        conversation: Some(world.room),
        kind: SanctionKind::Mute,
        until: None,
        reason: String::new(),
    });
    for (who, role) in [("bob", Role::Moderator), ("mod", Role::Owner)] {
        each_question_fails("key", |world| AddMember {
            conversation: world.room,
            person: person(who),
            role: Some(role),
            invitation: None,
        });
    }
    each_question_fails("mod", |world| Remove { conversation: world.room, person: person("bob") });
    each_question_fails("bob", |_| BlockPerson { person: person("ann") });
    each_question_fails("bob", |world| Leave { conversation: world.room });
    each_question_fails("key", |_| Erase { person: person("ann") });
}

/// Counts the queries that a verb makes on behalf of a person.
fn questions<V: Verb>(world: &World, verb: V) -> usize {
    struct Counted<V>(V);
    impl<V: Verb> Verb for Counted<V> {
        type Answer = usize;
        const WRITES: bool = V::WRITES;

        fn community(&self) -> Option<&CommunityId> {
            self.0.community()
        }

        fn run(&self, rows: &mut dyn Rows) -> Result<usize, Failure> {
            let mut counting = Failing { rows, nth: usize::MAX - 1, asked: 0 };
            self.0.run(&mut counting)?;
            Ok(counting.asked)
        }
    }
    world.store.ask(Counted(verb)).expect("they may")
}

/// Messages as one batch.
struct Batch(Vec<Asked<Append>>);

impl Verb for Batch {
    type Answer = ();
    const WRITES: bool = true;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<(), Failure> {
        let asked: Vec<_> = self.0.iter().collect();
        let answers = append_batch(rows, &asked)?;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        Ok(())
    }
}

#[test]
fn what_guests_may_do_is_looked_up_once_for_all() {
    let world = World::new();
    let profile = Profile { name: "gus".into(), avatar: None, guest: true, role: None };
    world.ask("gus", Meet { profile });
    world.ask("gus", Join { conversation: world.room, invitation: None });
    // The cost of the twentieth message, and of the sixth row of the list.
    let of_a_message = |name| {
        let append = || Append { conversation: world.room, draft: Draft::text(None, "hello") };
        let batch = |count| Batch((0..count).map(|_| world.call(name).ask(append())).collect());
        questions(&world, batch(20)) - questions(&world, batch(19))
    };
    assert_eq!(of_a_message("gus"), of_a_message("ann"));
    let lines = |name| questions(&world, world.call(name).ask(Conversations { before: None, limit: 9 }));
    let before = ["gus", "bob"].map(lines);
    let name = RoomName::parse("one-more").expect("it is a name");
    let room = world.ask("key", CreateRoom::public(name, "A room")).id;
    for name in ["gus", "bob"] {
        world.ask(name, Join { conversation: room, invitation: None });
    }
    let [of_a_guest, of_a_member] = ["gus", "bob"].map(lines);
    assert_eq!(of_a_guest - before[0], of_a_member - before[1]);
}
