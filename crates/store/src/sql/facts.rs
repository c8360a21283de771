//! The facts about a sender, as columns of one row.

use super::select::{Entity, columns_of};
use super::session::Columns;
use chat::rows::{Found, SendingFacts};
use chat::{Conversation, Member, Person};

/// The columns that [`read_facts`] reads: of the conversation, aliased `c`, and of the sender's membership and person,
/// aliased `m` and `p`, which may be missing.
pub(crate) fn facts_columns() -> String {
    [columns_of::<Conversation>("c"), columns_of::<Member>("m"), columns_of::<Person>("p")].join(", ")
}

/// The number of those columns.
pub(crate) fn facts_count() -> usize {
    Conversation::COLUMNS.len() + Member::COLUMNS.len() + Person::COLUMNS.len()
}

/// Reads those columns, starting with column `at`.
pub(crate) fn read_facts(row: &dyn Columns, at: usize, facts: &mut SendingFacts) -> Found<()> {
    let member = at + Conversation::COLUMNS.len();
    let person = member + Member::COLUMNS.len();
    facts.conversation = Some(Conversation::read(row, at)?);
    // The first column of either is part of its key, so it is not NULL if the row exists.
    facts.member = row.bytes(member)?.map(|_| Member::read(row, member)).transpose()?;
    facts.person = row.text(person)?.map(|_| Person::read(row, person)).transpose()?;
    Ok(())
}
