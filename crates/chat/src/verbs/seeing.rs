//! When people were last here, as others saw it.

use crate::access;
use crate::failure::Failure;
use crate::ids::PersonId;
use crate::limits::SEEN_MAX;
use crate::moment::Moment;
use crate::person::Person;
use crate::problem::Problem;
use crate::rows::Rows;
use crate::{By, Call, Command};

/// Records when others last saw people here: to the minute, forward only. For keys: the server that sees people connect
/// and disconnect also knows which of them want to stay hidden. Unknown people are skipped.
#[derive(Clone, Debug)]
pub struct NoteSeen {
    /// The people and times; at most [`SEEN_MAX`].
    pub people: Vec<(PersonId, Moment)>,
}

impl Command for NoteSeen {
    type Answer = ();
    const WRITES: bool = true;

    fn weight(&self) -> u32 {
        u32::try_from(self.people.len()).unwrap_or(u32::MAX)
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        access::key_or_self(call, None)?;
        access::community(rows, call)?;
        require_few(self.people.len(), SEEN_MAX)?;
        for (id, seen) in &self.people {
            let seen = seen.to_minute();
            if let Some(person) = rows.person(&call.community, id)?.filter(|person| person.seen < seen) {
                rows.put(&call.community, &Person { seen, ..person }.into())?;
            }
        }
        Ok(())
    }
}

/// Returns when people were last seen here. For keys; for people about themselves and those with whom they share a
/// conversation. Others are left out of the answer, whether they exist or not.
#[derive(Clone, Debug)]
pub struct LastSeen {
    /// The people; at most [`SEEN_MAX`].
    pub people: Vec<PersonId>,
}

impl Command for LastSeen {
    type Answer = Vec<(PersonId, Option<Moment>)>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        access::community(rows, call)?;
        require_few(self.people.len(), SEEN_MAX)?;
        if let By::Person(_) = &call.by {
            access::asker(rows, call)?;
            if access::community_ban(rows, call)?.is_some() {
                return Ok(Vec::new());
            }
        }
        let mut seen = Vec::with_capacity(self.people.len());
        for id in &self.people {
            if !may_see(rows, call, id)? {
                continue;
            }
            if let Some(person) = rows.person(&call.community, id)? {
                seen.push((person.id, Some(person.seen).filter(|seen| *seen > Moment::default())));
            }
        }
        Ok(seen)
    }
}

/// Whether the caller may know when a person is or was here: keys, the person themselves, and those who share a
/// conversation.
pub(super) fn may_see(rows: &mut dyn Rows, call: &Call, person: &PersonId) -> Result<bool, Failure> {
    match &call.by {
        By::Service => Ok(true),
        By::Person(asker) => Ok(asker == person || rows.share(&call.community, asker, person)?),
    }
}

/// Requires at most `max` people.
///
/// # Errors
/// There are more.
pub(super) fn require_few(count: usize, max: usize) -> Result<(), Failure> {
    if count > max {
        let problem = Problem::new("too_many", format!("has more than {max} entries"));
        return Err(problem.at("people").into());
    }
    Ok(())
}
