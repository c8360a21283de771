//! When a room's publications were made, as precisely as other machines need to know.
//!
//! Pure: times are arguments.

use serde::{Deserialize, Serialize};

use crate::observe::Nanos;

/// Maximum number of publication times kept per room. Beyond it only every second one is kept, then every fourth, and
/// so on.
pub const TIMELINE_POINTS_MAX: usize = 256;

/// Times of some of a room's publications, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Publications whose index is a multiple of the stride, with their times.
    points: Vec<(u32, Nanos)>,
    newest: Option<(u32, Nanos)>,
    /// Binary logarithm of the stride.
    stride_bits: u32,
}

impl Timeline {
    /// Records a publication. One recorded after a later one (threads race) is skipped.
    pub(super) fn note(&mut self, index: u32, at: Nanos) {
        if self.newest.is_some_and(|(newest, _)| newest >= index) {
            return;
        }
        let at = self.newest.map_or(at, |(_, before)| at.max(before));
        self.newest = Some((index, at));
        if self.points.len() >= TIMELINE_POINTS_MAX {
            self.stride_bits += 1;
            let stride_bits = self.stride_bits;
            self.points.retain(|(index, _)| is_multiple(*index, stride_bits));
        }
        if is_multiple(index, self.stride_bits) {
            self.points.push((index, at));
        }
    }

    /// Returns an index below which all publications were made before `time`; later ones may have been, too.
    #[must_use]
    pub fn made_before(&self, time: Nanos) -> u32 {
        if let Some((newest, at)) = self.newest
            && at < time
        {
            return newest.saturating_add(1);
        }
        let earlier = self.points.partition_point(|(_, at)| *at < time);
        earlier.checked_sub(1).map_or(0, |last| self.points[last].0.saturating_add(1))
    }

    /// Returns an index from which on all publications were made after `time`; earlier ones may have been, too.
    #[must_use]
    pub fn made_after(&self, time: Nanos) -> u32 {
        let earlier = self.points.partition_point(|(_, at)| *at <= time);
        match (self.points.get(earlier), self.newest) {
            (Some((index, _)), _) => *index,
            (None, Some((newest, at))) if at > time => newest,
            (None, Some((newest, _))) => newest.saturating_add(1),
            (None, None) => 0,
        }
    }
}

fn is_multiple(index: u32, stride_bits: u32) -> bool {
    index.trailing_zeros() >= stride_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timeline of `count` publications, number n at time n × 10.
    fn timeline(count: u32) -> Timeline {
        let mut timeline = Timeline::default();
        (0..count).for_each(|index| timeline.note(index, u64::from(index) * 10));
        timeline
    }

    #[test]
    fn of_few_publications_each_is_told_from_the_next() {
        let few = timeline(100);
        for (time, before, after) in
            [(0, 0, 1), (5, 1, 1), (10, 1, 2), (500, 50, 51), (990, 99, 100), (2_000, 100, 100)]
        {
            assert_eq!((few.made_before(time), few.made_after(time)), (before, after), "at {time}");
        }
        let none = Timeline::default();
        assert_eq!((none.made_before(7), none.made_after(7)), (0, 0));
    }

    #[test]
    fn of_many_publications_the_bounds_hold_and_memory_does_not_grow() {
        let many = timeline(100_000);
        assert!(many.points.len() <= TIMELINE_POINTS_MAX);
        for time in (0..1_000_000).step_by(997) {
            let truly_before = u32::try_from(u64::div_ceil(time, 10)).expect("few").min(100_000);
            let truly_after = u32::try_from(time / 10 + 1).expect("few").min(100_000);
            assert!(many.made_before(time) <= truly_before, "at {time}");
            assert!(many.made_after(time) >= truly_after, "at {time}");
            assert!(many.made_after(time) - many.made_before(time) <= 2 * 1_024, "at {time}");
        }
    }

    #[test]
    fn what_is_noted_after_a_later_one_is_left_out() {
        let mut timeline = Timeline::default();
        [(1, 20), (0, 10), (2, 15)].into_iter().for_each(|(index, at)| timeline.note(index, at));
        assert_eq!(timeline.points, [(1, 20), (2, 20)], "times do not go back");
    }
}
