//! Export of a community or of a person's data.

use super::erasing::BeingErased;
use crate::access;
use crate::failure::Failure;
use crate::ids::PersonId;
use crate::limits::PAGE_MAX;
use crate::rows::{Record, Rows, Table};
use crate::{Call, Command};
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
