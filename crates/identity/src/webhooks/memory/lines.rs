//! The queues of all endpoints, and their memory use: no clock, no lock.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::limits::{MemoryLimits, QueueFull};
use crate::authority::Community;
use crate::webhooks::queue::{
    DeadLetter, Endpoint, EndpointId, Message, MessageId, MessageSubject, QueueError, UnixMillis, WhyDead,
};

/// The queues of all endpoints; see the module.
#[derive(Debug, Default)]
pub(super) struct Lines {
    limits: MemoryLimits,
    by_endpoint: HashMap<EndpointId, Line>,
    by_community: HashMap<Community, Share>,
    whole: Taken,
    /// Every dead letter, in the order in which they were given up.
    dead: BTreeMap<Serial, EndpointId>,
    last: Serial,
}

/// An endpoint's queue.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) endpoint: Endpoint,
    /// The endpoint answered 410 (Gone).
    pub(super) gone: bool,
    pub(super) waiting: VecDeque<Message>,
    pub(super) not_before: UnixMillis,
    pub(super) failures: u32,
    /// In the order of their serial numbers.
    dead: VecDeque<(Serial, DeadLetter)>,
}

/// A dead letter's serial number: greater than those of all earlier ones.
type Serial = u64;

/// A community's memory use, and its dead letters.
#[derive(Debug, Default)]
struct Share {
    taken: Taken,
    dead: BTreeSet<Serial>,
}

/// Bytes of message bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    waiting: usize,
    dead: usize,
}

impl Taken {
    fn all(self) -> usize {
        self.waiting + self.dead
    }
}

impl Line {
    fn new(endpoint: Endpoint) -> Self {
        Line {
            endpoint,
            gone: false,
            waiting: VecDeque::new(),
            not_before: UnixMillis(0),
            failures: 0,
            dead: VecDeque::new(),
        }
    }

    pub(super) fn dead(&self) -> impl ExactSizeIterator<Item = &DeadLetter> {
        self.dead.iter().map(|(_, letter)| letter)
    }
}

impl Lines {
    pub(super) fn new(limits: MemoryLimits) -> Self {
        Lines { limits, ..Lines::default() }
    }

    pub(super) fn configure(&mut self, endpoint: Endpoint) {
        match self.by_endpoint.get_mut(&endpoint.id) {
            Some(line) if line.endpoint.community == endpoint.community => {
                (line.endpoint, line.gone) = (endpoint, false);
            }
            // Messages that wait for one community's endpoint must never reach another's.
            Some(_) => {
                self.remove(endpoint.id);
                self.by_endpoint.insert(endpoint.id, Line::new(endpoint));
            }
            None => drop(self.by_endpoint.insert(endpoint.id, Line::new(endpoint))),
        }
    }

    pub(super) fn remove(&mut self, endpoint: EndpointId) {
        let Some(line) = self.by_endpoint.remove(&endpoint) else { return };
        let waiting: usize = line.waiting.iter().map(|message| message.body.len()).sum();
        self.change(&line.endpoint.community, |taken| taken.waiting -= waiting);
        for (serial, letter) in line.dead {
            self.forget(&line.endpoint.community, serial, &letter);
        }
    }

    pub(super) fn forget_about(&mut self, community: &Community, subject: MessageSubject<'_>) {
        let (mut waiting, mut letters) = (0, Vec::new());
        for line in self.by_endpoint.values_mut().filter(|line| line.endpoint.community == *community) {
            line.waiting.retain(|message| {
                let stays = !message.is_about(subject);
                waiting += if stays { 0 } else { message.body.len() };
                stays
            });
            let (theirs, others) = std::mem::take(&mut line.dead)
                .into_iter()
                .partition(|(_, letter)| letter.message.is_about(subject));
            line.dead = others;
            let theirs: VecDeque<_> = theirs;
            letters.extend(theirs);
        }
        for (serial, letter) in letters {
            self.forget(community, serial, &letter);
        }
        self.change(community, |taken| taken.waiting -= waiting);
    }

