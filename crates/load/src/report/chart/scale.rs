//! How far an axis reaches, and how many ticks and labels stand on it.

use super::axis::Axis;
use super::unit::Unit;

/// A vertical axis for these values: by factors where they span several powers of ten, else by differences from 0.
pub(super) fn by_span(unit: Unit, values: impl Iterator<Item = f64>, height: f64) -> Axis {
    /// From this factor between least and greatest on, equal differences would flatten the small values into the axis.
    const WIDE_SPAN: f64 = 40.0;
    let (least, most) = values
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    if most > least * WIDE_SPAN {
        Axis::logarithmic(unit, least, most, ticks_in(height))
    } else {
        Axis::linear(unit, 0.0, most, ticks_in(height))
    }
}

/// How many ticks stand well in a picture of this height.
pub(super) fn ticks_in(height: f64) -> usize {
    ((height / 62.0) as usize).clamp(3, 7)
}

/// How many labels of time or numbers stand well in a picture of this width.
pub(super) fn labels_in(width: f64) -> usize {
    ((width / 90.0) as usize).clamp(3, 12)
}

/// The greatest of these values; 0 where there is none above.
pub(super) fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}
