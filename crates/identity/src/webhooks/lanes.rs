//! Schedules endpoints, as a pure state machine.
//!
//! Each endpoint with waiting messages is a lane; it is sleeping, ready, or has one request under way. There are two
//! pools of request slots: for prompt endpoints, and for slow ones, which failed or took long the last time. Within
//! each pool communities take turns, and none has more slots than its share.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::queue::{EndpointId, UnixMillis};
use crate::authority::Community;

/// Maximum numbers of concurrent requests.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// To prompt endpoints, in total.
    pub prompt: usize,
    /// To prompt endpoints, per community.
    pub prompt_per_community: usize,
    /// To endpoints that failed or were slow the last time, in total.
    pub slow: usize,
    /// To those, per community.
    pub slow_per_community: usize,
}

impl Default for Places {
    fn default() -> Self {
        Places { prompt: 128, prompt_per_community: 16, slow: 64, slow_per_community: 4 }
    }
}

/// What an endpoint does after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It may have more messages.
    Ready,
    /// It has no messages.
    Empty,
    /// It sleeps until then.
    Sleep(UnixMillis),
}

#[derive(Debug)]
struct Lane {
    community: Community,
    state: State,
    failures: u32,
    slow: bool,
    /// The endpoint was removed: nothing about it is to be remembered.
    forgotten: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Ready,
    Sleeping(UnixMillis),
    /// `woken`: a message was queued in the meantime.
    UnderWay {
        woken: bool,
    },
}

pub(super) struct Lanes {
    lanes: HashMap<EndpointId, Lane>,
    sleeping: BTreeSet<(UnixMillis, EndpointId)>,
    /// Endpoints without a lane that were slow the last time.
    slow_when_last_seen: HashSet<EndpointId>,
    prompt: Turns,
    slow: Turns,
}

impl Lanes {
    pub(super) fn new(places: Places) -> Self {
        Lanes {
            lanes: HashMap::new(),
            sleeping: BTreeSet::new(),
            slow_when_last_seen: HashSet::new(),
            prompt: Turns::new(places.prompt, places.prompt_per_community),
            slow: Turns::new(places.slow, places.slow_per_community),
        }
    }

    /// Handles a new message of an endpoint. `not_before` and `failures` apply if the endpoint has no lane yet.
    pub(super) fn wake(
        &mut self,
        endpoint: EndpointId,
        community: &Community,
        not_before: UnixMillis,
        failures: u32,
    ) {
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            lane.forgotten = false;
            if let State::UnderWay { woken } = &mut lane.state {
                *woken = true;
            }
            return;
        }
        let state = State::Sleeping(not_before);
        let slow = self.slow_when_last_seen.remove(&endpoint) || failures > 0;
        let lane = Lane { community: community.clone(), state, failures, slow, forgotten: false };
        self.lanes.insert(endpoint, lane);
        self.sleeping.insert((not_before, endpoint));
    }

    /// Returns the next endpoint to send a request to, and its consecutive failures. The end of the request must be
    /// reported.
    pub(super) fn next(&mut self, now: UnixMillis) -> Option<(EndpointId, u32)> {
        while let Some((_, endpoint)) = self.sleeping.first().copied().filter(|(until, _)| *until <= now) {
            self.sleeping.pop_first();
            self.make_ready(endpoint);
        }
        let endpoint = self.prompt.next().or_else(|| self.slow.next())?;
        let lane = self.lanes.get_mut(&endpoint)?;
        lane.state = State::UnderWay { woken: false };
        Some((endpoint, lane.failures))
    }

    /// Returns the community of an endpoint with a lane.
    pub(super) fn community(&self, endpoint: EndpointId) -> Option<&Community> {
        self.lanes.get(&endpoint).map(|lane| &lane.community)
    }

    /// Handles the end of a request, or that there was none to send. `failures` and `slow` are the lane's new values.
    pub(super) fn finished(&mut self, endpoint: EndpointId, failures: u32, slow: bool, next: Next) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        let State::UnderWay { woken } = lane.state else { return };
        let turns = if lane.slow { &mut self.slow } else { &mut self.prompt };
        turns.leave(&lane.community);
        (lane.failures, lane.slow) = (failures, slow);
        match next {
            Next::Empty if !woken => {
                let forgotten = lane.forgotten;
                self.lanes.remove(&endpoint);
                if slow && !forgotten {
                    self.slow_when_last_seen.insert(endpoint);
                }
            }
            Next::Empty | Next::Ready => self.make_ready(endpoint),
            Next::Sleep(until) => {
                lane.state = State::Sleeping(until);
                self.sleeping.insert((until, endpoint));
            }
        }
    }

    /// Handles the removal of an endpoint whose messages were removed. One that is ready or under way will be found to
    /// have no messages, and is then dropped.
    pub(super) fn forget(&mut self, endpoint: EndpointId) {
        self.slow_when_last_seen.remove(&endpoint);
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        lane.forgotten = true;
        if let State::Sleeping(until) = lane.state {
            self.sleeping.remove(&(until, endpoint));
            self.lanes.remove(&endpoint);
        }
    }

    /// When the next sleeping endpoint wakes, if there is one.
    pub(super) fn next_due(&self) -> Option<UnixMillis> {
        self.sleeping.first().map(|(until, _)| *until)
    }

    /// The numbers of endpoints with waiting messages and of requests under way.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.lanes.len(), self.prompt.taken + self.slow.taken)
    }

    fn make_ready(&mut self, endpoint: EndpointId) {
        let Some(lane) = self.lanes.get_mut(&endpoint) else { return };
        lane.state = State::Ready;
        let turns = if lane.slow { &mut self.slow } else { &mut self.prompt };
        turns.add(&lane.community, endpoint);
    }
}

