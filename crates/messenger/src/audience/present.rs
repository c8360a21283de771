//! A person who is on this node.

use super::joining::{Joining, Subject, ToldMeanwhile, TooMuchTold};
use super::remote_people::{PersonReport, There};
use super::status::{Activity, Choice, Status};
use crate::small_list::SmallList;
use chat::{ConversationId, Moment, PersonId};
use std::mem::take;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// How often `seen` is stored for a person who stays online: what a crash may lose of it.
const SIGHTED_EVERY_MS: u64 = 10 * MINUTE_MS;
const MINUTE_MS: u64 = 60_000;

/// A connection of a person, numbered uniquely within this process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct DeviceId(pub(crate) u64);

/// A device of a person.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) id: DeviceId,
    pub(crate) activity: Activity,
}

/// What a person did while their conversations were read, which the reading may not show.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Meanwhile {
    pub(super) left: Vec<ConversationId>,
    pub(super) came: Vec<ConversationId>,
}

/// A person who is on this node, or was until a moment ago.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) topic: Arc<str>,
    pub(super) devices: SmallList<Device>,
    /// The conversations they are in, sorted.
    pub(super) conversations: SmallList<ConversationId>,
    rare: Option<Box<Rare>>,
    /// When others last saw them.
    seen: Option<Minute>,
    /// The last `seen` that was passed on to be stored.
    noted: Option<Minute>,
    /// The status that was last announced.
    pub(super) told: Status,
    /// Whether their conversations have to be read again.
    pub(super) stale: bool,
    /// Whether they are to be reported to the other nodes.
    pub(super) is_news: bool,
}

/// State that most people do not have most of the time.
#[derive(Default, PartialEq, Debug)]
struct Rare {
    choice: Choice,
    /// When they chose it, on whichever node.
    chosen: Moment,
    /// How many readings of their conversations are in progress.
    reading: usize,
    /// What they left and joined during these readings.
    meanwhile: Meanwhile,
    joining: Joining,
    /// Conversations that they are banned from for a time, though still in, and until when.
    banned: Vec<(ConversationId, Moment)>,
    /// End of the time in which a device may come back.
    lease: Option<Instant>,
}

/// A minute, in as few bytes as possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Minute(NonZeroU32);

impl Minute {
    fn of(moment: Moment) -> Self {
        let number = u32::try_from(moment.millis() / MINUTE_MS).unwrap_or(u32::MAX);
        Self(NonZeroU32::MIN.saturating_add(number))
    }

    fn moment(self) -> Moment {
        Moment::from_millis(u64::from(self.0.get() - 1) * MINUTE_MS)
    }
}

