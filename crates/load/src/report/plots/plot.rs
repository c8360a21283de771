//! A chart with its file name and layout in a report.

use super::super::chart::Chart;

/// A chart with its file name and layout.
#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    /// File name without extension.
    pub name: &'static str,
    /// Whether it takes the full width of a page.
    pub wide: bool,
    /// The chart.
    pub chart: Chart,
}
