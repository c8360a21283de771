//! The per-second data of a run.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::SeriesRow;
use super::limits::{OPEN_SECONDS_MAX, SERIES_SECONDS_MAX};
use super::second::{Gauges, Second};
use crate::observe::Nanos;

pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// All seconds of a run. The histograms of all but the most recently used ones are packed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seconds {
    #[serde(deserialize_with = "within_bounds")]
    seconds: Vec<Option<Box<Second>>>,
    /// Seconds whose histograms are not packed, least recently used first.
    #[serde(skip)]
    open: Vec<u32>,
    /// Number of observations after the last second that has a row.
    beyond: u64,
    /// Receives observations that have no row; never read.
    #[serde(skip)]
    nowhere: Box<Second>,
}

impl PartialEq for Seconds {
    fn eq(&self, other: &Self) -> bool {
        self.seconds == other.seconds && self.beyond == other.beyond
    }
}

impl Seconds {
    /// Returns the second that contains this time, for recording.
    pub(super) fn at(&mut self, at: Nanos) -> &mut Second {
        match u32::try_from(at / NANOS_PER_SECOND) {
            Ok(second) if second < SERIES_SECONDS_MAX => self.second(second),
            _ => {
                self.beyond += 1;
                &mut self.nowhere
            }
        }
    }

    /// Returns how many observations have no row because they came after [`SERIES_SECONDS_MAX`].
    pub(super) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Adds a later part of the run, or that of another machine.
    pub(super) fn merge(&mut self, other: &Self) {
        for (number, others) in (0..).zip(&other.seconds) {
            if let Some(others) = others {
                self.second(number).merge(others);
            }
        }
        self.beyond = self.beyond.saturating_add(other.beyond);
    }

    /// Returns the number of seconds up to the last in which anything happened.
    pub(super) fn len(&self) -> usize {
        self.seconds.len()
    }

    /// Returns the rows of all seconds up to the last in which anything happened.
    pub(super) fn rows(&self) -> Vec<SeriesRow> {
        let nothing = Second::default();
        self.each().map(|(number, before, second)| second.unwrap_or(&nothing).row(number, &before)).collect()
    }

    /// Returns the row of one second; if nothing happened in it, the gauges of the previous one with zero counts.
    pub(super) fn row(&self, second: u32) -> SeriesRow {
        let nothing = Second::default();
        let mut before = Gauges::default();
        for past in self.seconds.iter().take(second as usize).flatten() {
            before = before.after(past);
        }
        let of_second = self.seconds.get(second as usize).and_then(Option::as_deref);
        of_second.unwrap_or(&nothing).row(second, &before)
    }

    /// Iterates over the seconds, each with the gauges at its start; the second is `None` if nothing happened in it.
    pub(super) fn each(&self) -> impl Iterator<Item = (u32, Gauges, Option<&Second>)> {
        let mut gauges = Gauges::default();
        (0..).zip(&self.seconds).map(move |(number, second)| {
            let before = gauges;
            if let Some(second) = second {
                gauges = gauges.after(second);
            }
            (number, before, second.as_deref())
        })
    }

    /// Returns the maximum number of concurrent connections.
    pub(super) fn connected_max(&self) -> u64 {
        let peaks = self.each().filter_map(|(_, before, second)| {
            second.map(|second| before.connected.saturating_add(second.connected.peak))
        });
        peaks.max().unwrap_or(0).max(0) as u64
    }

    fn second(&mut self, number: u32) -> &mut Second {
        let place = number as usize;
        if place >= self.seconds.len() {
            self.seconds.resize_with(place + 1, || None);
        }
        if self.open.last() != Some(&number) {
            self.keep_open(number);
        }
        self.seconds[place].get_or_insert_default()
    }

    /// Marks a second as most recently used, and packs the least recently used one if too many are unpacked.
    fn keep_open(&mut self, number: u32) {
        self.open.retain(|open| *open != number);
        self.open.push(number);
        if self.open.len() > OPEN_SECONDS_MAX {
            let longest_unused = self.open.remove(0);
            if let Some(Some(second)) = self.seconds.get_mut(longest_unused as usize) {
                second.pack();
            }
        }
    }
}

fn within_bounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Box<Second>>>, D::Error> {
    let seconds = Vec::<Option<Box<Second>>>::deserialize(deserializer)?;
    if seconds.len() > SERIES_SECONDS_MAX as usize {
        return Err(D::Error::custom(format!("{} seconds, more than {SERIES_SECONDS_MAX}", seconds.len())));
    }
    Ok(seconds)
}
