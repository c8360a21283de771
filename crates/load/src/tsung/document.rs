//! The XML document: elements with their line numbers.
//!
//! The document type definition is not read, because only Tsung has its file; entities are expanded only within the XML
//! reader's limits, and none is fetched.

use roxmltree::{Document, Node, NodeType, ParsingOptions};

use super::error::Problem;

/// Maximum size of one file in bytes.
pub const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum number of elements, texts and comments in one file.
const NODES_MAX: u32 = 1_000_000;
const END: &str = "</tsung>";

/// The text with the offsets of its lines.
pub(super) struct Source<'t> {
    text: &'t str,
    /// Offset of each line.
    lines: Vec<usize>,
}

/// The parsed text.
pub(super) struct Parsed<'t> {
    document: Document<'t>,
    /// Whether the root element is followed by something that is not XML.
    pub(super) ends_early: bool,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, Problem> {
        if text.len() > FILE_BYTES_MAX {
            return Err(Problem::of_file(1, format!("the file has more than {FILE_BYTES_MAX} bytes")));
        }
        let text = text.trim_start_matches('\u{feff}');
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(place, _)| place + 1)).collect();
        Ok(Self { text, lines })
    }

    pub(super) fn parse(&self) -> Result<Parsed<'t>, Problem> {
        let whole = match parse(self.text) {
            Ok(document) => return Ok(Parsed { document, ends_early: false }),
            Err(error) => error,
        };
        // Tsung's own reader stops at the end of the root element, whatever follows.
        let end = self.text.find(END).map(|place| place + END.len());
        match end.and_then(|end| parse(&self.text[..end]).ok()) {
            Some(document) => Ok(Parsed { document, ends_early: true }),
            None => Err(not_xml(&whole)),
        }
    }

    fn line_at(&self, place: usize) -> u32 {
        let line = self.lines.partition_point(|begin| *begin <= place);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

fn parse(text: &str) -> Result<Document<'_>, roxmltree::Error> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
}

fn not_xml(error: &roxmltree::Error) -> Problem {
    let help = match error {
        roxmltree::Error::UnknownEntityReference(..) => Some(
            "entities of other files are not read: put the file's text in the place of the entity".to_owned(),
        ),
        _ => None,
    };
    let message = format!("the file is not well-formed XML: {error}");
    Problem { help, ..Problem::of_file(error.pos().row, message) }
}

impl Parsed<'_> {
    /// Returns the root element, `tsung`.
    pub(super) fn root<'d>(&'d self, source: &'d Source<'_>) -> Result<Element<'d>, Problem> {
        let root = Element { node: self.document.root_element(), source };
        if root.name() == "tsung" {
            return Ok(root);
        }
        let message = format!("this is not a Tsung file: its root element is `{}`, not `tsung`", root.name());
        Err(Problem::of_file(root.line(), message))
    }
}

/// An element of the document.
#[derive(Clone, Copy)]
pub(super) struct Element<'d> {
    node: Node<'d, 'd>,
    source: &'d Source<'d>,
}

impl<'d> Element<'d> {
    pub(super) fn name(self) -> &'d str {
        self.node.tag_name().name()
    }

    /// Returns its line number, from 1.
    pub(super) fn line(self) -> u32 {
        self.source.line_at(self.node.range().start)
    }

    pub(super) fn attribute(self, name: &str) -> Option<&'d str> {
        self.node.attribute(name)
    }

    /// Returns names and values, as written.
    pub(super) fn attributes(self) -> impl Iterator<Item = (&'d str, &'d str)> {
        self.node.attributes().map(|attribute| (attribute.name(), attribute.value()))
    }

    pub(super) fn children(self) -> impl Iterator<Item = Element<'d>> {
        let source = self.source;
        self.node.children().filter(Node::is_element).map(move |node| Element { node, source })
    }

    pub(super) fn child(self, name: &str) -> Option<Element<'d>> {
        self.children().find(|child| child.name() == name)
    }

    /// Returns the element and all its descendants.
    pub(super) fn descendants(self) -> impl Iterator<Item = Element<'d>> {
        let source = self.source;
        self.node.descendants().filter(Node::is_element).map(move |node| Element { node, source })
    }

    /// Returns the first text in the element, trimmed; line breaks inside it stay, as in Tsung.
    pub(super) fn text(self) -> &'d str {
        let text = self.node.children().find(|node| node.node_type() == NodeType::Text);
        text.and_then(|node| node.text()).unwrap_or_default().trim_matches(' ')
    }
}
