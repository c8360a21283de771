//! Export of a community or of what there is of a person, and import into another store.

use crate::access;
use crate::failure::Failure;
use crate::ids::PersonId;
use crate::limits::PAGE_MAX;
use crate::problem::Problem;
use crate::rows::{Record, Rows, Table};
use crate::{Call, Command, WEIGHT_MAX};
use serde::{Deserialize, Serialize};

/// What a page of rows that are only read weighs.
const EXPORT_WEIGHT: u32 = 20;

/// A part of an export: to be repeated from [`Exported::next`] until there is none. A whole community for keys; a person
/// for keys and for themselves. What is written meanwhile may be in it or not; for one moment's state, copy the database.
#[derive(Clone, Debug)]
pub struct Export {
    /// Only what there is of them.
    pub person: Option<PersonId>,
    /// Where the last part ended.
    pub after: Option<ExportPosition>,
}

/// A place in an export.
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
        Ok(Exported { records: found.into_iter().map(|scanned| scanned.record).collect(), next })
    }
}

/// Puts exported records into the call's community, in the order in which they were exported. For keys. Records that are
/// there are replaced, messages that are there are kept, so that an import may be repeated.
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
            let problem = Problem::new("too_many", format!("has more than {PAGE_MAX}"));
            return Err(problem.at("records").into());
        }
        for (place, record) in self.records.iter().enumerate() {
            if record.community().is_some_and(|id| *id != call.community) {
                let problem = Problem::new("form", format!("is not of the community {}", call.community));
                return Err(problem.at(format!("records[{place}]")).into());
            }
        }
        for record in &self.records {
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
                // An export of an older version may have several of one person and message.
                continue;
            }
            if matches!(record, Record::Mention(_)) {
                // It came with its message, and must not be without one.
                continue;
            }
            rows.put(&call.community, record)?;
        }
        Ok(())
    }
}
