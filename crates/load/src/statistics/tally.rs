//! Aggregates a run, one observation at a time.

use serde::{Deserialize, Serialize};

use super::errors::{Errors, is_error};
use super::fan_out::Publications;
use super::measured::Measured;
use super::population::elapsed_us;
use super::second::{MachineSample, Second, SecondMetric};
use super::seconds::{NANOS_PER_SECOND, Seconds};
use super::wsdemo::Samples;
use super::{Counts, Population, SeriesRow};
use crate::observe::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome};
use crate::scenario::plan::{LabelId, Metric};

/// A user that waited at least this long for a response counts as having had a place among the waiting requests.
const LONG_WAIT_NS: Nanos = 5_000_000_000;

/// Statistics of a run, or of a part of it. Its size depends on the number of seconds, labels and kinds of errors, not
/// on the number of messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    pub(super) counts: Counts,
    pub(super) times: Measured,
    pub(super) seconds: Seconds,
    pub(super) publications: Publications,
    pub(super) errors: Errors,
    /// Operations that users attempted: the denominator of the error rate.
    pub(super) operations: u64,
    /// Deliveries from a user on another machine, whose times are the difference of two clocks.
    #[serde(default)]
    pub(super) between_machines: u64,
    /// Times of labels beyond [`LABELS_MAX`](super::limits::LABELS_MAX).
    pub(super) unlabelled: u64,
    pub(super) samples: Option<Samples>,
}

impl Statistics {
    /// Returns empty statistics.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns empty statistics that also keep the random samples of the C10K test, drawn with this seed.
    #[must_use]
    pub fn with_samples(seed: u64) -> Self {
        Self { samples: Some(Samples::new(seed)), ..Self::default() }
    }

    /// Returns empty statistics for one of several machines, whose publications also have receivers on the others. They
    /// stay open until there is no room, so that the machines' receipts of each can be combined.
    #[must_use]
    pub fn of_several_machines(mut self) -> Self {
        self.publications.span_machines();
        self
    }

    /// Records one observation.
    pub fn observe(&mut self, seen: &Observation) {
        match seen.kind {
            Kind::Arrival => self.arrival(seen),
            Kind::Finish => self.finish(seen),
            Kind::Connect => self.connect(seen),
            Kind::Disconnect => self.disconnect(seen),
            Kind::Join => self.join(seen),
            Kind::Leave => self.second(seen).joined -= many(seen) as i64,
            Kind::Send => self.send(seen),
            Kind::Receive => self.receive(seen),
            Kind::Missing => self.missing(seen),
            Kind::Reply => self.reply(seen),
            Kind::Http => self.http(seen),
            Kind::Transaction => self.counts.transactions += 1,
            Kind::Wait | Kind::Step => self.operations += 1,
            Kind::Burst => self.times.burst.record_many(elapsed_us(seen.began, seen.at), many(seen)),
        }
        if seen.label != NO_LABEL && seen.outcome == Outcome::Ok {
            self.times.label(seen.label, elapsed_us(seen.began, seen.at), &mut self.unlabelled);
        }
        if is_error(seen.kind, seen.outcome) {
            self.error(seen);
        }
    }

