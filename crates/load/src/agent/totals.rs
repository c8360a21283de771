//! Adds up the statistics of all agents, and accounts for the users of an agent that is lost.
//!
//! Pure: parts and times are arguments.

use crate::observe::{Kind, Nanos, Observation, Outcome};
use crate::statistics::{Counts, MachineSample, SeriesRow, Statistics};

/// The statistics of all agents together.
pub(super) struct Totals {
    all: Statistics,
    /// The statistics of each agent; for a lost one they tell how many users it had.
    each: Vec<Statistics>,
    /// Offset of each agent's source addresses in the combined table.
    first_sources: Vec<u16>,
}

/// The users lost with an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Lost {
    /// Number of users that were playing.
    pub(super) users: u64,
    /// Number of open connections.
    pub(super) connected: u64,
    /// Number of expected deliveries about which nothing is known.
    pub(super) deliveries: u64,
}

impl Totals {
    /// Returns empty totals for agents with these numbers of source addresses.
    pub(super) fn new(sources: &[usize]) -> Self {
        let mut next = 0_usize;
        let mut first_sources = Vec::new();
        for &count in sources {
            first_sources.push(u16::try_from(next).unwrap_or(u16::MAX));
            next += count;
        }
        let each = sources.iter().map(|_| Statistics::new()).collect();
        Self { all: Statistics::new(), each, first_sources }
    }

    /// Adds what an agent counted since its last part.
    pub(super) fn add(&mut self, agent: usize, mut part: Statistics) {
        part.shift_sources(self.first_sources.get(agent).copied().unwrap_or(0));
        self.all.merge(&part);
        if let Some(own) = self.each.get_mut(agent) {
            own.merge(&part);
        }
    }

    /// Adds the samples taken on the controller's machine.
    pub(super) fn sample(&mut self, second: u32, sample: MachineSample) {
        self.all.add_sample(second, sample);
    }

    /// Returns the statistics so far.
    pub(super) fn statistics(&self) -> &Statistics {
        &self.all
    }

    pub(super) fn into_statistics(self) -> Statistics {
        self.all
    }

    /// Accounts for an agent that is lost with its users: their sessions failed at this time, and the deliveries they
    /// still expected are in flight.
    pub(super) fn lose(&mut self, agent: usize, at: Nanos) -> Lost {
        let Some(own) = self.each.get(agent) else { return Lost::default() };
        let counts = own.counts();
        let last: SeriesRow = own.row(u32::MAX);
        let deliveries = counts.expected.saturating_sub(accounted_for(&counts));
        let lost = Lost { users: last.users, connected: last.connected, deliveries };
        let source = self.first_sources.get(agent).copied().unwrap_or(0);
        let ended = |kind, outcome, count: u64| {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            Observation {
                intended: at,
                began: at,
                count,
                source,
                outcome,
                ..Observation::of_nobody(kind, at)
            }
        };
        for (kind, outcome, count) in [
            (Kind::Finish, Outcome::AgentLost, lost.users),
            (Kind::Leave, Outcome::Stopped, last.joined),
            (Kind::Missing, Outcome::InFlight, lost.deliveries),
        ] {
            if count > 0 {
                self.all.observe(&ended(kind, outcome, count));
            }
        }
        for _ in 0..lost.connected {
            self.all.observe(&ended(Kind::Disconnect, Outcome::Stopped, 1));
        }
        lost
    }
}

fn accounted_for(counts: &Counts) -> u64 {
    counts.delivered + counts.lost + counts.late + counts.in_flight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::example::{observation, stream};

    fn counted(stream: &[Observation]) -> Statistics {
        let mut statistics = Statistics::new();
        stream.iter().for_each(|seen| statistics.observe(seen));
        statistics
    }

    #[test]
    fn what_agents_send_in_parts_adds_up_to_what_they_counted() {
        let streams = [stream(1, 3_000, 20), stream(2, 2_000, 20)];
        let mut totals = Totals::new(&[3, 3]);
        for part in 0..20 {
            for (agent, stream) in streams.iter().enumerate() {
                let of_part = |seen: &&Observation| seen.at / 1_000_000_000 == part;
                let part: Vec<Observation> = stream.iter().filter(of_part).copied().collect();
                totals.add(agent, counted(&part));
            }
        }
        for (agent, stream) in streams.iter().enumerate() {
            let rest: Vec<Observation> =
                stream.iter().filter(|seen| seen.at >= 20_000_000_000).copied().collect();
            totals.add(agent, counted(&rest));
        }
        let mut expected = counted(&streams[0]);
        let mut second = counted(&streams[1]);
        second.shift_sources(3);
        expected.merge(&second);
        assert_eq!(totals.statistics().counts(), expected.counts());
        assert_eq!(totals.statistics().series(), expected.series());
    }

    #[test]
    fn the_users_of_a_lost_agent_have_failed_and_its_deliveries_are_in_flight() {
        let of = |kind, count| Observation { kind, count, ..observation() };
        let mut totals = Totals::new(&[1, 1]);
        let crowd = [
            of(Kind::Arrival, 10),
            of(Kind::Connect, 0),
            of(Kind::Connect, 0),
            of(Kind::Finish, 3),
            of(Kind::Send, 4),
            of(Kind::Receive, 0),
        ];
        totals.add(0, counted(&crowd));
        totals.add(1, counted(&crowd));
        let lost = totals.lose(1, 5_000_000_000);
        assert_eq!(lost, Lost { users: 7, connected: 2, deliveries: 3 });
        let counts = totals.statistics().counts();
        assert_eq!((counts.users, counts.users_finished, counts.users_failed), (20, 6, 7));
        assert_eq!((counts.expected, counts.delivered, counts.in_flight), (8, 2, 3));
        assert_eq!(counts.disconnects, 0, "no server ended them");
        let last = totals.statistics().row(6);
        assert_eq!((last.users, last.connected), (7, 2), "the other agent's are there still");
    }
}
