//! A status with rates since the previous one.

use crate::status::{Status, Totals};
use serde::Serialize;
use std::time::Instant;

/// Number of readings that the graphs show.
const KEPT_MAX: usize = 240;

/// The state of a server at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Look {
    #[serde(flatten)]
    pub(super) status: Status,
    /// Rates since the previous reading; `null` in the first one, and after a restart of the server.
    pub(super) rates: Option<Rates>,
}

/// Events per second.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub(super) struct Rates {
    pub(super) accepted: f64,
    pub(super) closed: f64,
    pub(super) rejected: f64,
    pub(super) joins: f64,
    pub(super) messages_in: f64,
    pub(super) messages_out: f64,
    pub(super) bytes_in: f64,
    pub(super) bytes_out: f64,
    pub(super) dropped: f64,
    /// The busy fraction of the busiest shard, 0 … 1.
    pub(super) busiest_shard: f64,
}

/// The last readings, newest last.
#[derive(Default)]
pub(super) struct Looks {
    kept: Vec<(Instant, Look)>,
    /// Each shard's busy fraction since the previous reading.
    pub(super) busy: Vec<f64>,
}

impl Looks {
    pub(super) fn take(&mut self, status: Status) {
        self.take_at(Instant::now(), status);
    }

    fn take_at(&mut self, now: Instant, status: Status) {
        let before =
            self.kept.last().filter(|(_, before)| before.status.uptime_seconds <= status.uptime_seconds);
        let before = before.map(|(at, before)| (now.duration_since(*at).as_secs_f64(), &before.status));
        let before =
            before.filter(|(seconds, before)| *seconds > 0.0 && before.shards.len() == status.shards.len());
        self.busy = before.map_or_else(Vec::new, |(seconds, before)| busy(before, &status, seconds));
        let rates = before.map(|(seconds, before)| Rates {
            busiest_shard: self.busy.iter().copied().fold(0.0, f64::max),
            ..rates(&before.totals, &status.totals, seconds)
        });
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((now, Look { status, rates }));
    }

    /// Returns the newest reading.
    ///
    /// # Panics
    /// If there is none yet.
    pub(super) fn last(&self) -> &Look {
        &self.kept.last().expect("a look was taken before anything is shown").1
    }

    /// Returns one rate over time, newest last.
    pub(super) fn curve(&self, of: fn(&Rates) -> f64) -> Vec<f64> {
        self.kept.iter().filter_map(|(_, look)| look.rates.as_ref().map(of)).collect()
    }
}

fn busy(before: &Status, now: &Status, seconds: f64) -> Vec<f64> {
    let shards = before.shards.iter().zip(&now.shards);
    shards.map(|(before, now)| now.busy_us.saturating_sub(before.busy_us) as f64 / 1e6 / seconds).collect()
}

fn rates(before: &Totals, now: &Totals, seconds: f64) -> Rates {
    let rate = |of: fn(&Totals) -> u64| of(now).saturating_sub(of(before)) as f64 / seconds;
    Rates {
        accepted: rate(|totals| totals.accepted),
        closed: rate(|totals| totals.closed),
        rejected: rate(|totals| totals.rejected),
        joins: rate(|totals| totals.joins),
        messages_in: rate(|totals| totals.messages_in),
        messages_out: rate(|totals| totals.messages_out),
        bytes_in: rate(|totals| totals.bytes_in),
        bytes_out: rate(|totals| totals.bytes_out),
        dropped: rate(|totals| totals.dropped),
        busiest_shard: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ShardStatus;
    use std::time::Duration;

    fn status(uptime_seconds: f64, messages_in: u64, busy_us: u64) -> Status {
        Status {
            uptime_seconds,
            totals: Totals { messages_in, ..Totals::default() },
            shards: vec![ShardStatus::default(), ShardStatus { busy_us, ..ShardStatus::default() }],
            ..Status::default()
        }
    }

    #[test]
    fn rates_are_differences_by_the_time_between_them() {
        let (mut looks, start) = (Looks::default(), Instant::now());
        looks.take_at(start, status(10.0, 1_000, 5));
        assert_eq!(looks.last().rates, None);
        looks.take_at(start + Duration::from_secs(2), status(12.0, 4_000, 1_000_005));
        let rates = looks.last().rates.expect("two looks have rates");
        assert_eq!((rates.messages_in, rates.busiest_shard), (1_500.0, 0.5));
        assert_eq!(looks.busy, [0.0, 0.5]);
    }

    #[test]
    fn a_server_that_was_started_anew_has_no_rates_at_first() {
        let (mut looks, start) = (Looks::default(), Instant::now());
        looks.take_at(start, status(10.0, 1_000, 0));
        looks.take_at(start + Duration::from_secs(1), status(0.5, 3, 0));
        assert_eq!(looks.last().rates, None);
        assert_eq!(looks.curve(|rates| rates.messages_in), Vec::<f64>::new());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (mut looks, start) = (Looks::default(), Instant::now());
        for second in 0..1_000 {
            looks.take_at(start + Duration::from_secs(second), status(second as f64, second, 0));
        }
        assert_eq!(looks.curve(|rates| rates.messages_in).len(), KEPT_MAX);
    }
}
