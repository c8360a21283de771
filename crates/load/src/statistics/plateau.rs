//! Detects plateaus: a number of connections or waiting requests that a run does not exceed although the scenario asks
//! for more.

use super::Statistics;
use super::second::{Gauges, Second};

/// A second counts as part of the plateau if the value is at least this share of its maximum.
const CEILING_SHARE: f64 = 0.97;
/// Minimum length of a plateau in seconds.
const SECONDS_MIN: u32 = 5;
/// Minimum number of its seconds in which attempts fail.
const FAILING_SECONDS_MIN: u32 = 2;

/// Known limits on connections, and their causes.
const KNOWN_CEILINGS: [(u64, &str); 3] = [
    (1_024, "the usual limit of open files of a process that nobody has raised (nofile)"),
    (
        28_232,
        "the number of ports that Linux gives to one source address for one target (ip_local_port_range)",
    ),
    (65_535, "the number of ports of one address"),
];

/// The quantity that is limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crowd {
    /// Open WebSockets.
    Connections,
    /// HTTP requests on established connections that are waiting for their response.
    WaitingRequests,
}

/// A plateau.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plateau {
    /// The limited quantity.
    pub(super) of: Crowd,
    /// Its maximum.
    pub(super) most: u64,
    /// The second in which the plateau was reached.
    pub(super) from_second: u32,
    /// Attempts that failed during the plateau.
    pub(super) failed: u64,
    /// The known limit at this number, if any.
    pub(super) known_as: Option<&'static str>,
}

/// Finds the plateaus: the value stayed at its maximum while more attempts to join failed than succeeded.
pub(super) fn find(statistics: &Statistics) -> Vec<Plateau> {
    [Crowd::Connections, Crowd::WaitingRequests]
        .into_iter()
        .filter_map(|crowd| crowd.plateau(statistics))
        .collect()
}

/// One second of the quantity.
struct Moment {
    number: u32,
    /// Value at the end of the second.
    size: i64,
    /// Users that are not included in it but could be.
    others: i64,
    joined: u64,
    failed: u64,
}

impl Crowd {
    fn plateau(self, statistics: &Statistics) -> Option<Plateau> {
        let moments =
            || statistics.seconds.each().map(|(number, before, second)| self.at(number, before, second));
        let most = moments().map(|moment| moment.size).max().filter(|most| *most > 0)?;
        let mut ceiling = Ceiling::default();
        for moment in moments() {
            if (moment.size as f64) >= most as f64 * CEILING_SHARE {
                ceiling.add(&moment);
            } else if ceiling.is_one(self, most) {
                break;
            } else {
                ceiling = Ceiling::default();
            }
        }
        let is_known = |number: u64| most as u64 <= number && most as f64 >= number as f64 * CEILING_SHARE;
        ceiling.is_one(self, most).then(|| Plateau {
            of: self,
            most: most as u64,
            from_second: ceiling.from_second.unwrap_or_default(),
            failed: ceiling.failed,
            known_as: KNOWN_CEILINGS
                .iter()
                .find(|(number, _)| is_known(*number))
                .map(|(_, meaning)| *meaning),
        })
    }

    fn at(self, number: u32, before: Gauges, second: Option<&Second>) -> Moment {
        let after = second.map_or(before, |second| before.after(second));
        let of_second = |count: fn(&Second) -> u64| second.map_or(0, count);
        match self {
            Self::Connections => Moment {
                number,
                size: after.connected,
                others: after.users.saturating_sub(after.connected),
                joined: of_second(|second| second.connects),
                failed: of_second(|second| second.connects_failed),
            },
            Self::WaitingRequests => {
                let grown = after.waiting.saturating_sub(before.waiting).max(0) as u64;
                Moment {
                    number,
                    size: after.waiting,
                    others: after.users.saturating_sub(after.waiting),
                    // A user that got a response after a long wait and asks again reuses its own slot, so it is not a
                    // new one.
                    joined: grown + of_second(|second| second.http.saturating_sub(second.http_long)),
                    failed: of_second(|second| second.http_turned_away),
                }
            }
        }
    }

    /// Returns whether users are kept out, given the mean number of other users. A user has a WebSocket or wants one.
    /// But a user without a waiting request may not want one, and a user that retries after a failure is sometimes
    /// included.
    fn keeps_out(self, others: f64, most: i64) -> bool {
        match self {
            Self::Connections => true,
            Self::WaitingRequests => others > most as f64 * (1.0 - CEILING_SHARE),
        }
    }
}

/// Consecutive seconds at the maximum.
#[derive(Default)]
struct Ceiling {
    from_second: Option<u32>,
    seconds: u32,
    failing_seconds: u32,
    others: i64,
    joined: u64,
    failed: u64,
}

impl Ceiling {
    fn add(&mut self, moment: &Moment) {
        self.from_second.get_or_insert(moment.number);
        self.seconds += 1;
        self.others = self.others.saturating_add(moment.others);
        self.joined += moment.joined;
        self.failed += moment.failed;
        self.failing_seconds += u32::from(moment.failed > 0);
    }

