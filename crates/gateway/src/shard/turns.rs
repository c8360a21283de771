//! Decides which shards serve crowds at a given time. If there are many more shards than processors (each has its own
//! descriptor table, so two million connections take over a hundred), a publication to everybody would make all of them
//! run at once, and a message between two people would have to wait until each had had its time slice; the same holds
//! when a crowd is disconnected. So only a few shards per processor deliver to crowds, or handle their disconnection,
//! at the same time; the others are idle meanwhile and respond quickly.
//!
//! This module owns the turns and the queue of shards that wait for one. It knows nothing about topics.

use super::arrivals::Arrivals;
use engine::{ShardIndex, TimeSlices};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a shard serves its crowds, or handles the end of one, before the next shard in the queue gets a turn.
const TURN: Duration = Duration::from_millis(100);

/// Number of shards per processor that do so at the same time. The fewer, the sooner the others respond. But if the
/// crowd's clients run on the same machine, each is woken for the little that few shards have for it, and the fewer
/// they are, the more such wake-ups there are: the measurements are in docs/decisions/0005.
const TURNS_PER_PROCESSOR: usize = 8;

/// The turns of a gateway.
#[derive(Debug)]
pub(crate) struct Turns {
    queue: Mutex<Queue>,
}

#[derive(Debug)]
struct Queue {
    free: usize,
    line: VecDeque<ShardIndex>,
}

impl Turns {
    /// Creates turns for the given number of processors; `None` if there are no more shards than turns.
    pub(crate) fn new(shards: usize, processors: usize) -> Option<Arc<Turns>> {
        let turns = processors * TURNS_PER_PROCESSOR;
        (shards > turns).then(|| Self::with(turns))
    }

    fn with(turns: usize) -> Arc<Turns> {
        Arc::new(Turns { queue: Mutex::new(Queue { free: turns, line: VecDeque::new() }) })
    }

    /// Returns whether the shard gets a turn now; otherwise it is queued, and will be called.
    fn ask(&self, shard: ShardIndex) -> bool {
        let mut queue = self.queue();
        if queue.free == 0 {
            queue.line.push_back(shard);
            return false;
        }
        queue.free -= 1;
        true
    }

    /// Gives up a turn. Returns the shard that gets it, which has to be called.
    fn leave(&self) -> Option<ShardIndex> {
        let mut queue = self.queue();
        let next = queue.line.pop_front();
        if next.is_none() {
            queue.free += 1;
        }
        next
    }

    /// Passes the turn to the next shard in the queue, if there is one, and joins the end of the queue.
    fn pass_on(&self, shard: ShardIndex) -> Option<ShardIndex> {
        let mut queue = self.queue();
        let next = queue.line.pop_front()?;
        queue.line.push_back(shard);
        Some(next)
    }

