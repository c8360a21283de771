//! The tree of a YAML document, and paths in it.

use std::fmt;

/// A position in the text; line and column count from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::scenario) struct Place {
    pub(in crate::scenario) line: usize,
    pub(in crate::scenario) column: usize,
}

/// A value with its position.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Node {
    pub(in crate::scenario) place: Place,
    pub(in crate::scenario) content: Content,
    /// Excluded from reading because it is invalid and has been reported.
    pub(in crate::scenario) ignored: bool,
    /// A child has been excluded, so a missing field may be that child.
    pub(in crate::scenario) damaged: bool,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(in crate::scenario) enum Content {
    /// Text; a plain scalar (without quotes) may also be a number, a boolean or null.
    Scalar { text: String, plain: bool },
    /// Values in order.
    List(Vec<Node>),
    /// Keys with values, in order, no key twice.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Entry {
    pub(in crate::scenario) key: String,
    pub(in crate::scenario) key_place: Place,
    pub(in crate::scenario) value: Node,
}

impl Node {
    pub(in crate::scenario) fn new(place: Place, content: Content) -> Self {
        Self { place, content, ignored: false, damaged: false }
    }

    /// Returns whether this is a plain scalar that means null (YAML 1.2.2, section 10.3.2).
    pub(in crate::scenario) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true } if is_null(text))
    }

    /// Describes the node for messages.
    pub(in crate::scenario) fn description(&self) -> String {
        match &self.content {
            Content::Scalar { .. } if self.is_null() => "nothing".to_owned(),
            Content::Scalar { text, .. } => format!("`{text}`"),
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Returns the position of the deepest existing node on the path; with `key`, the position of the path's last key
    /// instead of its value.
    pub(in crate::scenario) fn place_of(&self, path: &[Segment], key: bool) -> Place {
        let mut node = self;
        let mut place = self.place;
        for (depth, segment) in path.iter().enumerate() {
            let next = match (segment, &node.content) {
                (Segment::Key(key), Content::Map(entries)) => entries
                    .iter()
                    .find(|entry| entry.key == *key)
                    .map(|entry| (&entry.value, entry.key_place)),
                (Segment::Index(index), Content::List(items)) => {
                    items.get(*index).map(|item| (item, item.place))
                }
                _ => None,
            };
            let Some((value, key_place)) = next else { break };
            place = if key && depth + 1 == path.len() { key_place } else { value.place };
            node = value;
        }
        place
    }

    /// Returns the deepest existing node on the path, and its depth.
    pub(in crate::scenario) fn deepest_mut(&mut self, path: &[Segment]) -> (&mut Node, usize) {
        let mut depth = 0;
        let mut node = self;
        while let Some(segment) = path.get(depth) {
            let exists = match (segment, &node.content) {
                (Segment::Key(key), Content::Map(entries)) => {
                    entries.iter().position(|entry| entry.key == *key)
                }
                (Segment::Index(index), Content::List(items)) => (*index < items.len()).then_some(*index),
                _ => None,
            };
            let Some(position) = exists else { break };
            node = match &mut node.content {
                Content::Map(entries) => &mut entries[position].value,
                Content::List(items) => &mut items[position],
                Content::Scalar { .. } => unreachable!("a scalar has no children"),
            };
            depth += 1;
        }
        (node, depth)
    }
}

pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// One segment of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::scenario) enum Segment {
    Key(String),
    Index(usize),
}

/// A path into the tree, printed like `sessions[0].steps[2].push`.
pub(in crate::scenario) struct Path<'a>(pub(in crate::scenario) &'a [Segment]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if depth == 0 => formatter.write_str(key)?,
                Segment::Key(key) => write!(formatter, ".{key}")?,
                Segment::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}
