//! Percentiles over time: a line for each, and shaded bands between them.

use super::axis::Axis;
use super::canvas::{Canvas, Points};
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::hover::{self, Hover};
use super::scale::{by_span, greatest, labels_in};
use super::unit::Unit;

/// Percentiles over time.
#[derive(Clone, PartialEq, Debug)]
pub struct Bands {
    /// Unit of the values.
    pub unit: Unit,
    /// Ascending in time; `None` where nothing was measured.
    pub moments: Vec<(f64, Option<Moment>)>,
}

/// The percentiles of one moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moment {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

const NAMES: [(&str, &str); 4] = [("median", "q1"), ("p90", "q2"), ("p99", "q3"), ("max", "q4")];

impl Moment {
    fn values(self) -> [f64; 4] {
        [self.p50, self.p90, self.p99, self.max]
    }

    /// Returns the larger of two in every percentile.
    fn worse(self, other: Self) -> Self {
        Self {
            p50: self.p50.max(other.p50),
            p90: self.p90.max(other.p90),
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
        }
    }
}

impl Bands {
    pub(super) fn is_empty(&self) -> bool {
        self.moments.iter().all(|(_, moment)| moment.is_none())
    }

    pub(super) fn legend() -> Vec<Entry> {
        let entry = |(name, colour): &(&str, &'static str)| Entry {
            name: (*name).to_owned(),
            colour,
            swatch: Swatch::Line,
        };
        NAMES.iter().rev().map(entry).collect()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) -> Hover {
        let end = greatest(self.moments.iter().map(|(at, _)| *at));
        let x = Axis::exact(Unit::Clock, 0.0, end + 1.0, labels_in(around.size.width));
        let measured = self.moments.iter().filter_map(|(_, moment)| *moment);
        let y =
            by_span(self.unit, measured.flat_map(|moment| moment.values().into_iter()), around.size.height);
        let frame = Frame::with_axes(canvas, around, &x, &y);
        let pieces = pieces(&self.columns((frame.width() / 1.5) as usize));
        let edge = |rank: usize| -> Vec<Points> {
            let place = |(at, moment): &(f64, Moment)| (frame.x(&x, *at), frame.y(&y, moment.values()[rank]));
            pieces.iter().map(|piece| piece.iter().map(place).collect()).collect()
        };
        for (rank, (_, colour)) in NAMES.iter().enumerate().skip(1).rev() {
            let between: Vec<_> = edge(rank).into_iter().zip(edge(rank - 1)).collect();
            canvas.area(&format!("area-{colour}"), &between);
        }
        for (rank, (_, colour)) in NAMES.iter().enumerate().rev() {
            canvas.path(&format!("line-{colour} thin"), &edge(rank));
        }
        self.hover(&frame, &x)
    }

    /// Returns at most one moment per column, each the maximum of those it stands for.
    fn columns(&self, count: usize) -> Vec<(f64, Option<Moment>)> {
        let width = self.moments.len().div_ceil(count.max(1)).max(1);
        let worst = |chunk: &[(f64, Option<Moment>)]| {
            (chunk[0].0, chunk.iter().filter_map(|(_, moment)| *moment).reduce(Moment::worse))
        };
        self.moments.chunks(width).map(worst).collect()
    }

    fn hover(&self, frame: &Frame, x: &Axis) -> Hover {
        let columns = self.columns(hover::PLACES);
        let series = |rank: usize| {
            let words = |moment: Moment| self.unit.format(moment.values()[rank]);
            let values = columns.iter().map(|(_, moment)| moment.map(words)).collect();
            (NAMES[rank].0.to_owned(), NAMES[rank].1, values)
        };
        Hover {
            span: (frame.top, frame.bottom),
            x: columns.iter().map(|(at, _)| frame.x(x, *at)).collect(),
            names: columns.iter().map(|(at, _)| Unit::Clock.format(*at)).collect(),
            series: (0..NAMES.len()).rev().map(series).collect(),
        }
    }
}

fn pieces(columns: &[(f64, Option<Moment>)]) -> Vec<Vec<(f64, Moment)>> {
    let runs = columns.split(|(_, moment)| moment.is_none()).filter(|run| !run.is_empty());
    runs.map(|run| run.iter().filter_map(|(at, moment)| moment.map(|moment| (*at, moment))).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_shows_the_worst_moment_it_stands_for() {
        let moment = |p50: f64, max: f64| Some(Moment { p50, p90: p50, p99: p50, max });
        let moments = (0..1000).map(|second| (f64::from(second), moment(1.0, 2.0))).collect();
        let mut bands = Bands { unit: Unit::Microseconds, moments };
        bands.moments[503].1 = moment(7.0, 90.0);
        let columns = bands.columns(100);
        assert_eq!(columns.len(), 100);
        assert_eq!(columns[50].1, moment(7.0, 90.0));
    }
}
