//! One observation as a line of the event log, and back.
//!
//! A line is a CSV record (RFC 4180) that never contains a line break, so that a log can be split at any line break.
//! Fields that an observation does not use are empty.

use std::borrow::Cow;
use std::fmt::{self, Display};

use crate::observe::{Kind, NO_LABEL, NO_ROOM, Observation, Outcome};
use crate::statistics::ErrorExample;

/// The first line of a log.
pub const HEADER: &str =
    "at_ns,kind,outcome,user,message,room,intended_ns,began_ns,bytes,count,label,source,code\n";

/// Names of rooms, labels and source addresses, which observations refer to by index.
pub trait Names: Send + Sync {
    /// Returns a room's name.
    fn room(&self, room: u32) -> Option<String>;
    /// Returns a label.
    fn label(&self, label: u16) -> Option<String>;
    /// Returns a source address.
    fn source(&self, source: u16) -> Option<String>;
    /// Returns the text of the first error of each kind, as far as it is known here.
    fn examples(&self) -> Vec<ErrorExample> {
        Vec::new()
    }
}

/// An observation with the names from its line.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<'a> {
    /// Everything but the names. The room, label and source indices are 0 where there is a name.
    pub observation: Observation,
    /// The room's name; empty where there is no room.
    pub room: Cow<'a, [u8]>,
    /// The label; empty where there is none.
    pub label: Cow<'a, [u8]>,
    /// The source address.
    pub source: Cow<'a, [u8]>,
}

/// Why a line is not a valid row of an event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowError {
    /// It has fewer columns than a row, or an unterminated quote; holds the missing column.
    Missing(&'static str),
    /// It has more columns than a row.
    TooLong,
    /// The column is not a whole number in its range.
    NotANumber(&'static str),
    /// The column is not a name that Stampede writes.
    Unknown(&'static str),
}

impl Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(column) => write!(f, "the column `{column}` is missing"),
            Self::TooLong => write!(f, "there are too many columns"),
            Self::NotANumber(column) => write!(f, "`{column}` is not a whole number in its range"),
            Self::Unknown(column) => {
                write!(f, "`{column}` has a value that this version of Stampede does not know")
            }
        }
    }
}

impl std::error::Error for RowError {}

/// Appends an observation as a line. The names are those of its indices.
pub(super) fn write(seen: &Observation, room: &str, label: &str, source: &str, line: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    let mut digits = |value: u64, line: &mut Vec<u8>| {
        if value != 0 {
            line.extend_from_slice(number.format(value).as_bytes());
        }
        line.push(b',');
    };
    line.extend_from_slice(itoa::Buffer::new().format(seen.at).as_bytes());
    line.push(b',');
    line.extend_from_slice(seen.kind.name().as_bytes());
    line.push(b',');
    line.extend_from_slice(seen.outcome.name().as_bytes());
    line.push(b',');
    line.extend_from_slice(itoa::Buffer::new().format(seen.user).as_bytes());
    line.push(b',');
    digits(seen.message, line);
    text(room, line);
    line.push(b',');
    digits(seen.intended, line);
    digits(seen.began, line);
    digits(u64::from(seen.bytes), line);
    digits(u64::from(seen.count), line);
    text(label, line);
    line.push(b',');
    text(source, line);
    line.push(b',');
    digits(u64::from(seen.code), line);
    // The last column is followed by a line break instead of a comma.
    line.pop();
    line.push(b'\n');
}

/// Appends a name, quoted where CSV requires it. Line breaks become `␤`, because a row must be one line.
fn text(name: &str, line: &mut Vec<u8>) {
    if !name.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        line.extend_from_slice(name.as_bytes());
        return;
    }
    let quoted = name.replace("\r\n", "␤").replace(['\n', '\r'], "␤").replace('"', "\"\"");
    line.push(b'"');
    line.extend_from_slice(quoted.as_bytes());
    line.push(b'"');
}

/// Parses a line without its line break.
///
/// # Errors
/// See [`RowError`].
pub(super) fn read(line: &[u8]) -> Result<Row<'_>, RowError> {
    let mut columns = Columns { rest: Some(line) };
    let at = columns.number("at_ns")?;
    let kind = Kind::of_name(&columns.text("kind")?).ok_or(RowError::Unknown("kind"))?;
    let outcome = Outcome::of_name(&columns.text("outcome")?).ok_or(RowError::Unknown("outcome"))?;
    let user = columns.number("user")?;
    let message = columns.number("message")?;
    let room = columns.text("room")?;
    let intended = columns.number("intended_ns")?;
    let began = columns.number("began_ns")?;
    let bytes = columns.number("bytes")?;
    let count = columns.number("count")?;
    let label = columns.text("label")?;
    let source = columns.text("source")?;
    let code = columns.number("code")?;
    if columns.rest.is_some() {
        return Err(RowError::TooLong);
    }
    let observation = Observation {
        at,
        intended,
        began,
        message,
        user,
        room: if room.is_empty() { NO_ROOM } else { 0 },
        bytes,
        count,
        label: if label.is_empty() { NO_LABEL } else { 0 },
        source: 0,
        code,
        kind,
        outcome,
    };
    Ok(Row { observation, room, label, source })
}

