//! Coordinates the agents of a run: when a barrier opens, when a phase after a wait begins, when the run has ended, and
//! what all of them published.
//!
//! Pure: times are arguments. An agent that has gone is not waited for.

use crate::ledger::{Publications, Settlement};
use crate::observe::Nanos;
use crate::player::{BarrierState, Pause, Standing, Word};

/// Time between a word and the moment that it names, so that all agents have received it by then.
const LEAD_TIME: Nanos = 200_000_000;
/// Maximum relative drift of two clocks: 200 ppm. Cheap oscillators stay within half of that.
const DRIFT_DIVISOR: Nanos = 5_000;

/// The state of all agents of a run.
pub(super) struct Rendezvous {
    agents: Vec<Member>,
    /// Maximum difference between two agents' clocks at the start.
    clock_error_ns: Nanos,
    /// Number of openings of each barrier.
    opened: Vec<u32>,
    /// Number of pauses that are over.
    pauses: u32,
    has_finished: bool,
    has_settled: bool,
}

#[derive(Default)]
struct Member {
    standing: Option<Standing>,
    publications: Option<Publications>,
    is_gone: bool,
}

impl Rendezvous {
    pub(super) fn new(agents: usize, clock_error_ns: Nanos) -> Self {
        Self {
            agents: (0..agents).map(|_| Member::default()).collect(),
            clock_error_ns,
            opened: Vec::new(),
            pauses: 0,
            has_finished: false,
            has_settled: false,
        }
    }

    /// Handles an agent's report of its state. Returns the words for all agents.
    pub(super) fn stands(&mut self, agent: usize, standing: Standing, now: Nanos) -> Vec<Word> {
        if let Some(member) = self.agents.get_mut(agent) {
            member.standing = Some(standing);
        }
        self.words(now)
    }

    /// Handles an agent's report of what its users published, once they are gone.
    pub(super) fn published(&mut self, agent: usize, publications: Publications, now: Nanos) -> Vec<Word> {
        if let Some(member) = self.agents.get_mut(agent) {
            member.publications = Some(publications);
        }
        self.words(now)
    }

    /// An agent has ended or is lost.
    pub(super) fn goes(&mut self, agent: usize, now: Nanos) -> Vec<Word> {
        if let Some(member) = self.agents.get_mut(agent) {
            member.is_gone = true;
        }
        self.words(now)
    }

    fn words(&mut self, now: Nanos) -> Vec<Word> {
        // Nothing is known about all agents before each has reported.
        if self.present().any(|member| member.standing.is_none()) {
            return Vec::new();
        }
        let mut words = self.openings(now);
        words.extend(self.proceeding(now));
        words.extend(self.finish());
        words.extend(self.settlement(now));
        words
    }

    fn present(&self) -> impl Iterator<Item = &Member> {
        self.agents.iter().filter(|member| !member.is_gone)
    }

    fn standings(&self) -> impl Iterator<Item = &Standing> {
        self.present().filter_map(|member| member.standing.as_ref())
    }

    fn openings(&mut self, now: Nanos) -> Vec<Word> {
        let barriers = self.standings().map(|standing| standing.barriers.len()).max().unwrap_or(0);
        self.opened.resize(barriers, 0);
        let everybody: Option<u64> = self.standings().map(|standing| standing.everybody).sum();
        let mut words = Vec::new();
        for barrier in 0..barriers {
            let number = self.opened[barrier];
            let states = self.standings().filter_map(|standing| standing.barriers.get(barrier));
            let here: Vec<&BarrierState> =
                states.filter(|one| one.number == number && one.waiting > 0).collect();
            let waiting: u64 = here.iter().map(|one| one.waiting).sum();
            let wanted = here.first().and_then(|one| one.wanted).or(everybody);
            let is_complete = waiting > 0 && wanted.is_some_and(|wanted| waiting >= wanted);
            if is_complete || here.iter().any(|one| one.is_impatient) {
                self.opened[barrier] = number.wrapping_add(1);
                let at = now.saturating_add(LEAD_TIME);
                words.push(Word::Open { barrier: barrier as u16, number, at, is_complete });
            }
        }
        words
    }

    /// The next phase begins when the users of all agents that still play have finished.
    fn proceeding(&mut self, now: Nanos) -> Option<Word> {
        let number = self.pauses;
        let mut playing = self.standings().filter(|standing| !standing.has_finished).peekable();
        playing.peek()?;
        let pauses: Option<Vec<Pause>> =
            playing.map(|standing| standing.pause.filter(|pause| pause.number == number)).collect();
        let not_before = pauses?.iter().map(|pause| pause.not_before).max()?;
        self.pauses = number.wrapping_add(1);
        Some(Word::Proceed { number, at: not_before.max(now.saturating_add(LEAD_TIME)) })
    }

    fn finish(&mut self) -> Option<Word> {
        let finishes = !self.has_finished && self.standings().all(|standing| standing.has_finished);
        self.has_finished |= finishes;
        finishes.then_some(Word::Finish)
    }

