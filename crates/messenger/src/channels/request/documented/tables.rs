//! Parses the tables of `docs/protocol.md`.

use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("../../../../../../docs/protocol.md");

/// Returns the rows of the tables between two lines, by columns.
pub(super) fn rows(from: &str, to: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = DOCUMENT.split_once(from).expect(from);
    let (part, _) = rest.split_once(to).expect(to);
    let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect()).collect()
}

/// Returns what is between backticks outside of parentheses.
pub(super) fn spans(text: &str) -> Vec<&str> {
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    for (nth, part) in text.split('`').enumerate() {
        match nth % 2 {
            1 if depth == 0 => found.push(part),
            1 => {}
            _ => depth = (depth + part.matches('(').count()).saturating_sub(part.matches(')').count()),
        }
    }
    found
}

pub(super) type Names = BTreeSet<String>;

/// Returns the names of the outermost members of `{"a":1,"b",…}`.
fn names(shape: &str) -> Names {
    let (mut names, mut depth, mut before, mut rest) = (Names::new(), 0, ' ', shape);
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => {
                let (text, after) = rest.split_once('"').expect(shape);
                if depth == 1 && before != ':' {
                    names.insert(text.to_owned());
                }
                rest = after;
            }
            _ => {}
        }
        before = character;
    }
    names
}

/// Members that are always present, and optional ones.
pub(super) type Shape = (Names, Names);

/// Returns the objects of "What is in it".
pub(super) fn objects() -> BTreeMap<&'static str, Shape> {
    let mut objects = BTreeMap::new();
    for row in rows("### What is in it", "| of what is sent |").iter().filter(|row| row[0] != "object") {
        // Optional members are named after a semicolon.
        let (always, sometimes) = row[1].split_once("; ").unwrap_or((row[1], ""));
        let names = |text| spans(text).into_iter().map(str::to_owned).collect::<Names>();
        objects.insert(row[0], (names(always), names(sometimes)));
    }
    let message: Names = objects["message"].0.clone();
    objects.get_mut("shown message").expect("it has a row").0.extend(message);
    objects
}

/// Parses a column that shows an object, or names one.
pub(super) fn shape(text: &str, objects: &BTreeMap<&str, Shape>) -> Shape {
    let words = spans(text).into_iter().filter(|span| !span.starts_with('{')).map(str::to_owned).collect();
    match text.strip_prefix("the ") {
        Some(named) => {
            let (name, _) = named.split_once([';', ':', ',']).unwrap_or((named, ""));
            (objects.get(name).unwrap_or_else(|| panic!("no object {name}")).0.clone(), words)
        }
        None => (names(spans(text).first().expect("a shape")), words),
    }
}
