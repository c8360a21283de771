//! Bounds what the kernel may keep of data that peers do not take, for all connections of a shard together.
//!
//! Pure arithmetic. What is passed to the kernel is counted at no less than the memory it takes. Only the kernel knows
//! what peers have taken since, so it is asked, connection by connection, when the count says that there may be too
//! much. Until all have been asked the count stands, so that what the kernel keeps never exceeds the bound by more than
//! what the buffer of one socket takes.

use std::ops::Range;
use std::time::{Duration, Instant};

/// Maximum kernel memory of a segment in addition to its bytes.
const SEGMENT_BYTES: u64 = 1280;
/// Maximum length of a message that a peer that reads still gets when nearly all of the room is taken.
pub(crate) const SHORT_BYTES_MAX: usize = 4096;
/// Connections checked in one tick.
const SLICE_SLOTS: u32 = 4096;
/// The minimum time between two passes.
const PAUSE: Duration = Duration::from_millis(1);
/// The additional pause for each slot: checking one takes less than half of that, so most of the time is left.
const PAUSE_EACH: Duration = Duration::from_micros(1);
/// How long a peer may leave data in the kernel's send queue while there is too much in total.
pub(crate) const UNREAD_TIME_MAX: Duration = Duration::from_secs(1);

/// What may be passed to the kernel now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendPressure {
    /// Anything.
    Free,
    /// Data for a peer that has taken everything before.
    Tight,
    /// The same, but only if [short](SHORT_BYTES_MAX): peers that read still get answers, and those that do not read
    /// need many connections to use up what is left.
    Narrow,
    /// Nothing.
    Full,
}

/// The purpose of a pass over the connections, besides measuring how much is kept for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Marks the connections whose peers have not taken everything.
    Notes,
    /// Unmarks those whose peers have taken it since.
    Looks,
    /// Cuts those whose peers have still not taken what was unread when they were marked, and marks the others anew.
    Cuts,
}

/// The count of one shard.
pub(crate) struct SendBudget {
    bytes_max: u64,
    /// The count: an upper bound on what the kernel keeps.
    bytes: u64,
    /// The pass under way: its purpose, what it has found, what was handed over since it began, and the next slot.
    pass: Option<(Pass, Found)>,
    next_pass: Instant,
    noted: Option<Instant>,
    /// A write was held back, and nothing else will announce when there is room.
    held_back: bool,
}

#[derive(Default)]
struct Found {
    bytes: u64,
    handed: u64,
    cursor: u32,
}

impl SendBudget {
    /// `usize::MAX` means no bound; then nothing is counted.
    pub(crate) fn new(bytes_max: usize, now: Instant) -> SendBudget {
        let bytes_max = if bytes_max == usize::MAX { u64::MAX } else { bytes_max as u64 };
        SendBudget { bytes_max, bytes: 0, pass: None, next_pass: now, noted: None, held_back: false }
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes_max != u64::MAX
    }

