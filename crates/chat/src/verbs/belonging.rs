//! Memberships of many people at once.

use super::listing::cut;
use super::seeing::require_few;
use crate::access::{self, Access};
use crate::conversation::Conversation;
use crate::ids::{ConversationId, PersonId, Revision, Seq};
use crate::kind::Kind;
use crate::limits::{MEMBERSHIPS_MAX, MEMBERSHIPS_PEOPLE_MAX};
use crate::permissions::Action;
use crate::rows::{Membership, Rows, SendingFacts};
use crate::{By, Call, Command, Failure};
use std::collections::HashMap;

/// Lists the conversations that these people are in and may read, by person and conversation. For keys: a server that
/// may have missed changes asks this about everybody who is connected.
///
/// Pages follow a key that does not change. So if a conversation is on none of the pages and was not joined in the
/// meantime, the person is not in it or may not read it.
#[derive(Clone, Debug)]
pub struct MembershipsOf {
    /// The people; at most [`MEMBERSHIPS_PEOPLE_MAX`].
    pub people: Vec<PersonId>,
    /// Only rows after this one.
    pub after: Option<(PersonId, ConversationId)>,
    /// Maximum number of rows, capped at [`MEMBERSHIPS_MAX`].
    pub limit: usize,
}

/// A page of memberships.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MembershipsPage {
    /// Those of the people who are excluded: unknown, or banned from the whole community.
    pub kept_out: Vec<PersonId>,
    /// The readable conversations of the others.
    pub rows: Vec<Readable>,
    /// Where the next page begins; `None` on the last page.
    pub next: Option<(PersonId, ConversationId)>,
}

/// A conversation that a person is in and may read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Readable {
    /// The person.
    pub person: PersonId,
    /// The conversation.
    pub conversation: ConversationId,
    /// Its kind.
    pub kind: Kind,
    /// Its newest message.
    pub last: Seq,
    /// Its revision: that of the newest edit, delete or reaction.
    pub revision: Revision,
}

impl Command for MembershipsOf {
    type Answer = MembershipsPage;
    const WRITES: bool = false;

    fn weight(&self) -> u32 {
        u32::try_from(self.people.len()).unwrap_or(u32::MAX)
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<MembershipsPage, Failure> {
        access::key_or_self(call, None)?;
        require_few(self.people.len(), MEMBERSHIPS_PEOPLE_MAX)?;
        let facts = self.facts(call, rows)?;
        let is_left = |person: &&PersonId| self.after.as_ref().is_none_or(|(last, _)| *person >= last);
        let left: Vec<PersonId> = self.people.iter().filter(is_left).cloned().collect();
        let limit = self.limit.clamp(1, MEMBERSHIPS_MAX);
        let mut found = rows.memberships_among(&call.community, &left, self.after.as_ref(), limit + 1)?;
        let next = match (cut(&mut found, limit), found.last()) {
            (true, Some(last)) => Some((last.member.person.clone(), last.conversation.id)),
            (true, None) | (false, _) => None,
        };
        let mut readable = Vec::with_capacity(found.len());
        for Membership { member, conversation } in found {
            let Some(own) = facts.get(&member.person) else { continue };
            let person = member.person.clone();
            let call = Call { by: By::Person(person.clone()), ..call.clone() };
            let facts = SendingFacts { member: Some(member), ..own.clone() };
            let access = Access::by_facts(rows, &call, conversation, facts)?;
            if access.may(Action::Read) {
                let Conversation { id: conversation, kind, last, revision, .. } = access.conversation;
                readable.push(Readable { person, conversation, kind, last, revision });
            }
        }
        let is_kept_out = |person: &&PersonId| !facts.contains_key(*person);
        let kept_out = self.people.iter().filter(is_kept_out).cloned().collect();
        Ok(MembershipsPage { kept_out, rows: readable, next })
    }
}

impl MembershipsOf {
    /// Looks up those facts about each person that are the same for every conversation; leaves out people who are
    /// excluded.
    fn facts(&self, call: &Call, rows: &mut dyn Rows) -> Result<HashMap<PersonId, SendingFacts>, Failure> {
        let guests = access::community(rows, call)?.settings.guests;
        let people = rows.people_among(&call.community, &self.people)?;
        let of =
            |person| SendingFacts { person: Some(person), guests: Some(guests), ..SendingFacts::default() };
        let mut facts: HashMap<PersonId, SendingFacts> =
            people.into_iter().map(|person| (person.id.clone(), of(person))).collect();
        for sanction in rows.sanctions_among(&call.community, &self.people)? {
            if let Some(facts) = facts.get_mut(&sanction.person) {
                facts.sanctions.push(sanction);
            }
        }
        facts.retain(|_, facts| access::ban_in_community(&facts.sanctions, call.now).is_none());
        Ok(facts)
    }
}