    /// Leaves the queue. Returns `false` if the shard had been called already: then it has a turn to give up.
    fn give_up_waiting(&self, shard: ShardIndex) -> bool {
        let line = &mut self.queue().line;
        let waited = line.len();
        line.retain(|waiting| *waiting != shard);
        line.len() < waited
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // The queue is consistent between any two operations, so a poisoned lock can be used.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A shard's side of the turns. Dropping it gives up its turn or its place in the queue.
pub(crate) struct Turn {
    turns: Option<Arc<Turns>>,
    shard: ShardIndex,
    /// Notifies a shard that it has a turn.
    call: Box<dyn Fn(ShardIndex) + Send>,
    state: State,
    arrivals: Arrivals,
    /// Requested last.
    slices: TimeSlices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Rests,
    Waits,
    Has { since: Instant },
}

impl Turn {
    /// Must be called on the shard's own thread.
    pub(crate) fn new(
        turns: Option<Arc<Turns>>,
        shard: ShardIndex,
        call: impl Fn(ShardIndex) + Send + 'static,
    ) -> Turn {
        if turns.is_some() {
            TimeSlices::Short.request();
        }
        let (state, arrivals) = (State::Rests, Arrivals::new(Instant::now()));
        Turn { turns, shard, call: Box::new(call), state, arrivals, slices: TimeSlices::Short }
    }

    /// Returns whether this shard may serve crowds now.
    pub(crate) fn is_ours(&self) -> bool {
        self.turns.is_none() || matches!(self.state, State::Has { .. })
    }

    /// Handles the notification that another shard passed its turn to this one.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.state = State::Has { since: now };
        self.request(TimeSlices::ForCrowds);
    }

    /// Counts a connection that the shard accepted.
    pub(crate) fn count_arrival(&mut self) {
        self.arrivals.add();
    }

    fn request(&mut self, slices: TimeSlices) {
        if std::mem::replace(&mut self.slices, slices) != slices {
            slices.request();
        }
    }

    /// Called after each turn of the loop. `is_wanted` says whether it left work that needs a turn: publications to
    /// crowds, or a crowd that disconnects.
    ///
    /// A shard that neither serves nor accepts a crowd asks the scheduler for the shortest time slices, because threads
    /// with shorter slices are preferred.
    pub(crate) fn go_on(&mut self, is_wanted: bool, now: Instant) {
        let Some(turns) = &self.turns else { return };
        let (state, next) = match self.state {
            State::Rests if is_wanted => {
                (if turns.ask(self.shard) { State::Has { since: now } } else { State::Waits }, None)
            }
            State::Has { .. } if !is_wanted => (State::Rests, turns.leave()),
            State::Has { since } if now.saturating_duration_since(since) >= TURN => {
                let next = turns.pass_on(self.shard);
                (if next.is_some() { State::Waits } else { State::Has { since: now } }, next)
            }
            state => (state, None),
        };
        self.state = state;
        let is_storm = self.arrivals.are_a_storm(now);
        self.request(match state {
            State::Has { .. } => TimeSlices::ForCrowds,
            State::Rests | State::Waits if is_storm => TimeSlices::ForArrivals,
            State::Rests | State::Waits => TimeSlices::Short,
        });
        if let Some(next) = next {
            (self.call)(next);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(turns) = &self.turns else { return };
        let has_turn = match self.state {
            State::Rests => false,
            State::Waits => !turns.give_up_waiting(self.shard),
            State::Has { .. } => true,
        };
        if has_turn && let Some(next) = turns.leave() {
            (self.call)(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn as_many_as_there_are_turns_have_one_and_the_others_follow_in_line() {
        let turns = Turns::with(2);
        let [a, b, c, d] = [0, 1, 2, 3].map(ShardIndex);
        assert_eq!([a, b, c, d].map(|shard| turns.ask(shard)), [true, true, false, false]);
        assert_eq!(turns.pass_on(a), Some(c), "a is behind d now");
        assert_eq!(turns.leave(), Some(d));
        assert!(turns.give_up_waiting(a) && !turns.give_up_waiting(a));
        assert_eq!([turns.leave(), turns.leave()], [None, None]);
        assert_eq!(turns.pass_on(b), None, "nobody waits");
        assert!(turns.ask(b) && turns.ask(c) && !turns.ask(d));
    }

    /// Creates three shards with one turn, and the receiver of the calls.
    fn shards() -> ([Turn; 3], mpsc::Receiver<ShardIndex>) {
        let (called, calls) = mpsc::channel();
        let turns = Some(Turns::with(1));
        let shards = [0, 1, 2].map(|shard| {
            let called = called.clone();
            Turn::new(turns.clone(), ShardIndex(shard), move |next| called.send(next).expect("it is read"))
        });
        (shards, calls)
    }

    #[test]
    fn who_waits_is_called_when_the_one_before_has_served_its_crowds_or_its_time_is_over() {
        let ([mut first, mut second, mut third], calls) = shards();
        let now = Instant::now();
        for shard in [&mut first, &mut second, &mut third] {
            shard.go_on(true, now);
        }
        assert_eq!([&first, &second, &third].map(Turn::is_ours), [true, false, false]);
        first.go_on(true, now + TURN / 2);
        assert!(calls.try_recv().is_err(), "its time is not over");
        first.go_on(true, now + TURN);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(1)));
        assert!(!first.is_ours());
        second.begin(now + TURN);
        second.go_on(false, now + TURN);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(2)));
        third.begin(now + TURN);
        third.go_on(false, now + TURN);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(0)), "the first went to the end of the line");
    }

    #[test]
    fn a_shard_that_ends_gives_back_what_it_has_even_if_it_was_just_called() {
        let ([mut first, mut second, mut third], calls) = shards();
        let now = Instant::now();
        for shard in [&mut first, &mut second, &mut third] {
            shard.go_on(true, now);
        }
        drop(first);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(1)));
        drop(second);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(2)), "the second had not read its call");
        third.begin(now);
        third.go_on(false, now);
        third.go_on(true, now);
        assert!(third.is_ours() && calls.try_recv().is_err(), "nobody waits, and the turn is not lost");
    }

    #[test]
    fn a_shard_has_longer_time_slices_while_it_serves_a_crowd_or_one_arrives() {
        let ([mut shard, mut other, _], calls) = shards();
        let mut now = Instant::now();
        assert_eq!(shard.slices, TimeSlices::Short);
        for (is_wanted, crowd_arrives, expected) in [
            (false, true, TimeSlices::ForArrivals),
            (true, true, TimeSlices::ForCrowds),
            (true, false, TimeSlices::ForCrowds),
            (false, false, TimeSlices::Short),
        ] {
            if crowd_arrives {
                (0..100).for_each(|_| shard.count_arrival());
            }
            now += Duration::from_secs(1);
            shard.go_on(is_wanted, now);
            assert_eq!(shard.slices, expected, "{is_wanted} {crowd_arrives}");
        }
        other.go_on(true, now);
        shard.go_on(true, now);
        assert_eq!((shard.state, shard.slices), (State::Waits, TimeSlices::Short), "it has no turn yet");
        other.go_on(false, now);
        assert_eq!(calls.try_recv(), Ok(ShardIndex(0)));
        shard.begin(now);
        assert_eq!(shard.slices, TimeSlices::ForCrowds);
        shard.go_on(false, now);
        assert_eq!(shard.slices, TimeSlices::Short);
    }

    #[test]
    fn few_shards_need_no_turns() {
        assert!(Turns::new(2, 2).is_none() && Turns::new(1, 8).is_none());
        assert!(Turns::new(2 * TURNS_PER_PROCESSOR, 2).is_none());
        assert!(Turns::new(2 * TURNS_PER_PROCESSOR + 1, 2).is_some());
    }
}
