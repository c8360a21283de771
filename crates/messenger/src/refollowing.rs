//! Reads again what people online follow, in batches: after a gap of the bus this is needed for everybody.

use crate::audience::{self, Followed};
use crate::following::Reading;
use crate::messenger::Messenger;
use chat::limits::{MEMBERSHIPS_MAX, MEMBERSHIPS_PEOPLE_MAX};
use chat::verbs::{MembershipsOf, Readable};
use chat::{By, CommunityId, Failure, PersonId, Thing};
use std::collections::HashMap;

/// What was read of some people.
#[derive(Default)]
struct Found {
    /// Those of them who may not come in.
    kept_out: Vec<PersonId>,
    theirs: HashMap<PersonId, Vec<Readable>>,
}

impl Messenger {
    /// Reads again what these people follow, in batches small enough to take little memory. Those who may no longer
    /// come in are in no conversation, and are not asked about again. Clients whose conversations differ from what they
    /// were sent list them again. If the store cannot answer, the next round asks again.
    pub(crate) async fn follow_anew(&self, people: &[(CommunityId, PersonId)]) {
        for of_one in people.chunk_by(|(one, _), (other, _)| one == other) {
            for batch in of_one.chunks(MEMBERSHIPS_PEOPLE_MAX) {
                let people: Vec<PersonId> = batch.iter().map(|(_, person)| person.clone()).collect();
                if let Some((community, _)) = batch.first()
                    && !self.follow_batch(community, &people).await
                {
                    break;
                }
            }
        }
    }

    /// Returns whether the community exists.
    async fn follow_batch(&self, community: &CommunityId, people: &[PersonId]) -> bool {
        let inner = &self.inner;
        let begin = |person| Reading::begin(&inner.audience, community, person);
        let readings: Vec<Reading<'_>> = people.iter().map(begin).collect();
        let mut found = match self.memberships(community, people).await {
            Ok(found) => found,
            Err(failure) => {
                drop(readings);
                self.not_followed(community, people, &failure);
                return failure != Failure::Absent(Thing::Community);
            }
        };
        for reading in readings {
            let person = reading.person;
            if found.kept_out.contains(person) {
                tracing::info!(%community, %person, "a person is no longer admitted");
                drop(reading);
                inner.here().expelled(community, person);
            } else if self.note_read(community, reading, &found.theirs.remove(person).unwrap_or_default()) {
                inner.here().person(community, person, "conversations:changed", "{}");
            }
        }
        true
    }

    /// Applies what was read of a person. Returns whether they follow other conversations than before.
    fn note_read(&self, community: &CommunityId, reading: Reading<'_>, theirs: &[Readable]) -> bool {
        let follow = |row: &Readable| Followed {
            id: row.conversation,
            is_room: row.kind.is_room(),
            revision: row.revision,
        };
        let followed: Vec<Followed> = theirs.iter().map(follow).collect();
        // These pages do not shift between reads: what is on none of them is gone.
        let gone = self.inner.audience.unread(community, reading.person, &followed);
        let heads: Vec<_> = theirs.iter().map(|row| (row.conversation, row.last)).collect();
        self.note_followed(reading, audience::Reading { followed: &followed, gone: &gone }, &heads)
    }

    fn not_followed(&self, community: &CommunityId, people: &[PersonId], failure: &Failure) {
        if matches!(failure, Failure::Unavailable(_)) {
            tracing::warn!(%failure, "people's conversations could not be reloaded; the next round retries");
            people.iter().for_each(|person| self.inner.audience.follow_again(community, person));
        } else {
            tracing::info!(%failure, %community, "people's conversations can no longer be read");
            if *failure == Failure::Absent(Thing::Community) {
                self.inner.here().closed(community);
            }
        }
    }

