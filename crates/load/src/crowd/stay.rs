//! How long users stay, sampled from their sessions.

use std::time::Duration;

use crate::draw::{Rng, Weighted, choose};
use crate::scenario::plan::{Action, Loop, Session, Step};

/// Assumed answer time as a share of the time for which the scenario waits for it: timeouts are set for the worst case,
/// and only a user who waits that long every time would affect the size of the crowd.
const ANSWER_SHARE: f64 = 0.1;
/// How long the player waits for the answer to a leave and to a close frame.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);
const CLOSE_LIMIT: Duration = Duration::from_secs(5);
/// Number of sessions sampled; their mean stay is accurate to within a few percent.
const DRAWN: usize = 1024;
/// Number of groups of similar stays into which the samples are reduced, each with its mean.
const KEPT: usize = 64;
/// Maximum number of steps simulated in one sampled session; the remaining rounds of a loop are extrapolated from its
/// rounds so far.
const STEPS_MAX: u32 = 256;
/// Seed of the sampling: the estimate depends on the scenario alone, not on who plays it.
const SEED: u64 = 0;

/// How long the users of a phase stay.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct StayDistribution {
    /// Seconds, ascending, each with the share of the users who stay that long.
    pub(super) bounded: Vec<(f64, f64)>,
    /// Share of the users who stay until the run ends, as far as the plan determines it.
    pub(super) forever: f64,
}

impl StayDistribution {
    /// Samples the stays of users whose sessions have these weights; without valid weights all have the first session.
    pub(super) fn drawn(sessions: &[Session], weights: &[f64]) -> Self {
        let weighted = Weighted::new(weights).ok();
        let mut bounded = Vec::with_capacity(DRAWN);
        for number in 0..DRAWN as u32 {
            let mut rng = Rng::for_purpose(SEED, number);
            let session = weighted.as_ref().map_or(0, |weighted| weighted.draw(&mut rng));
            let steps = sessions.get(session).map_or(&[][..], |session| &session.steps);
            bounded.extend(stay_s(steps, rng));
        }
        let forever = (DRAWN - bounded.len()) as f64 / DRAWN as f64;
        bounded.sort_by(f64::total_cmp);
        let group = bounded.len().div_ceil(KEPT).max(1);
        let kept = bounded.chunks(group).map(|like| {
            let mean = like.iter().sum::<f64>() / like.len() as f64;
            (mean, like.len() as f64 / DRAWN as f64)
        });
        Self { bounded: kept.collect(), forever }
    }

    /// The longest bounded stay, in seconds.
    pub(super) fn longest_s(&self) -> f64 {
        self.bounded.last().map_or(0.0, |&(stay_s, _)| stay_s)
    }
}

/// How long a user with these steps stays, in seconds; `None` if unbounded.
fn stay_s(steps: &[Step], rng: Rng) -> Option<f64> {
    let mut visit = Visit { rng, now_s: 0.0, beat_s: None, steps_left: STEPS_MAX };
    visit.go(steps).ok()?;
    visit.wait_for_answer(CLOSE_LIMIT);
    Some(visit.now_s)
}

/// The error value for a user that stays for ever.
struct Forever;

/// Simulates one user's session in virtual time.
#[derive(Clone)]
struct Visit {
    rng: Rng,
    now_s: f64,
    /// Time of the last paced step, if there was one.
    beat_s: Option<f64>,
    steps_left: u32,
}

impl Visit {
    fn go(&mut self, steps: &[Step]) -> Result<(), Forever> {
        steps.iter().try_for_each(|step| self.act(&step.action))
    }

