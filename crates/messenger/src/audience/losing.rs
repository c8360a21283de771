//! Removes the people of nodes that are gone, or that were not reported again.
//!
//! They may be very many. They are first only marked as leaving, all at once, by whichever thread learns it; then a few
//! at a time are removed in separate turns ([`Audience::lose_some`]). Whoever is reported again meanwhile stays.

use super::limits::LOST_AT_ONCE_MAX;
use super::{Announcement, Audience, Moved, lock};
use chat::{CommunityId, PersonId};
use gateway::NodeId;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// People who are leaving and not yet removed. Nobody is in it twice, except after being reported again and marked once
/// more.
#[derive(Default)]
pub(super) struct Losses(Mutex<VecDeque<Loss>>);

/// People of a community who are leaving one node.
struct Loss {
    community: CommunityId,
    node: NodeId,
    people: Vec<PersonId>,
}

impl Audience {
    /// Marks people of a node as leaving: all of them, or those who were doubtful and not reported again. Scans
    /// everybody on other nodes; nothing is announced.
    pub(crate) fn begin_to_lose(&self, node: NodeId, all: bool) {
        for part in &self.parts {
            let mut begun = Vec::new();
            for (community, state) in lock(part).iter_mut() {
                let people = state.abroad.begin_to_lose(node, all);
                if !people.is_empty() {
                    begun.push(Loss { community: community.clone(), node, people });
                }
            }
            self.losses.lock().extend(begun);
        }
    }

    /// Removes some of those who are leaving, few enough that no lock is held for long. Returns what is to be
    /// announced; `None` when nobody is leaving.
    pub(crate) fn lose_some(&self, moved: Moved<'_>) -> Option<Vec<Announcement>> {
        let some = self.losses.take_some();
        if some.is_empty() {
            return None;
        }
        Some(some.iter().flat_map(|loss| self.lose_these(loss, moved)).collect())
    }

    fn lose_these(&self, loss: &Loss, moved: Moved<'_>) -> Vec<Announcement> {
        let Loss { community, node, people } = loss;
        let mut part = self.part(community);
        let Some(state) = part.get_mut(community) else { return Vec::new() };
        let announcements =
            state.lose(*node, people, &|person, has_device| moved(community, person, has_device));
        if state.is_empty() {
            part.remove(community);
        }
        announcements
    }
}