/// Communities that take turns for one pool of request slots.
struct Turns {
    places: usize,
    places_per_community: usize,
    taken: usize,
    order: VecDeque<Community>,
    communities: HashMap<Community, OfCommunity>,
}

#[derive(Default)]
struct OfCommunity {
    ready: VecDeque<EndpointId>,
    taken: usize,
    /// Whether it is queued for a turn: it is when it has a ready endpoint and less than its share of slots.
    in_order: bool,
}

impl Turns {
    fn new(places: usize, places_per_community: usize) -> Self {
        Turns { places, places_per_community, taken: 0, order: VecDeque::new(), communities: HashMap::new() }
    }

    fn add(&mut self, community: &Community, endpoint: EndpointId) {
        self.communities.entry(community.clone()).or_default().ready.push_back(endpoint);
        self.line_up(community);
    }

    fn next(&mut self) -> Option<EndpointId> {
        if self.taken >= self.places {
            return None;
        }
        let community = self.order.pop_front()?;
        let of_community = self.communities.get_mut(&community)?;
        of_community.in_order = false;
        let endpoint = of_community.ready.pop_front()?;
        of_community.taken += 1;
        self.taken += 1;
        self.line_up(&community);
        Some(endpoint)
    }

    fn leave(&mut self, community: &Community) {
        if let Some(of_community) = self.communities.get_mut(community) {
            of_community.taken -= 1;
            self.taken -= 1;
        }
        self.line_up(community);
    }

