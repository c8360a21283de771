//! What a person's topic was told while a device's join of it was being decided.
//!
//! The device did not hear it, and what it was shown may be older: it is told all of it once its join stands. Messages are not
//! kept here, as they are read from their place on; nor is presence, which is compared ([`Shown`](super::Shown)).

use std::mem::take;
use std::sync::Arc;

/// A join that misses more than this fails, so that the client joins again and is shown everything anew.
const TOLD_MAX: usize = 32;

/// Events with their payloads, oldest first.
pub(crate) type ToldMeanwhile = Vec<(&'static str, Arc<str>)>;

/// More was told than is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMuchTold;

/// See the module.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Joining {
    /// Devices whose joins are being decided.
    devices: u32,
    told: ToldMeanwhile,
    overflowed: bool,
}

impl Joining {
    pub(super) fn begin(&mut self) {
        self.devices += 1;
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.devices > 0
    }

    pub(super) fn note(&mut self, event: &'static str, payload: &str) {
        if self.told.len() < TOLD_MAX {
            self.told.push((event, payload.into()));
        } else {
            self.overflowed = true;
        }
    }

    /// A join stands, or has ended. What others that are being decided have yet to hear is kept for them: a device that came
    /// later may be told something that it was shown already, which changes nothing.
    pub(super) fn end(&mut self) -> Result<ToldMeanwhile, TooMuchTold> {
        self.devices = self.devices.saturating_sub(1);
        let ended = if self.devices > 0 { self.clone() } else { take(self) };
        if ended.overflowed { Err(TooMuchTold) } else { Ok(ended.told) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_is_told_what_was_told_while_its_join_was_decided_and_nothing_is_kept_after_the_last() {
        let mut joining = Joining::default();
        joining.begin();
        joining.note("cursors", "1");
        joining.begin();
        joining.note("block", "2");
        let both = [("cursors", "1".into()), ("block", "2".into())];
        assert_eq!(joining.end().as_deref(), Ok(&both[..]));
        joining.note("status", "3");
        assert_eq!(joining.end().map(|told| told.len()), Ok(3));
        assert_eq!(joining, Joining::default());
    }

    #[test]
    fn a_join_that_missed_too_much_is_told_so() {
        let mut joining = Joining::default();
        joining.begin();
        (0..=TOLD_MAX).for_each(|_| joining.note("cursors", "{}"));
        assert_eq!(joining.end(), Err(TooMuchTold));
        joining.begin();
        assert_eq!(joining.end(), Ok(Vec::new()));
    }
}