/// The columns of a line that have not been parsed yet.
struct Columns<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn number<N: TryFrom<u64>>(&mut self, column: &'static str) -> Result<N, RowError> {
        let rest = self.rest.ok_or(RowError::Missing(column))?;
        self.rest = None;
        let mut number = 0_u64;
        for (place, byte) in rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                let next = number.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
                number = next.ok_or(RowError::NotANumber(column))?;
            } else if *byte == b',' {
                self.rest = Some(&rest[place + 1..]);
                break;
            } else {
                return Err(RowError::NotANumber(column));
            }
        }
        N::try_from(number).map_err(|_| RowError::NotANumber(column))
    }

    fn text(&mut self, column: &'static str) -> Result<Cow<'a, [u8]>, RowError> {
        if self.rest.is_some_and(|rest| rest.first() == Some(&b'"')) {
            self.quoted().map(Cow::Owned).ok_or(RowError::Missing(column))
        } else {
            self.plain().map(Cow::Borrowed).ok_or(RowError::Missing(column))
        }
    }

    fn plain(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        // Columns are short: a plain loop finds the comma faster than a vectorised search starts up.
        let Some(comma) = rest.iter().position(|byte| *byte == b',') else {
            self.rest = None;
            return Some(rest);
        };
        self.rest = Some(&rest[comma + 1..]);
        Some(&rest[..comma])
    }

    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut rest = self.rest?.strip_prefix(b"\"")?;
        let mut text = Vec::new();
        loop {
            let quote = memchr::memchr(b'"', rest)?;
            text.extend_from_slice(&rest[..quote]);
            rest = &rest[quote + 1..];
            match rest.split_first() {
                Some((b'"', after)) => {
                    text.push(b'"');
                    rest = after;
                }
                Some((b',', after)) => {
                    self.rest = Some(after);
                    return Some(text);
                }
                None => {
                    self.rest = None;
                    return Some(text);
                }
                Some(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::example::{observation, stream};

    fn line_of(seen: &Observation, room: &str) -> Vec<u8> {
        let mut line = Vec::new();
        write(seen, room, "", "127.0.0.1", &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    #[test]
    fn a_line_has_the_columns_of_the_header() {
        let seen = Observation {
            at: 3_500_000,
            intended: 1_000_000,
            began: 1_500_000,
            message: 4_294_967_297,
            user: 7,
            room: 0,
            bytes: 64,
            kind: Kind::Receive,
            ..observation()
        };
        let line = String::from_utf8(line_of(&seen, "room:lobby")).expect("text");
        assert_eq!(line, "3500000,receive,ok,7,4294967297,room:lobby,1000000,1500000,64,,,127.0.0.1,");
        assert_eq!(line.matches(',').count(), HEADER.matches(',').count());
    }

    #[test]
    fn lines_that_are_none_are_refused_with_the_column() {
        for (line, expected) in [
            ("", RowError::Unknown("kind")),
            ("1", RowError::Missing("kind")),
            ("1,receive", RowError::Missing("outcome")),
            ("x,receive,ok,7,,,,,,,,,", RowError::NotANumber("at_ns")),
            ("99999999999999999999,receive,ok,7,,,,,,,,,", RowError::NotANumber("at_ns")),
            ("1,received,ok,7,,,,,,,,,", RowError::Unknown("kind")),
            ("1,receive,fine,7,,,,,,,,,", RowError::Unknown("outcome")),
            ("1,receive,ok,4294967296,,,,,,,,,", RowError::NotANumber("user")),
            ("1,receive,ok,7,,\"room,,,,,,,,", RowError::Missing("room")),
            ("1,receive,ok,7,,\"room\"s,,,,,,,", RowError::Missing("room")),
            ("1,receive,ok,7,,,,,,,,", RowError::Missing("code")),
            ("1,receive,ok,7,,,,,,,,,,", RowError::TooLong),
        ] {
            let line = if line.is_empty() { "," } else { line };
            assert_eq!(read(line.as_bytes()).expect_err(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(seed: u64, room in "\\PC{0,12}|[a,\"\n\r]{1,5}") {
            for seen in stream(seed, 20, 10) {
                let line = line_of(&seen, &room);
                prop_assert!(!line.contains(&b'\n'));
                let row = read(&line).expect("a row");
                let has_room = !room.is_empty();
                let expected = Observation {
                    room: if has_room { 0 } else { NO_ROOM },
                    label: NO_LABEL,
                    source: 0,
                    ..seen
                };
                prop_assert_eq!(row.observation, expected);
                let room = room.replace("\r\n", "␤").replace(['\n', '\r'], "␤");
                prop_assert_eq!(row.room.as_ref(), room.as_bytes());
                prop_assert_eq!(row.source.as_ref(), b"127.0.0.1");
            }
        }

        #[test]
        fn nothing_that_stands_in_a_file_makes_the_reader_panic(line: Vec<u8>) {
            let _ = read(&line);
        }
    }
}
