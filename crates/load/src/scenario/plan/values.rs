//! Where variables' values come from.

use std::sync::Arc;

use super::FeederId;
use crate::draw::Distribution;
use crate::scenario::template::Template;

/// What a variable is set to.
#[derive(Clone, Debug)]
pub enum Expression {
    /// Text with variables.
    Text(Template),
    /// Sum of two numbers; what is not a number counts as 0.
    Sum(Template, Template),
    /// A number drawn.
    Draw(Distribution),
    /// Random letters and digits, so many.
    RandomText(u32),
    /// The feeder's next row, one of its columns; the same row for all columns set in one `Set` chain is had by
    /// [`Expression::FeederRow`] first.
    FeederColumn(FeederId, u16),
    /// Advances the user to the feeder's next row (its number is the value).
    FeederRow(FeederId),
    /// One of these, by weight.
    OneOf(Vec<(f64, Template)>),
}

/// A CSV file.
#[derive(Clone, Debug)]
pub struct Feeder {
    /// As the scenario calls it.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, at least one.
    pub rows: Arc<Vec<Vec<String>>>,
    /// Random rows instead of one after the other (from the first again after the last).
    pub random: bool,
}

/// How a value is found in a message or response.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// RFC 9535; of several matches the first. Text without quotes, anything else as JSON.
    JsonPath(Arc<serde_json_path::JsonPath>),
    /// Group 1, or the whole match where there is no group.
    Regex(Arc<regex::Regex>),
    /// Value of a header line of the last HTTP response.
    Header(String),
}
