//! YAML with positions: text is parsed into a tree of nodes with positions, and the tree is deserialized with serde.
//!
//! Nothing here knows what a scenario is, except which mappings may be written as one word ([`reader`]).

mod compose;
mod node;
mod read_error;
mod reader;

pub(super) use compose::compose;
pub(super) use node::{Content, Node, Path, Segment};
pub(super) use read_error::ReadError;
pub(super) use reader::{key_of_a_word, read};
