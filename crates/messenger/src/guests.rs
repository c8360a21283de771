//! Finds guests who no longer come back, and forgets them.

use crate::messenger::Messenger;
use chat::limits::GUESTS_FORGOTTEN_MAX;
use chat::verbs::{ForgetGuests, GoneGuests};
use chat::{By, CommunityId, Failure, PersonId};

impl Messenger {
    /// Takes the next batch of a community's guests after `after`, and forgets those who are [gone](GoneGuests).
    /// Returns how many were forgotten, and where to continue if there are more.
    ///
    /// # Errors
    /// As [`GoneGuests`] and [`ForgetGuests`].
    pub async fn forget_some_guests(
        &self,
        community: &CommunityId,
        after: Option<PersonId>,
    ) -> Result<(usize, Option<PersonId>), Failure> {
        let gone = self.ask(community, By::Service, GoneGuests { after }).await?;
        // `seen` is stored when somebody leaves, so a guest listed here may be connected all the time.
        let is_away = |guest: &PersonId| !self.inner.entrance.is_connected(community, guest);
        let people: Vec<PersonId> = gone.rows.into_iter().filter(is_away).collect();
        let mut count = 0;
        for people in people.chunks(GUESTS_FORGOTTEN_MAX) {
            let forget = ForgetGuests { people: people.to_vec() };
            count += self.ask(community, By::Service, forget).await?.len();
        }
        Ok((count, gone.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, by, id, run, somebody};
    use chat::verbs::{Meet, People};
    use chat::{Call, Entropy, Moment, Profile};

    #[test]
    fn who_is_connected_is_not_forgotten_on_whichever_node() {
        run(async {
            let (messenger, _) = scene::messenger();
            let one = id("one");
            scene::community(&messenger, "one").await;
            for name in ["gil", "hal"] {
                let profile = Profile { name: name.to_owned(), avatar: None, guest: true, role: None };
                let (now, entropy) = (Moment::from_millis(1_000), Entropy([1; 16]));
                let call = Call { community: one.clone(), by: by(name), now, entropy };
                messenger.perform(call.ask(Meet { profile })).await.expect("guests are welcome");
            }
            messenger.inner.entrance.elsewhere(&one, &somebody("gil"), true);
            for (forgotten, left) in [(1, vec!["gil"]), (1, vec![])] {
                assert_eq!(messenger.forget_some_guests(&one, None).await, Ok((forgotten, None)));
                let people = messenger.ask(&one, By::Service, People { after: None, limit: 9 });
                let people = people.await.expect("a key may").rows;
                assert_eq!(people.iter().map(|person| person.id.as_str()).collect::<Vec<_>>(), left);
                messenger.inner.entrance.elsewhere(&one, &somebody("gil"), false);
            }
        });
    }
}