    fn act(&mut self, action: &Action) -> Result<(), Forever> {
        self.steps_left = self.steps_left.saturating_sub(1);
        match action {
            Action::Connect(connect) => {
                self.wait_for_answer(connect.connect_timeout);
                self.wait_for_answer(connect.handshake_timeout);
            }
            Action::Join(join) => self.wait_for_answer(join.timeout),
            Action::Leave(_) => self.wait_for_answer(LEAVE_LIMIT),
            Action::Push(push) => self.wait_for_answer(push.reply.unwrap_or_default()),
            Action::Wait(wait) => self.wait_for_answer(wait.timeout),
            Action::Http(request) => self.wait_for_answer(request.timeout),
            Action::Close { .. } => self.wait_for_answer(CLOSE_LIMIT),
            Action::Think(pause) => self.now_s += pause.sample_duration(&mut self.rng).as_secs_f64(),
            Action::Pace(interval) => {
                let last_s = self.beat_s.unwrap_or(self.now_s);
                let beat_s = last_s + interval.sample_duration(&mut self.rng).as_secs_f64();
                self.beat_s = Some(beat_s);
                self.now_s = self.now_s.max(beat_s);
            }
            // A user that waits for others may have to wait up to its timeout.
            Action::Barrier { timeout, .. } => self.now_s += timeout.as_secs_f64(),
            Action::HalfOpen(time) => self.now_s += time.as_secs_f64(),
            Action::Loop(repeated) => self.go_round(repeated)?,
            Action::If { then, otherwise, .. } => self.go_the_longer(then, otherwise)?,
            Action::Choose(branches) => {
                let chosen = choose(branches.iter().map(|branch| branch.0), &mut self.rng);
                if let Some((_, steps)) = chosen.and_then(|chosen| branches.get(chosen)) {
                    self.go(steps)?;
                }
            }
            Action::Transaction(steps) => self.go(steps)?,
            Action::Stay => return Err(Forever),
            // A user that aborts leaves sooner than one that does not.
            Action::Abort(_)
            | Action::Send(_)
            | Action::Set(..)
            | Action::Capture(..)
            | Action::Cut
            | Action::SlowReader(_) => {}
        }
        Ok(())
    }

    fn wait_for_answer(&mut self, limit: Duration) {
        self.now_s += limit.as_secs_f64() * ANSWER_SHARE;
    }

    /// The result of a condition is unknown, so the longer branch is taken.
    fn go_the_longer(&mut self, then: &[Step], otherwise: &[Step]) -> Result<(), Forever> {
        let mut other = self.clone();
        self.go(then)?;
        other.go(otherwise)?;
        if other.now_s > self.now_s {
            *self = other;
        }
        Ok(())
    }

    /// A condition may end a loop early, or never; only its maximum number of rounds and its maximum time bound it.
    fn go_round(&mut self, repeated: &Loop) -> Result<(), Forever> {
        let began_s = self.now_s;
        let rounds_max = repeated.times.map(|times| times.sample_whole(&mut self.rng));
        let until_s = repeated.during.map(|during| began_s + during.as_secs_f64());
        if rounds_max.is_none() && until_s.is_none() {
            return Err(Forever);
        }
        let mut rounds = 0_u64;
        while rounds_max.is_none_or(|most| rounds < most)
            && until_s.is_none_or(|until_s| self.now_s < until_s)
        {
            if rounds > 0 && self.steps_left == 0 {
                self.skip_rounds(began_s, rounds, rounds_max, until_s);
                break;
            }
            self.go(&repeated.steps)?;
            rounds += 1;
        }
        Ok(())
    }

