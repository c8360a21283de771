//! Removes guests who no longer come back.

use super::Erase;
use super::listing::{Listed, with_one_more};
use crate::access;
use crate::ids::{ConversationId, PersonId};
use crate::limits::{GUESTS_FORGOTTEN_MAX, PAGE_MAX};
use crate::person::Person;
use crate::problem::Problem;
use crate::rows::{Found, Record, Rows, Table, Target};
use crate::{Call, Command, Failure, WEIGHT_MAX};

/// How many days guests are kept after they were last here. Their tokens are valid for one day.
const KEPT_DAYS: u64 = 30;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// What is removed with a guest. Their reports and moderators' actions stay, with their ids.
const TABLES: [Table; 4] = [Table::Invitation, Table::Sanction, Table::Block, Table::Member];

/// Lists guests who were last here at least 30 days ago and of whom others see nothing: no message, no mention, no
/// reaction. For keys. A page may have no rows and still a `next`.
#[derive(Clone, Debug)]
pub struct GoneGuests {
    /// Only people after this one.
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

/// Forgets those of these people who are [gone](GoneGuests), with their memberships, cursors, blocks, invitations and
/// sanctions. For keys. A guest in very many conversations leaves only some of them per call, and must be forgotten
/// again.
#[derive(Clone, Debug)]
pub struct ForgetGuests {
    /// The guests; at most [`GUESTS_FORGOTTEN_MAX`].
    pub people: Vec<PersonId>,
}

/// The result of forgetting one guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forgotten {
    /// The guest.
    pub person: PersonId,
    /// Conversations that they were removed from.
    pub left: Vec<ConversationId>,
    /// Whether nothing is left of them.
    pub done: bool,
}

impl Command for ForgetGuests {
    type Answer = Vec<Forgotten>;
    const WRITES: bool = true;

    /// It goes through pages of rows and writes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Forgotten>, Failure> {
        access::key_or_self(call, None)?;
        access::community(rows, call)?;
        if self.people.len() > GUESTS_FORGOTTEN_MAX {
            let problem = Problem::new("length", "has too many entries");
            return Err(problem.at("people").into());
        }
        let mut forgotten = Vec::new();
        for id in &self.people {
            // They may have come back since they were listed.
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
    // For guests who hide when they were last seen, recent joins show that they were here.
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