    fn is_one(&self, of: Crowd, most: i64) -> bool {
        // The few that still succeeded belong to the rise: at most the width of the plateau's tolerance band.
        self.seconds >= SECONDS_MIN
            && self.failing_seconds >= FAILING_SECONDS_MIN
            && self.failed > self.joined
            && of.keeps_out(self.others as f64 / f64::from(self.seconds), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Nanos, Observation, Outcome};
    use crate::statistics::example::observation;

    const SECOND: Nanos = 1_000_000_000;

    /// Simulates `per_second` connects each second, of which those beyond `ceiling` are refused.
    fn run(seconds: u64, per_second: u64, ceiling: u64) -> Statistics {
        let mut statistics = Statistics::new();
        let mut connected = 0;
        for second in 0..seconds {
            for connect in 0..per_second {
                let at = second * SECOND + connect;
                let outcome = if connected < ceiling { Outcome::Ok } else { Outcome::Refused };
                connected += u64::from(outcome == Outcome::Ok);
                statistics.observe(&Observation { kind: Kind::Connect, outcome, at, ..observation() });
            }
        }
        statistics
    }

    fn the_only(statistics: &Statistics) -> Plateau {
        let found = find(statistics);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]
    }

    #[test]
    fn connects_that_stop_at_a_number_are_a_plateau_whatever_the_rate() {
        for per_second in [10, 37, 100] {
            let plateau = the_only(&run(40, per_second, 100));
            assert_eq!((plateau.of, plateau.most), (Crowd::Connections, 100));
            assert_eq!(u64::from(plateau.from_second), 97 / per_second);
            assert_eq!(plateau.failed, 40 * per_second - 100);
            assert_eq!(plateau.known_as, None);
        }
    }

    #[test]
    fn a_known_limit_is_named() {
        let plateau = the_only(&run(20, 200, 1_021));
        assert!(plateau.known_as.is_some_and(|meaning| meaning.contains("nofile")));
    }

    #[test]
    fn a_crowd_that_is_complete_is_no_plateau() {
        assert_eq!(find(&run(40, 10, 1_000)), []);
        let mut complete = run(10, 10, 1_000);
        let at = 60 * SECOND;
        complete.observe(&Observation {
            kind: Kind::Connect,
            outcome: Outcome::Refused,
            at,
            ..observation()
        });
        assert_eq!(find(&complete), [], "one refusal is no ceiling");
        assert_eq!(find(&Statistics::new()), []);
    }

    /// Ten users arrive per second; each sends a request and repeats it after one second at the earliest. The server
    /// lets `places` users wait, and answers each after `wait_s`.
    struct Waiting {
        users: u64,
        places: u64,
        /// Time until the response; 0 is never.
        wait_s: u64,
        /// The outcome for the other users, and after how many milliseconds.
        refusal: (Outcome, u64),
    }

    impl Waiting {
        const ENDS: Nanos = 60 * SECOND;

        fn run(&self) -> Statistics {
            let mut statistics = Statistics::new();
            for user in 0..self.users {
                let mut began = user / 10 * SECOND + user;
                statistics.observe(&Observation { kind: Kind::Arrival, at: began, ..observation() });
                let has_place = user < self.places;
                let (answer, took) = match (has_place, self.wait_s) {
                    (true, 0) => (Outcome::Ok, Self::ENDS),
                    (true, wait_s) => (Outcome::Ok, wait_s * SECOND),
                    (false, _) => (self.refusal.0, self.refusal.1 * 1_000_000),
                };
                while began < Self::ENDS {
                    let ends = began + took >= Self::ENDS;
                    let (at, outcome) =
                        if ends { (Self::ENDS, Outcome::Stopped) } else { (began + took, answer) };
                    // A user without a connection at the end has no request outstanding.
                    if has_place || !ends {
                        let seen = Observation { kind: Kind::Http, outcome, began, at, ..observation() };
                        statistics.observe(&seen);
                    }
                    began += took.max(SECOND);
                }
            }
            statistics
        }
    }

    #[test]
    fn waiting_requests_that_stop_at_a_number_are_a_plateau_however_others_fail_and_long_the_wait() {
        for wait_s in [0, 30, 7] {
            for refusal in [(Outcome::ConnectTimeout, 10_000), (Outcome::Rejected, 5), (Outcome::Ended, 5)] {
                let plateau = the_only(&Waiting { users: 150, places: 100, wait_s, refusal }.run());
                assert_eq!(plateau.of, Crowd::WaitingRequests, "{wait_s} {refusal:?}");
                assert!((97..=100).contains(&plateau.most), "{wait_s} {refusal:?}: {plateau:?}");
                assert!((9..=10).contains(&plateau.from_second), "{wait_s} {refusal:?}: {plateau:?}");
                assert!(plateau.failed > 50, "{wait_s} {refusal:?}: {plateau:?}");
            }
        }
    }

    #[test]
    fn requests_that_all_wait_or_are_answered_soon_are_no_plateau() {
        let all_wait = Waiting { users: 100, places: 100, wait_s: 30, refusal: (Outcome::Rejected, 1) };
        assert_eq!(find(&all_wait.run()), []);
        // Half are answered each second and a few are rejected: a busy server, not a plateau.
        let mut busy = Waiting { users: 100, places: 97, wait_s: 1, refusal: (Outcome::Rejected, 1) }.run();
        assert_eq!(find(&busy), []);
        // All wait, and occasionally one is rejected and retries.
        busy = all_wait.run();
        for second in 12..55 {
            let (began, at) = (second * SECOND, second * SECOND + 1);
            let outcome = Outcome::Rejected;
            busy.observe(&Observation { kind: Kind::Http, outcome, began, at, ..observation() });
        }
        assert_eq!(find(&busy), []);
    }
}
