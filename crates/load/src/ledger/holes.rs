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
