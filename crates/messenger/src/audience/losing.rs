//! The people of nodes that are gone, or that were not told of again.
//!
//! They may be very many: a few at a time are lost, and others have a turn in between. Whoever is told of again meanwhile
//! stays.

use super::limits::LOST_AT_ONCE_MAX;
use super::{Announcement, Audience, Moved, lock};
use chat::{CommunityId, PersonId};
use gateway::NodeId;
use std::thread;
use std::time::Duration;

/// For so long the lock is left to those who wait for it: they have to wake up before it is taken again.
const TURN: Duration = Duration::from_micros(50);

impl Audience {
    /// The people of a node are gone: all of them, or those of whom it has not told again since they were in doubt. Says what
    /// is to be announced, by and by; nothing is locked then.
    pub(crate) fn lose(
        &self,
        node: NodeId,
        all: bool,
        moved: Moved<'_>,
        mut announce: impl FnMut(&Announcement),
    ) {
        // First of all communities: nobody of whom the node tells from now on is lost.
        for (community, people) in self.begin_to_lose(node, all) {
            for (number, people) in people.chunks(LOST_AT_ONCE_MAX).enumerate() {
                if number > 0 {
                    thread::sleep(TURN);
                }
                self.lose_some(&community, node, people, moved).iter().for_each(&mut announce);
            }
        }
    }

    fn begin_to_lose(&self, node: NodeId, all: bool) -> Vec<(CommunityId, Vec<PersonId>)> {
        let mut leaving = Vec::new();
        for part in &self.parts {
            for (community, gathered) in lock(part).iter_mut() {
                let people = gathered.abroad.begin_to_lose(node, all);
                leaving.extend((!people.is_empty()).then(|| (community.clone(), people)));
            }
        }
        leaving
    }

    fn lose_some(
        &self,
        community: &CommunityId,
        node: NodeId,
        people: &[PersonId],
        moved: Moved<'_>,
    ) -> Vec<Announcement> {
        let mut part = self.part(community);
        let Some(gathered) = part.get_mut(community) else { return Vec::new() };
        let announcements =
            gathered.lose(node, people, &|person, has_device| moved(community, person, has_device));
        if gathered.is_empty() {
            part.remove(community);
        }
        announcements
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::abroad::There;
    use crate::audience::{Activity, Choice, DeviceId, Followed, Reading, Told};
    use crate::scene::{id, somebody};
    use chat::{ConversationId, Moment, RoomName, Ulid};
    use std::cell::Cell;

    const NODE: NodeId = NodeId(7);
    const MANY: usize = 3 * LOST_AT_ONCE_MAX;
    const LOBBY: ConversationId = ConversationId(Ulid::from_bytes([1; 16]));

    /// The node tells of many people, who are in the lobby of each of two communities.
    fn tell_of_many(audience: &Audience) {
        for (community, number) in ["one", "two"].iter().flat_map(|name| (0..MANY).map(move |of| (name, of)))
        {
            let there = There {
                activity: Some(Activity::Active),
                devices: 1,
                choice: Choice::Auto,
                chosen: Moment::default(),
                conversations: vec![LOBBY],
            };
            let told = Told { person: somebody(&format!("p{number}")), here: Some(there), seen: None };
            audience.hear(&id(community), NODE, told, &|_, _, _| {});
        }
    }

    /// They are seen by Ann, who has the lobby of each open.
    fn many_who_are_seen() -> Audience {
        let (audience, ann) = (Audience::new(), somebody("ann"));
        let (followed, room) =
            ([Followed { id: LOBBY, is_room: true }], RoomName::parse("lobby").expect("a name"));
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

    #[test]
    fn all_of_many_are_lost_and_what_is_announced_is_told_when_nothing_is_locked() {
        let (audience, announced) = (many_who_are_seen(), Cell::new(0));
        assert_eq!(seen(&audience), [MANY + 1; 2]);
        let moves = Cell::new(0);
        let moved = |_: &CommunityId, _: &PersonId, has_device: bool| {
            assert!(!has_device);
            moves.set(moves.get() + 1);
        };
        audience.lose(NODE, true, &moved, |_| {
            announced.set(announced.get() + 1);
            assert!(seen(&audience)[0] > 0);
        });
        assert_eq!((announced.get(), moves.get(), seen(&audience)), (2 * MANY, 2 * MANY, [1, 1]));
        assert!(audience.abroad().is_empty());
    }

    #[test]
    fn who_is_told_of_after_the_loss_began_is_not_lost() {
        for (all, is_doubted_again) in [(true, false), (true, true), (false, true)] {
            let (audience, announced) = (many_who_are_seen(), Cell::new(0));
            audience.doubt_abroad(None);
            audience.lose(NODE, all, &|_, _, _| {}, |_| {
                if announced.replace(announced.get() + 1) == 0 {
                    tell_of_many(&audience);
                    is_doubted_again.then(|| audience.doubt_abroad(Some(NODE)));
                }
            });
            assert_eq!((announced.get(), seen(&audience)), (LOST_AT_ONCE_MAX, [MANY + 1; 2]));
        }
    }

    #[test]
    fn nothing_is_left_of_a_community_whose_people_were_all_there() {
        let audience = Audience::new();
        tell_of_many(&audience);
        audience.lose(NODE, true, &|_, _, _| {}, |_| unreachable!("nobody is here"));
        assert!(audience.parts.iter().all(|part| lock(part).is_empty()));
    }
}
