//! A separate community for each case, with shorthands for commands.

use chat::rows::Record;
use chat::verbs::{
    Append, Appended, Conversations, CreateCommunity, CreateRoom, Erase, ErasureReport, Export, Join, Meet,
    OpenDirect, Page, ReadPage, SetRole, Tab,
};
use chat::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("throng-store").tempdir().expect("a folder can be made");
    folder.keep()
});

/// A folder shared by all cases of this run.
pub(crate) fn folder() -> PathBuf {
    FOLDER.clone()
}

pub(crate) fn remove_folder() {
    // What cannot be removed is in the system's folder for temporary files.
    let _ = std::fs::remove_dir_all(folder());
}

static DRAWN: AtomicU64 = AtomicU64::new(1);

/// A store with a community that nobody else uses.
pub(crate) struct Scene {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) community: CommunityId,
    now_ms: AtomicU64,
}

impl Scene {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let scene = Self::without_community(store);
        scene.service(CreateCommunity { settings: Settings::named("A community") }).expect("it is new");
        scene
    }

    /// A store without that community, whose name nobody else uses.
    pub(crate) fn without_community(store: Arc<dyn Store>) -> Self {
        let nth = DRAWN.fetch_add(1, Ordering::Relaxed);
        let community = CommunityId::parse(&format!("case-{nth}")).expect("it is a name");
        Self { store, community, now_ms: AtomicU64::new(1_700_000_000_000) }
    }

    /// The same store, with another community.
    pub(crate) fn beside(&self) -> Self {
        Self::new(self.store.clone())
    }

    /// The same community on another store, which does not have it yet.
    pub(crate) fn on(&self, store: Arc<dyn Store>) -> Self {
        Self { store, community: self.community.clone(), now_ms: AtomicU64::new(self.now().millis()) }
    }

    /// A call, a second after the previous one.
    pub(crate) fn call(&self, by: By) -> Call {
        let nth = u128::from(DRAWN.fetch_add(1, Ordering::Relaxed)) << 8;
        let now = Moment::from_millis(self.now_ms.fetch_add(1_000, Ordering::Relaxed));
        Call { community: self.community.clone(), by, now, entropy: Entropy(nth.to_be_bytes()) }
    }

    pub(crate) fn now(&self) -> Moment {
        Moment::from_millis(self.now_ms.load(Ordering::Relaxed))
    }

    pub(crate) fn wait_ms(&self, wait_ms: u64) {
        self.now_ms.fetch_add(wait_ms, Ordering::Relaxed);
    }

    pub(crate) fn ask<C>(&self, by: &str, command: C) -> Result<<Asked<C> as Verb>::Answer, Failure>
    where
        Asked<C>: Verb,
    {
        self.store.ask(self.call(By::Person(person(by))).ask(command))
    }

    pub(crate) fn service<C>(&self, command: C) -> Result<<Asked<C> as Verb>::Answer, Failure>
    where
        Asked<C>: Verb,
    {
        self.store.ask(self.call(By::Service).ask(command))
    }

    /// Records these people.
    pub(crate) fn people(&self, names: &[&str]) {
        for name in names {
            self.ask(name, Meet { profile: profile(name) }).expect("they may come");
        }
    }

    pub(crate) fn guest(&self, name: &str) {
        self.ask(name, Meet { profile: Profile { guest: true, ..profile(name) } }).expect("guests may come");
    }

    /// A room created by a key, with people in it.
    pub(crate) fn room(&self, kind: Kind, name: &str, people: &[&str]) -> ConversationId {
        let room = CreateRoom { kind, ..CreateRoom::public(RoomName::parse(name).expect("a name"), name) };
        let id = self.service(room).expect("it is new").id;
        self.people(people);
        for person in people {
            if kind == Kind::Private {
                self.invite(id, person);
            }
            self.join(person, id);
        }
        id
    }

    /// A public room with people in it.
    pub(crate) fn lobby(&self, people: &[&str]) -> ConversationId {
        self.room(Kind::Public, "lobby", people)
    }

    /// Makes a member of a room its moderator.
    pub(crate) fn moderator(&self, who: &str, conversation: ConversationId) {
        let set = SetRole { conversation, person: person(who), role: Role::Moderator };
        self.service(set).expect("a key may");
    }

    pub(crate) fn invite(&self, conversation: ConversationId, whom: &str) {
        let invite = chat::verbs::Invite { conversation, person: Some(person(whom)), until: None, uses: 1 };
        self.service(invite).expect("a key may invite");
    }

    pub(crate) fn join(&self, who: &str, conversation: ConversationId) {
        self.ask(who, Join { conversation, invitation: None }).expect("they may come in");
    }

    pub(crate) fn direct(&self, one: &str, other: &str) -> ConversationId {
        self.ask(one, OpenDirect { with: person(other) }).expect("they see each other").id
    }

    pub(crate) fn send(&self, by: &str, conversation: ConversationId, text: &str) -> Appended {
        self.try_send(by, conversation, text).expect("they may send")
    }

    pub(crate) fn try_send(
        &self,
        by: &str,
        conversation: ConversationId,
        text: &str,
    ) -> Result<Appended, Failure> {
        self.ask(by, Append { conversation, draft: Draft::text(None, text) })
    }

    pub(crate) fn page(
        &self,
        by: &str,
        conversation: ConversationId,
        around: chat::verbs::Around,
        limit: usize,
    ) -> Page {
        self.ask(by, ReadPage { conversation, around, limit }).expect("they may read")
    }

    /// Exports the community, or one person's data.
    pub(crate) fn export(&self, who: Option<&str>) -> Vec<Record> {
        let mut records = Vec::new();
        let mut after = None;
        loop {
            let part = self.service(Export { person: who.map(person), after }).expect("a key may");
            records.extend(part.records);
            after = part.next;
            if after.is_none() {
                return records;
            }
        }
    }

    /// Erases a person completely.
    pub(crate) fn erase(&self, by: &By, who: &str) -> ErasureReport {
        let mut report = ErasureReport::default();
        while !report.done {
            let erase = self.call(by.clone()).ask(Erase { person: person(who) });
            report.add(self.store.ask(erase).expect("they may"));
        }
        report
    }

    /// A conversation's row in a person's list.
    pub(crate) fn tab(&self, who: &str, conversation: ConversationId) -> Tab {
        let tabs = self.ask(who, Conversations { before: None, limit: 100 }).expect("they are known");
        tabs.rows.into_iter().find(|tab| tab.conversation.id == conversation).expect("they are in it")
    }
}

pub(crate) fn person(name: &str) -> PersonId {
    PersonId::parse(name).expect("it is a name")
}

pub(crate) fn profile(name: &str) -> Profile {
    Profile { name: name.to_owned(), avatar: None, guest: false, role: None }
}

pub(crate) fn client_id(id: &str) -> Option<ClientId> {
    Some(ClientId::parse(id).expect("it is an id"))
}

/// As JSON, in the form of an export.
pub(crate) fn json(records: &[Record]) -> String {
    serde_json::to_string(records).expect("it is JSON")
}

/// Sequence numbers and texts of a page.
pub(crate) fn texts(page: &Page) -> Vec<(u64, &str)> {
    page.messages.iter().map(|shown| (shown.message.seq.0, shown.message.text.as_str())).collect()
}
