//! A person's role in a conversation changed, or they were put into it.

use super::{Told, news};
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{AddMember, Brought, SetRole};
use chat::{Asked, Command, Member};
use serde_json::json;

news! { SetRole AddMember }

impl Told for SetRole {
    fn told(asked: Asked<Self>, answer: &Member, notices: &mut NoticeBatch<'_>) {
        given(&asked, answer, notices);
    }
}

impl Told for AddMember {
    /// A person who is put in with a role is announced once, with it.
    fn told(asked: Asked<Self>, answer: &Brought, notices: &mut NoticeBatch<'_>) {
        if let Some(came) = &answer.came {
            notices.happened(&asked, &Happening::Joined(came));
            notices.entered(&asked.call.community, &answer.conversation, came);
        } else if answer.given {
            given(&asked, &answer.member, notices);
        }
    }
}

fn given<C: Command>(asked: &Asked<C>, member: &Member, notices: &mut NoticeBatch<'_>) {
    notices.happened(asked, &Happening::RoleGiven(member));
    let community = &asked.call.community;
    notices.forget_standing(community, member.conversation, &member.person);
    let payload =
        json!({ "conversation": member.conversation, "person": member.person, "role": member.role });
    notices.changed(community, member.conversation, "member:role", &payload.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::DeviceId;
    use crate::scene::{self, by, id, run, somebody};
    use crate::witness::Witness;
    use chat::verbs::Leave;
    use chat::{By, CommunityId, KeyId, PersonId, Role, RoomName};
    use std::sync::{Arc, Mutex, PoisonError};

    /// Records what happened to people in conversations.
    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>);

    impl Witness for Seen {
        fn witness(&self, _: &CommunityId, _: &PersonId, happening: &Happening<'_>) {
            let (what, member) = match happening {
                Happening::Joined(member) => ("joined", member),
                Happening::RoleGiven(member) => ("role", member),
                _ => return,
            };
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(format!("{what} {} {}", member.person, member.role.name()));
        }

        fn keys_changed(&self, _: &CommunityId, _: Option<KeyId>) {}

        fn erased(&self, _: &CommunityId, _: &PersonId) {}

        fn closed(&self, _: &CommunityId) {}
    }

    #[test]
    fn a_role_is_told_as_one_and_who_is_put_in_with_it_is_told_of_once() {
        run(async {
            let (messenger, told) = scene::messenger();
            let (one, lobby) = (id("one"), scene::community(&messenger, "one").await);
            for who in ["ann", "bob"] {
                scene::person(&messenger, "one", who, &lobby).await;
            }
            messenger.ask(&one, by("bob"), Leave { conversation: lobby.id }).await.expect("Bob goes");
            let audience = &messenger.inner.audience;
            audience.arrive(&one, &somebody("ann"), DeviceId(1)).expect("there is room");
            let name = RoomName::parse("lobby").expect("a name");
            audience.open_room(&one, lobby.id, &name, &somebody("ann"), DeviceId(1));
            let seen = Arc::new(Seen::default());
            messenger.witness_by(seen.clone());
            let news = || {
                let of_members = |(_, event, payload): (String, String, String)| {
                    let payload: serde_json::Value = serde_json::from_str(&payload).expect("JSON");
                    event.starts_with("member:").then(|| format!("{event} {}", payload["role"]))
                };
                let events: Vec<String> = told.take().into_iter().filter_map(of_members).collect();
                (std::mem::take(&mut *seen.0.lock().unwrap_or_else(PoisonError::into_inner)), events)
            };
            news();
            let bring =
                |role| AddMember { conversation: lobby.id, person: somebody("bob"), role, invitation: None };
            let expected = |seen: &[&str], events: &[&str]| {
                let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
                (owned(seen), owned(events))
            };
            messenger.ask(&one, By::Service, bring(Some(Role::Moderator))).await.expect("a key may");
            let came = expected(&["joined bob moderator"], &["member:in \"moderator\""]);
            assert_eq!(news(), came);
            messenger.ask(&one, By::Service, bring(None)).await.expect("a key may");
            assert_eq!(news(), expected(&[], &[]), "he is there");
            messenger.ask(&one, By::Service, bring(Some(Role::Member))).await.expect("a key may");
            assert_eq!(news(), expected(&["role bob member"], &["member:role \"member\""]));
            let set = SetRole { conversation: lobby.id, person: somebody("bob"), role: Role::Owner };
            messenger.ask(&one, By::Service, set).await.expect("a key may");
            assert_eq!(news(), expected(&["role bob owner"], &["member:role \"owner\""]));
        });
    }
}
