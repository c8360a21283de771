//! Missing publications that are too far behind for a tracker's window.

/// Maximum number of ranges of missing publications that one tracker remembers; beyond it the oldest are given up.
pub const HOLE_RANGES_MAX: usize = 256;

/// Ranges of missing indices, ascending, no two adjacent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Holes {
    /// Start and end of each range; the end is exclusive.
    ranges: Vec<(u32, u32)>,
    /// Everything below was given up: whether it was received is no longer known.
    forgotten_below: u32,
}

impl Holes {
    /// Records that `from..to`, all above what was recorded before, are missing.
    pub(super) fn push(&mut self, from: u32, to: u32) {
        if from >= to {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            Some(_) | None => self.ranges.push((from, to)),
        }
        self.bound();
    }

    /// Removes `index` if it is missing; returns whether it was.
    pub(super) fn fill(&mut self, index: u32) -> bool {
        let Some(place) = self.place_of(index) else { return false };
        let (from, to) = self.ranges[place];
        match (from == index, index + 1 == to) {
            (true, true) => drop(self.ranges.remove(place)),
            (true, false) => self.ranges[place].0 = index + 1,
            (false, true) => self.ranges[place].1 = index,
            (false, false) => {
                self.ranges[place].1 = index;
                self.ranges.insert(place + 1, (index + 1, to));
                self.bound();
            }
        }
        true
    }

    pub(super) fn contains(&self, index: u32) -> bool {
        self.place_of(index).is_some()
    }

    /// Returns whether `index` may have been missing and was given up.
    pub(super) fn has_forgotten(&self, index: u32) -> bool {
        index < self.forgotten_below
    }

    /// Returns how many indices in `from..to` are missing.
    pub(super) fn count_within(&self, from: u32, to: u32) -> u64 {
        self.ranges.iter().map(|&(first, end)| u64::from(end.min(to).saturating_sub(first.max(from)))).sum()
    }

    fn place_of(&self, index: u32) -> Option<usize> {
        let place = self.ranges.partition_point(|&(_, to)| to <= index);
        self.ranges.get(place).is_some_and(|&(from, _)| from <= index).then_some(place)
    }

    fn bound(&mut self) {
        if self.ranges.len() > HOLE_RANGES_MAX {
            self.forgotten_below = self.ranges.remove(0).1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_filled_and_split() {
        let mut holes = Holes::default();
        holes.push(3, 3);
        holes.push(5, 6);
        holes.push(6, 10);
        holes.push(20, 21);
        assert_eq!(holes.ranges, [(5, 10), (20, 21)]);
        let table = [(4, false), (7, true), (7, false), (5, true), (9, true), (20, true), (21, false)];
        for (index, missing) in table {
            assert_eq!(holes.fill(index), missing, "{index}");
            assert!(!holes.contains(index));
        }
        assert_eq!(holes.ranges, [(6, 7), (8, 9)]);
        assert_eq!(holes.count_within(0, 100), 2);
        assert_eq!(holes.count_within(7, 9), 1);
    }

    #[test]
    fn of_too_many_runs_the_oldest_is_given_up() {
        let mut holes = Holes::default();
        for place in 0..=HOLE_RANGES_MAX as u32 {
            holes.push(place * 10, place * 10 + 5);
        }
        assert_eq!(holes.ranges.len(), HOLE_RANGES_MAX);
        assert!(holes.has_forgotten(4) && !holes.has_forgotten(5));
        // Splitting one range adds one.
        assert!(holes.fill(12));
        assert!(holes.has_forgotten(11) && !holes.has_forgotten(13));
        assert_eq!(holes.ranges.len(), HOLE_RANGES_MAX);
    }
}
