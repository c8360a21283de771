//! Two nodes over one store, and what one receives from the other.

mod asking;
mod erased_rooms;
mod erasure;
mod losing;
mod missing;
mod news;
mod presence;

use crate::audience::{DeviceId, Followed, Reading};
use crate::entrance::Credentials;
use crate::fault::Fault;
use crate::messenger::{Messenger, Settings};
use crate::outlet::Outlet;
use crate::scene::{self, RecordingOutlet, by, claims, id, somebody, token};
use chat::verbs::Append;
use chat::{Conversation, Draft, MemoryStore, RoomName, Store};
use gateway::{FromNodes, NodeId};
use std::sync::{Arc, Mutex, PoisonError};

const ONE: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

/// The outlet of a node: what clients and the other nodes are sent.
#[derive(Clone, Default)]
struct Ends {
    told: RecordingOutlet,
    words: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Outlet for Ends {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        self.told.tell(topic, event, payload)
    }

    fn close(&self, socket_id: &str, code: u16) {
        self.told.close(socket_id, code);
    }

    fn end_join(&self, socket_id: &str, topic: &str) {
        self.told.end_join(socket_id, topic);
    }

    fn has_nodes(&self) -> bool {
        true
    }

    fn tell_nodes(&self, words: Vec<u8>) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).push(words);
    }
}

struct Node {
    messenger: Messenger,
    ends: Ends,
}

impl Node {
    fn over(store: &Arc<dyn Store>) -> Self {
        let (messenger, ends) = (Messenger::new(store.clone(), Settings::default()), Ends::default());
        messenger.tell_through(ends.clone());
        messenger.hear(FromNodes::Up);
        messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        Self { messenger, ends }
    }

    /// Takes the messages to the other nodes.
    fn words(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.ends.words.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Receives what `other` has sent.
    fn hear(&self, other: &Node) {
        for words in other.words() {
            self.messenger.hear(FromNodes::Told { node: OTHER, words: &words });
        }
    }

    /// Removes all who are leaving.
    fn lose(&self) {
        while self.messenger.inner.lose_some_people() {}
    }

    /// Puts a person online with a device, who has the lobby open and is in it.
    fn welcome(&self, name: &str, device: u64, lobby: &Conversation) {
        let (audience, person) = (&self.messenger.inner.audience, somebody(name));
        audience.arrive(&id("one"), &person, DeviceId(device)).expect("there is room");
        audience.begin_following(&id("one"), &person);
        let followed = [Followed::of(lobby)];
        audience.follow_all(&id("one"), &person, Reading { followed: &followed, gone: &[] });
        let room = RoomName::parse("lobby").expect("a name");
        audience.open_room(&id("one"), lobby.id, &room, &person, DeviceId(device));
        audience.note_heads(&id("one"), &[(lobby.id, lobby.last)]);
    }

    fn events(&self) -> Vec<(String, String)> {
        self.ends.told.events()
    }

    async fn say(&self, name: &str, lobby: &Conversation, text: &str) -> u64 {
        let append = Append { conversation: lobby.id, draft: Draft::text(None, text) };
        self.messenger.ask(&id("one"), by(name), append).await.expect("said").message.seq.0
    }

    /// Returns the code with which a person with a token is admitted or refused.
    async fn admit(&self, name: &str) -> &'static str {
        let credentials =
            Credentials { community: id("one"), token: Some(token(&claims("one", name))), name: None };
        self.messenger
            .admit(&credentials)
            .await
            .map_or_else(|rejection| Fault::from(rejection).code, |_| "in")
    }
}

/// Two nodes, and a community with a lobby, in which Ann and Bob are.
async fn begin() -> (Node, Node, Conversation) {
    begin_over(Arc::new(MemoryStore::default())).await
}

async fn begin_over(store: Arc<dyn Store>) -> (Node, Node, Conversation) {
    let (here, there) = (Node::over(&store), Node::over(&store));
    let lobby = scene::community(&here.messenger, "one").await;
    scene::trust_site(&here.messenger, "one").await;
    for name in ["ann", "bob"] {
        scene::person(&here.messenger, "one", name, &lobby).await;
    }
    there.hear(&here);
    there.messenger.catch_up().await;
    here.hear(&there);
    here.messenger.catch_up().await;
    (here, there, lobby)
}

fn pairs(events: &[(&str, &str)]) -> Vec<(String, String)> {
    events.iter().map(|(topic, event)| ((*topic).to_owned(), (*event).to_owned())).collect()
}
