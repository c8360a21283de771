//! The name and look of a community, as its people's clients know them.
//!
//! The answer to a join contains it. Whatever makes a community stale may have changed it: within a second each node
//! reads it again for those who are online, and notifies them if it differs from what they know. So it is sent at most
//! once a second, however often it changes, and also by a node that missed what another one did.

use crate::messenger::Messenger;
use chat::{Community, CommunityId, Failure};
use serde_json::{Value, json};
use std::sync::Arc;

/// The event that notifies clients.
pub(crate) const EVENT: &str = "community:changed";

/// The name and look as clients see them.
fn shown(Community { settings, .. }: &Community) -> Value {
    json!({ "name": settings.name, "look": settings.look })
}

/// The payload of the event.
fn payload(shown: &Value) -> String {
    json!({ "community": shown }).to_string()
}

impl Messenger {
    /// Returns the look for an answer to a person who is coming online, and the payload they count as knowing.
    ///
    /// # Errors
    /// There is no such community, or the store is unavailable.
    pub(crate) async fn look(&self, community: &CommunityId) -> Result<(Value, Arc<str>), Failure> {
        let shown = shown(&self.directory(community).await?.community);
        let known = self.inner.audience.know_look(community, &payload(&shown));
        Ok((shown, known))
    }

    /// Notifies those online of these communities if the look differs from what they know. What the store could not
    /// answer is asked again in the next round.
    pub(crate) async fn tell_looks(&self, communities: &[CommunityId]) {
        let inner = &self.inner;
        for community in communities {
            match self.directory(community).await {
                Ok(directory) => {
                    let payload = payload(&shown(&directory.community));
                    for topic in inner.audience.change_look(community, &payload) {
                        inner.out.tell(&topic, EVENT, &payload);
                    }
                }
                Err(failure @ Failure::Unavailable(_)) => {
                    tracing::warn!(%failure, "a community's appearance could not be read; the next round retries");
                    inner.audience.doubt_look(community);
                }
                // The community no longer exists.
                Err(failure) => {
                    tracing::debug!(%failure, %community, "a community's appearance is not announced: \
                     the community is gone")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::DeviceId;
    use crate::scene::{self, id, run, somebody};
    use chat::verbs::ChangeCommunity;
    use chat::{By, Look, RoomName, Settings};

    /// Sets the name, and this colour.
    async fn change(messenger: &Messenger, community: &str, color: &str) {
        let look = Look { color: Some(color.to_owned()), ..Look::default() };
        let settings = Settings { look, ..Settings::named(community) };
        messenger.ask(&id(community), By::Service, ChangeCommunity { settings }).await.expect("a key may");
    }

    #[test]
    fn whoever_is_here_is_told_once_of_another_look_and_nobody_of_another_community() {
        run(async {
            let (messenger, told) = scene::messenger();
            let audience = &messenger.inner.audience;
            for name in ["one", "two"] {
                let (community, lobby) = (id(name), scene::community(&messenger, name).await);
                audience.arrive(&community, &somebody("ann"), DeviceId(1)).expect("there is room");
                let room = RoomName::parse("lobby").expect("a name");
                audience.open_room(&community, lobby.id, &room, &somebody("bob"), DeviceId(2));
                messenger.look(&community).await.expect("it can be read");
            }
            messenger.catch_up().await;
            drop(told.take());
            for color in ["#112233", "#445566"] {
                change(&messenger, "one", "#aabbcc").await;
                change(&messenger, "one", color).await;
                assert_eq!(told.take(), [], "at most once a second");
                messenger.catch_up().await;
                let mut topics = told.take();
                topics.sort();
                let expected = json!({"community": {"name": "one",
                    "look": {"color": color, "logo_url": null, "locale": null}}});
                let event = |topic: &str| (topic.to_owned(), EVENT.to_owned(), expected.to_string());
                assert_eq!(topics, [event("person:one/ann"), event("room:one/lobby")]);
            }
            change(&messenger, "one", "#445566").await;
            messenger.catch_up().await;
            assert_eq!(told.take(), [], "it is the same");
        });
    }

    #[test]
    fn who_was_answered_before_it_changed_learns_of_it_when_they_stand() {
        run(async {
            let (messenger, _) = scene::messenger();
            let (one, audience) = (id("one"), &messenger.inner.audience);
            scene::community(&messenger, "one").await;
            audience.arrive(&one, &somebody("ann"), DeviceId(1)).expect("there is room");
            let (_, known) = messenger.look(&one).await.expect("it can be read");
            assert_eq!(audience.newer_look(&one, &known), None);
            change(&messenger, "one", "#112233").await;
            messenger.catch_up().await;
            let newer = audience.newer_look(&one, &known).expect("it is another one");
            assert!(newer.contains("#112233"));
        });
    }
}
