//! Bursts: users that are due at the same moment begin one after the other, and the time for which the thread was busy
//! with all of them is one measurement.
//!
//! Pure: times are arguments.

use crate::observe::Nanos;

/// Number of moments tracked at the same time: others may fall due while a crowd begins.
const CROWDS_MAX: usize = 4;
/// Minimum number of begins at one moment to count as a burst.
const BURST_MIN: u32 = 16;
/// A crowd is complete when no member has begun for this long.
const OVER_AFTER: Nanos = 100_000_000;
/// A thread whose poll for events returns no more than this has caught up. Reading that many takes a millisecond or
/// less; what it finds while it is behind is what piled up during a whole turn.
const CAUGHT_UP_EVENTS_MAX: u32 = 64;

/// The crowds of one shard.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    open: [Crowd; CROWDS_MAX],
    /// Completed bursts that have not been returned yet.
    over: Vec<Crowd>,
}

/// Everything due at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Crowd {
    /// The moment at which they were due.
    pub(crate) due: Nanos,
    /// When the last member began.
    pub(crate) begun: Nanos,
    /// When the thread had first caught up after that, so that everything that had arrived meanwhile was read.
    pub(crate) caught_up: Option<Nanos>,
    /// Number of members that have begun; 0 is no crowd.
    pub(crate) count: u32,
    /// Whether the scenario asks for all of it at once.
    is_wanted: bool,
}

impl Bursts {
    /// Something begins that could have begun at `due`. Returns when its own delay starts to count: members of a crowd
    /// wait for those before them. `is_wanted` says for the first member whether the scenario asks for a burst.
    pub(crate) fn begin(&mut self, due: Nanos, now: Nanos, is_wanted: bool) -> Nanos {
        if let Some(crowd) = self.open.iter_mut().find(|crowd| crowd.count > 0 && crowd.due == due) {
            crowd.count = crowd.count.saturating_add(1);
            crowd.caught_up = None;
            return std::mem::replace(&mut crowd.begun, now).max(due);
        }
        let newcomer = Crowd { due, begun: now, caught_up: None, count: 1, is_wanted };
        // Evict a crowd that is not yet a burst first, then the one that has been inactive for longest.
        let least = self.open.iter_mut().min_by_key(|crowd| (crowd.count >= BURST_MIN, crowd.begun));
        if let Some(place) = least {
            let gone = std::mem::replace(place, newcomer);
            self.over.extend(Some(gone.ended(now)).filter(Crowd::is_burst));
        }
        due
    }

    /// The thread polled at time `looked`, found `events` events, and has read them.
    pub(crate) fn has_looked(&mut self, looked: Nanos, events: u32) {
        if events > CAUGHT_UP_EVENTS_MAX {
            return;
        }
        for crowd in self.open.iter_mut().filter(|crowd| crowd.begun <= looked) {
            crowd.caught_up.get_or_insert(looked);
        }
    }

    /// Returns whether the thread has not yet been seen to catch up with a burst. It must poll again soon: if nothing
    /// arrives for a while, it would sleep, and that time would be attributed to the burst.
    pub(crate) fn is_behind(&self) -> bool {
        self.open.iter().any(|crowd| crowd.is_burst() && crowd.caught_up.is_none())
    }

    /// Returns a burst whose members have all begun and with which the thread has caught up; each is returned once.
    pub(crate) fn next_over(&mut self, now: Nanos) -> Option<Crowd> {
        self.over.pop().or_else(|| {
            let has_ended = |crowd: &&mut Crowd| {
                let has_begun = now.saturating_sub(crowd.begun) > OVER_AFTER;
                crowd.is_burst() && has_begun && crowd.caught_up.is_some()
            };
            self.open.iter_mut().find(has_ended).map(std::mem::take)
        })
    }

    /// Like [`Bursts::next_over`] at the end of the run: a burst with which the thread has not caught up ends now.
    pub(crate) fn next_left(&mut self, now: Nanos) -> Option<Crowd> {
        self.over.pop().or_else(|| {
            let burst = self.open.iter_mut().find(|crowd| crowd.is_burst()).map(std::mem::take)?;
            Some(burst.ended(now))
        })
    }
}