    /// Appends a community to the order if it belongs there, and drops it if it has nothing left.
    fn line_up(&mut self, community: &Community) {
        let Some(of_community) = self.communities.get_mut(community) else { return };
        if of_community.ready.is_empty() && of_community.taken == 0 {
            self.communities.remove(community);
        } else if !of_community.in_order
            && !of_community.ready.is_empty()
            && of_community.taken < self.places_per_community
        {
            of_community.in_order = true;
            self.order.push_back(community.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EndpointId, Lanes, Next, Places, UnixMillis};
    use crate::authority::Community;

    const NOW: UnixMillis = UnixMillis(1_000);

    fn lanes() -> Lanes {
        Lanes::new(Places { prompt: 4, prompt_per_community: 2, slow: 2, slow_per_community: 1 })
    }

    /// Endpoint 12 is the second of community 1.
    fn wake(lanes: &mut Lanes, endpoint: u64, failures: u32) {
        let community = Community::new(&(endpoint / 10).to_string());
        lanes.wake(EndpointId(endpoint), &community, UnixMillis(0), failures);
    }

    fn begin_all(lanes: &mut Lanes, now: UnixMillis) -> Vec<u64> {
        std::iter::from_fn(|| lanes.next(now)).map(|(endpoint, _)| endpoint.0).collect()
    }

    #[test]
    fn communities_take_turns_and_none_has_more_than_its_share() {
        let mut lanes = lanes();
        for endpoint in [10, 11, 12, 13, 20, 30] {
            wake(&mut lanes, endpoint, 0);
        }
        assert_eq!(begin_all(&mut lanes, NOW), [10, 20, 30, 11]);
        lanes.finished(EndpointId(20), 0, false, Next::Empty);
        assert_eq!(begin_all(&mut lanes, NOW), [0; 0], "one place is free, and community 1 has its share");
        lanes.finished(EndpointId(10), 0, false, Next::Ready);
        assert_eq!(begin_all(&mut lanes, NOW), [12]);
    }

    #[test]
    fn slow_endpoints_do_not_take_the_places_of_prompt_ones() {
        let mut lanes = lanes();
        for endpoint in [10, 11, 20, 30, 40] {
            wake(&mut lanes, endpoint, 1);
        }
        wake(&mut lanes, 50, 0);
        assert_eq!(begin_all(&mut lanes, NOW), [50, 10, 20]);
        lanes.finished(EndpointId(50), 0, true, Next::Ready);
        assert_eq!(begin_all(&mut lanes, NOW), [0; 0], "it is slow now, and waits with its like");
        wake(&mut lanes, 60, 0);
        assert_eq!(begin_all(&mut lanes, NOW), [60]);
        lanes.finished(EndpointId(10), 0, false, Next::Ready);
        assert_eq!(
            begin_all(&mut lanes, NOW),
            [10, 30],
            "it is prompt again, and its place goes to the next"
        );
    }

    #[test]
    fn that_an_endpoint_was_slow_is_known_when_it_has_something_again() {
        let mut lanes = lanes();
        wake(&mut lanes, 10, 0);
        assert_eq!(begin_all(&mut lanes, NOW), [10]);
        lanes.finished(EndpointId(10), 0, true, Next::Empty);
        wake(&mut lanes, 10, 0);
        wake(&mut lanes, 20, 1);
        wake(&mut lanes, 30, 1);
        assert_eq!(begin_all(&mut lanes, NOW), [10, 20], "there are two places for slow ones");
    }

    #[test]
    fn nothing_is_kept_of_an_endpoint_that_is_no_more() {
        for state_of in [
            |_: &mut Lanes| {},
            |lanes: &mut Lanes| assert_eq!(begin_all(lanes, NOW), [10]),
            |lanes: &mut Lanes| {
                begin_all(lanes, NOW);
                lanes.finished(EndpointId(10), 1, true, Next::Sleep(UnixMillis(5_000)));
            },
            |lanes: &mut Lanes| {
                begin_all(lanes, NOW);
                lanes.finished(EndpointId(10), 1, true, Next::Ready);
            },
            |lanes: &mut Lanes| {
                begin_all(lanes, NOW);
                lanes.finished(EndpointId(10), 1, true, Next::Empty);
            },
        ] {
            let mut lanes = lanes();
            wake(&mut lanes, 10, 1);
            state_of(&mut lanes);
            lanes.forget(EndpointId(10));
            begin_all(&mut lanes, NOW);
            lanes.finished(EndpointId(10), 1, true, Next::Empty);
            assert_eq!((lanes.counts(), lanes.next_due()), ((0, 0), None));
            assert!(lanes.slow_when_last_seen.is_empty());
        }
    }

    #[test]
    fn an_endpoint_has_one_request_under_way() {
        let mut lanes = lanes();
        wake(&mut lanes, 10, 0);
        assert_eq!(begin_all(&mut lanes, NOW), [10]);
        wake(&mut lanes, 10, 0);
        assert_eq!(begin_all(&mut lanes, NOW), [0; 0]);
        lanes.finished(EndpointId(10), 0, false, Next::Empty);
        assert_eq!(begin_all(&mut lanes, NOW), [10], "something came while it was looked at");
        lanes.finished(EndpointId(10), 0, false, Next::Empty);
        assert_eq!(lanes.counts(), (0, 0));
    }

    #[test]
    fn a_sleeper_is_not_woken_by_new_messages() {
        let mut lanes = lanes();
        wake(&mut lanes, 10, 0);
        begin_all(&mut lanes, NOW);
        lanes.finished(EndpointId(10), 1, true, Next::Sleep(UnixMillis(5_000)));
        wake(&mut lanes, 10, 0);
        assert_eq!(lanes.next(UnixMillis(4_999)), None);
        assert_eq!(lanes.next_due(), Some(UnixMillis(5_000)));
        assert_eq!(lanes.next(UnixMillis(5_000)), Some((EndpointId(10), 1)));
        assert_eq!(lanes.next_due(), None);
    }
}
