//! The disk: what is durable, and the outcome of each transaction.

use crate::random::Random;
use chat::rows::Found;
use chat::verbs::{CreateCommunity, CreateRoom};
use chat::{
    By, Call, CommunityId, CommunityLimits, ConversationId, Entropy, MemoryRows, Message, Moment, RoomName,
    Rows, Seq, Settings, StoreError, StoreErrorKind, Verb as _,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::group::{Database, Kind};

/// Outlives the process. Clones are the same disk.
#[derive(Clone)]
pub(super) struct Disk(Arc<Mutex<Inner>>);

struct Inner {
    durable: MemoryRows,
    random: Random,
    failing_percent: usize,
    unheard_percent: usize,
    failures: u64,
}

/// The outcome of a transaction.
#[derive(Clone, Copy)]
enum Fate {
    Done,
    Fails(StoreErrorKind),
    /// It commits, and the caller is told that it failed.
    Unheard,
}

/// The one community of a simulation.
pub(super) fn community() -> CommunityId {
    CommunityId::parse("one").expect("it is an id")
}

/// Returns a room's name in the simulation.
pub(super) fn room_name(room: usize) -> RoomName {
    RoomName::parse(&format!("room-{room}")).expect("it is a name")
}

impl Disk {
    /// Creates a disk with a community and its rooms on it.
    pub(super) fn new(seed: u64, rooms: usize) -> (Disk, Vec<ConversationId>) {
        let mut durable = MemoryRows::default();
        let call = |nth: usize| Call {
            community: community(),
            by: By::Service,
            now: Moment::from_millis(1),
            entropy: Entropy([nth as u8; 16]),
        };
        // Message budgets depend on the machine's clock, which must not affect the run.
        let limits = CommunityLimits { messages_per_minute: 1_000_000, ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("One") };
        call(0).ask(CreateCommunity { settings }).run(&mut durable).expect("there is none yet");
        let make = |room: usize| {
            let command = CreateRoom::public(room_name(room), "A room");
            call(room + 1).ask(command).run(&mut durable).expect("there is none yet").id
        };
        let ids = (0..rooms).map(make).collect();
        let random = Random::from_seed(seed);
        let inner = Inner { durable, random, failing_percent: 0, unheard_percent: 0, failures: 0 };
        (Disk(Arc::new(Mutex::new(inner))), ids)
    }

    /// From now on `failing_percent` of the transactions fail, and `unheard_percent` of the commits are reported as
    /// failed.
    pub(super) fn fail(&self, failing_percent: usize, unheard_percent: usize) {
        let mut inner = self.lock();
        (inner.failing_percent, inner.unheard_percent) = (failing_percent, unheard_percent);
    }

    /// Returns the message at a sequence number.
    pub(super) fn message(&self, room: ConversationId, seq: u64) -> Option<Message> {
        self.lock().durable.message(&community(), room, Seq(seq)).expect("memory fails nobody")
    }

    /// Returns the newest sequence number.
    pub(super) fn last(&self, room: ConversationId) -> u64 {
        let found = self.lock().durable.conversation(&community(), room).expect("memory fails nobody");
        found.expect("rooms stay").last.0
    }

    /// Returns how many transactions failed, or seemed to.
    pub(super) fn failures(&self) -> u64 {
        self.lock().failures
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn fate(&mut self, kind: Kind) -> Fate {
        let fate = if self.random.percent(self.failing_percent) {
            Fate::Fails(self.random.pick(&[
                StoreErrorKind::Io,
                StoreErrorKind::Full,
                StoreErrorKind::Away,
                StoreErrorKind::Contended,
                StoreErrorKind::Corrupt,
            ]))
        } else if kind != Kind::Reads && self.random.percent(self.unheard_percent) {
            Fate::Unheard
        } else {
            Fate::Done
        };
        self.failures += u64::from(!matches!(fate, Fate::Done));
        fate
    }
}

impl Database for Disk {
    fn transaction(&mut self, kind: Kind, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Found<()> {
        let mut inner = self.lock();
        let fate = inner.fate(kind);
        if kind == Kind::Reads {
            run(&mut inner.durable)?;
        } else {
            let mut rows = inner.durable.clone();
            run(&mut rows)?;
            if !matches!(fate, Fate::Fails(_)) {
                inner.durable = rows;
            }
        }
        match fate {
            Fate::Done => Ok(()),
            Fate::Fails(kind) => Err(StoreError::new(kind, "planned by the simulation")),
            Fate::Unheard => Err(StoreError::new(StoreErrorKind::Io, "planned by the simulation")),
        }
    }

    /// A copy is simply dropped.
    fn take_back(&mut self) {}

    fn reopen(&mut self) {}
}
