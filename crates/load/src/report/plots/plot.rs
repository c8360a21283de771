//! A chart in its place in a report.

use super::super::chart::Chart;

/// A chart with its place among the others.
#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    /// Its file's name, without an ending.
    pub name: &'static str,
    /// Whether it takes the whole width of a page.
    pub wide: bool,
    /// The chart.
    pub chart: Chart,
}
