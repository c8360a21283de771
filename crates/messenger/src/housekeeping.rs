//! What falls due once a second: expired tokens, people who are gone, tabs of large rooms, and who may have missed
//! something.

use crate::audience::Followed;
use crate::messenger::{Inner, Messenger, now};
use chat::limits::PAGE_MAX;
use chat::verbs::{Conversations, Listed, Tab, TabPosition};
use chat::{Ask, By, CommunityId, Failure, PersonId};
use serde_json::json;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

const ROUND: Duration = Duration::from_secs(1);

impl Messenger {
    /// Starts the thread that looks after what falls due; it ends with the messenger.
    ///
    /// # Errors
    /// The system has no thread.
    pub fn keep_house(&self) -> std::io::Result<()> {
        let messenger = Arc::downgrade(&self.inner);
        thread::Builder::new().name("messenger".to_owned()).spawn(move || rounds(&messenger)).map(drop)
    }

    /// One round of it.
    pub fn go_round(&self) {
        let inner = &self.inner;
        for (socket, code) in inner.entrance.expire() {
            inner.out.close(&socket, code);
        }
        let due = inner.audience.sweep(Instant::now(), now());
        for announcement in &due.announcements {
            inner.bulletin().announce(announcement);
        }
        for (topics, payload) in &due.tabs {
            for topic in topics {
                inner.out.tell(topic, "msg:new", payload);
            }
        }
        for (community, person) in &due.to_follow {
            if let Err(failure) = self.follow_anew(community, person) {
                tracing::warn!(%failure, "somebody's conversations could not be read again; the next round tries again");
                inner.audience.follow_again(community, person);
            }
        }
        self.tell_heads();
    }

    /// What was not taken or was dropped on the way leaves holes that nobody sees before the next message: then every
    /// open room is told how far it has come.
    fn tell_heads(&self) {
        let inner = &self.inner;
        if !inner.out.has_lost_something() {
            return;
        }
        for (topic, conversation, seq) in inner.audience.heads() {
            inner.out.tell(&topic, "head", &json!({ "conversation": conversation, "seq": seq }).to_string());
        }
    }

    fn follow_anew(&self, community: &CommunityId, person: &PersonId) -> Result<(), Failure> {
        let audience = &self.inner.audience;
        audience.begin_following(community, person);
        let mut before: Option<TabPosition> = None;
        let mut all = Vec::new();
        loop {
            let call = self.call(community, By::Person(person.clone()));
            let page = self.inner.store().ask(call.ask(Conversations { before, limit: PAGE_MAX }));
            let Listed::<Tab, TabPosition> { rows, next } =
                page.inspect_err(|_| audience.abandon_following(community, person))?;
            all.extend(rows.iter().map(|tab| Followed::of(&tab.conversation)));
            before = next;
            if before.is_none() || all.len() >= chat::limits::CONVERSATIONS_MAX {
                break;
            }
        }
        let announcement = audience.follow_all(community, person, &all);
        self.inner.bulletin().announce(&announcement);
        Ok(())
    }
}

fn rounds(messenger: &Weak<Inner>) {
    loop {
        thread::sleep(ROUND);
        match messenger.upgrade() {
            Some(inner) => Messenger { inner }.go_round(),
            None => return,
        }
    }
}
