//! Guests who come back no more are forgotten.

use super::Erase;
use super::listing::{Listed, with_one_more};
use crate::access;
use crate::ids::{ConversationId, PersonId};
use crate::limits::{GUESTS_FORGOTTEN_MAX, PAGE_MAX};
use crate::person::Person;
use crate::problem::Problem;
use crate::rows::{Found, Record, Rows, Table, Target};
use crate::{Call, Command, Failure, WEIGHT_MAX};

/// How long after they were here last. Their tokens are good for a day.
const KEPT_DAYS: u64 = 30;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// What of theirs goes with them. What they reported, and what moderators did, stays with their ids.
const TABLES: [Table; 4] = [Table::Invitation, Table::Sanction, Table::Block, Table::Member];

/// Guests who were here last a month ago or longer, and of whom others see nothing: no message, no mention, no reaction. For
/// keys. `next` may be there with no rows.
#[derive(Clone, Debug)]
pub struct GoneGuests {
    /// Those after it.
    pub after: Option<PersonId>,
}

impl Command for GoneGuests {
    type Answer = Listed<PersonId, PersonId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        access::key_or_self(call, None)?;
        access::community(rows, call)?;
        let found = rows.people(&call.community, self.after.as_ref(), with_one_more(PAGE_MAX))?;
        let Listed { rows: people, next } = Listed::of(found, PAGE_MAX, |person| person.id.clone());
        let mut gone = Vec::new();
        for person in people {
            if is_gone(rows, call, &person)? {
                gone.push(person.id);
            }
        }
        Ok(Listed { rows: gone, next })
    }
}

/// Forgets those of these people who are [gone](GoneGuests), with their memberships, cursors, blocks, invitations and sanctions.
/// For keys. Who is in very many conversations leaves only some of them, and is to be forgotten once more.
#[derive(Clone, Debug)]
pub struct ForgetGuests {
    /// Whom; at most [`GUESTS_FORGOTTEN_MAX`].
    pub people: Vec<PersonId>,
}

/// What became of a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forgotten {
    /// Who it was.
    pub person: PersonId,
    /// Conversations that they are in no more.
    pub left: Vec<ConversationId>,
    /// Whether nothing is left of them.
    pub done: bool,
}

impl Command for ForgetGuests {
    type Answer = Vec<Forgotten>;
    const WRITES: bool = true;

    /// It goes over pages of rows, and writes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Forgotten>, Failure> {
        access::key_or_self(call, None)?;
        access::community(rows, call)?;
        if self.people.len() > GUESTS_FORGOTTEN_MAX {
            let problem = Problem::new("length", "has too many people");
            return Err(problem.at("people").into());
        }
        let mut forgotten = Vec::new();
        for id in &self.people {
            // They may have come back since they were found.
            if let Some(person) = rows.person(&call.community, id)?
                && is_gone(rows, call, &person)?
            {
                forgotten.push(forget(rows, call, person.id)?);
            }
        }
        Ok(forgotten)
    }
}

fn is_gone(rows: &mut dyn Rows, call: &Call, person: &Person) -> Found<bool> {
    let here_last = person.created.max(person.seen);
    let before = call.now.before_ms(KEPT_DAYS * DAY_MS);
    if !person.profile.guest || here_last >= before || rows.is_remembered(&call.community, &person.id)? {
        return Ok(false);
    }
    // Who does not wish to be seen is known to have been here by what they came into.
    let came_in = |record: &Record| matches!(record, Record::Member(member) if member.joined >= before);
    let memberships = rows.scan(&call.community, Table::Member, Some(&person.id), None, PAGE_MAX)?;
    Ok(!memberships.iter().any(|scanned| came_in(&scanned.record)))
}

fn forget(rows: &mut dyn Rows, call: &Call, person: PersonId) -> Result<Forgotten, Failure> {
    let (erase, mut report) = (Erase { person: person.clone() }, super::ErasureReport::default());
    let (mut left, mut done) = (Vec::new(), true);
    for table in TABLES {
        let found = rows.scan(&call.community, table, Some(&person), None, PAGE_MAX)?;
        done &= found.len() < PAGE_MAX;
        for scanned in found {
            if let Record::Member(member) = &scanned.record {
                left.push(member.conversation);
            }
            erase.forget(rows, call, scanned.record, &mut report)?;
        }
    }
    if done {
        rows.remove(&call.community, &Target::DeliveriesOf(person.clone()))?;
        rows.remove(&call.community, &Target::Person(person.clone()))?;
    }
    Ok(Forgotten { person, left, done })
}