    /// Assumes that the remaining rounds take as long as the mean of those before.
    fn skip_rounds(&mut self, began_s: f64, rounds: u64, rounds_max: Option<u64>, until_s: Option<f64>) {
        let mean_s = (self.now_s - began_s) / rounds as f64;
        let by_rounds_s = rounds_max.map(|most| self.now_s + mean_s * most.saturating_sub(rounds) as f64);
        let end_s = by_rounds_s.into_iter().chain(until_s).reduce(f64::min);
        self.now_s = self.now_s.max(end_s.unwrap_or(self.now_s));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Distribution;
    use crate::scenario::plan::{Comparison, Condition, LabelId};
    use crate::scenario::template::Template;

    fn steps(actions: Vec<Action>) -> Vec<Step> {
        actions.into_iter().map(|action| Step { label: None, action }).collect()
    }

    fn think(seconds: f64) -> Action {
        Action::Think(Distribution::Constant(seconds))
    }

    fn repeat(times: Option<f64>, during_s: Option<f64>, actions: Vec<Action>) -> Action {
        Action::Loop(Loop {
            times: times.map(Distribution::Constant),
            during: during_s.map(Duration::from_secs_f64),
            condition: None,
            at_end: false,
            counter: None,
            steps: steps(actions),
        })
    }

    fn condition() -> Condition {
        let text = Template::text("x");
        Condition { left: text.clone(), comparison: Comparison::Equal, right: text }
    }

    /// The stay without the final close.
    fn of(actions: Vec<Action>) -> Option<f64> {
        let close_s = CLOSE_LIMIT.as_secs_f64() * ANSWER_SHARE;
        stay_s(&steps(actions), Rng::for_purpose(1, 1)).map(|stay_s| stay_s - close_s)
    }

    #[test]
    fn a_stay_is_what_the_steps_take_one_after_the_other() {
        let table: Vec<(Vec<Action>, f64)> = vec![
            (vec![], 0.0),
            (vec![think(3.0), Action::HalfOpen(Duration::from_secs(4)), Action::Cut], 7.0),
            // Paced steps are 5 s apart, whatever is done between them.
            (
                vec![
                    Action::Pace(Distribution::Constant(5.0)),
                    think(2.0),
                    Action::Pace(Distribution::Constant(5.0)),
                ],
                10.0,
            ),
            (
                vec![
                    Action::Pace(Distribution::Constant(1.0)),
                    think(9.0),
                    Action::Pace(Distribution::Constant(1.0)),
                ],
                10.0,
            ),
            (vec![repeat(Some(4.0), None, vec![think(2.0)])], 8.0),
            (vec![repeat(None, Some(9.0), vec![think(2.0)])], 10.0),
            (vec![repeat(Some(3.0), Some(9.0), vec![think(2.0)])], 6.0),
            (vec![Action::Transaction(steps(vec![think(2.0)]))], 2.0),
            (
                vec![Action::Choose(vec![(0.0, steps(vec![Action::Stay])), (1.0, steps(vec![think(2.0)]))])],
                2.0,
            ),
            // Answers are assumed to take a tenth of the timeout.
            (vec![Action::Leave(Template::text("rooms:1"))], 1.0),
        ];
        for (actions, expected_s) in table {
            let words = format!("{actions:?}");
            let stay_s = of(actions).expect("it ends");
            assert!((stay_s - expected_s).abs() < 1e-9, "{words}: {stay_s}");
        }
    }

    #[test]
    fn a_condition_that_nobody_knows_takes_the_longer_branch() {
        for (then, otherwise) in [(1.0, 6.0), (6.0, 1.0)] {
            let (then, otherwise) = (steps(vec![think(then)]), steps(vec![think(otherwise)]));
            let stay_s = of(vec![Action::If { condition: condition(), then, otherwise }, think(1.0)]);
            assert_eq!(stay_s, Some(7.0));
        }
    }

    #[test]
    fn who_is_not_bounded_stays_for_ever() {
        let listener =
            Action::If { condition: condition(), then: steps(vec![Action::Stay]), otherwise: vec![] };
        let mut unasked = repeat(None, None, vec![think(1.0)]);
        if let Action::Loop(repeated) = &mut unasked {
            repeated.condition = Some(condition());
        }
        for action in [Action::Stay, repeat(None, None, vec![think(1.0)]), unasked, listener] {
            let words = format!("{action:?}");
            assert_eq!(of(vec![think(1.0), action]), None, "{words}");
        }
    }

    #[test]
    fn long_loops_and_loops_that_take_no_time_are_not_gone_through_to_their_end() {
        let day = of(vec![repeat(Some(86_400.0), None, vec![repeat(Some(10.0), None, vec![think(0.1)])])]);
        assert!((day.expect("it ends") - 86_400.0).abs() < 1.0, "{day:?}");
        let busy = vec![Action::SlowReader(None)];
        assert_eq!(of(vec![repeat(None, Some(60.0), busy.clone())]), Some(60.0));
        assert_eq!(of(vec![repeat(Some(1e18), None, busy)]), Some(0.0));
    }

    #[test]
    fn a_crowds_stays_have_the_mean_of_their_distribution_and_the_sessions_shares() {
        let session = |action| Session {
            name: String::new(),
            weight: 1.0,
            steps: steps(vec![action]),
            label: LabelId(0),
        };
        let sessions = [
            session(Action::Think(Distribution::Exponential(20.0))),
            session(Action::Stay),
            session(think(1e6)),
        ];
        let stays = StayDistribution::drawn(&sessions, &[3.0, 1.0, 0.0]);
        assert!((stays.forever - 0.25).abs() < 0.05, "{}", stays.forever);
        assert!(stays.bounded.len() <= KEPT && stays.longest_s() < 1e6, "{stays:?}");
        let share: f64 = stays.bounded.iter().map(|(_, share)| share).sum();
        assert!((share + stays.forever - 1.0).abs() < 1e-9);
        let mean_s: f64 = stays.bounded.iter().map(|(stay_s, share)| stay_s * share).sum::<f64>() / share;
        assert!((mean_s - 20.5).abs() < 2.0, "{mean_s}");
        assert_eq!(
            stays,
            StayDistribution::drawn(&sessions, &[3.0, 1.0, 0.0]),
            "the same scenario, the same number"
        );
        assert_eq!(StayDistribution::drawn(&sessions[1..], &[0.0]).forever, 1.0);
    }
}
