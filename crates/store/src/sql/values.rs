//! Conversion between values and columns.

use super::session::{Columns, Param, corrupt};
use chat::rows::Found;
use chat::{Moment, PersonId, Problem, Seq, Ulid};
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Reads columns one after another.
pub(crate) struct Reader<'a> {
    row: &'a dyn Columns,
    at: usize,
}

/// Starts reading at column `at`.
pub(crate) fn read_at(row: &dyn Columns, at: usize) -> Reader<'_> {
    Reader { row, at }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> usize {
        self.at += 1;
        self.at - 1
    }

    pub(super) fn optional_number(&mut self) -> Found<Option<u64>> {
        let at = self.next();
        let number = self.row.integer(at)?;
        number.map(|number| u64::try_from(number).map_err(|_| corrupt("a number is negative"))).transpose()
    }

    pub(super) fn number(&mut self) -> Found<u64> {
        self.optional_number()?.ok_or_else(|| corrupt("a number is missing"))
    }

    pub(super) fn small(&mut self) -> Found<u32> {
        u32::try_from(self.number()?).map_err(|_| corrupt("a number is too large"))
    }

    pub(super) fn flag(&mut self) -> Found<bool> {
        Ok(self.number()? != 0)
    }

    pub(super) fn moment(&mut self) -> Found<Moment> {
        Ok(Moment::from_millis(self.number()?))
    }

    pub(super) fn optional_moment(&mut self) -> Found<Option<Moment>> {
        Ok(self.optional_number()?.map(Moment::from_millis))
    }

    pub(super) fn optional_text(&mut self) -> Found<Option<&'a str>> {
        let at = self.next();
        self.row.text(at)
    }

    pub(super) fn text(&mut self) -> Found<&'a str> {
        self.optional_text()?.ok_or_else(|| corrupt("a text is missing"))
    }

    pub(super) fn optional<T>(&mut self, parse: fn(&str) -> Result<T, Problem>) -> Found<Option<T>> {
        let text = self.optional_text()?;
        text.map(|text| parse(text).map_err(|problem| corrupt(format!("`{text}` {problem}")))).transpose()
    }

    pub(super) fn parsed<T>(&mut self, parse: fn(&str) -> Result<T, Problem>) -> Found<T> {
        self.optional(parse)?.ok_or_else(|| corrupt("a name is missing"))
    }

    pub(super) fn person(&mut self) -> Found<PersonId> {
        self.parsed(PersonId::parse)
    }

    pub(super) fn named<T>(&mut self, named: fn(&str) -> Option<T>) -> Found<T> {
        let text = self.text()?;
        named(text).ok_or_else(|| corrupt(format!("`{text}` is unknown")))
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Found<T> {
        serde_json::from_str(self.text()?).map_err(|error| corrupt(error.to_string()))
    }

    /// Reads what [`list`] has written.
    pub(super) fn list<T: DeserializeOwned>(&mut self) -> Found<Vec<T>> {
        let text = self.text()?;
        if text == "[]" {
            return Ok(Vec::new());
        }
        serde_json::from_str(text).map_err(|error| corrupt(error.to_string()))
    }

    fn optional_bytes(&mut self) -> Found<Option<&'a [u8]>> {
        let at = self.next();
        self.row.bytes(at)
    }

    pub(super) fn bytes(&mut self) -> Found<&'a [u8]> {
        self.optional_bytes()?.ok_or_else(|| corrupt("a binary value is missing"))
    }

    pub(super) fn optional_id(&mut self) -> Found<Option<Ulid>> {
        let id = |bytes: &[u8]| {
            bytes.try_into().map(Ulid::from_bytes).map_err(|_| corrupt("an id does not have 16 bytes"))
        };
        self.optional_bytes()?.map(id).transpose()
    }

    pub(super) fn id(&mut self) -> Found<Ulid> {
        self.optional_id()?.ok_or_else(|| corrupt("an id is missing"))
    }

    pub(super) fn seq(&mut self) -> Found<Seq> {
        self.number().map(Seq)
    }
}

/// Any of our values as JSON: none has a part that JSON cannot represent.
pub(super) fn json<'a>(value: &impl serde::Serialize) -> Param<'a> {
    Param::from(serde_json::to_string(value).expect("our own types are JSON"))
}

/// A list as JSON; most are empty.
pub(super) fn list<'a, T: serde::Serialize>(items: &[T]) -> Param<'a> {
    if items.is_empty() { Param::Text(Cow::Borrowed("[]")) } else { json(&items) }
}

pub(super) fn optional_text(text: Option<&str>) -> Param<'_> {
    text.map_or(Param::Null, Param::from)
}
