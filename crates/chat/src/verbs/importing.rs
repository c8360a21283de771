//! Import of exported records, also into a store that has been used.

use super::erasing::BeingErased;
use crate::access;
use crate::conversation::Conversation;
use crate::failure::Failure;
use crate::ids::ConversationId;
use crate::limits::PAGE_MAX;
use crate::problem::{FieldProblem, Problem};
use crate::rows::{Record, Rows};
use crate::{Call, Command, WEIGHT_MAX};
use std::collections::BTreeMap;

/// Imports exported records into the call's community; they must come in the order of the export. For keys. Existing
/// records are replaced and existing messages are kept, so that an import can be repeated. A conversation that has gone
/// on here keeps its place: what is sent next must not get the number of an existing message. Its members are counted as
/// they come.
/// Records of conversations that are being erased here are left out.
///
/// Fails with [`Failure::Invalid`] if a room's name, or two people's direct conversation, exists here with another id.
#[derive(Clone, Debug)]
pub struct Import {
    /// The records; at most [`PAGE_MAX`].
    pub records: Vec<Record>,
}

impl Command for Import {
    type Answer = ();
    const WRITES: bool = true;

    fn weight(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(WEIGHT_MAX)
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        access::key_or_self(call, None)?;
        if self.records.len() > PAGE_MAX {
            let problem = Problem::new("too_many", format!("has more than {PAGE_MAX} entries"));
            return Err(problem.at("records").into());
        }
        for (place, record) in self.records.iter().enumerate() {
            if record.community().is_some_and(|id| *id != call.community) {
                let message = format!("does not belong to the community {}", call.community);
                return Err(at(place, message).into());
            }
            if let Record::Conversation(row) = record {
                require_its_place(rows, call, row, place)?;
            }
        }
        let mut records: Vec<&Record> = self.records.iter().collect();
        BeingErased::leave_out(rows, call, &mut records, |record| record.conversation())?;
        let mut came: BTreeMap<ConversationId, u64> = BTreeMap::new();
        for record in records {
            if is_left_out(rows, call, record)? {
                continue;
            }
            if let Record::Conversation(row) = record {
                put_conversation(rows, call, row.clone())?;
                continue;
            }
            if let Record::Member(row) = record
                && rows.member(&call.community, row.conversation, &row.person)?.is_none()
            {
                *came.entry(row.conversation).or_default() += 1;
            }
            rows.put(&call.community, record)?;
        }
        for (id, more) in came {
            if let Some(mut conversation) = rows.conversation(&call.community, id)? {
                conversation.members += more;
                rows.put(&call.community, &conversation.into())?;
            }
        }
        Ok(())
    }
}

fn at(place: usize, message: String) -> FieldProblem {
    Problem::new("form", message).at(format!("records[{place}]"))
}

/// Requires that no other conversation stands where this one belongs.
fn require_its_place(
    rows: &mut dyn Rows,
    call: &Call,
    row: &Conversation,
    place: usize,
) -> Result<(), Failure> {
    let community = &call.community;
    if let Some(name) = &row.name
        && rows.room(community, name)?.is_some_and(|other| other.id != row.id)
    {
        let message = format!(
            "is the room {name} of the community {community}, which has another room of that name here: import \
             into an empty store, or erase the room here first"
        );
        return Err(at(place, message).into());
    }
    if let Some(pair) = &row.pair
        && rows.direct(community, pair)?.is_some_and(|other| other.id != row.id)
    {
        let message = format!(
            "is the direct conversation of {} in the community {community}, who have another one here: import into \
             an empty store",
            pair.key().replace(' ', " and ")
        );
        return Err(at(place, message).into());
    }
    Ok(())
}

fn is_left_out(rows: &mut dyn Rows, call: &Call, record: &Record) -> Result<bool, Failure> {
    if let Record::Message(row) = record {
        return Ok(rows.message(&call.community, row.conversation, row.seq)?.is_some());
    }
    if let Record::Report(row) = record
        && !row.by.is_reserved()
    {
        // An export from an older version may contain several by one person of one message.
        let first = rows.report_by(&call.community, row.conversation, row.seq, &row.by)?;
        return Ok(first.is_some_and(|first| first.id != row.id));
    }
    // It was imported with its message, and must not exist without one.
    Ok(matches!(record, Record::Mention(_)))
}

fn put_conversation(rows: &mut dyn Rows, call: &Call, mut row: Conversation) -> Result<(), Failure> {
    match rows.conversation(&call.community, row.id)? {
        Some(here) => row.go_on_from(&here),
        None => row.members = 0,
    }
    Ok(rows.put(&call.community, &row.into())?)
}
