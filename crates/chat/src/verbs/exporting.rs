//! Export of a community or of a person's data, and import into another store.

use super::erasing::BeingErased;
use crate::access;
use crate::failure::Failure;
use crate::ids::PersonId;
use crate::limits::PAGE_MAX;
use crate::problem::Problem;
use crate::rows::{Record, Rows, Table};
use crate::{Call, Command, WEIGHT_MAX};
use serde::{Deserialize, Serialize};

/// The weight of a verb that reads a page of rows.
const EXPORT_WEIGHT: u32 = 20;

/// Returns one part of an export: repeat from [`Exported::next`] until it is `None`. Keys may export a whole community,
/// and keys and the person themselves a person's data. Concurrent writes may or may not be included; for a consistent
/// snapshot, copy the database.
/// Records of conversations that are being erased are left out.
#[derive(Clone, Debug)]
pub struct Export {
    /// Only this person's data.
    pub person: Option<PersonId>,
    /// Where the last part ended.
    pub after: Option<ExportPosition>,
}

/// A position in an export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExportPosition {
    table: Table,
    after: Option<String>,
}

/// A part of an export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The records.
    pub records: Vec<Record>,
    /// Where the next part begins.
    pub next: Option<ExportPosition>,
}

impl Command for Export {
    type Answer = Exported;
    const WRITES: bool = false;

    /// It reads a page of rows.
    fn weight(&self) -> u32 {
        EXPORT_WEIGHT
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Exported, Failure> {
        access::community(rows, call)?;
        access::key_or_self(call, self.person.as_ref())?;
        let start = ExportPosition { table: Table::Community, after: None };
        let ExportPosition { table, after } = self.after.clone().unwrap_or(start);
        let found = rows.scan(&call.community, table, self.person.as_ref(), after.as_deref(), PAGE_MAX)?;
        let next = match found.last() {
            Some(last) if found.len() >= PAGE_MAX => {
                Some(ExportPosition { table, after: Some(last.position.clone()) })
            }
            Some(_) | None => {
                let following = Table::ALL.iter().find(|&&other| other > table);
                following.map(|&table| ExportPosition { table, after: None })
            }
        };
        let mut records = found.into_iter().map(|scanned| scanned.record).collect();
        BeingErased::leave_out(rows, call, &mut records, Record::conversation)?;
        Ok(Exported { records, next })
    }
}

/// Imports exported records into the call's community; they must come in the order of the export. For keys. Existing
/// records are replaced and existing messages are kept, so that an import can be repeated.
/// Records of conversations that are being erased here are left out.
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
                let problem =
                    Problem::new("form", format!("does not belong to the community {}", call.community));
                return Err(problem.at(format!("records[{place}]")).into());
            }
        }
        let mut records: Vec<&Record> = self.records.iter().collect();
        BeingErased::leave_out(rows, call, &mut records, |record| record.conversation())?;
        for record in records {
            if let Record::Message(row) = record
                && rows.message(&call.community, row.conversation, row.seq)?.is_some()
            {
                continue;
            }
            if let Record::Report(row) = record
                && !row.by.is_reserved()
                && rows
                    .report_by(&call.community, row.conversation, row.seq, &row.by)?
                    .is_some_and(|first| first.id != row.id)
            {
                // An export from an older version may contain several by one person of one message.
                continue;
            }
            if matches!(record, Record::Mention(_)) {
                // It was imported with its message, and must not exist without one.
                continue;
            }
            rows.put(&call.community, record)?;
        }
        Ok(())
    }
}