    pub(super) fn push(&mut self, endpoint: EndpointId, message: Message) -> Result<(), QueueFull> {
        let line = self.by_endpoint.get(&endpoint).filter(|line| !line.gone).ok_or(QueueFull::NoEndpoint)?;
        if line.waiting.len() >= self.limits.waiting_per_endpoint_max {
            return Err(QueueFull::Messages);
        }
        let (community, bytes) = (line.endpoint.community.clone(), message.body.len());
        self.make_room(&community, bytes)?;
        self.change(&community, |taken| taken.waiting += bytes);
        if let Some(line) = self.by_endpoint.get_mut(&endpoint) {
            line.waiting.push_back(message);
        }
        Ok(())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Line> {
        self.by_endpoint.values()
    }

    pub(super) fn line(&self, endpoint: EndpointId) -> Option<&Line> {
        self.by_endpoint.get(&endpoint)
    }

    /// Returns the queue of an endpoint whose oldest message is `message`. `None` if the endpoint was removed or the
    /// message forgotten in the meantime; an error if the message is there but not the oldest.
    pub(super) fn headed_by(
        &mut self,
        endpoint: EndpointId,
        message: &MessageId,
    ) -> Result<Option<&mut Line>, QueueError> {
        let Some(line) = self.by_endpoint.get_mut(&endpoint) else { return Ok(None) };
        if line.waiting.front().is_some_and(|head| head.id == *message) {
            Ok(Some(line))
        } else if line.waiting.iter().all(|waits| waits.id != *message) {
            Ok(None)
        } else {
            Err(QueueError(format!("{} is not the oldest webhook of its endpoint", message.0)))
        }
    }

    /// Removes an endpoint's oldest message.
    pub(super) fn take(&mut self, endpoint: EndpointId) {
        let Some(line) = self.by_endpoint.get_mut(&endpoint) else { return };
        let (community, taken) = (line.endpoint.community.clone(), line.waiting.pop_front());
        let bytes = taken.map_or(0, |message| message.body.len());
        self.change(&community, |taken| taken.waiting -= bytes);
    }

    /// Turns an endpoint's oldest messages into dead letters.
    pub(super) fn give_up(&mut self, endpoint: EndpointId, count: usize, why: &WhyDead, at: UnixMillis) {
        for _ in 0..count {
            let Some(line) = self.by_endpoint.get_mut(&endpoint) else { return };
            let Some(message) = line.waiting.pop_front() else { return };
            let (community, bytes) = (line.endpoint.community.clone(), message.body.len());
            self.last += 1;
            line.dead.push_back((self.last, DeadLetter { message, why: why.clone(), at }));
            let surplus = line.dead.len() > self.limits.dead_per_endpoint_max;
            self.dead.insert(self.last, endpoint);
            self.by_community.entry(community.clone()).or_default().dead.insert(self.last);
            self.change(&community, |taken| {
                taken.waiting -= bytes;
                taken.dead += bytes;
            });
            if surplus {
                self.forget_oldest_of(endpoint);
            }
        }
    }

    /// Makes room by dropping dead letters, oldest first. A message that does not fit beside the waiting ones is
    /// refused, and no dead letter is dropped for it.
    fn make_room(&mut self, community: &Community, bytes: usize) -> Result<(), QueueFull> {
        let MemoryLimits { bytes_max, bytes_per_community_max, .. } = self.limits;
        if self.share(community).waiting + bytes > bytes_per_community_max {
            return Err(QueueFull::BytesOfCommunity);
        }
        if self.whole.waiting + bytes > bytes_max {
            return Err(QueueFull::Bytes);
        }
        while self.share(community).all() + bytes > bytes_per_community_max {
            let oldest = self.by_community.get(community).and_then(|share| share.dead.first());
            let Some(&endpoint) = oldest.and_then(|oldest| self.dead.get(oldest)) else { break };
            self.forget_oldest_of(endpoint);
        }
        while self.whole.all() + bytes > bytes_max {
            let Some((_, &endpoint)) = self.dead.first_key_value() else { break };
            self.forget_oldest_of(endpoint);
        }
        Ok(())
    }

    fn share(&self, community: &Community) -> Taken {
        self.by_community.get(community).map(|share| share.taken).unwrap_or_default()
    }

    fn forget_oldest_of(&mut self, endpoint: EndpointId) {
        let Some(line) = self.by_endpoint.get_mut(&endpoint) else { return };
        let community = line.endpoint.community.clone();
        if let Some((serial, letter)) = line.dead.pop_front() {
            self.forget(&community, serial, &letter);
        }
    }

    /// Updates the indexes after a dead letter left its queue.
    fn forget(&mut self, community: &Community, serial: Serial, letter: &DeadLetter) {
        self.dead.remove(&serial);
        if let Some(share) = self.by_community.get_mut(community) {
            share.dead.remove(&serial);
        }
        self.change(community, |taken| taken.dead -= letter.message.body.len());
    }

    /// Changes a community's memory use, and the total with it. Communities that use none are dropped.
    fn change(&mut self, community: &Community, change: impl Fn(&mut Taken)) {
        let share = self.by_community.entry(community.clone()).or_default();
        change(&mut share.taken);
        change(&mut self.whole);
        if share.taken == Taken::default() && share.dead.is_empty() {
            self.by_community.remove(community);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::Target;
    use crate::signature::SigningSecret;

    const WHY: WhyDead = WhyDead::Gone;

    fn lines(limits: MemoryLimits) -> Lines {
        Lines::new(limits)
    }

    fn limits(bytes_per_community_max: usize, bytes_max: usize) -> MemoryLimits {
        MemoryLimits { bytes_per_community_max, bytes_max, ..MemoryLimits::default() }
    }

    /// Endpoint 12 is the second of community 1.
    fn configure(lines: &mut Lines, id: u64) {
        let target = Target::parse("https://site.example/").expect("a target");
        let (community, secrets) =
            (Community::new(&(id / 10).to_string()), SigningSecret::mint([9; 32]).into());
        lines.configure(Endpoint { id: EndpointId(id), community, target, secrets });
    }

    fn push(lines: &mut Lines, endpoint: u64, bytes: usize) -> Result<(), QueueFull> {
        push_of(lines, endpoint, bytes, "ann")
    }

    fn push_of(lines: &mut Lines, endpoint: u64, bytes: usize, person: &str) -> Result<(), QueueFull> {
        let (id, body) = (MessageId(person.into()), vec![b'x'; bytes].into());
        let (person, conversation) = (person.into(), None);
        let message = Message { id, person, conversation, body, queued: UnixMillis(0), attempts: 0 };
        lines.push(EndpointId(endpoint), message)
    }

    fn give_up(lines: &mut Lines, endpoint: u64) {
        lines.give_up(EndpointId(endpoint), 1, &WHY, UnixMillis(0));
    }

    fn dead(lines: &Lines, endpoint: u64) -> usize {
        lines.line(EndpointId(endpoint)).map_or(0, |line| line.dead().len())
    }

    #[test]
    fn a_community_that_has_its_share_does_not_silence_the_others() {
        let mut lines = lines(limits(100, 250));
        [10, 11, 20].into_iter().for_each(|id| configure(&mut lines, id));
        assert_eq!(push(&mut lines, 10, 60), Ok(()));
        assert_eq!(push(&mut lines, 11, 41), Err(QueueFull::BytesOfCommunity));
        assert_eq!(push(&mut lines, 11, 40), Ok(()));
        assert_eq!(push(&mut lines, 20, 100), Ok(()));
        lines.take(EndpointId(10));
        assert_eq!(push(&mut lines, 11, 60), Ok(()), "what was told takes nothing");
    }

    #[test]
    fn dead_letters_count_and_give_way_to_what_waits_the_oldest_first() {
        let mut lines = lines(limits(100, 150));
        [10, 11, 20].into_iter().for_each(|id| configure(&mut lines, id));
        for endpoint in [10, 11] {
            push(&mut lines, endpoint, 40).expect("room");
            give_up(&mut lines, endpoint);
        }
        assert_eq!(push(&mut lines, 11, 101), Err(QueueFull::BytesOfCommunity));
        assert_eq!(
            (dead(&lines, 10), dead(&lines, 11)),
            (1, 1),
            "a message that is refused takes nothing away"
        );
        assert_eq!(push(&mut lines, 11, 50), Ok(()));
        assert_eq!((dead(&lines, 10), dead(&lines, 11)), (0, 1));
        assert_eq!(push(&mut lines, 20, 100), Ok(()));
        assert_eq!(dead(&lines, 11), 0, "all together have no more room");
        assert_eq!(push(&mut lines, 20, 1), Err(QueueFull::BytesOfCommunity));
        assert_eq!(push(&mut lines, 10, 1), Err(QueueFull::Bytes));
    }

    #[test]
    fn whatever_becomes_of_messages_the_bytes_are_free_again_at_the_end() {
        let limits = MemoryLimits { dead_per_endpoint_max: 2, ..limits(100, 150) };
        let mut lines = lines(limits);
        [10, 11, 20].into_iter().for_each(|id| configure(&mut lines, id));
        for endpoint in [10, 11, 20] {
            (0..5).for_each(|_| push(&mut lines, endpoint, 7).expect("room"));
            lines.take(EndpointId(endpoint));
            lines.give_up(EndpointId(endpoint), 3, &WHY, UnixMillis(0));
            assert_eq!(dead(&lines, endpoint), 2, "the oldest is forgotten");
        }
        assert_eq!((lines.whole.waiting, lines.whole.dead), (3 * 7, 3 * 2 * 7));
        [10, 11, 20].into_iter().for_each(|id| lines.remove(EndpointId(id)));
        assert_eq!(lines.whole, Taken::default());
        assert!(lines.by_community.is_empty() && lines.dead.is_empty());
    }

    #[test]
    fn what_tells_of_a_person_is_forgotten_in_their_community_alone_and_takes_nothing_then() {
        let mut lines = lines(MemoryLimits::default());
        [10, 11, 20].into_iter().for_each(|id| configure(&mut lines, id));
        for endpoint in [10, 11, 20] {
            for (person, bytes) in [("ann", 7), ("ann", 7), ("bob", 5)] {
                push_of(&mut lines, endpoint, bytes, person).expect("room");
            }
        }
        give_up(&mut lines, 10);
        lines.forget_about(&Community::new("1"), MessageSubject::Person("ann"));
        let waiting = [10, 11, 20].map(|id| lines.line(EndpointId(id)).map_or(0, |line| line.waiting.len()));
        assert_eq!((waiting, dead(&lines, 10)), ([1, 1, 3], 0));
        assert_eq!((lines.whole.waiting, lines.whole.dead), (5 + 5 + 19, 0));
        let of = |person: &str| MessageId(person.into());
        let under_way = lines.headed_by(EndpointId(10), &of("ann"));
        assert!(matches!(under_way, Ok(None)), "how its attempt ended is no error");
        assert!(matches!(lines.headed_by(EndpointId(10), &of("bob")), Ok(Some(_))));
    }

    #[test]
    fn what_tells_of_a_conversation_is_forgotten_whoever_it_tells_of() {
        let mut lines = lines(MemoryLimits::default());
        configure(&mut lines, 10);
        for (nth, conversation) in [Some("den"), Some("hall"), None, Some("den")].into_iter().enumerate() {
            let (id, person) = (MessageId(nth.to_string()), "den".into());
            let (conversation, body) = (conversation.map(str::to_owned), vec![b'x'; 7].into());
            let message = Message { id, person, conversation, body, queued: UnixMillis(0), attempts: 0 };
            lines.push(EndpointId(10), message).expect("room");
        }
        give_up(&mut lines, 10);
        lines.forget_about(&Community::new("1"), MessageSubject::Conversation("den"));
        let left =
            lines.line(EndpointId(10)).map(|line| line.waiting.iter().map(|message| message.id.0.clone()));
        assert_eq!(left.map(Vec::from_iter), Some(vec!["1".to_owned(), "2".to_owned()]));
        assert_eq!((dead(&lines, 10), lines.whole.waiting, lines.whole.dead), (0, 2 * 7, 0));
    }

    #[test]
    fn what_waits_for_an_endpoint_is_never_told_to_another_communitys() {
        let mut lines = lines(MemoryLimits::default());
        configure(&mut lines, 10);
        push(&mut lines, 10, 7).expect("room");
        let target = Target::parse("https://other.example/").expect("a target");
        let (community, secrets) = (Community::new("2"), SigningSecret::mint([9; 32]).into());
        lines.configure(Endpoint { id: EndpointId(10), community, target, secrets });
        assert!(lines.line(EndpointId(10)).is_some_and(|line| line.waiting.is_empty()));
        assert_eq!(lines.whole, Taken::default());
    }
}