impl Losses {
    fn take_some(&self) -> Vec<Loss> {
        let (mut losses, mut some, mut left) = (self.lock(), Vec::new(), LOST_AT_ONCE_MAX);
        while left > 0
            && let Some(loss) = losses.front_mut()
        {
            let people = loss.people.split_off(loss.people.len().saturating_sub(left));
            left -= people.len();
            some.push(Loss { community: loss.community.clone(), node: loss.node, people });
            if loss.people.is_empty() {
                losses.pop_front();
            }
        }
        some
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Loss>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::remote_people::There;
    use crate::audience::{Activity, Choice, DeviceId, Followed, PersonReport, Reading};
    use crate::scene::{id, somebody};
    use chat::{ConversationId, Moment, Revision, RoomName, Ulid};
    use std::cell::Cell;
    use std::iter;

    const NODE: NodeId = NodeId(7);
    const MANY: usize = 3 * LOST_AT_ONCE_MAX;
    const LOBBY: ConversationId = ConversationId(Ulid::from_bytes([1; 16]));

    /// The node reports a person, who is in the lobby.
    fn tell_of(audience: &Audience, community: &CommunityId, name: &str) {
        let there = There {
            activity: Some(Activity::Active),
            devices: 1,
            choice: Choice::Auto,
            chosen: Moment::default(),
            conversations: vec![LOBBY],
        };
        let told = PersonReport { person: somebody(name), here: Some(there), seen: None };
        audience.hear(community, NODE, told, &|_, _, _| {});
    }

    /// It reports many in each of two communities.
    fn tell_of_many(audience: &Audience) {
        for community in ["one", "two"].map(id) {
            (0..MANY).for_each(|number| tell_of(audience, &community, &format!("p{number}")));
        }
    }

    /// Ann sees them: she has the lobby of each community open.
    fn many_who_are_seen() -> Audience {
        let (audience, ann) = (Audience::new(), somebody("ann"));
        let (followed, room) = (
            [Followed { id: LOBBY, is_room: true, revision: Revision(0) }],
            RoomName::parse("lobby").expect("a name"),
        );
        for community in ["one", "two"].map(id) {
            audience.arrive(&community, &ann, DeviceId(1)).expect("there is room");
            audience.begin_following(&community, &ann);
            audience.follow_all(&community, &ann, Reading { followed: &followed, gone: &[] });
            audience.open_room(&community, LOBBY, &room, &ann, DeviceId(1));
        }
        tell_of_many(&audience);
        audience
    }

    fn seen(audience: &Audience) -> [usize; 2] {
        ["one", "two"].map(|community| audience.present_in(&id(community), LOBBY).0)
    }

    /// How much is announced, turn by turn.
    fn turns(audience: &Audience, moved: Moved<'_>) -> Vec<usize> {
        iter::from_fn(|| audience.lose_some(moved)).map(|announcements| announcements.len()).collect()
    }

    #[test]
    fn all_of_many_are_lost_a_few_at_a_time_and_whoever_marks_them_loses_nobody() {
        let (audience, moves) = (many_who_are_seen(), Cell::new(0));
        let moved = |_: &CommunityId, _: &PersonId, has_device: bool| {
            assert!(!has_device);
            moves.set(moves.get() + 1);
        };
        assert!(audience.lose_some(&moved).is_none());
        audience.begin_to_lose(NODE, true);
        assert_eq!(seen(&audience), [MANY + 1; 2]);
        // As when the list of nodes is reported again and the node is still not in it.
        audience.begin_to_lose(NODE, true);
        assert_eq!(turns(&audience, &moved), [LOST_AT_ONCE_MAX; 2 * MANY / LOST_AT_ONCE_MAX]);
        assert_eq!((moves.get(), seen(&audience)), (2 * MANY, [1, 1]));
        assert!(audience.abroad().is_empty());
    }

    #[test]
    fn people_of_many_communities_are_lost_together() {
        let audience = Audience::new();
        let communities = || (0..LOST_AT_ONCE_MAX + 1).map(|number| id(&format!("c{number}")));
        communities().for_each(|community| tell_of(&audience, &community, "ann"));
        audience.begin_to_lose(NODE, true);
        assert_eq!(turns(&audience, &|_, _, _| {}).len(), 2);
        assert!(audience.abroad().is_empty());
    }

    #[test]
    fn who_is_told_of_after_the_loss_began_is_not_lost() {
        for (all, is_doubted_again) in [(true, false), (true, true), (false, true)] {
            let audience = many_who_are_seen();
            audience.doubt_abroad(None);
            audience.begin_to_lose(NODE, all);
            let lost = audience.lose_some(&|_, _, _| {}).map(|announcements| announcements.len());
            tell_of_many(&audience);
            is_doubted_again.then(|| audience.doubt_abroad(Some(NODE)));
            assert_eq!(turns(&audience, &|_, _, _| {}).iter().sum::<usize>(), 0);
            assert_eq!((lost, seen(&audience)), (Some(LOST_AT_ONCE_MAX), [MANY + 1; 2]));
        }
    }

    #[test]
    fn nothing_is_left_of_a_community_whose_people_were_all_there() {
        let audience = Audience::new();
        tell_of_many(&audience);
        audience.begin_to_lose(NODE, true);
        assert_eq!(turns(&audience, &|_, _, _| {}).iter().sum::<usize>(), 0, "nobody is here");
        assert!(audience.parts.iter().all(|part| lock(part).is_empty()));
    }
}
