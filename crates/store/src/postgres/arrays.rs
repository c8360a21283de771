//! Rows as one array per column, to write many rows with one statement.

use crate::sql::Param;
use tokio_postgres::types::ToSql;

/// The columns of rows that are written together.
pub(super) struct Columns(Vec<Column>);

enum Column {
    Integer(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

/// A column's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Integer,
    Text,
    Bytes,
}

impl Type {
    /// The array type's name in a statement.
    pub(super) const fn array(self) -> &'static str {
        match self {
            Self::Integer => "bigint[]",
            Self::Text => "text[]",
            Self::Bytes => "bytea[]",
        }
    }
}

impl Columns {
    /// Creates columns without rows.
    pub(super) fn new(types: &[Type]) -> Self {
        let columns = types.iter().map(|column| match column {
            Type::Integer => Column::Integer(Vec::new()),
            Type::Text => Column::Text(Vec::new()),
            Type::Bytes => Column::Bytes(Vec::new()),
        });
        Self(columns.collect())
    }

    /// Adds a row. A value whose type does not match its column is stored as NULL, which the table rejects.
    pub(super) fn push<'a>(&mut self, row: impl IntoIterator<Item = Param<'a>>) {
        for (column, value) in self.0.iter_mut().zip(row) {
            match (column, value) {
                (Column::Integer(values), Param::Integer(number)) => values.push(Some(number)),
                (Column::Integer(values), _) => values.push(None),
                (Column::Text(values), Param::Text(text)) => values.push(Some(text.into_owned())),
                (Column::Text(values), _) => values.push(None),
                (Column::Bytes(values), Param::Bytes(bytes)) => values.push(Some(bytes.into_owned())),
                (Column::Bytes(values), _) => values.push(None),
            }
        }
    }

    /// Returns the arrays as a statement's parameters.
    pub(super) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.0
            .iter()
            .map(|column| match column {
                Column::Integer(values) => values as &(dyn ToSql + Sync),
                Column::Text(values) => values,
                Column::Bytes(values) => values,
            })
            .collect()
    }
}

/// `unnest(?1::…, ?2::…, …)`: with numbered parameters, as in all our statements.
pub(super) fn unnest(types: &[Type]) -> String {
    let arrays: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(place, column)| format!("?{}::{}", place + 1, column.array()))
        .collect();
    format!("unnest({})", arrays.join(", "))
}
