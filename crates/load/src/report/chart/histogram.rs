//! Histograms.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, text_width};
use super::frame::{Frame, Surroundings, TEXT};
use super::scale::{greatest, labels_in, ticks_in};
use super::unit::Unit;

/// A histogram; the ranges grow geometrically, as suits latencies.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// Unit of the values.
    pub unit: Unit,
    /// Ascending and adjacent.
    pub bins: Vec<Bin>,
    /// Values marked with a line and a name, such as the median.
    pub marks: Vec<(String, f64)>,
}

/// One range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bin {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// Number of values in the range.
    pub count: u64,
}

impl Histogram {
    pub(super) fn is_empty(&self) -> bool {
        self.bins.iter().all(|bin| bin.count == 0)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let (low, high) =
            (self.bins.first().map_or(1.0, |bin| bin.from), greatest(self.bins.iter().map(|bin| bin.to)));
        let x = Axis::logarithmic(self.unit, low.max(1.0), high, labels_in(around.size.width));
        let most = greatest(self.bins.iter().map(|bin| bin.count as f64));
        let y = Axis::linear(Unit::Count, 0.0, most, ticks_in(around.size.height));
        let frame = Frame::with_axes(canvas, around, &x, &y);
        for bin in self.bins.iter().filter(|bin| bin.count > 0) {
            let (left, right) = (frame.x(&x, bin.from), frame.x(&x, bin.to));
            // A range that has any values is visible, however few.
            let height = (frame.bottom - frame.y(&y, bin.count as f64)).max(1.0);
            canvas.rectangle("fill-s1", (left, frame.bottom - height), (right - left - 1.0).max(0.5), height);
        }
        self.draw_marks(canvas, &frame, &x);
    }

    /// Draws the marks; the names of marks that are close together are placed in separate rows.
    fn draw_marks(&self, canvas: &mut Canvas, frame: &Frame, x: &Axis) {
        let (mut row, mut free_from) = (0, f64::NEG_INFINITY);
        for (name, value) in &self.marks {
            let place = frame.x(x, *value);
            let text = format!("{name} {}", self.unit.format(*value));
            let width = text_width(&text, TEXT);
            row = if place < free_from { row + 1 } else { 0 };
            let height = frame.top + 11.0 + 15.0 * f64::from(row);
            canvas.line("mark", (place, frame.top), (place, frame.bottom));
            let fits = place + 5.0 + width < frame.right;
            let (at, anchor) = if fits { (place + 5.0, Anchor::Start) } else { (place - 5.0, Anchor::End) };
            canvas.text("value", (at, height), anchor, &text);
            free_from = place + width + 12.0;
        }
    }
}
