//! Sources of the values of variables.

use std::sync::Arc;

use super::FeederId;
use crate::draw::Distribution;
use crate::scenario::template::Template;

/// The value assigned to a variable.
#[derive(Clone, Debug)]
pub enum Expression {
    /// Text with variables.
    Text(Template),
    /// Sum of two numbers; anything that is not a number counts as 0.
    Sum(Template, Template),
    /// A random number.
    Draw(Distribution),
    /// Random letters and digits, this many.
    RandomText(u32),
    /// One column of the user's current row of the feeder (see [`Expression::FeederRow`]); takes the next row if the
    /// user has none yet.
    FeederColumn(FeederId, u16),
    /// Advances the user to the feeder's next row; the value is the row's number.
    FeederRow(FeederId),
    /// One of these, chosen at random by weight.
    OneOf(Vec<(f64, Template)>),
}

/// A CSV file.
#[derive(Clone, Debug)]
pub struct Feeder {
    /// Its name in the scenario.
    pub name: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, at least one.
    pub rows: Arc<Vec<Vec<String>>>,
    /// Whether rows are chosen at random; otherwise in order, starting over after the last.
    pub random: bool,
}

/// How a value is extracted from a message or response.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// RFC 9535; the first match. A string without its quotes, anything else as JSON.
    JsonPath(Arc<serde_json_path::JsonPath>),
    /// Group 1, or the whole match if the expression has no group.
    Regex(Arc<regex::Regex>),
    /// The value of a header field of the last HTTP response.
    Header(String),
}
