//! Somebody was here, changed how they are seen, blocked somebody, or was erased.

use super::{ChangedAt, Told, counts, news};
use crate::bulletin::Bulletin;
use crate::notice::ErasedReactions;
use crate::witness::Happening;
use chat::verbs::{
    BlockPerson, Erase, ErasureReport, Import, Meet, Revoke, SetReceipts, UnblockPerson, Vanished,
};
use chat::{Asked, Block, By, Person, Revocation};
use serde_json::json;
use std::borrow::Cow;

news! { Meet SetReceipts BlockPerson UnblockPerson Erase Revoke }

impl Told for Meet {
    fn told(asked: Asked<Self>, answer: &Person, bulletin: &mut Bulletin<'_>) {
        bulletin.met(&asked.call.community, answer);
    }
}

impl Told for SetReceipts {
    fn told(asked: Asked<Self>, answer: &Person, bulletin: &mut Bulletin<'_>) {
        let community = &asked.call.community;
        bulletin.forget_person(community, &answer.id);
        let payload = json!({ "receipts": answer.receipts });
        bulletin.person(community, &answer.id, "receipts", &payload.to_string());
    }
}

impl Told for BlockPerson {
    /// Only the blocker's devices learn of it.
    fn told(asked: Asked<Self>, answer: &Block, bulletin: &mut Bulletin<'_>) {
        let payload = json!({ "person": answer.person, "on": true });
        bulletin.person(&asked.call.community, &answer.by, "block", &payload.to_string());
    }
}

impl Told for UnblockPerson {
    fn told(asked: Asked<Self>, (): &(), bulletin: &mut Bulletin<'_>) {
        if let By::Person(by) = &asked.call.by {
            let payload = json!({ "person": asked.command.person, "on": false });
            bulletin.person(&asked.call.community, by, "block", &payload.to_string());
        }
    }
}

impl Told for Erase {
    fn told(asked: Asked<Self>, answer: &ErasureReport, bulletin: &mut Bulletin<'_>) {
        // Pages of any conversation of the community may hold what they wrote.
        bulletin.forget_community(&asked.call.community);
        for message in &answer.changed {
            let event = if message.deleted.is_some() { "msg:delete" } else { "msg:edit" };
            bulletin.revised(&asked.call.community, message, event, &json!(message).to_string());
        }
        for Vanished { message, emoji, reactions } in &answer.vanished {
            let erased = ErasedReactions {
                at: ChangedAt::of(message),
                person: Cow::Borrowed(&asked.command.person),
                emoji: Cow::Borrowed(emoji),
                counts: counts(reactions),
            };
            bulletin.reactions_erased(&asked.call.community, erased);
        }
        if answer.done {
            person_erased(&asked, bulletin);
        }
    }

    /// The next step finds what is left, and tells nothing of what this one did; there is none if this was the last.
    fn doubted(asked: Asked<Self>, bulletin: &mut Bulletin<'_>) {
        bulletin.changes_doubted(&asked.call.community);
        bulletin.erasure_doubted(asked);
    }
}

/// Nothing is left of a person.
pub(crate) fn person_erased(asked: &Asked<Erase>, bulletin: &mut Bulletin<'_>) {
    bulletin.happened(asked, &Happening::Erased(&asked.command.person));
    bulletin.erased(&asked.call.community, &asked.command.person);
}

impl Told for Revoke {
    /// Whoever revoked it has done so on their own node already; it is for the others.
    fn told(asked: Asked<Self>, answer: &Revocation, bulletin: &mut Bulletin<'_>) {
        bulletin.revoked(&asked.call.community, &answer.person, answer.token.as_deref(), answer.until_s);
    }
}

impl crate::news::News for Asked<Import> {
    type Kept = chat::CommunityId;

    fn keep(&self) -> chat::CommunityId {
        self.call.community.clone()
    }

    /// It comes from another store, before anybody is here; what was read before is stale.
    fn tell(community: chat::CommunityId, (): &(), bulletin: &mut Bulletin<'_>) {
        bulletin.forget_community(&community);
    }
}
