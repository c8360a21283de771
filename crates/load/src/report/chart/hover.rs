//! The values that a page shows beside the pointer. They are already formatted, so the page's script only looks up the
//! position.

use serde::Serialize;

use super::canvas::escape;

/// Maximum number of positions with values: a pointer cannot distinguish more.
pub(super) const PLACES: usize = 240;

/// Formatted values by position.
#[derive(Serialize)]
pub(super) struct Hover {
    /// Top and bottom of the plot, in the picture's pixels.
    pub(super) span: (f64, f64),
    /// Horizontal positions, ascending.
    pub(super) x: Vec<f64>,
    /// The label of each position.
    pub(super) names: Vec<String>,
    /// Each series: its name, the name of its colour, its formatted values.
    pub(super) series: Vec<(String, &'static str, Vec<Option<String>>)>,
}

impl Hover {
    pub(super) fn attribute(mut self) -> String {
        for place in &mut self.x {
            *place = (*place * 10.0).round() / 10.0;
        }
        let json = serde_json::to_string(&self).unwrap_or_default();
        format!(r#" data-hover="{}""#, escape(&json))
    }
}
