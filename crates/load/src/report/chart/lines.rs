//! Several series over time.

use super::axis::Axis;
use super::canvas::{Canvas, Points};
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::hover::{self, Hover};
use super::scale::{greatest, labels_in, ticks_in};
use super::unit::Unit;
use super::{theme, thin};

/// Several series over time, from 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Lines {
    /// Unit of the values.
    pub unit: Unit,
    /// The series, at most a handful.
    pub series: Vec<Series>,
    /// A limit, drawn as a horizontal line.
    pub limit: Option<f64>,
}

/// One series.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Seconds since the start, ascending, and the value; `None` is a gap.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether it is drawn dashed: a target rather than a measurement.
    pub dashed: bool,
}

impl Lines {
    pub(super) fn is_empty(&self) -> bool {
        self.values().next().is_none()
    }

    pub(super) fn legend(&self) -> Vec<Entry> {
        let entry = |(index, series): (usize, &Series)| Entry {
            name: series.name.clone(),
            colour: theme::series_colour(index),
            swatch: if series.dashed { Swatch::Dashes } else { Swatch::Line },
        };
        if self.series.len() > 1 { self.series.iter().enumerate().map(entry).collect() } else { Vec::new() }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) -> Hover {
        let end = greatest(self.series.iter().flat_map(|series| &series.points).map(|point| point.0));
        let x = Axis::exact(Unit::Clock, 0.0, end + 1.0, labels_in(around.size.width));
        let most = greatest(self.values().chain(self.limit));
        let y = Axis::linear(self.unit, 0.0, most, ticks_in(around.size.height));
        let frame = Frame::with_axes(canvas, around, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            let style = if series.dashed { "dash" } else { "line" };
            let pieces = thin::pieces(&series.points, frame.width() as usize);
            let place = |(at, value): &(f64, f64)| (frame.x(&x, *at), frame.y(&y, *value));
            let placed: Vec<Points> = pieces.iter().map(|piece| piece.iter().map(place).collect()).collect();
            if self.series.len() == 1 {
                let to_ground = |piece: &Points| {
                    (piece.clone(), piece.iter().map(|(x, _)| (*x, frame.bottom)).collect::<Points>())
                };
                let areas: Vec<_> = placed.iter().map(to_ground).collect();
                canvas.area(&format!("area-{}", theme::series_colour(index)), &areas);
            }
            canvas.path(&format!("{style}-{}", theme::series_colour(index)), &placed);
        }
        if let Some(limit) = self.limit {
            let place = frame.y(&y, limit);
            canvas.line("limit", (frame.left, place), (frame.right, place));
        }
        self.hover(&frame, &x)
    }

    fn hover(&self, frame: &Frame, x: &Axis) -> Hover {
        let longest = self.series.iter().map(|series| &series.points).max_by_key(|points| points.len());
        let points = longest.map_or(&[][..], Vec::as_slice);
        let places: Vec<usize> = thin::evenly(points.len(), hover::PLACES).collect();
        let words = |series: &Series| {
            let value = |index: &usize| series.points.get(*index).and_then(|point| point.1);
            places.iter().map(|index| value(index).map(|value| self.unit.format(value))).collect()
        };
        Hover {
            span: (frame.top, frame.bottom),
            x: places.iter().map(|index| frame.x(x, points[*index].0)).collect(),
            names: places.iter().map(|index| Unit::Clock.format(points[*index].0)).collect(),
            series: self
                .series
                .iter()
                .enumerate()
                .map(|(index, series)| (series.name.clone(), theme::series_colour(index), words(series)))
                .collect(),
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter_map(|point| point.1).filter(|value| value.is_finite())
    }
}