    /// Returns an upper bound on what the kernel keeps; 0 if there is no limit.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn standing(&self) -> SendPressure {
        if self.bytes <= self.free_bytes_max() {
            SendPressure::Free
        } else if self.bytes <= 3 * (self.bytes_max / 4) {
            SendPressure::Tight
        } else if self.bytes < self.bytes_max {
            SendPressure::Narrow
        } else {
            SendPressure::Full
        }
    }

    fn free_bytes_max(&self) -> u64 {
        2 * (self.bytes_max / 4)
    }

    /// Returns how many calls may hand over `length` bytes each before anything else than [`SendPressure::Free`] is to
    /// be expected: so many may be made without looking again.
    pub(crate) fn writes_left(&self, length: usize) -> u64 {
        match self.standing() {
            SendPressure::Free if self.is_bounded() => {
                (self.free_bytes_max() - self.bytes) / memory_of(length) + 1
            }
            SendPressure::Free => u64::MAX,
            SendPressure::Tight | SendPressure::Narrow | SendPressure::Full => 0,
        }
    }

    /// Counts `length` bytes that the kernel accepted in one call.
    pub(crate) fn hand_over(&mut self, length: usize) {
        self.hand_over_each(1, length);
    }

    /// Counts `length` bytes for each of so many calls.
    pub(crate) fn hand_over_each(&mut self, calls: u64, length: usize) {
        if self.is_bounded() && length > 0 {
            let bytes = calls * memory_of(length);
            self.bytes += bytes;
            if let Some((_, found)) = &mut self.pass {
                found.handed += bytes;
            }
        }
    }

    /// Notes that a write was held back: there will be a pass.
    pub(crate) fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// Lowers the count to what all sockets of the machine take, which is not less than what the shard's take.
    pub(crate) fn cap(&mut self, machine_bytes: u64) {
        self.bytes = self.bytes.min(machine_bytes);
        self.forget_notes_if_free();
    }

    /// Peers that had something unread then have had room since: what is unread when the next pass begins may be
    /// something else.
    fn forget_notes_if_free(&mut self) {
        if self.pass.is_none() && self.standing() == SendPressure::Free {
            self.noted = None;
        }
    }

    fn wants_pass(&self) -> bool {
        self.held_back || self.standing() != SendPressure::Free
    }

    /// Returns whether a pass would begin now.
    pub(crate) fn begins_pass(&self, now: Instant) -> bool {
        self.pass.is_none() && now >= self.next_pass && self.wants_pass()
    }

    /// Returns when the next slice is due, if one is.
    pub(crate) fn next_slice(&self) -> Option<Instant> {
        (self.pass.is_some() || self.wants_pass()).then_some(self.next_pass)
    }

    /// Returns the slots to check now, and for what purpose.
    pub(crate) fn slice(&mut self, now: Instant, slots: u32) -> Option<(Range<u32>, Pass)> {
        if self.begins_pass(now) {
            let pass = match self.noted {
                None => Pass::Notes,
                Some(noted) if now.duration_since(noted) >= UNREAD_TIME_MAX => Pass::Cuts,
                Some(_) => Pass::Looks,
            };
            if pass != Pass::Looks {
                self.noted = Some(now);
            }
            self.held_back = false;
            self.pass = Some((pass, Found::default()));
        }
        let (pass, found) = self.pass.as_mut()?;
        let start = found.cursor;
        found.cursor = start.saturating_add(SLICE_SLOTS).min(slots);
        Some((start..found.cursor.max(start), *pass))
    }

    /// Adds what the kernel keeps for one connection.
    pub(crate) fn find(&mut self, bytes: u64) {
        if let Some((_, found)) = &mut self.pass {
            found.bytes += bytes;
        }
    }

    /// Ends a slice, all slots of which have been checked, and with the last slice the pass.
    pub(crate) fn end_slice(&mut self, now: Instant, slots: u32) {
        let Some((_, found)) = self.pass.take_if(|(_, found)| found.cursor >= slots) else { return };
        self.bytes = found.bytes + found.handed;
        self.next_pass = now + PAUSE + PAUSE_EACH * slots;
        self.forget_notes_if_free();
    }
}

