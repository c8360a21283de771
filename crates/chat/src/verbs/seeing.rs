//! When people were here last, as others saw it.

use crate::access;
use crate::failure::Failure;
use crate::ids::PersonId;
use crate::limits::SEEN_MAX;
use crate::moment::Moment;
use crate::person::Person;
use crate::problem::Problem;
use crate::rows::Rows;
use crate::{By, Call, Command};

/// Notes when others saw people here last: to the minute, forward only. For keys: who sees people come and go knows who of them
/// wishes not to be seen. Who is not known is passed over.
#[derive(Clone, Debug)]
pub struct NoteSeen {
    /// Who, and when; at most [`SEEN_MAX`].
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

/// When people were seen here last. For keys; and for people of themselves, and of those with whom they share a conversation.
/// Others are not in the answer, whether they exist or not.
#[derive(Clone, Debug)]
pub struct LastSeen {
    /// Of whom; at most [`SEEN_MAX`].
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

/// Whether the asker may know when somebody is here, and was: keys, themselves, and who shares a conversation with them.
pub(super) fn may_see(rows: &mut dyn Rows, call: &Call, person: &PersonId) -> Result<bool, Failure> {
    match &call.by {
        By::Service => Ok(true),
        By::Person(asker) => Ok(asker == person || rows.share(&call.community, asker, person)?),
    }
}

/// Lets pass up to `max` people.
///
/// # Errors
/// There are more.
pub(super) fn require_few(count: usize, max: usize) -> Result<(), Failure> {
    if count > max {
        let problem = Problem::new("too_many", format!("has more than {max}"));
        return Err(problem.at("people").into());
    }
    Ok(())
}
