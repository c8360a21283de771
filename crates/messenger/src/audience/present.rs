//! A person who is here.

use super::abroad::{There, Told};
use super::status::{Activity, Choice, Status};
use chat::{ConversationId, Moment, PersonId};
use std::sync::Arc;
use std::time::Instant;

/// How often it is stored of somebody who stays that they are seen: what a crash may take from it.
const SIGHTED_EVERY_MS: u64 = 10 * 60_000;

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
    /// When they chose that, wherever they did.
    pub(super) chosen: Moment,
    /// What they are in, in order.
    pub(super) conversations: Vec<ConversationId>,
    /// How many are reading their conversations.
    pub(super) reading: usize,
    /// What they left and came into while their conversations were read.
    pub(super) meanwhile: Option<Box<Meanwhile>>,
    /// Whether their conversations have to be read again.
    pub(super) stale: bool,
    /// What they are kept out of for a time, though they are in it, and until when.
    pub(super) banned: Vec<(ConversationId, Moment)>,
    /// The end of the time in which a device may come back.
    pub(super) lease: Option<Instant>,
    /// When others saw them last, to the minute.
    pub(super) seen: Option<Moment>,
    /// When that was given on last, to be stored.
    pub(super) noted: Option<Moment>,
    /// What others were told last.
    pub(super) told: Status,
    /// Whether the other nodes are to be told of them.
    pub(super) is_news: bool,
}

impl Present {
    pub(super) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            // Most have one device and are in little: not room for four of each.
            devices: Vec::with_capacity(1),
            choice: Choice::Auto,
            chosen: Moment::default(),
            conversations: Vec::with_capacity(1),
            reading: 0,
            meanwhile: None,
            stale: false,
            banned: Vec::new(),
            lease: None,
            seen: None,
            noted: None,
            told: Status::Offline,
            is_news: true,
        }
    }

    /// Whether a device is here, or may come back in time.
    pub(super) fn is_here(&self) -> bool {
        !self.devices.is_empty() || self.lease.is_some()
    }

    pub(super) fn activities(&self) -> impl Iterator<Item = Activity> {
        self.devices.iter().map(|device| device.activity)
    }

    /// What the other nodes are told.
    pub(super) fn to_tell(&self, person: &PersonId) -> Told {
        let is_active = self.activities().any(|activity| activity == Activity::Active);
        let activity = if is_active { Activity::Active } else { Activity::Idle };
        let here = self.is_here().then(|| There {
            activity: (!self.devices.is_empty()).then_some(activity),
            devices: self.devices.len(),
            choice: self.choice,
            chosen: self.chosen,
            conversations: self.conversations.clone(),
        });
        Told { person: person.clone(), here, seen: self.seen }
    }

    /// They are here at that moment, and others see it.
    pub(super) fn see(&mut self, now: Moment) {
        if self.choice != Choice::Invisible {
            self.seen = Some(now.to_minute());
        }
    }

    /// They wish to be seen otherwise from now on, whatever another node's clock said when they chose last. Who becomes
    /// invisible was seen until now, as who goes is.
    pub(super) fn choose(&mut self, choice: Choice, now: Moment) {
        if choice == Choice::Invisible {
            self.see(now);
        }
        self.choice = choice;
        self.chosen = now.max(Moment::from_millis(self.chosen.millis() + 1));
    }

    /// What they chose on another node, if that is newer. The other nodes are told of it by this one, too: its word counts
    /// where the first one is gone.
    pub(super) fn adopt(&mut self, chosen: Moment, choice: Choice) {
        if chosen > self.chosen {
            (self.chosen, self.choice) = (chosen, choice);
            self.is_news = true;
        }
    }

    /// When they were seen, if that is to be stored now: they are here for long, and a crash would forget it.
    pub(super) fn sighting_due(&mut self, now: Moment) -> Option<Moment> {
        let noted = *self.noted.get_or_insert(now);
        if self.devices.is_empty() || now.since_ms(noted) < SIGHTED_EVERY_MS {
            return None;
        }
        self.noted = Some(now);
        self.see(now);
        self.seen
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