impl Crowd {
    /// Returns when the thread was done with the crowd: all had begun, and it had caught up.
    pub(crate) fn end(&self) -> Nanos {
        self.caught_up.unwrap_or(self.begun)
    }

    /// Ends the crowd without waiting for the thread to catch up: it has been behind at least until now.
    fn ended(mut self, now: Nanos) -> Self {
        self.caught_up.get_or_insert(now);
        self
    }

    fn is_burst(&self) -> bool {
        self.is_wanted && self.count >= BURST_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn each_of_a_crowd_is_late_from_when_the_one_before_had_begun() {
        let mut crowds = Bursts::default();
        let due = 1_000 * MS;
        let since: Vec<Nanos> = (0..20).map(|user| crowds.begin(due, due + (10 + user) * MS, true)).collect();
        assert_eq!(since[0], due, "the first has waited for nobody");
        assert!(since[1..].iter().enumerate().all(|(user, since)| *since == due + (10 + user as u64) * MS));
        crowds.has_looked(due + 29 * MS, 0);
        assert_eq!(crowds.next_over(due + 30 * MS), None, "more may come");
        let burst = crowds.next_over(due + 200 * MS).expect("nobody has come for a while");
        assert_eq!((burst.due, burst.end(), burst.count), (due, due + 29 * MS, 20));
        assert_eq!(crowds.next_over(due + 200 * MS), None, "it is told once");
    }

    #[test]
    fn a_burst_lasts_until_the_thread_has_caught_up_with_what_came_meanwhile() {
        let mut crowds = Bursts::default();
        for user in 0..1_000 {
            crowds.begin(0, user * MS / 10, true);
        }
        crowds.has_looked(50 * MS, 0); // before the last had begun
        crowds.has_looked(100 * MS, 1_000);
        crowds.has_looked(150 * MS, 1_000);
        assert_eq!(crowds.next_over(1_000 * MS), None, "answers lie there unread");
        assert!(crowds.is_behind(), "it looks again, even if nothing comes");
        crowds.has_looked(200 * MS, CAUGHT_UP_EVENTS_MAX);
        assert!(!crowds.is_behind());
        crowds.has_looked(300 * MS, 0);
        let burst = crowds.next_over(1_000 * MS).expect("nothing is left to be read");
        assert_eq!((burst.end(), burst.count), (200 * MS, 1_000));
    }

    #[test]
    fn a_burst_that_goes_on_after_the_thread_had_caught_up_lasts_until_it_has_again() {
        let mut crowds = Bursts::default();
        for user in 0..20 {
            crowds.begin(0, user, true);
        }
        crowds.has_looked(MS, 0);
        crowds.begin(0, 50 * MS, true);
        assert_eq!(crowds.next_over(400 * MS), None);
        let burst = crowds.next_left(500 * MS).expect("a burst");
        assert_eq!((burst.end(), burst.count), (500 * MS, 21), "to its end it was behind");
    }

    #[test]
    fn others_that_are_due_meanwhile_do_not_end_a_crowd() {
        let mut crowds = Bursts::default();
        for user in 0..1_000 {
            crowds.begin(7, 100 + user, true);
            if user > 20 {
                for other in 0..8 {
                    crowds.begin(1_000 + user * 8 + other, 10_000, false);
                }
            }
        }
        let burst = crowds.next_left(2_000).expect("a burst");
        assert_eq!((burst.due, burst.begun, burst.count), (7, 1_099, 1_000));
        assert_eq!(crowds.next_left(2_000), None);
    }

    #[test]
    fn a_few_users_and_those_of_a_closed_phase_are_no_burst() {
        let mut crowds = Bursts::default();
        for _ in 1..BURST_MIN {
            crowds.begin(5, 6, true);
        }
        for _ in 0..100 {
            crowds.begin(50, 60, false);
        }
        assert_eq!(crowds.next_left(100), None);
    }

    #[test]
    fn a_burst_that_makes_way_for_others_is_told_all_the_same() {
        let mut crowds = Bursts::default();
        for due in 0..10 {
            for _ in 0..BURST_MIN {
                crowds.begin(due, due, true);
            }
        }
        let mut told: Vec<Nanos> =
            std::iter::from_fn(|| crowds.next_left(20)).map(|crowd| crowd.due).collect();
        told.sort_unstable();
        assert_eq!(told, (0..10).collect::<Vec<_>>());
    }
}
