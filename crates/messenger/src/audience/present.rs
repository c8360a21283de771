//! A person who is here.

use super::abroad::{There, Told};
use super::joining::{Joining, Subject, ToldMeanwhile, TooMuchTold};
use super::status::{Activity, Choice, Status};
use crate::few::Few;
use chat::{ConversationId, Moment, PersonId};
use std::mem::take;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// How often it is stored of somebody who stays that they are seen: what a crash may take from it.
const SIGHTED_EVERY_MS: u64 = 10 * MINUTE_MS;
const MINUTE_MS: u64 = 60_000;

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
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Meanwhile {
    pub(super) left: Vec<ConversationId>,
    pub(super) came: Vec<ConversationId>,
}

/// Somebody who is here, or was a moment ago.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) topic: Arc<str>,
    pub(super) devices: Few<Device>,
    /// What they are in, in order.
    pub(super) conversations: Few<ConversationId>,
    rare: Option<Box<Rare>>,
    /// When others saw them last.
    seen: Option<Minute>,
    /// When that was given on last, to be stored.
    noted: Option<Minute>,
    /// What others were told last.
    pub(super) told: Status,
    /// Whether their conversations have to be read again.
    pub(super) stale: bool,
    /// Whether the other nodes are to be told of them.
    pub(super) is_news: bool,
}

/// What nothing is to be said of about most people for most of the time.
#[derive(Default, PartialEq, Debug)]
struct Rare {
    choice: Choice,
    /// When they chose that, wherever they did.
    chosen: Moment,
    /// How many are reading their conversations.
    reading: usize,
    /// What they left and came into while their conversations were read.
    meanwhile: Meanwhile,
    joining: Joining,
    /// What they are kept out of for a time, though they are in it, and until when.
    banned: Vec<(ConversationId, Moment)>,
    /// The end of the time in which a device may come back.
    lease: Option<Instant>,
}

/// A minute, in as few bytes as will do.
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
            devices: Few::default(),
            conversations: Few::default(),
            rare: None,
            seen: None,
            noted: None,
            told: Status::Offline,
            stale: false,
            is_news: true,
        }
    }

    /// Changes what is rare, and gives it back where nothing is to be said of it any more.
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

    /// The end of the time in which a device may come back.
    pub(super) fn lease(&self) -> Option<Instant> {
        self.rare.as_deref()?.lease
    }

    /// A device may come back until then.
    pub(super) fn lend(&mut self, end: Instant) {
        self.change(|rare| rare.lease = Some(end));
    }

    pub(super) fn end_lease(&mut self) {
        if self.lease().is_some() {
            self.change(|rare| rare.lease = None);
        }
    }

    /// How many are reading their conversations.
    pub(super) fn reading(&self) -> usize {
        self.rare.as_deref().map_or(0, |rare| rare.reading)
    }

    pub(super) fn begin_reading(&mut self) {
        self.change(|rare| rare.reading += 1);
    }

    /// What they did meanwhile; none if nobody reads. Two devices may read at the same time: until both have, it is kept.
    pub(super) fn end_reading(&mut self) -> Option<Meanwhile> {
        if self.reading() == 0 {
            return None;
        }
        Some(self.change(|rare| {
            rare.reading -= 1;
            if rare.reading > 0 { rare.meanwhile.clone() } else { take(&mut rare.meanwhile) }
        }))
    }

    /// Where it is noted what they do meanwhile, if somebody reads their conversations.
    pub(super) fn meanwhile(&mut self) -> Option<&mut Meanwhile> {
        let rare = self.rare.as_deref_mut().filter(|rare| rare.reading > 0)?;
        Some(&mut rare.meanwhile)
    }

    /// The join of a device of theirs is being decided, until [`Present::end_joining`].
    pub(super) fn begin_joining(&mut self, device: DeviceId) {
        self.change(|rare| rare.joining.begin(device));
    }

    /// What was told while a join was decided that stands now, or has ended.
    pub(super) fn end_joining(&mut self, device: DeviceId) -> Result<ToldMeanwhile, TooMuchTold> {
        self.change(|rare| rare.joining.end(device))
    }

    /// Their topic is told something, which devices whose joins are being decided do not hear.
    pub(super) fn note_told(&mut self, event: &'static str, subject: Option<Subject<'_>>, payload: &str) {
        if let Some(rare) = self.rare.as_deref_mut().filter(|rare| rare.joining.is_under_way()) {
            rare.joining.note(event, subject, payload);
        }
    }

    /// They are kept out of a conversation until then.
    pub(super) fn ban(&mut self, conversation: ConversationId, until: Moment) {
        self.change(|rare| rare.banned.push((conversation, until)));
    }

    /// They are kept out of a conversation no more. Says whether they were.
    pub(super) fn unban(&mut self, conversation: ConversationId) -> bool {
        self.keep_bans(|(id, _)| *id != conversation)
    }

    /// Says whether some were not kept.
    fn keep_bans(&mut self, keeps: impl FnMut(&(ConversationId, Moment)) -> bool) -> bool {
        let before = self.rare.as_deref().map_or(0, |rare| rare.banned.len());
        before > 0
            && self.change(|rare| {
                rare.banned.retain(keeps);
                rare.banned.len() < before
            })
    }

    /// Whether a device is here, or may come back in time.
    pub(super) fn is_here(&self) -> bool {
        !self.devices.is_empty() || self.lease().is_some()
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
            choice: self.choice(),
            chosen: self.chosen(),
            conversations: self.conversations.to_vec(),
        });
        Told { person: person.clone(), here, seen: self.seen() }
    }

    /// When others saw them last, to the minute.
    pub(super) fn seen(&self) -> Option<Moment> {
        self.seen.map(Minute::moment)
    }

    /// They are here at that moment, and others see it.
    pub(super) fn see(&mut self, now: Moment) {
        if self.choice() != Choice::Invisible {
            self.seen = Some(Minute::of(now));
        }
    }

    /// They wish to be seen otherwise from now on, whatever another node's clock said when they chose last. Who becomes
    /// invisible was seen until now, as who goes is.
    pub(super) fn choose(&mut self, choice: Choice, now: Moment) {
        if choice == Choice::Invisible {
            self.see(now);
        }
        self.change(|rare| {
            rare.choice = choice;
            rare.chosen = now.max(Moment::from_millis(rare.chosen.millis() + 1));
        });
    }

    /// What they chose on another node, if that is newer. The other nodes are told of it by this one, too: its word counts
    /// where the first one is gone.
    pub(super) fn adopt(&mut self, chosen: Moment, choice: Choice) {
        if chosen > self.chosen() {
            self.change(|rare| (rare.chosen, rare.choice) = (chosen, choice));
            self.is_news = true;
        }
    }

    /// When they were seen, if that is to be stored now: they are here for long, and a crash would forget it.
    pub(super) fn sighting_due(&mut self, now: Moment) -> Option<Moment> {
        let noted = self.noted.get_or_insert(Minute::of(now)).moment();
        if self.devices.is_empty() || now.since_ms(noted) < SIGHTED_EVERY_MS {
            return None;
        }
        self.noted = Some(Minute::of(now));
        self.see(now);
        self.seen()
    }

    /// Notes whether their conversations are to be read again because a ban is over.
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
