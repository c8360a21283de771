//! Scatter plots with a fitted straight line.

use super::axis::Axis;
use super::canvas::Canvas;
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::scale::{by_span, greatest, labels_in, ticks_in};
use super::unit::Unit;
use super::{theme, thin};

/// Maximum number of points drawn per series; more would merge into a blot.
const POINTS: usize = 600;

/// A scatter plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Scatter {
    /// Unit of the horizontal axis.
    pub x: Unit,
    /// Unit of the vertical axis.
    pub y: Unit,
    /// The clouds, at most a handful.
    pub clouds: Vec<Cloud>,
    /// Whether the vertical axis may be logarithmic.
    pub by_factors: bool,
}

/// A series of points.
#[derive(Clone, PartialEq, Debug)]
pub struct Cloud {
    /// Its name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// Two end points of the fitted line, in the units of the axes.
    pub line: Option<[(f64, f64); 2]>,
}

impl Scatter {
    pub(super) fn is_empty(&self) -> bool {
        self.clouds.iter().all(|cloud| cloud.points.is_empty())
    }

    pub(super) fn legend(&self) -> Vec<Entry> {
        let entry = |(index, cloud): (usize, &Cloud)| Entry {
            name: cloud.name.clone(),
            colour: theme::series_colour(index),
            swatch: Swatch::Dot,
        };
        self.clouds.iter().enumerate().map(entry).collect()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let points = || self.clouds.iter().flat_map(|cloud| &cloud.points);
        let height = around.size.height;
        let x =
            Axis::linear(self.x, 0.0, greatest(points().map(|point| point.0)), labels_in(around.size.width));
        let y = if self.by_factors {
            by_span(self.y, points().map(|point| point.1), height)
        } else {
            Axis::linear(self.y, 0.0, greatest(points().map(|point| point.1)), ticks_in(height))
        };
        let frame = Frame::with_axes(canvas, around, &x, &y);
        let place = |point: (f64, f64)| (frame.x(&x, point.0), frame.y(&y, point.1));
        for (index, cloud) in self.clouds.iter().enumerate() {
            let class = format!("dot-{}", theme::series_colour(index));
            for index in thin::evenly(cloud.points.len(), POINTS) {
                let (x, y) = cloud.points[index];
                if x.is_finite() && y.is_finite() {
                    canvas.circle(&class, place((x, y)), 3.0);
                }
            }
        }
        for [from, to] in self.clouds.iter().filter_map(|cloud| cloud.line) {
            canvas.line("fit", place(from), place(to));
        }
    }
}
