//! Mean ± standard deviation per configuration.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::frame::{Frame, Surroundings};
use super::scale::{greatest, ticks_in};
use super::unit::Unit;

/// Mean ± standard deviation per configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Means {
    /// Unit of the values.
    pub unit: Unit,
    /// One per configuration.
    pub means: Vec<Mean>,
}

/// One configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Mean {
    /// Name of the configuration.
    pub name: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

impl Means {
    pub(super) fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let most = greatest(self.means.iter().map(|one| one.mean + one.deviation));
        let y = Axis::linear(self.unit, 0.0, most, ticks_in(around.size.height));
        let names: Vec<&str> = self.means.iter().map(|one| one.name.as_str()).collect();
        let (frame, middles, slot) = Frame::with_slots(canvas, around, &names, &y);
        for (one, middle) in self.means.iter().zip(middles) {
            let half = (slot * 0.28).clamp(3.0, 34.0);
            let top = frame.y(&y, one.mean);
            canvas.rectangle("box-s1", (middle - half, top), 2.0 * half, frame.bottom - top);
            // A duration cannot be below 0: the whisker ends at the axis.
            let (upper, lower) =
                (frame.y(&y, one.mean + one.deviation), frame.y(&y, one.mean - one.deviation));
            canvas.line("mark", (middle, upper), (middle, lower));
            for end in [upper, lower] {
                canvas.line("mark", (middle - half * 0.4, end), (middle + half * 0.4, end));
            }
            if slot > 64.0 {
                canvas.text(
                    "value",
                    (middle, (upper - 5.0).max(frame.top - 5.0)),
                    Anchor::Middle,
                    &self.unit.format(one.mean),
                );
            }
        }
    }
}
