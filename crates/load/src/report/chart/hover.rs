//! The values that a page shows beside the pointer: already in words, so that the page's script only finds the place.

use serde::Serialize;

use super::canvas::escape;

/// The most places with values: a pointer cannot tell more apart.
pub(super) const PLACES: usize = 240;

/// Values by place.
#[derive(Serialize)]
pub(super) struct Hover {
    /// Top and bottom of the plot, in the picture's pixels.
    pub(super) span: (f64, f64),
    /// Horizontal places, ascending.
    pub(super) x: Vec<f64>,
    /// What each place is called.
    pub(super) names: Vec<String>,
    /// Each series: its name, its colour's name, its values in words.
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
