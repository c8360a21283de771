//! Axes: mapping values to positions, and placing ticks.

use super::Unit;

/// How values are mapped to positions on an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Logarithmic,
    /// A percentile `p` (0 … 100) is at `log(1 / (1 − p/100))`, so that each further nine takes the same width.
    Nines,
}

/// One axis: its ends, its ticks and their labels.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    /// Values and their labels, ascending, all within the ends.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns an axis from the smaller of 0 and `low` up to a tick at or above `high`, with about `count` ticks.
    pub(super) fn linear(unit: Unit, low: f64, high: f64, count: usize) -> Self {
        let low = low.min(0.0);
        let high = if high > low { high } else { low + 1.0 };
        let step = unit.step((high - low) / count.max(1) as f64);
        let (first, last) = ((low / step).floor() as i64, (high / step - 1e-9).ceil() as i64);
        let values: Vec<f64> = (first..=last).map(|index| index as f64 * step).collect();
        let labels = unit.labels(&values, step);
        Self {
            scale: Scale::Linear,
            low: first as f64 * step,
            high: last as f64 * step,
            ticks: values.into_iter().zip(labels).collect(),
        }
    }

    /// Returns an axis from `low` to exactly `high`, for values that run to the end, such as time.
    pub(super) fn exact(unit: Unit, low: f64, high: f64, count: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = unit.step((high - low) / count.max(1) as f64);
        let (first, last) = ((low / step).ceil() as i64, (high / step + 1e-9).floor() as i64);
        let values: Vec<f64> = (first..=last).map(|index| index as f64 * step).collect();
        let labels = unit.labels(&values, step);
        Self { scale: Scale::Linear, low, high, ticks: values.into_iter().zip(labels).collect() }
    }

    /// Returns an axis from a tick at or below `low` to one at or above `high`; both are raised to at least `1e-9`.
    pub(super) fn logarithmic(unit: Unit, low: f64, high: f64, count: usize) -> Self {
        let low = low.max(1e-9);
        let high = high.max(low * 1.000_001);
        let decades = (high / low).log10();
        let factors: &[f64] = if decades <= count as f64 / 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let all: Vec<f64> = (first..last + every)
            .step_by(every as usize)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
            .collect();
        let from = all.iter().rposition(|tick| *tick <= low * 1.000_001).unwrap_or(0);
        let to = all.iter().position(|tick| *tick >= high * 0.999_999).unwrap_or(all.len() - 1);
        let ticks: Vec<(f64, String)> =
            all[from..=to.max(from)].iter().map(|tick| (*tick, plain(unit, *tick))).collect();
        let (low, high) = (all[from], all[to.max(from)].max(high));
        Self { scale: Scale::Logarithmic, low, high, ticks }
    }

    /// Returns an axis of percentiles from 0 to the highest that `count` samples can resolve, along `width` pixels.
    pub(super) fn nines(count: u64, width: f64) -> Self {
        /// If a nine is at least this wide, there is room for a label in its middle.
        const ROOMY: f64 = 125.0;
        let nines = (count.max(10) as f64).log10().clamp(2.0, 8.0);
        let high = 100.0 * (1.0 - 10_f64.powf(-nines));
        let marks = [0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999];
        let ticks = marks
            .into_iter()
            .filter(|mark| *mark <= high + 1e-9)
            .filter(|mark| width / nines >= ROOMY || ![50.0, 95.0].contains(mark))
            .map(|mark| (mark, format!("{mark} %")))
            .collect();
        Self { scale: Scale::Nines, low: 0.0, high, ticks }
    }

    /// Returns the position of a value, 0 (low end) … 1 (high end); values outside the ends are clamped.
    pub(super) fn position(&self, value: f64) -> f64 {
        let (value, low, high) = (self.place(value), self.place(self.low), self.place(self.high));
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.scale == Scale::Logarithmic
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(self.low).log10(),
            Scale::Nines => -(1.0 - value.clamp(0.0, self.high) / 100.0).log10(),
        }
    }
}

/// Labels a tick of a logarithmic axis with its own magnitude and no unnecessary digits: `1 ms`, `200 µs`.
fn plain(unit: Unit, tick: f64) -> String {
    let text = unit.labels(&[tick], tick);
    text.into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNITS: [Unit; 8] = [
        Unit::Count,
        Unit::PerSecond,
        Unit::Microseconds,
        Unit::Bytes,
        Unit::BytesPerSecond,
        Unit::Cores,
        Unit::Share,
        Unit::Clock,
    ];

    proptest! {
        #[test]
        fn ticks_cover_the_data_and_are_neither_few_nor_many(high in 1e-3..1e15_f64, unit in 0..UNITS.len()) {
            let axis = Axis::linear(UNITS[unit], 0.0, high, 5);
            prop_assert!(axis.ticks.first().is_some_and(|(value, _)| *value <= 0.0));
            prop_assert!(axis.ticks.last().is_some_and(|(value, _)| *value >= high * 0.999_999));
            prop_assert!((2..=8).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        }

        #[test]
        fn logarithmic_ticks_cover_the_data(low in 1.0..1e6_f64, factor in 1.0..1e8_f64) {
            let axis = Axis::logarithmic(Unit::Microseconds, low, low * factor, 6);
            prop_assert!(axis.ticks[0].0 <= low * 1.000_01);
            prop_assert!(axis.ticks.last().is_some_and(|(value, _)| *value >= low * factor * 0.999_99));
            prop_assert!(axis.ticks.len() <= 20, "{:?}", axis.ticks);
            prop_assert_eq!(axis.position(axis.high * 2.0), 1.0);
        }
    }

    #[test]
    fn each_nine_takes_as_much_room_as_the_last() {
        let axis = Axis::nines(10_000, 300.0);
        let step = axis.position(99.0) - axis.position(90.0);
        assert!((axis.position(99.9) - axis.position(99.0) - step).abs() < 1e-9);
        assert_eq!(axis.ticks.last().map(|tick| tick.1.as_str()), Some("99.99 %"));
    }

    #[test]
    fn logarithmic_ticks_read_in_their_own_magnitude() {
        let axis = Axis::logarithmic(Unit::Microseconds, 150.0, 2_000_000.0, 6);
        let labels: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels, ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
    }
}
