//! The server's process: the messenger on its store, hubs with mailboxes between them, and tasks. A kill drops all of
//! it.

use super::disk::Disk;
use super::outlet::{Outlet, Told};
use super::plan::Plan;
use super::queued::Queued;
use hub::{
    Answer, Call, Class, Effects, Histories, Hub, HubConfig, Info, Limits, Micros, MountIndex, Pattern,
    Publication, SHARDS_TOLD_AT_ONCE_MAX, ShardIndex, ShardMessage, TaskOwner,
};
use messenger::{InstallationSecret, Messenger, Settings};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A task that a channel waits for.
pub(super) struct Running {
    pub(super) shard: usize,
    pub(super) owner: TaskOwner,
    pub(super) future: Pin<Box<dyn Future<Output = Info> + Send>>,
}

/// An answer that came by a callback, on its way to its shard.
pub(super) struct Called {
    pub(super) shard: usize,
    pub(super) owner: TaskOwner,
    pub(super) answer: Answer,
}

pub(super) struct Process {
    pub(super) messenger: Messenger,
    pub(super) store: Arc<Queued>,
    pub(super) disk: Disk,
    pub(super) outlet: Outlet,
    pub(super) shards: Vec<Shard>,
    pub(super) tasks: Vec<Running>,
    pub(super) called: Arc<Mutex<Vec<Called>>>,
    config: HubConfig,
}

pub(super) struct Shard {
    pub(super) hub: Hub,
    pub(super) effects: Effects,
    pub(super) mailbox: VecDeque<ShardMessage>,
}

impl Process {
    /// Starts a process on what the disk holds.
    pub(super) fn start(disk: &Disk, seed: u64, plan: &Plan) -> Process {
        let store = Arc::new(Queued::new(plan.queue_max));
        // Guests stay the same after a restart.
        let settings = Settings { secret: InstallationSecret::new([7; 32]), ..Settings::default() };
        let messenger = Messenger::new(store.clone(), settings);
        let outlet = Outlet::new(plan.mailbox_max);
        messenger.tell_through(outlet.clone());
        let config = HubConfig {
            shard: ShardIndex(0),
            shards: plan.shards as u16,
            secret: seed,
            salt: seed as u32,
            bus: None,
            histories: Histories::default(),
            limits: Limits::default(),
        };
        let shard = |index| {
            let mut hub = Hub::new(HubConfig { shard: ShardIndex(index as u16), ..config.clone() });
            let pattern = Pattern::parse("room:*").expect("a prefix and a star");
            hub.route(MountIndex(0), pattern, Box::new(Messenger::room_channel));
            Shard { hub, effects: Effects::default(), mailbox: VecDeque::new() }
        };
        let shards = (0..plan.shards).map(shard).collect();
        let (disk, tasks, called) = (disk.clone(), Vec::new(), Arc::default());
        Process { messenger, store, disk, outlet, shards, tasks, called, config }
    }

    /// Begins a call. Its callback comes some time later, and then the answer is in flight.
    pub(super) fn call(&self, shard: usize, owner: TaskOwner, call: Call) {
        let called = self.called.clone();
        call.begin(move |answer| lock(&called).push(Called { shard, owner, answer }));
    }

    /// Returns the answers that came by callbacks.
    pub(super) fn called(&self) -> MutexGuard<'_, Vec<Called>> {
        lock(&self.called)
    }

    /// Puts the messenger's events into mailboxes, as far as they have room: with up to [`SHARDS_TOLD_AT_ONCE_MAX`]
    /// shards into those of all, as the gateway does, else into that of the topic's home.
    pub(super) fn post_news(&mut self, now: Micros, mailbox_max: usize) {
        for told in self.outlet.take() {
            if self.shards.len() <= SHARDS_TOLD_AT_ONCE_MAX {
                self.tell_at_once(now, told, mailbox_max);
                continue;
            }
            let mailbox = &mut self.shards[usize::from(self.config.home_of(&told.topic).0)].mailbox;
            if mailbox.len() >= mailbox_max {
                self.outlet.lose();
                continue;
            }
            mailbox.push_back(ShardMessage::PublishNow {
                topic: told.topic.into(),
                event: told.event.into(),
                payload: hub::Outgoing::Json(told.payload.into()),
                here: true,
            });
        }
    }

    fn tell_at_once(&mut self, received: Micros, told: Told, mailbox_max: usize) {
        let payload = hub::Outgoing::Json(told.payload.into());
        let (topic, event) = (told.topic.into(), told.event.into());
        let publication = Arc::new(Publication { topic, event, payload, received, place: None });
        for shard in &mut self.shards {
            if shard.mailbox.len() >= mailbox_max {
                self.outlet.lose();
            } else {
                shard.mailbox.push_back(ShardMessage::Deliver(publication.clone()));
            }
        }
    }

    /// Puts a message into a shard's mailbox, or returns one that a full mailbox refuses.
    pub(super) fn post(
        &mut self,
        shard: usize,
        message: ShardMessage,
        class: Class,
        mailbox_max: usize,
    ) -> Option<ShardMessage> {
        let mailbox = &mut self.shards[shard].mailbox;
        if class != Class::Control && mailbox.len() >= mailbox_max {
            return Some(message);
        }
        mailbox.push_back(message);
        None
    }

    pub(super) fn is_busy(&self) -> bool {
        let mail = self.shards.iter().any(|shard| !shard.mailbox.is_empty());
        mail || self.has_tasks() || self.store.waiting() != (false, false)
    }

    /// Returns whether a task may continue, or has ended.
    pub(super) fn has_tasks(&self) -> bool {
        !self.tasks.is_empty() || !self.called().is_empty()
    }
}

fn lock(called: &Mutex<Vec<Called>>) -> MutexGuard<'_, Vec<Called>> {
    called.lock().unwrap_or_else(PoisonError::into_inner)
}
