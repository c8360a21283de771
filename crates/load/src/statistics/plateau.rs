//! A ceiling of connections: so many, whatever more the scenario asks for.

use super::Statistics;

/// Connections at or above this share of the most count as being at the ceiling.
const CEILING_SHARE: f64 = 0.97;
/// A ceiling shorter than this is none, in seconds.
const SECONDS_MIN: u32 = 5;
/// Connects must fail in so many of its seconds.
const FAILING_SECONDS_MIN: u32 = 2;

/// Numbers at which connections are known to stop, and what they mean.
const KNOWN_CEILINGS: [(u64, &str); 3] = [
    (1_024, "the usual limit of open files of a process that nobody has raised (nofile)"),
    (
        28_232,
        "the number of ports that Linux gives to one source address for one target (ip_local_port_range)",
    ),
    (65_535, "the number of ports of one address"),
];

/// A ceiling that connections did not get beyond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plateau {
    /// So many connections.
    pub(super) connected: u64,
    /// The second in which they were reached.
    pub(super) from_second: u32,
    /// Connects that failed while they were there.
    pub(super) failed: u64,
    /// What is known to stop there.
    pub(super) known_as: Option<&'static str>,
}

/// Finds the ceiling, if there was one: connections stayed at their most while more connects failed than succeeded.
pub(super) fn find(statistics: &Statistics) -> Option<Plateau> {
    let mut ceiling = Ceiling::default();
    let most = statistics.seconds.each().map(|(_, before, second)| match second {
        Some(second) => before.after(second).connected,
        None => before.connected,
    });
    let most = most.max().filter(|most| *most > 0)?;
    for (number, before, second) in statistics.seconds.each() {
        let connected = second.map_or(before, |second| before.after(second)).connected;
        if (connected as f64) < most as f64 * CEILING_SHARE {
            if ceiling.is_one() {
                break;
            }
            ceiling = Ceiling::default();
            continue;
        }
        ceiling.from_second.get_or_insert(number);
        ceiling.seconds += 1;
        let Some(second) = second else { continue };
        ceiling.failed += second.connects_failed;
        ceiling.connects += second.connects;
        ceiling.failing_seconds += u32::from(second.connects_failed > 0);
    }
    let connected = most as u64;
    ceiling.is_one().then(|| Plateau {
        connected,
        from_second: ceiling.from_second.unwrap_or_default(),
        failed: ceiling.failed,
        known_as: KNOWN_CEILINGS
            .iter()
            .find(|(number, _)| connected <= *number && connected as f64 >= *number as f64 * CEILING_SHARE)
            .map(|(_, meaning)| *meaning),
    })
}

/// Seconds in a row at the top.
#[derive(Default)]
struct Ceiling {
    from_second: Option<u32>,
    seconds: u32,
    failing_seconds: u32,
    connects: u64,
    failed: u64,
}

impl Ceiling {
    fn is_one(&self) -> bool {
        // The last few that still succeeded belong to the climb: they are at most the ceiling's own breadth.
        self.seconds >= SECONDS_MIN
            && self.failing_seconds >= FAILING_SECONDS_MIN
            && self.failed > self.connects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Observation, Outcome};
    use crate::statistics::example::observation;

    /// Each second so many connects are tried, and those beyond the ceiling are refused.
    fn run(seconds: u64, per_second: u64, ceiling: u64) -> Statistics {
        let mut statistics = Statistics::new();
        let mut connected = 0;
        for second in 0..seconds {
            for connect in 0..per_second {
                let at = second * 1_000_000_000 + connect;
                let outcome = if connected < ceiling { Outcome::Ok } else { Outcome::Refused };
                connected += u64::from(outcome == Outcome::Ok);
                statistics.observe(&Observation { kind: Kind::Connect, outcome, at, ..observation() });
            }
        }
        statistics
    }

    #[test]
    fn connects_that_stop_at_a_number_are_a_plateau_whatever_the_rate() {
        for per_second in [10, 37, 100] {
            let plateau = find(&run(40, per_second, 100)).expect("a plateau");
            assert_eq!(plateau.connected, 100);
            assert_eq!(u64::from(plateau.from_second), 97 / per_second);
            assert_eq!(plateau.failed, 40 * per_second - 100);
            assert_eq!(plateau.known_as, None);
        }
    }

    #[test]
    fn a_known_limit_is_named() {
        let plateau = find(&run(20, 200, 1_021)).expect("a plateau");
        assert!(plateau.known_as.is_some_and(|meaning| meaning.contains("nofile")));
    }

    #[test]
    fn a_crowd_that_is_complete_is_no_plateau() {
        assert_eq!(find(&run(40, 10, 1_000)), None);
        let mut complete = run(10, 10, 1_000);
        let at = 60_000_000_000;
        complete.observe(&Observation {
            kind: Kind::Connect,
            outcome: Outcome::Refused,
            at,
            ..observation()
        });
        assert_eq!(find(&complete), None, "one refusal is no ceiling");
        assert_eq!(find(&Statistics::new()), None);
    }
}
