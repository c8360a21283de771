//! A person who is here.

use super::status::{Activity, Choice, Presence, Status, merged};
use chat::{ConversationId, Moment, PersonId};
use std::sync::Arc;
use std::time::Instant;

/// A connection of a person, by a number that is its own in this process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct DeviceId(pub(crate) u64);

/// A device of a person.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) id: DeviceId,
    pub(crate) activity: Activity,
}

/// What somebody did while their conversations were read, which what was read may not show.
#[derive(Clone, Debug, Default)]
pub(super) struct Meanwhile {
    pub(super) left: Vec<ConversationId>,
    pub(super) came: Vec<ConversationId>,
}

/// Somebody who is here, or was a moment ago.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) topic: Arc<str>,
    pub(super) devices: Vec<Device>,
    pub(super) choice: Choice,
    /// What they are in, in order.
    pub(super) conversations: Vec<ConversationId>,
    /// How many are reading their conversations.
    pub(super) reading: usize,
    /// What they left and came into while their conversations were read.
    pub(super) meanwhile: Option<Meanwhile>,
    /// Whether their conversations have to be read again.
    pub(super) stale: bool,
    /// What they are kept out of for a time, though they are in it, and until when.
    pub(super) banned: Vec<(ConversationId, Moment)>,
    /// The end of the time in which a device may come back.
    pub(super) lease: Option<Instant>,
    pub(super) seen: Option<Moment>,
    /// What others were told last.
    pub(super) told: Status,
}

impl Present {
    pub(super) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            devices: Vec::new(),
            choice: Choice::Auto,
            conversations: Vec::new(),
            reading: 0,
            meanwhile: None,
            stale: false,
            banned: Vec::new(),
            lease: None,
            seen: None,
            told: Status::Offline,
        }
    }

    pub(super) fn status(&self) -> Status {
        let here = !self.devices.is_empty() || self.lease.is_some();
        merged(here, self.choice, self.devices.iter().map(|device| device.activity))
    }

    pub(super) fn presence(&self, person: &PersonId) -> Presence {
        let status = self.status().for_others();
        let seen = if status == Status::Offline { self.seen } else { None };
        // When somebody invisible was here says that they are.
        let seen = if self.choice == Choice::Invisible && !self.devices.is_empty() { None } else { seen };
        Presence { person: person.clone(), status, seen }
    }

    /// Notes whether their conversations are to be read again because a ban is over.
    pub(super) fn end_bans(&mut self, moment: Moment) {
        let before = self.banned.len();
        self.banned.retain(|(_, until)| *until > moment);
        self.stale |= self.banned.len() < before;
    }

    pub(super) fn is_in(&self, conversation: ConversationId) -> bool {
        self.conversations.binary_search(&conversation).is_ok()
    }
}