impl Present {
    pub(super) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            devices: SmallList::default(),
            conversations: SmallList::default(),
            rare: None,
            seen: None,
            noted: None,
            told: Status::Offline,
            stale: false,
            is_news: true,
        }
    }

    /// Changes the rare state, and frees it when it is the default again.
    fn change<T>(&mut self, change: impl FnOnce(&mut Rare) -> T) -> T {
        let mut rare = self.rare.take().unwrap_or_default();
        let changed = change(&mut rare);
        self.rare = Some(rare).filter(|rare| **rare != Rare::default());
        changed
    }

    pub(super) fn choice(&self) -> Choice {
        self.rare.as_deref().map(|rare| rare.choice).unwrap_or_default()
    }

    fn chosen(&self) -> Moment {
        self.rare.as_deref().map(|rare| rare.chosen).unwrap_or_default()
    }

    /// Returns the end of the time in which a device may come back.
    pub(super) fn lease(&self) -> Option<Instant> {
        self.rare.as_deref()?.lease
    }

    /// Sets the time until which a device may come back.
    pub(super) fn lend(&mut self, end: Instant) {
        self.change(|rare| rare.lease = Some(end));
    }

    pub(super) fn end_lease(&mut self) {
        if self.lease().is_some() {
            self.change(|rare| rare.lease = None);
        }
    }

    /// Returns how many readings of their conversations are in progress.
    pub(super) fn reading(&self) -> usize {
        self.rare.as_deref().map_or(0, |rare| rare.reading)
    }

    pub(super) fn begin_reading(&mut self) {
        self.change(|rare| rare.reading += 1);
    }

    /// Returns what they did during the reading; `None` if nothing was being read. Two devices may read at the same
    /// time: it is kept until both are done.
    pub(super) fn end_reading(&mut self) -> Option<Meanwhile> {
        if self.reading() == 0 {
            return None;
        }
        Some(self.change(|rare| {
            rare.reading -= 1;
            if rare.reading > 0 { rare.meanwhile.clone() } else { take(&mut rare.meanwhile) }
        }))
    }

    /// Returns the record of what they do during a reading, if one is in progress.
    pub(super) fn meanwhile(&mut self) -> Option<&mut Meanwhile> {
        let rare = self.rare.as_deref_mut().filter(|rare| rare.reading > 0)?;
        Some(&mut rare.meanwhile)
    }

    /// Marks a device's join as pending, until [`Present::end_joining`].
    pub(super) fn begin_joining(&mut self, device: DeviceId) {
        self.change(|rare| rare.joining.begin(device));
    }

    /// Ends a pending join, accepted or not, and returns what was sent meanwhile.
    pub(super) fn end_joining(&mut self, device: DeviceId) -> Result<ToldMeanwhile, TooMuchTold> {
        self.change(|rare| rare.joining.end(device))
    }

    /// Records an event on their topic, which devices whose joins are pending do not receive.
    pub(super) fn note_told(&mut self, event: &'static str, subject: Option<Subject<'_>>, payload: &str) {
        if let Some(rare) = self.rare.as_deref_mut().filter(|rare| rare.joining.is_under_way()) {
            rare.joining.note(event, subject, payload);
        }
    }

    /// Bans them from a conversation until the given time.
    pub(super) fn ban(&mut self, conversation: ConversationId, until: Moment) {
        self.change(|rare| rare.banned.push((conversation, until)));
    }

    /// Lifts the ban from a conversation. Returns whether there was one.
    pub(super) fn unban(&mut self, conversation: ConversationId) -> bool {
        self.keep_bans(|(id, _)| *id != conversation)
    }

    /// Returns whether any ban was removed.
    fn keep_bans(&mut self, keeps: impl FnMut(&(ConversationId, Moment)) -> bool) -> bool {
        let before = self.rare.as_deref().map_or(0, |rare| rare.banned.len());
        before > 0
            && self.change(|rare| {
                rare.banned.retain(keeps);
                rare.banned.len() < before
            })
    }

    /// Returns whether a device is connected, or may still come back in time.
    pub(super) fn is_here(&self) -> bool {
        !self.devices.is_empty() || self.lease().is_some()
    }

    pub(super) fn activities(&self) -> impl Iterator<Item = Activity> {
        self.devices.iter().map(|device| device.activity)
    }

    /// Returns the report for the other nodes.
    pub(super) fn to_tell(&self, person: &PersonId) -> PersonReport {
        let is_active = self.activities().any(|activity| activity == Activity::Active);
        let activity = if is_active { Activity::Active } else { Activity::Idle };
        let here = self.is_here().then(|| There {
            activity: (!self.devices.is_empty()).then_some(activity),
            devices: self.devices.len(),
            choice: self.choice(),
            chosen: self.chosen(),
            conversations: self.conversations.to_vec(),
        });
        PersonReport { person: person.clone(), here, seen: self.seen() }
    }

    /// Returns when others last saw them, to the minute.
    pub(super) fn seen(&self) -> Option<Moment> {
        self.seen.map(Minute::moment)
    }

    /// Records that they are online at that moment, if others can see it.
    pub(super) fn see(&mut self, now: Moment) {
        if self.choice() != Choice::Invisible {
            self.seen = Some(Minute::of(now));
        }
    }

    /// Sets their chosen status, whatever another node's clock said at the previous choice. A person who becomes
    /// invisible was last seen now, as one who disconnects is.
    pub(super) fn choose(&mut self, choice: Choice, now: Moment) {
        if choice == Choice::Invisible {
            self.see(now);
        }
        self.change(|rare| {
            rare.choice = choice;
            rare.chosen = now.max(Moment::from_millis(rare.chosen.millis() + 1));
        });
    }

    /// Adopts a choice made on another node, if it is newer. This node then reports it, too, so that it survives when
    /// the first node is gone.
    pub(super) fn adopt(&mut self, chosen: Moment, choice: Choice) {
        if chosen > self.chosen() {
            self.change(|rare| (rare.chosen, rare.choice) = (chosen, choice));
            self.is_news = true;
        }
    }

    /// Returns when they were seen, if it is due to be stored: a crash would lose it for somebody who stays online for
    /// long.
    pub(super) fn sighting_due(&mut self, now: Moment) -> Option<Moment> {
        let noted = self.noted.get_or_insert(Minute::of(now)).moment();
        if self.devices.is_empty() || now.since_ms(noted) < SIGHTED_EVERY_MS {
            return None;
        }
        self.noted = Some(Minute::of(now));
        self.see(now);
        self.seen()
    }

    /// Marks their conversations to be read again if a ban has ended.
    pub(super) fn end_bans(&mut self, moment: Moment) {
        self.stale |= self.keep_bans(|(_, until)| *until > moment);
    }

    pub(super) fn is_in(&self, conversation: ConversationId) -> bool {
        self.conversations.binary_search(&conversation).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_stays_within_their_bytes() {
        assert!(size_of::<Present>() <= 80, "{} bytes", size_of::<Present>());
    }

    #[test]
    fn what_is_rare_takes_nothing_once_nothing_is_to_be_said_of_it() {
        let mut present = Present::new("person:one/ann".into());
        let conversation = ConversationId(chat::Ulid::from_bytes([1; 16]));
        present.begin_reading();
        present.lend(Instant::now());
        present.ban(conversation, Moment::from_millis(1));
        present.end_lease();
        assert_eq!(present.end_reading(), Some(Meanwhile::default()));
        assert!(present.rare.is_some());
        present.end_bans(Moment::from_millis(1));
        assert!(present.stale && present.rare.is_none());
        assert_eq!(present.end_reading(), None);
    }

    #[test]
    fn a_minute_is_that_of_its_moment() {
        for moment in [0, 59_999, 60_000, 1_795_000_000_000].map(Moment::from_millis) {
            assert_eq!(Minute::of(moment).moment(), moment.to_minute());
        }
    }
}
