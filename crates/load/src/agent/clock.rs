//! Estimates the offset of an agent's clock from the controller's by exchanging probes.
//!
//! Both clocks are monotonic with an arbitrary origin; the estimate is the difference of their readings at one moment.
//! Pure: the readings are arguments.

/// One query of the other side's clock. Times are in nanoseconds of the clock of the side that read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// When the query was sent, by the asking side's clock.
    pub asked_ns: u64,
    /// When it was answered, by the answering side's clock.
    pub answered_ns: u64,
    /// When the answer was received, by the asking side's clock.
    pub heard_ns: u64,
}

/// The difference between another clock and ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offset {
    /// The other clock's reading minus ours, in nanoseconds.
    pub offset_ns: i128,
    /// Maximum error in either direction, in nanoseconds.
    pub error_ns: u64,
}

impl Probe {
    /// Returns the round-trip time, in nanoseconds.
    fn round_trip_ns(&self) -> u64 {
        self.heard_ns.saturating_sub(self.asked_ns)
    }

    /// The answer was given at some moment between query and receipt: the midpoint is off by at most half the round
    /// trip, however asymmetric the two directions are (Cristian's algorithm).
    fn offset(&self) -> Offset {
        let round_trip_ns = self.round_trip_ns();
        let middle_ns = i128::from(self.asked_ns) + i128::from(round_trip_ns / 2);
        Offset { offset_ns: i128::from(self.answered_ns) - middle_ns, error_ns: round_trip_ns.div_ceil(2) }
    }
}

impl Offset {
    /// Returns the estimate with the shortest round trip, which is the most accurate; `None` without probes.
    #[must_use]
    pub fn of(probes: &[Probe]) -> Option<Self> {
        probes.iter().min_by_key(|probe| probe.round_trip_ns()).map(Probe::offset)
    }

    /// Returns this estimate with its error adjusted by a later one: the clocks may have drifted apart meanwhile.
    #[must_use]
    pub fn checked_by(self, later: Self) -> Self {
        let drift_ns = u64::try_from((later.offset_ns - self.offset_ns).unsigned_abs()).unwrap_or(u64::MAX);
        Self { error_ns: self.error_ns.max(drift_ns.saturating_add(later.error_ns)), ..self }
    }

    /// Converts our reading to the other clock's; 0 for a time before its origin.
    #[must_use]
    pub fn theirs_ns(&self, ours_ns: u64) -> u64 {
        u64::try_from((i128::from(ours_ns) + self.offset_ns).max(0)).unwrap_or(u64::MAX)
    }
}

/// Returns the maximum error of times between two machines, in microseconds, rounded up: the errors of two machines add
/// up. A single machine has no such times.
#[must_use]
pub fn error_between_us(offsets: &[Offset]) -> u64 {
    let mut errors_ns: Vec<u64> = offsets.iter().map(|offset| offset.error_ns).collect();
    errors_ns.sort_unstable_by(|a, b| b.cmp(a));
    match errors_ns.as_slice() {
        [] | [_] => 0,
        [greatest, next, ..] => greatest.saturating_add(*next).div_ceil(1_000),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_shortest_round_trip_is_believed() {
        let probes = [
            Probe { asked_ns: 0, answered_ns: 5_900, heard_ns: 1_000 },
            Probe { asked_ns: 2_000, answered_ns: 7_060, heard_ns: 2_100 },
            Probe { asked_ns: 4_000, answered_ns: 9_001, heard_ns: 6_000 },
        ];
        assert_eq!(Offset::of(&probes), Some(Offset { offset_ns: 5_010, error_ns: 50 }));
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn drift_widens_the_error_and_agreement_does_not_narrow_it() {
        let first = Offset { offset_ns: 1_000, error_ns: 50 };
        for (later, error_ns) in [
            (Offset { offset_ns: 1_000, error_ns: 10 }, 50),
            (Offset { offset_ns: 1_500, error_ns: 10 }, 510),
            (Offset { offset_ns: 400, error_ns: 0 }, 600),
        ] {
            assert_eq!(first.checked_by(later), Offset { offset_ns: 1_000, error_ns });
        }
    }

    #[test]
    fn between_two_machines_the_two_greatest_errors_add_up() {
        let offset = |error_ns| Offset { offset_ns: 7, error_ns };
        assert_eq!(error_between_us(&[]), 0);
        assert_eq!(error_between_us(&[offset(900_000)]), 0, "one machine has one clock");
        assert_eq!(error_between_us(&[offset(1_500), offset(300_000), offset(20_001)]), 321);
    }

    proptest! {
        /// Whatever the delays in the two directions and the offset of the clocks, the true offset lies within the
        /// error.
        #[test]
        fn the_true_offset_lies_within_the_error(
            true_offset in -1_000_000_000_000_i64..1_000_000_000_000,
            trips in prop::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..10),
        ) {
            let probes: Vec<Probe> = trips.iter().enumerate().map(|(number, &(there, back))| {
                let asked_ns = 2_000_000_000_000 + number as u64 * 1_000_000_000;
                let answered_ns = (asked_ns + there) as i64 + true_offset;
                Probe { asked_ns, answered_ns: answered_ns as u64, heard_ns: asked_ns + there + back }
            }).collect();
            let estimate = Offset::of(&probes).expect("there are probes");
            let wrong = (estimate.offset_ns - i128::from(true_offset)).unsigned_abs();
            prop_assert!(wrong <= u128::from(estimate.error_ns));
            let ours = 3_000_000_000_000;
            prop_assert_eq!(i128::from(estimate.theirs_ns(ours)), i128::from(ours) + estimate.offset_ns);
        }
    }
}
