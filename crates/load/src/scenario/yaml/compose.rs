//! Builds the tree from the YAML parser's events, within limits.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag, options};

use super::node::{Content, Entry, Node, Place};

/// Maximum nesting depth of lists and mappings.
const DEPTH_MAX: usize = 64;
/// Maximum number of values after alias expansion: no hand-written scenario comes near it, a "billion laughs" attack
/// does.
const NODES_MAX: usize = 200_000;
/// Maximum bytes of text after alias expansion.
const TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A YAML syntax error.
#[derive(Debug)]
pub(in crate::scenario) struct Malformed {
    pub(in crate::scenario) place: Place,
    pub(in crate::scenario) message: String,
}

/// Reads the single document of a text.
pub(in crate::scenario) fn compose(text: &str) -> Result<Node, Malformed> {
    let options = options! {
        emit_comments: false,
        block_nesting_limit: DEPTH_MAX,
        flow_nesting_limit: DEPTH_MAX,
    };
    let parser = Parser::new_from_str_with_options(text, options);
    let here = Place { line: 1, column: 1 };
    Composer { parser, anchors: HashMap::new(), nodes: 0, text_bytes: 0, here }.document()
}

struct Composer<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    text_bytes: usize,
    /// Position of the latest event.
    here: Place,
}

impl<'a> Composer<'a> {
    fn document(mut self) -> Result<Node, Malformed> {
        let mut root = None;
        loop {
            match self.next()? {
                Event::StreamEnd => break,
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(self.malformed("a scenario is one document: this `---` begins a second one"));
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, 0)?),
            }
        }
        root.ok_or_else(|| self.malformed("there is nothing in it"))
    }

    fn next(&mut self) -> Result<Event<'a>, Malformed> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.here = place(span.start);
                Ok(event)
            }
            Some(Err(error)) => Err(Malformed { place: place(*error.marker()), message: error.info() }),
            None => Ok(Event::StreamEnd),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Node, Malformed> {
        let place = self.here;
        if depth > DEPTH_MAX {
            return Err(self.malformed(&format!("nested deeper than {DEPTH_MAX} levels")));
        }
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && !self.is_text(tag.as_deref())?;
                (Content::Scalar { text: text.into_owned(), plain }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.is_text(tag.as_deref())?;
                (Content::List(self.items(depth)?), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.is_text(tag.as_deref())?;
                (Content::Map(self.entries(depth)?), anchor)
            }
            Event::Alias(anchor) => return self.alias(anchor, place),
            _ => return Err(self.malformed("a value is missing here")),
        };
        let node = Node::new(place, content);
        self.account(1, own_text_bytes(&node))?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Malformed> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(items),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry>, Malformed> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut merged = Vec::new();
        loop {
            let event = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key_place = self.here;
            let key = match self.node(event, depth + 1)?.content {
                Content::Scalar { text, .. } => text,
                Content::List(_) | Content::Map(_) => {
                    return Err(Malformed {
                        place: key_place,
                        message: "a key is a word, not a list or mapping".into(),
                    });
                }
            };
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            if key == "<<" {
                merged.push(value);
            } else if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let message =
                    format!("the key `{key}` stands here already, in line {}", first.key_place.line);
                return Err(Malformed { place: key_place, message });
            } else {
                entries.push(Entry { key, key_place, value });
            }
        }
        for value in merged {
            merge(&mut entries, value)?;
        }
        Ok(entries)
    }

    /// Returns a copy of the anchored node, positioned at the alias.
    fn alias(&mut self, anchor: usize, place: Place) -> Result<Node, Malformed> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(self.malformed("this alias is within what it names"));
        };
        let (nodes, text_bytes) = weight(node);
        let mut copy = Node::new(place, Content::List(Vec::new()));
        // Counted before it is copied, so that the limits bound the copy.
        self.account(nodes, text_bytes)?;
        if let Some(node) = self.anchors.get(&anchor) {
            copy.content = node.content.clone();
        }
        Ok(copy)
    }

    fn account(&mut self, nodes: usize, text_bytes: usize) -> Result<(), Malformed> {
        self.nodes += nodes;
        self.text_bytes += text_bytes;
        if self.nodes > NODES_MAX {
            return Err(self.malformed(&format!("more than {NODES_MAX} values, aliases included")));
        }
        if self.text_bytes > TEXT_BYTES_MAX {
            return Err(
                self.malformed(&format!("more than {TEXT_BYTES_MAX} bytes of text, aliases included"))
            );
        }
        Ok(())
    }

    /// Returns whether a tag makes a plain scalar text. Tags of the core schema are accepted, others are rejected.
    fn is_text(&self, tag: Option<&Tag>) -> Result<bool, Malformed> {
        match tag {
            None => Ok(false),
            Some(tag) if tag.is_yaml_core_schema() => Ok(tag.core_suffix() == Some("str")),
            Some(tag) => Err(self.malformed(&format!("the tag `{}` has no meaning here", tag.original()))),
        }
    }

    fn malformed(&self, message: &str) -> Malformed {
        Malformed { place: self.here, message: message.to_owned() }
    }
}

/// Adds the entries of a merge key's value (`<<: *defaults`) whose keys are not present yet.
fn merge(entries: &mut Vec<Entry>, value: Node) -> Result<(), Malformed> {
    match value.content {
        Content::Map(more) => {
            for entry in more {
                if entries.iter().all(|present| present.key != entry.key) {
                    entries.push(entry);
                }
            }
            Ok(())
        }
        Content::List(values) => values.into_iter().try_for_each(|value| merge(entries, value)),
        Content::Scalar { .. } => Err(Malformed {
            place: value.place,
            message: "`<<` merges a mapping, such as an alias of one".into(),
        }),
    }
}

fn own_text_bytes(node: &Node) -> usize {
    match &node.content {
        Content::Scalar { text, .. } => text.len(),
        Content::List(_) | Content::Map(_) => 0,
    }
}

/// Returns the number of nodes and the bytes of text in a subtree.
fn weight(node: &Node) -> (usize, usize) {
    let children: Vec<(usize, usize)> = match &node.content {
        Content::Scalar { text, .. } => return (1, text.len()),
        Content::List(items) => items.iter().map(weight).collect(),
        Content::Map(entries) => entries
            .iter()
            .map(|entry| {
                let (nodes, bytes) = weight(&entry.value);
                (nodes + 1, bytes + entry.key.len())
            })
            .collect(),
    };
    children.into_iter().fold((1, 0), |sum, child| (sum.0 + child.0, sum.1 + child.1))
}

fn place(marker: Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}
