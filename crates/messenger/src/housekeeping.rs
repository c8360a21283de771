//! What is due once a second: expired tokens, leases that have ended, tabs of large rooms, and clients that may have
//! missed something. On separate threads, so that nothing waits for it: what has to be read again, and removing the
//! people of nodes that are gone.

use crate::clock::now;
use crate::entrance::SocketId;
use crate::messenger::{Inner, Messenger};
use chat::verbs::{Around, ReadPage};
use chat::{By, CommunityId, ConversationId, Failure, PersonId};
use serde_json::json;
use std::io;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

const ROUND: Duration = Duration::from_secs(1);
/// The pause between two turns of removing people of other nodes: it leaves the locks to waiting threads, which have to
/// wake up first.
const TURN: Duration = Duration::from_micros(50);
/// People the store is asked about at once.
const JUDGED_AT_ONCE: usize = 256;

impl Messenger {
    /// Starts the housekeeping threads; they end with the messenger. One waits for the store, and one removes the
    /// people of nodes that are gone, so that neither delays the first: a token expires in time, whatever the store and
    /// the nodes do.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn start_housekeeping(&self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        self.each_round("messenger", |messenger| {
            messenger.tick();
            ROUND
        })?;
        self.each_round("messenger-lose", |messenger| match messenger.inner.lose_some_people() {
            true => TURN,
            false => ROUND,
        })?;
        self.each_round("messenger-read", move |messenger| {
            runtime.block_on(messenger.catch_up());
            ROUND
        })
    }

    /// Starts a thread that calls `act` repeatedly, each time after the pause that the last call returned.
    fn each_round(&self, name: &str, act: impl Fn(&Self) -> Duration + Send + 'static) -> io::Result<()> {
        let inner: Weak<Inner> = Arc::downgrade(&self.inner);
        let rounds = move || {
            let mut pause = ROUND;
            loop {
                thread::sleep(pause);
                match inner.upgrade() {
                    Some(inner) => pause = act(&Self { inner }),
                    None => return,
                }
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(rounds).map(drop)
    }

    /// Does what is due without asking the store. [`Messenger::start_housekeeping`] calls it once a second; the simulation
    /// calls it by its own clock.
    pub fn tick(&self) {
        let inner = &self.inner;
        for (socket, code) in inner.entrance.expire() {
            inner.out.close(&socket, code);
        }
        inner.prepare_roster();
        let due = inner.audience.sweep(Instant::now(), now(), inner.out.has_nodes());
        inner.tell_roster(&due, Instant::now());
        for announcement in &due.announcements {
            inner.here().announce(announcement);
        }
        for (topics, payload) in &due.tabs {
            for topic in topics {
                inner.out.tell(topic, "msg:new", payload);
            }
        }
        for (community, person, seen) in due.seen {
            inner.sightings.note(&community, person, seen);
        }
        for (device, topic) in &due.evictions {
            inner.out.end_join(&SocketId(*device).text(), topic);
        }
        self.tell_heads();
        self.age_cache(Instant::now());
    }

    /// Reads again what has changed for people, or may have, and stores when they were last seen. Like
    /// [`Messenger::tick`], but for what needs the store.
    pub async fn catch_up(&self) {
        self.reconcile().await;
        let overdue = self.inner.audience.overdue();
        for (community, conversation, people) in &overdue.to_judge {
            self.judge(community, *conversation, people).await;
        }
        for (community, conversation) in &overdue.doubtful {
            self.find_out(community, *conversation).await;
        }
        for (community, conversation, changes) in &overdue.doubted {
            self.find_out_changes(community, *conversation, changes).await;
        }
        self.tell_how_far_changes_are(&overdue.untold_changes).await;
        self.tell_looks(&overdue.looks).await;
        self.find_out_erasures().await;
        self.follow_anew(&overdue.to_follow).await;
        self.inner.here().tell_what_is_untold();
        self.write_sightings().await;
    }

    /// What was rejected, or lost on the way, leaves gaps that no client notices before the next message; then every
    /// open room is sent its head.
    fn tell_heads(&self) {
        let inner = &self.inner;
        if !inner.out.has_lost_something() {
            return;
        }
        for (topic, conversation, seq) in inner.audience.heads() {
            inner.out.tell(&topic, "head", &json!({ "conversation": conversation, "seq": seq }).to_string());
        }
    }

    /// Evicts those who may no longer read a room. If the store cannot answer, the next round asks again.
    async fn judge(&self, community: &CommunityId, conversation: ConversationId, people: &[PersonId]) {
        let read = ReadPage { conversation, around: Around::Newest, limit: 1 };
        for people in people.chunks(JUDGED_AT_ONCE) {
            let ask = |person: &PersonId| self.ask(community, By::Person(person.clone()), read);
            let answers: Vec<_> = people.iter().map(ask).collect();
            for (person, answer) in people.iter().zip(answers) {
                match answer.await {
                    Ok(_) => {}
                    Err(Failure::Unavailable(_)) => {
                        return self.inner.audience.judge_again(community, conversation);
                    }
                    Err(_) => self.inner.here().evict(community, conversation, person),
                }
            }
        }
    }

    /// Reads the head of a conversation after a commit that appeared to fail: it may have succeeded without an
    /// announcement.
    async fn find_out(&self, community: &CommunityId, conversation: ConversationId) {
        let read = ReadPage { conversation, around: Around::Newest, limit: 1 };
        match self.ask(community, By::Service, read).await {
            Ok(page) => self.inner.here().found(community, conversation, page.conversation.last),
            Err(Failure::Unavailable(_)) => self.inner.here().doubted(community, conversation),
            Err(failure) => {
                tracing::info!(%failure, %community, %conversation, "the newest message is not announced: the \
                     conversation can no longer be read")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::DeviceId;
    use crate::scene::{self, id, run, somebody};
    use chat::verbs::{Append, ChangeRoom};
    use chat::{Draft, RoomName, Seq};

    #[test]
    fn the_people_of_a_room_are_asked_about_at_once_and_nobody_waits_for_them() {
        run(async {
            let (messenger, held) = scene::holding();
            let lobby = scene::community(&messenger, "one").await;
            let name = RoomName::parse("lobby").expect("a name");
            let audience = &messenger.inner.audience;
            for (number, person) in ["ann", "bob", "cat"].into_iter().enumerate() {
                let device = DeviceId(number as u64);
                audience.open_room(&id("one"), lobby.id, &name, &somebody(person), device);
            }
            let private = ChangeRoom { kind: Some(chat::Kind::Private), ..ChangeRoom::of(lobby.id) };
            messenger.ask(&id("one"), By::Service, private).await.expect("changed");
            held.hold();
            tokio::join!(messenger.catch_up(), async {
                assert_eq!(held.count(), 3);
                messenger.tick();
                held.commit();
            });
            for device in 0..3 {
                assert!(audience.is_evicted(&id("one"), lobby.id, DeviceId(device)));
            }
        });
    }

    #[test]
    fn what_was_stored_while_its_sender_was_told_that_it_failed_is_told_as_the_rooms_head() {
        run(async {
            let ((messenger, held), told) = (scene::holding(), scene::RecordingOutlet::default());
            messenger.tell_through(told.clone());
            let lobby = scene::community(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            let (one, name) = (id("one"), RoomName::parse("lobby").expect("a name"));
            messenger.inner.audience.open_room(&one, lobby.id, &name, &somebody("ann"), DeviceId(1));
            held.hold();
            let draft = Draft::text(None, "perhaps");
            let said = messenger.ask(&one, scene::by("ann"), Append { conversation: lobby.id, draft });
            held.lose();
            assert!(matches!(said.await, Err(Failure::Unavailable(_))));
            drop(told.take());
            for heads in [1, 0] {
                messenger.catch_up().await;
                let events = told.events();
                assert!(events.iter().all(|(topic, event)| topic == "room:one/lobby" && event == "head"));
                assert_eq!(events.len(), heads);
            }
        });
    }

    #[test]
    fn what_one_of_a_conversation_reads_first_the_others_are_told_all_the_same() {
        run(async {
            let ((messenger, held), told) = (scene::holding(), scene::RecordingOutlet::default());
            messenger.tell_through(told.clone());
            let lobby = scene::community(&messenger, "one").await;
            let (one, name) = (id("one"), RoomName::parse("lobby").expect("a name"));
            let audience = &messenger.inner.audience;
            for (device, person) in ["ann", "bob"].into_iter().enumerate() {
                scene::person(&messenger, "one", person, &lobby).await;
                let device = DeviceId(device as u64);
                audience.arrive(&one, &somebody(person), device).expect("there is room");
                messenger.follow(&one, &somebody(person)).await.expect("read");
                audience.open_room(&one, lobby.id, &name, &somebody(person), device);
            }
            held.hold();
            let draft = Draft::text(None, "perhaps");
            let said = messenger.ask(&one, scene::by("ann"), Append { conversation: lobby.id, draft });
            held.lose();
            assert!(matches!(said.await, Err(Failure::Unavailable(_))));
            // Ann joins once more, and reads it.
            audience.note_heads(&one, &[(lobby.id, Seq(1))]);
            drop(told.take());
            messenger.catch_up().await;
            let mut events = told.events();
            events.sort();
            let told = [
                ("person:one/ann", "conversations:changed"),
                ("person:one/bob", "conversations:changed"),
                ("room:one/lobby", "head"),
            ];
            let told: Vec<_> = told.iter().map(|(topic, event)| ((*topic).into(), (*event).into())).collect();
            assert_eq!(events, told);
        });
    }

    #[test]
    fn what_the_store_could_not_say_is_asked_again_and_what_it_refused_is_not() {
        run(async {
            let (messenger, held) = scene::holding();
            let lobby = scene::community(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            let (one, audience) = (id("one"), &messenger.inner.audience);
            // There is no person called Nob.
            for (number, person) in ["ann", "nob"].into_iter().enumerate() {
                audience.arrive(&one, &somebody(person), DeviceId(number as u64)).expect("there is room");
                audience.follow_again(&one, &somebody(person));
            }
            for (may_answer, left) in [(false, 2), (true, 0)] {
                held.hold();
                let answers = async {
                    loop {
                        if may_answer {
                            held.commit()
                        } else {
                            held.fail()
                        }
                        tokio::task::yield_now().await;
                    }
                };
                tokio::select! {
                    () = messenger.catch_up() => {}
                    () = answers => {}
                }
                assert_eq!(audience.overdue().to_follow.len(), left);
            }
        });
    }
}
