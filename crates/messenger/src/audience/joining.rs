//! What a person's topic was sent while joins of their devices were pending.
//!
//! A device does not receive the topic before its join is accepted, and what it was shown may be older; so it is then
//! sent everything from here. Messages are not kept, as they are read from the store by sequence number; nor is
//! presence, which is compared ([`Shown`](super::Shown)).

use super::present::DeviceId;
use chat::{ConversationId, PersonId};
use std::sync::Arc;

/// A join that missed more than this fails, so that the client joins again and is shown everything afresh.
const TOLD_MAX: usize = 128;

/// Events with their payloads, oldest first.
pub(crate) type ToldMeanwhile = Vec<(&'static str, Arc<str>)>;

/// More was sent than is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMuchTold;

/// The person and conversation whose newest state an event carries, so that it replaces an earlier one.
pub(super) type Subject<'a> = (ConversationId, &'a PersonId);

/// See the module.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Joining {
    /// Devices whose joins are pending, each with the index of the first event it missed; `None` if that was dropped.
    devices: Vec<(DeviceId, Option<usize>)>,
    told: Vec<MissedEvent>,
}

#[derive(Clone, PartialEq, Debug)]
struct MissedEvent {
    event: &'static str,
    subject: Option<(ConversationId, PersonId)>,
    payload: Arc<str>,
}

impl Joining {
    pub(super) fn begin(&mut self, device: DeviceId) {
        self.devices.push((device, Some(self.told.len())));
    }

    pub(super) fn is_under_way(&self) -> bool {
        !self.devices.is_empty()
    }

    pub(super) fn note(&mut self, event: &'static str, subject: Option<Subject<'_>>, payload: &str) {
        let subject = subject.map(|(conversation, person)| (conversation, person.clone()));
        let is_newer =
            |told: &MissedEvent| told.event == event && subject.is_some() && told.subject == subject;
        if let Some(earlier) = self.told.iter().position(is_newer) {
            self.remove(earlier);
        } else if self.told.len() >= TOLD_MAX {
            for (_, first) in &mut self.devices {
                *first = first.filter(|first| *first > 0);
            }
            self.remove(0);
        }
        self.told.push(MissedEvent { event, subject, payload: payload.into() });
    }

    fn remove(&mut self, place: usize) {
        self.told.remove(place);
        for first in self.devices.iter_mut().filter_map(|(_, first)| first.as_mut()) {
            *first -= usize::from(*first > place);
        }
    }

    /// Ends a device's pending join, accepted or not, and returns what it missed.
    pub(super) fn end(&mut self, device: DeviceId) -> Result<ToldMeanwhile, TooMuchTold> {
        let Some(place) = self.devices.iter().position(|(known, _)| *known == device) else {
            return Ok(ToldMeanwhile::new());
        };
        let (_, first) = self.devices.remove(place);
        let missed = first.map(|first| {
            let missed = self.told.iter().skip(first);
            missed.map(|told| (told.event, told.payload.clone())).collect()
        });
        if self.devices.is_empty() {
            self.told = Vec::new();
        }
        missed.ok_or(TooMuchTold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::somebody;

    const FIRST: DeviceId = DeviceId(1);
    const SECOND: DeviceId = DeviceId(2);

    fn payloads(told: Result<ToldMeanwhile, TooMuchTold>) -> Option<Vec<String>> {
        Some(told.ok()?.iter().map(|(_, payload)| payload.to_string()).collect())
    }

    #[test]
    fn each_device_is_told_what_came_since_its_own_join_began_and_nothing_is_kept_after_the_last() {
        let mut joining = Joining::default();
        joining.begin(FIRST);
        joining.note("cursors", None, "1");
        joining.begin(SECOND);
        joining.note("block", None, "2");
        assert_eq!(payloads(joining.end(FIRST)), Some(vec!["1".to_owned(), "2".to_owned()]));
        joining.note("status", None, "3");
        assert_eq!(payloads(joining.end(SECOND)), Some(vec!["2".to_owned(), "3".to_owned()]));
        assert_eq!(joining, Joining::default());
        assert_eq!(payloads(joining.end(SECOND)), Some(Vec::new()), "a join that nobody has begun");
    }

    #[test]
    fn a_newer_receipt_of_somebody_takes_the_place_of_an_earlier_one() {
        let mut joining = Joining::default();
        let place = ConversationId(chat::Ulid::from_bytes([1; 16]));
        let [ann, bob] = ["ann", "bob"].map(somebody);
        joining.begin(FIRST);
        joining.note("receipt", Some((place, &ann)), "ann 1");
        joining.note("receipt", Some((place, &bob)), "bob 1");
        joining.begin(SECOND);
        joining.note("receipt", Some((place, &ann)), "ann 2");
        assert_eq!(payloads(joining.end(SECOND)), Some(vec!["ann 2".to_owned()]));
        assert_eq!(payloads(joining.end(FIRST)), Some(vec!["bob 1".to_owned(), "ann 2".to_owned()]));
    }

    #[test]
    fn a_join_that_missed_too_much_is_told_so_and_a_later_one_is_not() {
        let mut joining = Joining::default();
        joining.begin(FIRST);
        joining.note("block", None, "before");
        joining.begin(SECOND);
        (0..TOLD_MAX).for_each(|nth| joining.note("block", None, &nth.to_string()));
        assert_eq!(joining.end(FIRST), Err(TooMuchTold));
        let told = payloads(joining.end(SECOND)).expect("it missed no more than is kept");
        assert_eq!((told.len(), &*told[0]), (TOLD_MAX, "0"));
    }
}
