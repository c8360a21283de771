//! A person came in, changed how they are seen, blocked somebody, or was erased.

use super::{ChangedAt, Told, counts, news};
use crate::notice::{Departure, ErasedReactions};
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{
    BlockPerson, Erase, ErasureReport, ForgetGuests, Forgotten, Import, Meet, Revoke, SetReceipts,
    UnblockPerson, Vanished,
};
use chat::{Asked, Block, By, Person, Revocation};
use serde_json::json;
use std::borrow::Cow;

news! { Meet SetReceipts BlockPerson UnblockPerson Erase ForgetGuests Revoke }

impl Told for Meet {
    fn told(asked: Asked<Self>, answer: &Person, notices: &mut NoticeBatch<'_>) {
        notices.met(&asked.call.community, answer);
    }
}

impl Told for SetReceipts {
    fn told(asked: Asked<Self>, answer: &Person, notices: &mut NoticeBatch<'_>) {
        let community = &asked.call.community;
        notices.forget_person(community, &answer.id);
        let payload = json!({ "receipts": answer.receipts });
        notices.person(community, &answer.id, "receipts", &payload.to_string());
    }
}

impl Told for BlockPerson {
    /// Only the blocker's devices are notified.
    fn told(asked: Asked<Self>, answer: &Block, notices: &mut NoticeBatch<'_>) {
        let payload = json!({ "person": answer.person, "on": true });
        notices.person(&asked.call.community, &answer.by, "block", &payload.to_string());
    }
}

impl Told for UnblockPerson {
    fn told(asked: Asked<Self>, (): &(), notices: &mut NoticeBatch<'_>) {
        if let By::Person(by) = &asked.call.by {
            let payload = json!({ "person": asked.command.person, "on": false });
            notices.person(&asked.call.community, by, "block", &payload.to_string());
        }
    }
}

impl Told for Erase {
    fn told(asked: Asked<Self>, answer: &ErasureReport, notices: &mut NoticeBatch<'_>) {
        // Pages of any conversation of the community may contain what they wrote.
        notices.forget_community(&asked.call.community);
        for message in &answer.changed {
            let event = if message.deleted.is_some() { "msg:delete" } else { "msg:edit" };
            notices.revised(&asked.call.community, message, event, &json!(message).to_string());
        }
        for Vanished { message, emoji, reactions } in &answer.vanished {
            let erased = ErasedReactions {
                at: ChangedAt::of(message),
                person: Cow::Borrowed(&asked.command.person),
                emoji: Cow::Borrowed(emoji),
                counts: counts(reactions),
            };
            notices.reactions_erased(&asked.call.community, erased);
        }
        if answer.done {
            person_erased(&asked, notices);
        }
    }

    /// The next step finds what is left, and announces nothing of what this one did; if this was the last, there is
    /// none.
    fn doubted(asked: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        notices.changes_doubted(&asked.call.community);
        notices.erasure_doubted(asked);
    }
}

/// Announces that nothing is left of a person.
pub(crate) fn person_erased(asked: &Asked<Erase>, notices: &mut NoticeBatch<'_>) {
    notices.happened(asked, &Happening::Erased(&asked.command.person));
    notices.erased(&asked.call.community, &asked.command.person);
}

impl Told for ForgetGuests {
    /// They have been away for long; one who comes back at this moment comes in again as a new person.
    fn told(asked: Asked<Self>, answer: &Vec<Forgotten>, notices: &mut NoticeBatch<'_>) {
        let community = &asked.call.community;
        for Forgotten { person, left, done } in answer {
            for conversation in left {
                notices.left(community, *conversation, person, Departure::Removed);
            }
            notices.forget_person(community, person);
            if *done {
                notices.erased(community, person);
            }
        }
    }

    /// The next round finds who is left, and announces nothing about the others.
    fn doubted(asked: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        notices.forget_community(&asked.call.community);
    }
}

impl Told for Revoke {
    /// The node that revoked it has applied it already; this is for the other nodes.
    fn told(asked: Asked<Self>, answer: &Revocation, notices: &mut NoticeBatch<'_>) {
        notices.revoked(&asked.call.community, &answer.person, answer.token.as_deref(), answer.until_s);
    }
}

impl crate::news::News for Asked<Import> {
    type Kept = chat::CommunityId;

    fn keep(&self) -> chat::CommunityId {
        self.call.community.clone()
    }

    /// The rows come from another store, before anybody is online; what was read before is stale.
    fn tell(community: chat::CommunityId, (): &(), notices: &mut NoticeBatch<'_>) {
        notices.forget_community(&community);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::DeviceId;
    use crate::scene::{self, by, id, run, somebody};
    use chat::verbs::{Join, ReadPerson};
    use chat::{Call, Entropy, Failure, Moment, Profile, RoomName, Thing};

    #[test]
    fn who_is_in_a_room_is_told_of_a_guest_who_is_forgotten_and_nobody_is_read_in_their_place() {
        run(async {
            let (messenger, told) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            let one = id("one");
            let call = Call {
                community: one.clone(),
                by: by("gil"),
                now: Moment::from_millis(1_000),
                entropy: Entropy([1; 16]),
            };
            let profile = Profile { name: "Gil".to_owned(), avatar: None, guest: true, role: None };
            messenger.perform(call.clone().ask(Meet { profile })).await.expect("guests are welcome");
            let join = Join { conversation: lobby.id, invitation: None };
            messenger.perform(call.ask(join)).await.expect("it is public");
            let name = RoomName::parse("lobby").expect("a name");
            let (ann, audience) = (somebody("ann"), &messenger.inner.audience);
            audience.arrive(&one, &ann, DeviceId(1)).expect("there is room");
            messenger.follow(&one, &ann).await.expect("read");
            audience.open_room(&one, lobby.id, &name, &ann, DeviceId(1));
            let read = || messenger.ask(&one, by("ann"), ReadPerson { person: somebody("gil") });
            assert_eq!(read().await.expect("they share the lobby").profile.name, "Gil");
            drop(told.take());
            let forget = ForgetGuests { people: vec![somebody("gil")] };
            let forgotten = messenger.ask(&one, By::Service, forget).await.expect("a key may");
            let expected = Forgotten { person: somebody("gil"), left: vec![lobby.id], done: true };
            assert_eq!(forgotten, [expected]);
            assert_eq!(told.events(), [("room:one/lobby".into(), "member:out".into())]);
            assert_eq!(read().await, Err(Failure::Absent(Thing::Person)));
        });
    }
}
