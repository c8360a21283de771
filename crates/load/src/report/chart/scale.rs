//! Chooses the range of an axis, and how many ticks and labels it has.

use super::axis::Axis;
use super::unit::Unit;

/// Returns a vertical axis for these values: logarithmic if they span a large factor, else linear from 0.
pub(super) fn by_span(unit: Unit, values: impl Iterator<Item = f64>, height: f64) -> Axis {
    /// From this ratio of maximum to minimum on, a linear axis would flatten the small values.
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

/// Returns how many ticks suit a picture of this height.
pub(super) fn ticks_in(height: f64) -> usize {
    ((height / 62.0) as usize).clamp(3, 7)
}

/// Returns how many labels of times or numbers suit a picture of this width.
pub(super) fn labels_in(width: f64) -> usize {
    ((width / 90.0) as usize).clamp(3, 12)
}

/// Returns the maximum of these values, or 0 if none is above 0.
pub(super) fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}
