//! Builds statements over one table from conditions.

use super::session::{Columns, Param, Session};
use chat::rows::{Found, Within};
use chat::{CommunityId, PersonId};
use std::fmt::Write as _;
use std::iter::repeat_n;

/// A type with its own table, whose first column is `community`.
pub(crate) trait Entity: Sized {
    /// The table's name.
    const TABLE: &'static str;
    /// The columns except `community`; those of the key come first.
    const COLUMNS: &'static [&'static str];
    /// How many of them form the key.
    const KEY: usize;

    /// The values of the columns.
    fn params(&self) -> Vec<Param<'_>>;

    /// Reads a value from its columns, starting with column `at`.
    ///
    /// # Errors
    /// The columns' contents were not written by this program.
    fn read(row: &dyn Columns, at: usize) -> Found<Self>;
}

/// Writes a row, replacing one with the same key.
pub(crate) fn insert<E: Entity>(session: &mut impl Session, community: &CommunityId, row: &E) -> Found<()> {
    let mut sql = format!("INSERT INTO {} (community", E::TABLE);
    for column in E::COLUMNS {
        let _ = write!(sql, ", {column}");
    }
    sql.push_str(") VALUES (?1");
    for place in 0..E::COLUMNS.len() {
        let _ = write!(sql, ", ?{}", place + 2);
    }
    sql.push_str(") ON CONFLICT (community");
    for column in &E::COLUMNS[..E::KEY] {
        let _ = write!(sql, ", {column}");
    }
    sql.push_str(") DO ");
    if E::KEY == E::COLUMNS.len() {
        sql.push_str("NOTHING");
    }
    for (place, column) in E::COLUMNS[E::KEY..].iter().enumerate() {
        let _ = write!(sql, "{}{column} = excluded.{column}", if place == 0 { "UPDATE SET " } else { ", " });
    }
    let mut params = vec![Param::from(community.as_str())];
    params.extend(row.params());
    session.execute(&sql, &params).map(drop)
}

/// A query for rows of one table and community.
pub(crate) struct Select<'a> {
    conditions: String,
    params: Vec<Param<'a>>,
    tail: String,
}

impl<'a> Select<'a> {
    /// Selects all rows of a community.
    pub(crate) fn of(community: &'a CommunityId) -> Self {
        let params = vec![Param::from(community.as_str())];
        Self { conditions: "t.community = ?1".to_owned(), params, tail: String::new() }
    }

    /// Restricts to rows that satisfy `condition`; each `?` in it stands for one of `params`.
    pub(crate) fn and(mut self, condition: &str, params: impl IntoIterator<Item = Param<'a>>) -> Self {
        self.conditions.push_str(" AND ");
        let mut params = params.into_iter();
        for (place, part) in condition.split('?').enumerate() {
            if place > 0 {
                self.params.extend(params.next());
                let _ = write!(self.conditions, "?{}", self.params.len());
            }
            self.conditions.push_str(part);
        }
        debug_assert!(params.next().is_none(), "each parameter has its place: {condition}");
        self
    }

    /// Restricts to rows whose column names one of these people. The list is padded with its last person to the next
    /// power of two, so that a few statements suffice for any number of people.
    pub(crate) fn among(self, column: &str, people: &'a [PersonId]) -> Self {
        let Some(last) = people.last() else { return self.and("1 = 0", []) };
        let places = people.len().next_power_of_two();
        let filled = people.iter().chain(repeat_n(last, places - people.len()));
        let condition = format!("{column} IN ({})", vec!["?"; places].join(", "));
        self.and(&condition, filled.map(|person| person.as_str().into()))
    }

    /// Restricts to messages of the conversations in `within`.
    pub(crate) fn within(self, within: &'a Within) -> Self {
        match within {
            Within::One(conversation) => self.and("t.conversation = ?", [Param::id(conversation.0)]),
            Within::Of(person) => self.and(
                "EXISTS (SELECT 1 FROM members m WHERE m.community = t.community \
                 AND m.conversation = t.conversation AND m.person = ?)",
                [Param::from(person.as_str())],
            ),
            Within::Everywhere => self,
        }
    }

    /// Sets the order and the maximum number of rows.
    pub(crate) fn order(mut self, order: &str, limit: usize) -> Self {
        self.tail = format!(" ORDER BY {order} LIMIT {limit}");
        self
    }

    /// Returns the rows; conditions refer to the table as `t`.
    pub(crate) fn rows<E: Entity>(&self, session: &mut impl Session) -> Found<Vec<E>> {
        self.rows_from(session, &format!("{} t", E::TABLE))
    }

    /// Returns the rows from joined tables, of which the entity's own is aliased `t`.
    pub(crate) fn rows_from<E: Entity>(&self, session: &mut impl Session, tables: &str) -> Found<Vec<E>> {
        let columns = columns_of::<E>("t");
        let sql = format!("SELECT {columns} FROM {tables} WHERE {}{}", self.conditions, self.tail);
        let mut found = Vec::new();
        session.query(&sql, &self.params, &mut |row| {
            found.push(E::read(row, 0)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the first row.
    pub(crate) fn row<E: Entity>(&self, session: &mut impl Session) -> Found<Option<E>> {
        Ok(self.rows(session)?.into_iter().next())
    }

    /// Counts the rows of a table.
    pub(crate) fn count(&self, session: &mut impl Session, table: &str) -> Found<u64> {
        let sql = format!("SELECT count(*) FROM {table} t WHERE {}", self.conditions);
        let mut number = 0;
        session.query(&sql, &self.params, &mut |row| {
            number = row.integer(0)?.unwrap_or(0);
            Ok(())
        })?;
        Ok(u64::try_from(number).unwrap_or(0))
    }

    /// Deletes the rows.
    pub(crate) fn delete(&self, session: &mut impl Session, table: &str) -> Found<()> {
        let conditions = self.conditions.replace("t.", "");
        session.execute(&format!("DELETE FROM {table} WHERE {conditions}"), &self.params).map(drop)
    }

    /// Returns the parts for composing a custom statement: the conditions, their parameters, and the tail.
    pub(crate) fn parts(&self) -> (&str, &[Param<'a>], &str) {
        (&self.conditions, &self.params, &self.tail)
    }
}

/// The columns of a table with that alias in the statement.
pub(crate) fn columns_of<E: Entity>(alias: &str) -> String {
    let mut columns = String::new();
    for (place, column) in E::COLUMNS.iter().enumerate() {
        let _ = write!(columns, "{}{alias}.{column}", if place == 0 { "" } else { ", " });
    }
    columns
}
