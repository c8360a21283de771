//! Publications that have not come and are too far behind for a tracker's window.

/// Runs of missing publications that one tracker remembers; of more, the oldest are given up.
pub const HOLE_RANGES_MAX: usize = 256;

/// Runs of missing indices, ascending, none touching the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Holes {
    /// First index of each run, and the one after its last.
    ranges: Vec<(u32, u32)>,
    /// What is below was given up: whether it came is not known any more.
    forgotten_below: u32,
}

impl Holes {
    /// Notes that `from..to`, all above what was noted before, have not come.
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

    /// Whether `index` was missing, in which case it is not any more.
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

    /// Whether `index` may have been missing once and was given up.
    pub(super) fn has_forgotten(&self, index: u32) -> bool {
        index < self.forgotten_below
    }

    /// How many are missing in `from..to`.
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
        // Splitting one makes one more.
        assert!(holes.fill(12));
        assert!(holes.has_forgotten(11) && !holes.has_forgotten(13));
        assert_eq!(holes.ranges.len(), HOLE_RANGES_MAX);
    }
}