    /// Adds the statistics of a later part of the same run, or of another machine. Merging the parts of one machine's
    /// stream in order gives the same result as processing the whole stream, within the limits of [`super::limits`];
    /// beyond them, the split determines which publications are settled early and which errors keep their code. The
    /// random samples are redrawn from both.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.times.merge(&other.times);
        self.seconds.merge(&other.seconds);
        self.publications.merge(&other.publications);
        self.errors.merge(&other.errors);
        self.operations = self.operations.saturating_add(other.operations);
        self.between_machines = self.between_machines.saturating_add(other.between_machines);
        self.unlabelled = self.unlabelled.saturating_add(other.unlabelled);
        match (&mut self.samples, &other.samples) {
            (Some(mine), Some(others)) => mine.merge(others),
            (None, Some(others)) => self.samples = Some(others.clone()),
            (_, None) => {}
        }
    }

    /// Takes out what is known of the publications; from now on they are counted afresh.
    pub(crate) fn take_publications(&mut self) -> Publications {
        self.publications.take()
    }

    /// Adds what is known of publications, like [`Self::merge`].
    pub(crate) fn add_publications(&mut self, publications: &Publications) {
        self.publications.merge(publications);
    }

    /// Adds one second's samples of the generator's machine and of the servers.
    pub fn add_sample(&mut self, second: u32, sample: MachineSample) {
        self.seconds.at(u64::from(second) * NANOS_PER_SECOND).add_sample(&sample);
    }

    /// Shifts the indexes of source addresses, so that the tables of several machines can be concatenated.
    pub fn shift_sources(&mut self, by: u16) {
        self.errors.shift_sources(by);
    }

    /// Returns the totals so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { connected_max: self.seconds.connected_max(), ..self.counts }
    }

    /// Returns the per-second series so far.
    #[must_use]
    pub fn series(&self) -> Vec<SeriesRow> {
        self.seconds.rows()
    }

    /// Returns the row of one second.
    #[must_use]
    pub fn row(&self, second: u32) -> SeriesRow {
        self.seconds.row(second)
    }

    /// Returns the random samples of the C10K test, if they are kept.
    #[must_use]
    pub fn samples(&self) -> Option<&Samples> {
        self.samples.as_ref()
    }

    /// Returns the times of one metric so far; `None` if a label has none.
    #[must_use]
    pub fn population(&self, metric: &Metric) -> Option<std::borrow::Cow<'_, Population>> {
        use std::borrow::Cow;
        let population = match metric {
            Metric::Latency => &self.times.latency,
            Metric::ServiceLatency => &self.times.service_latency,
            Metric::LastReceiver => {
                let (_, [_, last_receiver]) = self.publications.so_far();
                return Some(Cow::Owned(last_receiver));
            }
            Metric::Connect => &self.times.connect,
            Metric::Join => &self.times.join,
            Metric::Reply => &self.times.reply,
            Metric::ReplyIntended => &self.times.reply_intended,
            Metric::Http => &self.times.http,
            Metric::HttpIntended => &self.times.http_intended,
            Metric::SendLag => &self.times.send_lag,
            Metric::Labelled(LabelId(label)) => self.times.labelled.get(usize::from(*label))?.as_deref()?,
        };
        Some(Cow::Borrowed(population))
    }

    /// Returns the times so far from the intended send of publications with several receivers to their first receiver.
    #[must_use]
    pub fn first_receiver(&self) -> Population {
        let (_, [first_receiver, _]) = self.publications.so_far();
        first_receiver
    }

    fn second(&mut self, seen: &Observation) -> &mut Second {
        self.seconds.at(seen.at)
    }

    fn arrival(&mut self, seen: &Observation) {
        let users = many(seen);
        self.counts.users_wanted += users;
        self.seconds.at(seen.intended).wanted += users as i64;
        if seen.outcome.is_failure() {
            self.counts.users_dropped += users;
            return;
        }
        self.counts.users += users;
        let second = self.second(seen);
        second.users += users as i64;
        second.arrivals += users;
        self.begun_late(seen.at, elapsed_us(seen.began, seen.at));
    }

    /// Records the generator's own delay before an operation of a user.
    fn begun_late(&mut self, at: Nanos, lag_us: u64) {
        self.times.begin_lag.record(lag_us);
        self.seconds.at(at).record(SecondMetric::BeginLag, lag_us);
    }

    fn finish(&mut self, seen: &Observation) {
        let users = many(seen);
        let second = self.second(seen);
        second.wanted -= users as i64;
        second.users -= users as i64;
        second.finished += users;
        if seen.outcome == Outcome::Ok {
            self.counts.users_finished += users;
            self.times.session.record(elapsed_us(seen.began, seen.at));
        } else if seen.outcome.is_failure() {
            self.counts.users_failed += users;
        } else {
            self.counts.users_stopped += users;
        }
    }

    fn connect(&mut self, seen: &Observation) {
        self.operations += 1;
        self.begun_late(seen.began, u64::from(seen.count));
        if seen.outcome != Outcome::Ok {
            let failed = u64::from(seen.outcome.is_failure());
            self.counts.connects_failed += failed;
            self.counts.connect_timeouts += u64::from(seen.outcome == Outcome::ConnectTimeout);
            self.second(seen).connects_failed += failed;
            return;
        }
        let time_us = elapsed_us(seen.began, seen.at);
        self.counts.connects += 1;
        self.times.connect.record(time_us);
        if let Some(samples) = &mut self.samples {
            samples.connection_time.add(time_us);
        }
        let second = self.second(seen);
        second.connects += 1;
        second.connected.change(1);
        second.record(SecondMetric::Connect, time_us);
    }

    fn disconnect(&mut self, seen: &Observation) {
        self.second(seen).connected.change(-1);
        // Whose close frame is not answered in time has closed the connection itself.
        let is_by_server = seen.outcome.is_failure() && seen.outcome != Outcome::Timeout;
        self.counts.disconnects += u64::from(is_by_server);
    }

    fn join(&mut self, seen: &Observation) {
        self.operations += 1;
        self.begun_late(seen.began, u64::from(seen.count));
        if seen.outcome != Outcome::Ok {
            self.counts.joins_failed += u64::from(seen.outcome.is_failure());
            return;
        }
        let time_us = elapsed_us(seen.began, seen.at);
        self.counts.joins += 1;
        self.times.join.record(time_us);
        let second = self.second(seen);
        second.joined += 1;
        second.record(SecondMetric::Join, time_us);
    }

    fn send(&mut self, seen: &Observation) {
        self.operations += 1;
        if seen.outcome != Outcome::Ok {
            return;
        }
        let lag_us = elapsed_us(seen.began, seen.at);
        self.counts.sent += 1;
        self.counts.expected += u64::from(seen.count);
        self.counts.bytes_sent += u64::from(seen.bytes);
        self.times.send_lag.record(lag_us);
        let second = self.second(seen);
        second.sent += 1;
        second.bytes_sent += u64::from(seen.bytes);
        second.record(SecondMetric::SendLag, lag_us);
        if seen.room != NO_ROOM {
            self.publications.sent(seen);
        }
    }

    fn receive(&mut self, seen: &Observation) {
        let bytes = u64::from(seen.bytes);
        self.counts.received += 1;
        self.counts.bytes_received += bytes;
        let second = self.seconds.at(seen.at);
        second.received += 1;
        second.bytes_received += bytes;
        let outcome = seen.outcome;
        let is_delivery = matches!(outcome, Outcome::Ok | Outcome::Reordered);
        self.counts.expected += u64::from(seen.count);
        self.counts.delivered += u64::from(is_delivery);
        self.counts.reordered += u64::from(outcome == Outcome::Reordered);
        self.counts.late += u64::from(outcome == Outcome::Late);
        self.counts.duplicates += u64::from(outcome == Outcome::Duplicate);
        self.counts.unexpected += u64::from(outcome == Outcome::Unexpected);
        self.counts.unstamped += u64::from(outcome == Outcome::Unstamped);
        // A late delivery is the slowest of all and is measured; one that nobody expected is not.
        if !is_delivery && outcome != Outcome::Late {
            return;
        }
        self.between_machines += u64::from(seen.count);
        let latency_us = elapsed_us(seen.intended, seen.at);
        let service_us = elapsed_us(seen.began, seen.at);
        second.record(SecondMetric::Latency, latency_us);
        second.record(SecondMetric::ServiceLatency, service_us);
        self.times.latency.record(latency_us);
        self.times.service_latency.record(service_us);
        if let Some(samples) = &mut self.samples {
            samples.latency.add(service_us);
        }
        if seen.room != NO_ROOM {
            self.publications.received(seen);
        }
    }

    fn missing(&mut self, seen: &Observation) {
        let missing = u64::from(seen.count);
        if seen.outcome == Outcome::Unjudged {
            self.counts.unjudged += missing;
            return;
        }
        // A message from another machine was expected by its receiver, not by a send counted here.
        if seen.code != 0 {
            self.counts.expected += missing;
        }
        if seen.outcome == Outcome::Lost {
            self.counts.lost += missing;
        } else {
            // For any other reason, the messages were still in flight.
            self.counts.in_flight += missing;
        }
    }

    fn reply(&mut self, seen: &Observation) {
        self.operations += 1;
        if seen.outcome == Outcome::Ok {
            self.counts.replies += 1;
            self.times.reply.record(elapsed_us(seen.began, seen.at));
            self.times.reply_intended.record(elapsed_us(seen.intended.min(seen.began), seen.at));
        }
    }

    fn http(&mut self, seen: &Observation) {
        self.operations += 1;
        self.begun_late(seen.began, u64::from(seen.count));
        self.counts.http_bytes += u64::from(seen.bytes);
        self.waited(seen);
        if seen.outcome != Outcome::Ok {
            self.counts.http_failed += u64::from(seen.outcome.is_failure());
            return;
        }
        let time_us = elapsed_us(seen.began, seen.at);
        self.counts.http += 1;
        self.times.http.record(time_us);
        self.times.http_intended.record(elapsed_us(seen.intended.min(seen.began), seen.at));
        let second = self.second(seen);
        second.http += 1;
        second.record(SecondMetric::Http, time_us);
    }

    /// Records that a request waited for its response from its start to its end, or that it did not get to wait.
    fn waited(&mut self, seen: &Observation) {
        let has_connection = is_established(seen.outcome);
        let was_long = seen.at.saturating_sub(seen.began) >= LONG_WAIT_NS;
        if has_connection {
            self.seconds.at(seen.began).waiting += 1;
        }
        let second = self.second(seen);
        second.waiting -= i64::from(has_connection);
        second.http_long += u64::from(was_long && seen.outcome == Outcome::Ok);
        let turned_away = seen.outcome.is_failure() && !(has_connection && was_long);
        second.http_turned_away += u64::from(turned_away);
    }

    fn error(&mut self, seen: &Observation) {
        let errors = many(seen);
        self.counts.errors += errors;
        self.errors.record(seen, errors);
        self.second(seen).errors += errors;
    }
}