    fn settlement(&mut self, now: Nanos) -> Option<Word> {
        let is_known = self.present().all(|member| member.publications.is_some());
        if self.has_settled || !is_known || self.present().next().is_none() {
            return None;
        }
        self.has_settled = true;
        let machines = self.agents.iter_mut().map(|member| member.publications.take()).collect();
        let clock_error_ns = self.clock_error_ns.saturating_add(now / DRIFT_DIVISOR);
        Some(Word::Settle(Settlement { machines, clock_error_ns }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn at_barrier(number: u32, waiting: u64, wanted: Option<u64>) -> Standing {
        let state = BarrierState { number, waiting, wanted, is_impatient: false };
        Standing { barriers: vec![state], ..Standing::default() }
    }

    fn open(number: u32, at: Nanos, is_complete: bool) -> Word {
        Word::Open { barrier: 0, number, at, is_complete }
    }

    #[test]
    fn a_barrier_opens_once_for_all_when_enough_have_come_on_all_agents() {
        let mut all = Rendezvous::new(2, 0);
        assert_eq!(all.stands(0, at_barrier(0, 3, Some(4)), SECOND), [], "of the other nothing is known");
        assert_eq!(all.stands(1, at_barrier(0, 0, None), SECOND), []);
        let opened = all.stands(1, at_barrier(0, 1, Some(4)), 2 * SECOND);
        assert_eq!(opened, [open(0, 2 * SECOND + LEAD_TIME, true)]);
        // The others have not received the word yet when they report next.
        assert_eq!(all.stands(0, at_barrier(0, 3, Some(4)), 2 * SECOND), []);
        assert_eq!(all.stands(0, at_barrier(1, 2, Some(4)), 3 * SECOND), []);
        assert_eq!(
            all.stands(1, at_barrier(1, 2, Some(4)), 4 * SECOND),
            [open(1, 4 * SECOND + LEAD_TIME, true)]
        );
    }

    #[test]
    fn everybody_is_all_agents_users_and_those_of_a_lost_one_are_not_waited_for() {
        let mut all = Rendezvous::new(3, 0);
        let there = |waiting, everybody| Standing { everybody, ..at_barrier(0, waiting, None) };
        assert_eq!(all.stands(0, there(2, Some(2)), 0), []);
        assert_eq!(all.stands(1, there(1, Some(2)), 0), []);
        assert_eq!(all.stands(2, there(0, None), 0), [], "more may come there");
        assert_eq!(all.goes(2, 0), [], "one is still away");
        assert_eq!(all.stands(1, there(1, Some(1)), SECOND), [open(0, SECOND + LEAD_TIME, true)]);
    }

    #[test]
    fn impatience_on_one_agent_opens_for_all() {
        let mut all = Rendezvous::new(2, 0);
        assert_eq!(all.stands(0, at_barrier(0, 1, Some(9)), 0), []);
        let mut impatient = at_barrier(0, 1, Some(9));
        impatient.barriers[0].is_impatient = true;
        assert_eq!(all.stands(1, impatient, SECOND), [open(0, SECOND + LEAD_TIME, false)]);
    }

    #[test]
    fn a_phase_goes_on_when_the_users_of_all_have_finished() {
        let mut all = Rendezvous::new(2, 0);
        let paused = |number, not_before| Standing {
            pause: Some(Pause { number, not_before }),
            ..Standing::default()
        };
        assert_eq!(all.stands(0, paused(0, 5 * SECOND), SECOND), []);
        assert_eq!(all.stands(1, Standing::default(), SECOND), []);
        let goes_on = all.stands(1, paused(0, 3 * SECOND), 2 * SECOND);
        assert_eq!(goes_on, [Word::Proceed { number: 0, at: 5 * SECOND }]);
        assert_eq!(all.stands(0, paused(0, 5 * SECOND), 2 * SECOND), [], "it has not heard yet");
        assert_eq!(all.stands(0, paused(1, 0), 6 * SECOND), []);
        let last = all.stands(1, paused(1, 0), 7 * SECOND);
        assert_eq!(last, [Word::Proceed { number: 1, at: 7 * SECOND + LEAD_TIME }]);
    }

    #[test]
    fn the_end_is_said_once_and_then_what_all_published() {
        let mut all = Rendezvous::new(3, 1_000);
        let done = Standing { has_finished: true, ..Standing::default() };
        assert_eq!(all.stands(0, done.clone(), 0), []);
        assert_eq!(all.stands(1, Standing::default(), 0), []);
        assert_eq!(all.goes(2, 0), []);
        assert_eq!(all.stands(1, done.clone(), 0), [Word::Finish]);
        assert_eq!(all.published(0, Publications::default(), SECOND), []);
        let machines = vec![Some(Publications::default()), Some(Publications::default()), None];
        let settlement = Settlement { machines, clock_error_ns: 1_000 + SECOND / DRIFT_DIVISOR };
        let settled = all.published(1, Publications::default(), SECOND);
        assert_eq!(settled, [Word::Settle(settlement)]);
        assert_eq!(all.goes(1, SECOND), []);
    }
}
