//! Values by percentile, as in HDR histogram plots: the tail gets the width it deserves.

use super::axis::Axis;
use super::canvas::Canvas;
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::scale::by_span;
use super::theme;
use super::unit::Unit;

/// Distributions plotted as values by percentile.
#[derive(Clone, PartialEq, Debug)]
pub struct Percentiles {
    /// Unit of the values.
    pub unit: Unit,
    /// The distributions, at most a handful.
    pub curves: Vec<Curve>,
}

/// One distribution.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Number of values measured, which determines how many nines are meaningful.
    pub count: u64,
    /// Percentile (0 … 100) and value, both ascending.
    pub points: Vec<(f64, f64)>,
}

impl Percentiles {
    pub(super) fn is_empty(&self) -> bool {
        self.curves.iter().all(|curve| curve.points.is_empty())
    }

    pub(super) fn legend(&self) -> Vec<Entry> {
        let entry = |(index, curve): (usize, &Curve)| Entry {
            name: curve.name.clone(),
            colour: theme::series_colour(index),
            swatch: Swatch::Line,
        };
        self.curves.iter().enumerate().map(entry).collect()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let x =
            Axis::nines(self.curves.iter().map(|curve| curve.count).max().unwrap_or(0), around.size.width);
        let values = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
        let y = by_span(self.unit, values, around.size.height);
        let frame = Frame::with_axes(canvas, around, &x, &y);
        // The first curve is drawn last, on top: it matters most.
        for (index, curve) in self.curves.iter().enumerate().rev() {
            let points = curve.points.iter().filter(|point| point.0.is_finite() && point.1.is_finite());
            let placed = points.map(|(percentile, value)| (frame.x(&x, *percentile), frame.y(&y, *value)));
            canvas.path(&format!("line-{}", theme::series_colour(index)), &[placed.collect()]);
        }
    }
}
