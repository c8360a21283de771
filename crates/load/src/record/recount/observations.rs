//! The observations of a log.

use super::super::log_reader::{LogError, Part, Rows};
use super::super::row::Row;
use super::names::{Known, Tables};
use crate::observe::{NO_LABEL, Observation};

/// The observations of a part of a log, with the indexes of their names.
pub(super) struct Observations<'a> {
    rows: Rows,
    labels: Known<'a>,
    sources: Known<'a>,
    count: u64,
}

impl<'a> Observations<'a> {
    pub(super) fn of(part: &Part, tables: &'a Tables) -> Result<Self, LogError> {
        let (labels, sources) = (Known::new(&tables.labels), Known::new(&tables.sources));
        Ok(Self { rows: part.rows()?, labels, sources, count: 0 })
    }

    /// Returns the next observation; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Observation>, LogError> {
        let Some(Row { observation, label, source, .. }) = self.rows.next_row()? else { return Ok(None) };
        self.count += 1;
        let has_label = observation.label != NO_LABEL;
        let label = if has_label { self.labels.index(&label) } else { NO_LABEL };
        Ok(Some(Observation { label, source: self.sources.index(&source), ..observation }))
    }

    /// Returns how many have been read.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether something at the end was cut off and skipped.
    pub(super) fn is_torn(&self) -> bool {
        self.rows.is_torn()
    }
}
