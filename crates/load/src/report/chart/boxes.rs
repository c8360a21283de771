//! Percentiles per configuration, cut off at a limit beyond which a wait is unacceptable.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::scale::{greatest, ticks_in};
use super::unit::Unit;

/// Percentiles per configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Boxes {
    /// Unit of the values.
    pub unit: Unit,
    /// Larger values are written instead of drawn; the axis ends here, or earlier if no value comes near.
    pub cut: f64,
    /// One per configuration.
    pub boxes: Vec<PercentileBox>,
}

/// One configuration: a box from p25 to p75 around the median, whiskers to p10 and p99, a dot at p90.
#[derive(Clone, PartialEq, Debug)]
pub struct PercentileBox {
    /// Name of the configuration.
    pub name: String,
    /// 10th percentile.
    pub p10: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Boxes {
    pub(super) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    pub(super) fn legend(&self) -> Vec<Entry> {
        let mut legend = vec![
            Entry { name: "p25 – p75, line at the median".to_owned(), colour: "s1", swatch: Swatch::Area },
            Entry { name: "p90".to_owned(), colour: "s2", swatch: Swatch::Dot },
            Entry { name: "whiskers: p10 and p99".to_owned(), colour: "s1", swatch: Swatch::Line },
        ];
        if self.boxes.iter().any(|one| one.p99 > self.cut) {
            let name = format!("cut at {}: what is above is written", self.unit.format(self.cut));
            legend.push(Entry { name, colour: "bad", swatch: Swatch::Dashes });
        }
        legend
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let most = greatest(self.boxes.iter().map(|one| one.p99));
        let y = Axis::linear(self.unit, 0.0, most.min(self.cut), ticks_in(around.size.height));
        let names: Vec<&str> = self.boxes.iter().map(|one| one.name.as_str()).collect();
        let (frame, middles, slot) = Frame::with_slots(canvas, around, &names, &y);
        if most > self.cut {
            let place = frame.y(&y, self.cut);
            canvas.line("limit", (frame.left, place), (frame.right, place));
        }
        for (one, middle) in self.boxes.iter().zip(middles) {
            self.draw_box(canvas, &frame, &y, one, middle, slot);
        }
    }

    fn draw_box(
        &self,
        canvas: &mut Canvas,
        frame: &Frame,
        y: &Axis,
        one: &PercentileBox,
        middle: f64,
        slot: f64,
    ) {
        let half = (slot * 0.3).clamp(4.0, 36.0);
        let at = |value: f64| frame.y(y, value.min(self.cut));
        let seen = |value: f64| value <= self.cut;
        canvas.line("line-s1 thin", (middle, at(one.p10)), (middle, at(one.p25)));
        canvas.line("line-s1 thin", (middle, at(one.p75)), (middle, at(one.p99)));
        if seen(one.p25) {
            canvas.rectangle("box-s1", (middle - half, at(one.p75)), 2.0 * half, at(one.p25) - at(one.p75));
        }
        for (value, width, class) in
            [(one.p10, 0.5, "line-s1 thin"), (one.p50, 1.0, "line-s1"), (one.p99, 0.5, "line-s1 thin")]
        {
            if seen(value) {
                canvas.line(class, (middle - half * width, at(value)), (middle + half * width, at(value)));
            }
        }
        if seen(one.p90) {
            canvas.circle("fill-s2", (middle, at(one.p90)), 3.5);
        }
        if let Some((name, value)) = self.least_unseen(one) {
            let text = if slot > 86.0 {
                format!("▲ {name} {}", self.unit.format(value))
            } else {
                format!("▲ {name}")
            };
            canvas.text("value", (middle, frame.top - 5.0), Anchor::Middle, &text);
        }
    }

    /// Returns the lowest percentile above the cut; all higher ones are above it, too.
    fn least_unseen(&self, one: &PercentileBox) -> Option<(&'static str, f64)> {
        let ranks = [
            ("p10", one.p10),
            ("p25", one.p25),
            ("p50", one.p50),
            ("p75", one.p75),
            ("p90", one.p90),
            ("p99", one.p99),
        ];
        ranks.into_iter().find(|(_, value)| *value > self.cut)
    }
}