/// Returns the most memory that the kernel takes for `length` bytes of one call.
fn memory_of(length: usize) -> u64 {
    // Short segments amortize their overhead less well, and a segment that is split has it twice.
    length as u64 / 2 * 3 + SEGMENT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100_000;

    /// Runs a pass in which the kernel keeps `kept` bytes for each of the connections.
    fn pass(room: &mut SendBudget, now: Instant, kept: &[u64]) -> Option<Pass> {
        let (slots, pass) = room.slice(now, kept.len() as u32)?;
        slots.for_each(|slot| room.find(kept[slot as usize]));
        room.end_slice(now, kept.len() as u32);
        Some(pass)
    }

    #[test]
    fn without_a_bound_nothing_is_counted_and_nobody_asked() {
        let now = Instant::now();
        let mut room = SendBudget::new(usize::MAX, now);
        room.hand_over(usize::MAX / 2);
        assert_eq!((room.bytes(), room.standing(), room.writes_left(9)), (0, SendPressure::Free, u64::MAX));
        assert_eq!((room.slice(now, 9), room.next_slice()), (None, None));
    }

    #[test]
    fn what_was_handed_over_counts_until_the_kernel_says_that_it_was_taken() {
        let now = Instant::now();
        let mut room = SendBudget::new(MAX, now);
        room.hand_over(30_000);
        assert_eq!(room.standing(), SendPressure::Free);
        assert_eq!(pass(&mut room, now, &[0; 3]), None, "nobody is asked before there may be too much");
        let after = [10_000, 10_000, 20_000].map(|length| {
            room.hand_over(length);
            room.standing()
        });
        assert_eq!(after, [SendPressure::Tight, SendPressure::Narrow, SendPressure::Full]);
        assert_eq!(pass(&mut room, now, &[0, 700, 0]), Some(Pass::Notes));
        assert_eq!((room.bytes(), room.standing()), (700, SendPressure::Free));
        assert_eq!(room.next_slice(), None);
    }

    #[test]
    fn as_many_writes_are_left_as_can_be_made_one_by_one() {
        for (length, before) in [(1, 0), (1_000, 0), (1_000, 30_000), (9_999, 30_000), (MAX, 0)] {
            let mut room = SendBudget::new(MAX, Instant::now());
            room.hand_over(before);
            let mut together = SendBudget::new(MAX, Instant::now());
            together.hand_over(before);
            let left = room.writes_left(length);
            for nth in 0..left {
                assert_eq!(
                    room.standing(),
                    SendPressure::Free,
                    "write {nth} of {length} bytes after {before}"
                );
                room.hand_over(length);
            }
            assert_ne!(room.standing(), SendPressure::Free, "after {left} writes of {length} bytes");
            assert_eq!(room.writes_left(length), 0);
            together.hand_over_each(left, length);
            assert_eq!(together.bytes(), room.bytes());
        }
    }

    #[test]
    fn what_is_handed_over_during_a_pass_is_not_lost() {
        let now = Instant::now();
        let mut room = SendBudget::new(MAX, now);
        room.hand_over(MAX);
        let slots = SLICE_SLOTS + 1;
        assert_eq!(room.slice(now, slots), Some((0..SLICE_SLOTS, Pass::Notes)));
        room.hand_over(1000);
        room.end_slice(now, slots);
        assert_eq!(room.standing(), SendPressure::Full, "the pass has not been everywhere");
        assert_eq!(room.slice(now, slots), Some((SLICE_SLOTS..slots, Pass::Notes)));
        room.find(5);
        room.end_slice(now, slots);
        assert_eq!(room.bytes(), 5 + 1500 + SEGMENT_BYTES);
    }

    #[test]
    fn who_takes_nothing_is_cut_after_a_time_and_only_while_there_is_too_much() {
        let start = Instant::now();
        let mut room = SendBudget::new(MAX, start);
        room.hand_over(MAX);
        let (full, free) = ([MAX as u64, 0], [10, 0]);
        let mut at = |after: Duration, kept: &[u64]| {
            room.hold_back();
            pass(&mut room, start + after, kept)
        };
        let ms = Duration::from_millis;
        assert_eq!(at(ms(0), &full), Some(Pass::Notes));
        assert_eq!(at(PAUSE, &full), None, "passes have pauses, for each slot too");
        assert_eq!(at(ms(500), &full), Some(Pass::Looks));
        assert_eq!(at(ms(1000), &full), Some(Pass::Cuts));
        assert_eq!(at(ms(1500), &full), Some(Pass::Looks));
        assert_eq!(at(ms(1600), &free), Some(Pass::Looks));
        assert_eq!(at(ms(9000), &free), Some(Pass::Notes), "who was noted before has had room since");
    }

    #[test]
    fn who_was_held_back_is_looked_for_though_there_is_room_again() {
        let now = Instant::now();
        let mut room = SendBudget::new(MAX, now);
        room.hand_over(MAX);
        room.hold_back();
        let (_, _) = room.slice(now, 1).expect("there may be too much");
        room.hold_back();
        room.end_slice(now, 1);
        assert_eq!(room.standing(), SendPressure::Free);
        assert!(room.next_slice().is_some(), "the one slot was held back while the count still stood");
        assert!(pass(&mut room, now + PAUSE * 2, &[0]).is_some());
        assert_eq!(room.next_slice(), None);
    }

    #[test]
    fn the_whole_machines_sockets_take_no_less_than_the_shards() {
        let mut room = SendBudget::new(MAX, Instant::now());
        room.hand_over(MAX);
        room.cap(MAX as u64 / 2);
        assert_eq!(room.standing(), SendPressure::Free);
    }

    #[test]
    fn who_was_noted_before_the_machines_sockets_had_room_again_is_noted_anew_and_not_cut() {
        let start = Instant::now();
        let mut room = SendBudget::new(MAX, start);
        room.hand_over(MAX);
        assert_eq!(pass(&mut room, start, &[MAX as u64]), Some(Pass::Notes));
        room.cap(0);
        let later = start + 9 * UNREAD_TIME_MAX;
        room.hand_over(MAX);
        assert_eq!(pass(&mut room, later, &[MAX as u64]), Some(Pass::Notes));
        assert_eq!(pass(&mut room, later + UNREAD_TIME_MAX, &[MAX as u64]), Some(Pass::Cuts));
    }
}