/// Returns whether a request with this outcome had a connection on which it could wait.
fn is_established(outcome: Outcome) -> bool {
    match outcome {
        Outcome::ConnectTimeout
        | Outcome::Refused
        | Outcome::Unreachable
        | Outcome::NoPort
        | Outcome::NoDescriptor
        | Outcome::Tls
        | Outcome::NotReady => false,
        Outcome::Ok
        | Outcome::Unstamped
        | Outcome::Duplicate
        | Outcome::Reordered
        | Outcome::Unexpected
        | Outcome::Late
        | Outcome::Lost
        | Outcome::InFlight
        | Outcome::Unjudged
        | Outcome::Dropped
        | Outcome::Reset
        | Outcome::HandshakeTimeout
        | Outcome::Status
        | Outcome::Redirect
        | Outcome::BadHandshake
        | Outcome::Protocol
        | Outcome::Closed
        | Outcome::Ended
        | Outcome::Timeout
        | Outcome::Rejected
        | Outcome::Heartbeat
        | Outcome::Aborted
        | Outcome::Stopped
        | Outcome::Overflow
        | Outcome::AgentLost => true,
    }
}

/// Returns how many users, rooms or operations an observation stands for.
fn many(seen: &Observation) -> u64 {
    match seen.kind {
        Kind::Arrival | Kind::Finish | Kind::Leave | Kind::Burst => u64::from(seen.count.max(1)),
        Kind::Connect
        | Kind::Disconnect
        | Kind::Join
        | Kind::Send
        | Kind::Receive
        | Kind::Reply
        | Kind::Wait
        | Kind::Http
        | Kind::Missing
        | Kind::Transaction
        | Kind::Step => 1,
    }
}