    async fn memberships(&self, community: &CommunityId, people: &[PersonId]) -> Result<Found, Failure> {
        let (mut found, mut after) = (Found::default(), None);
        loop {
            let read = MembershipsOf { people: people.to_vec(), after, limit: MEMBERSHIPS_MAX };
            let page = self.ask(community, By::Service, read).await?;
            found.kept_out = page.kept_out;
            for row in page.rows {
                found.theirs.entry(row.person.clone()).or_default().push(row);
            }
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::DeviceId;
    use crate::entrance::Credentials;
    use crate::scene::{self, by, claims, id, run, somebody, token};
    use chat::verbs::{CreateRoom, EraseCommunity, ImposeSanction, Join, Leave};
    use chat::{Conversation, RoomName, SanctionKind};

    /// A person is online and follows what they are in.
    async fn welcome(messenger: &Messenger, name: &str, lobby: &Conversation) {
        scene::person(messenger, "one", name, lobby).await;
        let (one, person) = (id("one"), somebody(name));
        messenger.inner.audience.arrive(&one, &person, DeviceId(1)).expect("there is room");
        messenger.follow(&one, &person).await.expect("read");
    }

    /// Another server over the same store, which this one does not hear.
    fn beside(messenger: &Messenger) -> Messenger {
        Messenger::new(messenger.store(), crate::Settings::default())
    }

    #[test]
    fn what_many_people_follow_is_read_again_at_once() {
        const BATCHES: usize = 3;
        run(async {
            let (messenger, _) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            let people: Vec<String> =
                (0..(BATCHES - 1) * MEMBERSHIPS_PEOPLE_MAX + 1).map(|nth| format!("p{nth}")).collect();
            for name in &people {
                welcome(&messenger, name, &lobby).await;
            }
            let other = beside(&messenger);
            for name in people.iter().skip(1) {
                other.ask(&id("one"), by(name), Leave { conversation: lobby.id }).await.expect("they may");
            }
            let audience = &messenger.inner.audience;
            people.iter().for_each(|name| audience.follow_again(&id("one"), &somebody(name)));
            let asked = messenger.counts().asked_total;
            messenger.catch_up().await;
            assert_eq!(messenger.counts().asked_total - asked, BATCHES as u64);
            let left = people.iter().filter(|name| audience.is_in(&id("one"), lobby.id, &somebody(name)));
            assert_eq!(left.collect::<Vec<_>>(), ["p0"]);
            assert!(audience.overdue().to_follow.is_empty());
        });
    }

    #[test]
    fn what_somebody_came_into_and_left_elsewhere_is_found_and_they_are_told_that_it_changed() {
        run(async {
            let (messenger, told) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            for name in ["ann", "bob"] {
                welcome(&messenger, name, &lobby).await;
            }
            let (one, other) = (id("one"), beside(&messenger));
            let den = CreateRoom::public(RoomName::parse("den").expect("a name"), "Den");
            let den = other.ask(&one, By::Service, den).await.expect("a room");
            let join = Join { conversation: den.id, invitation: None };
            other.ask(&one, by("ann"), join).await.expect("they may");
            other.ask(&one, by("ann"), Leave { conversation: lobby.id }).await.expect("they may");
            let audience = &messenger.inner.audience;
            ["ann", "bob"].iter().for_each(|name| audience.follow_again(&one, &somebody(name)));
            drop(told.take());
            messenger.catch_up().await;
            let is_in = |name, room: &Conversation| audience.is_in(&one, room.id, &somebody(name));
            assert_eq!([is_in("ann", &lobby), is_in("ann", &den)], [false, true]);
            assert_eq!([is_in("bob", &lobby), is_in("bob", &den)], [true, false]);
            let mut events = told.events();
            events.retain(|(_, event)| event == "conversations:changed");
            assert_eq!(events, [("person:one/ann".to_owned(), "conversations:changed".to_owned())]);
        });
    }

    /// Ann's connection to a messenger in whose community she is.
    async fn connection(messenger: &Messenger) -> String {
        let lobby = scene::community(messenger, "one").await;
        scene::trust_site(messenger, "one").await;
        welcome(messenger, "ann", &lobby).await;
        let shown = Some(token(&claims("one", "ann")));
        let credentials = Credentials { community: id("one"), token: shown, name: None };
        let admitted = messenger.admit(&credentials).await.expect("Ann is in");
        let entrance = &messenger.inner.entrance;
        let socket = entrance.socket();
        entrance
            .open_session(socket, &id("one"), &somebody("ann"), &admitted.verified, None)
            .expect("it counts");
        socket.text()
    }

    #[test]
    fn whose_community_is_erased_is_out_wherever_that_was_done() {
        run(async {
            for elsewhere in [false, true] {
                let (messenger, told) = scene::messenger();
                let socket = connection(&messenger).await;
                drop(told.take());
                let (one, other) = (id("one"), beside(&messenger));
                let by = if elsewhere { &other } else { &messenger };
                by.ask(&one, By::Service, EraseCommunity).await.expect("the first part");
                if elsewhere {
                    messenger.tick();
                    assert_eq!(told.events(), [], "it did not hear of that");
                    messenger.inner.audience.follow_again(&one, &somebody("ann"));
                    messenger.catch_up().await;
                }
                messenger.tick();
                assert_eq!(told.events(), [(socket, "close".to_owned())], "elsewhere: {elsewhere}");
                messenger.tick();
                assert_eq!(told.events(), [], "once");
            }
        });
    }

    #[test]
    fn who_was_banned_from_the_community_meanwhile_is_out() {
        run(async {
            let (messenger, told) = scene::messenger();
            let socket = connection(&messenger).await;
            let (one, ann) = (id("one"), somebody("ann"));
            let ban = ImposeSanction {
                person: ann.clone(),
                conversation: None,
                kind: SanctionKind::Ban,
                until: None,
                reason: String::new(),
            };
            beside(&messenger).ask(&one, By::Service, ban).await.expect("banned");
            messenger.inner.audience.follow_again(&one, &ann);
            drop(told.take());
            messenger.catch_up().await;
            assert_eq!(told.events(), [(socket, "close".to_owned())]);
        });
    }
}
