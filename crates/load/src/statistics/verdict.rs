//! Decides whether a run's figures are credible, or whether the generator itself shaped them.
//!
//! A pure function of the statistics. Nothing that the server does, however slow, makes a run invalid: each reason
//! names something about the generator, its machine or its own accounting.

use super::text::{count_of, duration_us, percent};
use super::{Counts, GeneratorFacts, Statistics, Verdict};
use crate::observe::{Kind, Outcome};

/// Maximum share of the latency's 99th percentile, which contains them, that the 99th percentiles of send lag, read lag
/// and CPU wait, and the error of the clocks, may take.
pub const SEND_LAG_SHARE_MAX: f64 = 0.2;
/// Send lag, read lag, CPU wait and the error of the clocks up to this are always ignored: it is the granularity at which
/// sends are scheduled.
pub const SEND_LAG_US_IGNORED: u64 = 2_000;
/// Maximum send, begin or read lag, CPU wait, and duration of a burst (99th percentiles), for a run that has no
/// measured time to compare them with.
pub const SEND_LAG_US_ALONE_MAX: u64 = 100_000;
/// The generator's delay before operations, and the time that it is busy with a burst (99th percentiles), are ignored
/// up to this.
pub const BEGIN_LAG_US_IGNORED: u64 = 20_000;
/// Maximum of `busy / (busy + measured)`, where `busy` is how long the generator is busy with a burst and `measured` is
/// what it measured of it (99th percentiles). In a burst all users are due at once, and the measured time contains what
/// waited unread while the generator was busy: if a server answers at once, that is all of it, and the two are about
/// equal. At this limit, the generator had nothing left to do for a third of the measured time or longer, and that
/// third is the server's alone.
pub const BURST_SHARE_MAX: f64 = 0.4;
/// A thread whose utilisation is at least this counts as busy.
pub const THREAD_BUSY: f64 = 0.9;
/// Maximum share of the seconds in which a generator thread may be busy while users lag.
pub const BUSY_SECONDS_SHARE_MAX: f64 = 0.2;
/// Maximum mean share of the machine's CPU time stolen by the hypervisor.
pub const STEAL_MEAN_MAX: f64 = 0.05;
/// Maximum share of their time that shards may wait for the collector and the log.
pub const STALLED_SHARE_MAX: f64 = 0.01;
/// Maximum share of users, or of connects, that may be missing because of the generator.
pub const DROPPED_SHARE_MAX: f64 = 0.001;

/// Judges a run.
#[must_use]
pub fn judge(statistics: &Statistics, generator: &GeneratorFacts) -> Verdict {
    let reasons = Evidence::of(statistics, generator).reasons();
    Verdict { valid: reasons.is_empty(), reasons }
}

/// Judges a run in progress, using only the reasons that its end cannot revoke. Whether anything was measured, whether
/// the totals add up, and how the server handled a burst are known only at the end. The steal is the mean of the
/// samples so far.
#[must_use]
pub fn judge_so_far(statistics: &Statistics, generator: &GeneratorFacts) -> Verdict {
    let mut evidence = Evidence::of(statistics, generator);
    evidence.generator.steal_mean = evidence.steal_sampled / evidence.sampled_seconds.max(1) as f64;
    let reasons = evidence.reasons_so_far();
    Verdict { valid: reasons.is_empty(), reasons }
}

/// The data that the verdict is based on.
#[derive(Clone, PartialEq, Debug, Default)]
struct Evidence {
    counts: Counts,
    /// 99th percentiles; `None` if nothing was measured.
    send_lag_p99_us: Option<u64>,
    latency_p99_us: Option<u64>,
    /// From the actual send to the server's answer.
    reply_p99_us: Option<u64>,
    begin_lag_p99_us: Option<u64>,
    /// The slowest of connects, joins and HTTP requests.
    operation_p99_us: Option<u64>,
    /// From when all users of a burst were due until the last had started and the data that had arrived meanwhile was
    /// read.
    burst_p99_us: Option<u64>,
    /// A connect with its join, or an HTTP request, as far as those of bursts can be distinguished from others.
    burst_operation_us: Option<u64>,
    /// Lower bound of how long data had been ready when users read it.
    read_lag_p99_us: Option<u64>,
    /// How long the generator's threads waited for a CPU before they polled for the data that users then read.
    cpu_wait_p99_us: Option<u64>,
    /// Seconds with samples of the generator's CPU, and (`busy_seconds`) those among them with a busy thread while
    /// users lagged.
    sampled_seconds: u64,
    busy_seconds: u64,
    /// Sum of the steal of the sampled seconds.
    steal_sampled: f64,
    /// Deliveries from a user on another machine.
    between_machines: u64,
    /// Connects and HTTP requests that failed for lack of a port or a descriptor.
    without_means: u64,
    /// Length of the run in seconds.
    seconds: u64,
    generator: GeneratorFacts,
}

impl Evidence {
    fn of(statistics: &Statistics, generator: &GeneratorFacts) -> Self {
        let times = &statistics.times;
        let operations = [&times.connect, &times.join, &times.http];
        let mut evidence = Self {
            counts: statistics.counts(),
            send_lag_p99_us: times.send_lag.quantile_us(0.99),
            latency_p99_us: times.latency.quantile_us(0.99),
            reply_p99_us: times.reply.quantile_us(0.99),
            begin_lag_p99_us: times.begin_lag.quantile_us(0.99),
            operation_p99_us: operations.iter().filter_map(|times| times.quantile_us(0.99)).max(),
            burst_p99_us: times.burst.quantile_us(0.99),
            burst_operation_us: burst_operation_us(statistics),
            read_lag_p99_us: (generator.read_lag.count > 0).then_some(generator.read_lag.p99_us),
            cpu_wait_p99_us: (generator.cpu_wait.count > 0).then_some(generator.cpu_wait.p99_us),
            between_machines: statistics.between_machines,
            without_means: [Kind::Connect, Kind::Http]
                .into_iter()
                .flat_map(|kind| [(kind, Outcome::NoPort), (kind, Outcome::NoDescriptor)])
                .map(|(kind, outcome)| statistics.errors.count_of(kind, outcome))
                .sum(),
            generator: generator.clone(),
            ..Self::default()
        };
        // There is no per-second figure for read lag, so it is taken as lagging throughout or not at all.
        let reads_lagged = evidence.read_lag_p99_us.is_some_and(|lag_us| lag_us > SEND_LAG_US_IGNORED);
        for (_, _, second) in statistics.seconds.each() {
            evidence.seconds += 1;
            let Some(second) = second else { continue };
            let Some(sample) = &second.sample else { continue };
            evidence.sampled_seconds += 1;
            evidence.steal_sampled += sample.steal;
            let is_busy = sample.generator_thread_cpu_max >= THREAD_BUSY;
            let lagged = || reads_lagged || second.lag_p99_us() > SEND_LAG_US_IGNORED;
            evidence.busy_seconds += u64::from(is_busy && lagged());
        }
        evidence
    }

    fn reasons(&self) -> Vec<String> {
        let known_at_the_end =
            [self.nothing_measured(), self.does_not_add_up(), self.bursts_lagged(), self.clocks_differed()];
        known_at_the_end.into_iter().flatten().chain(self.reasons_so_far()).collect()
    }

    /// Returns the reasons that also hold in the middle of a run.
    fn reasons_so_far(&self) -> Vec<String> {
        [
            self.sends_lagged(),
            self.beginnings_lagged(),
            self.reads_lagged(),
            self.cpus_were_waited_for(),
            self.threads_were_busy(),
            self.cpu_was_stolen(),
            self.collector_stalled(),
            self.users_were_dropped(),
            self.means_ran_out(),
            self.agents_were_lost(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn nothing_measured(&self) -> Option<String> {
        (self.counts.users == 0).then(|| "No users arrived: nothing was measured.".to_owned())
    }

    fn does_not_add_up(&self) -> Option<String> {
        let counts = &self.counts;
        (!counts.adds_up()).then(|| {
            format!(
                "The counts do not add up: {} deliveries were expected, but {} delivered + {} lost + {} late \
                 + {} in flight = {}.",
                count_of(counts.expected),
                count_of(counts.delivered),
                count_of(counts.lost),
                count_of(counts.late),
                count_of(counts.in_flight),
                count_of(counts.accounted_for()),
            )
        })
    }

    fn sends_lagged(&self) -> Option<String> {
        let lag_us = self.send_lag_p99_us?;
        // A reply is measured from when its push was sent, so the lag comes on top of its time.
        let replied_us = self.reply_p99_us.map(|reply_us| reply_us.saturating_add(lag_us));
        let Some(latency_us) = self.latency_p99_us.or(replied_us) else {
            return (lag_us > SEND_LAG_US_ALONE_MAX).then(|| {
                format!(
                    "The generator could not keep up: 1 % of its sends were {} or more late (send lag).",
                    duration_us(lag_us as f64)
                )
            });
        };
        let share = lag_us as f64 / latency_us.max(1) as f64;
        (lag_us > SEND_LAG_US_IGNORED && share > SEND_LAG_SHARE_MAX).then(|| {
            format!(
                "The generator could not keep up: the 99th percentile of its send lag is {}, {} of that of \
                 the latency ({}).",
                duration_us(lag_us as f64),
                percent(share),
                duration_us(latency_us as f64),
            )
        })
    }

    /// Users, connects, joins and HTTP requests that started late. The time they waited for the server is not included.
    fn beginnings_lagged(&self) -> Option<String> {
        let lag_us = self.begin_lag_p99_us?;
        let Some(operation_us) = self.operation_p99_us else {
            return (lag_us > SEND_LAG_US_ALONE_MAX).then(|| {
                format!(
                    "The generator fell behind: it began 1 % of its users' operations {} or more late (begin \
                     lag).",
                    duration_us(lag_us as f64)
                )
            });
        };
        // Operations are measured from when they began, so the lag comes on top of their time.
        let share = share(lag_us, lag_us.saturating_add(operation_us));
        (lag_us > BEGIN_LAG_US_IGNORED && share > SEND_LAG_SHARE_MAX).then(|| {
            format!(
                "The generator fell behind: the 99th percentile of its own delay before arrivals, connects, \
                 joins and requests (begin lag) is {}, compared with {} for the slowest kind of these \
                 operations.",
                duration_us(lag_us as f64),
                duration_us(operation_us as f64),
            )
        })
    }

    /// In any generator, a user that is due together with many others waits for those before it, and responses wait
    /// until all have started. What matters is whether the server had more to do than the generator, or finished each
    /// part of the crowd before the next part came or before the generator looked.
    fn bursts_lagged(&self) -> Option<String> {
        let burst_us = self.burst_p99_us?;
        let Some(operation_us) = self.burst_operation_us else {
            return (burst_us > SEND_LAG_US_ALONE_MAX).then(|| {
                format!(
                    "The generator was too slow for its own bursts: it needed {} (99th percentile) to start \
                     all users due at the same moment and to read what arrived meanwhile.",
                    duration_us(burst_us as f64)
                )
            });
        };
        let share = share(burst_us, burst_us.saturating_add(operation_us));
        (burst_us > BEGIN_LAG_US_IGNORED && share > BURST_SHARE_MAX).then(|| {
            format!(
                "The generator was too slow for its own bursts: it needed {} (99th percentile) to start all \
                 users due at the same moment and to read what arrived meanwhile. Their measured times ({}) \
                 include this delay, so it hides the server's share.",
                duration_us(burst_us as f64),
                duration_us(operation_us as f64),
            )
        })
    }

    /// A delivery from another machine is measured from when it was due by the sender's clock until it was received by
    /// the receiver's.
    fn clocks_differed(&self) -> Option<String> {
        let error_us = self.generator.clock_error_us;
        let latency_us = self.latency_p99_us.filter(|_| self.between_machines > 0)?;
        let share = share(error_us, latency_us.max(1));
        (error_us > SEND_LAG_US_IGNORED && share > SEND_LAG_SHARE_MAX).then(|| {
            format!(
                "The clocks of the agents' machines may differ by {}, {} of the 99th percentile of the latency \
                 ({}), and {} deliveries came from another machine.",
                duration_us(error_us as f64),
                percent(share),
                duration_us(latency_us as f64),
                count_of(self.between_machines),
            )
        })
    }

    /// What was measured of messages or, without any, of what else users did. Reads are part of it.
    fn measured_p99_us(&self) -> Option<u64> {
        self.latency_p99_us.or(self.reply_p99_us).or(self.operation_p99_us)
    }

    /// Data that had arrived and waited while the shard was busy with other users. In a loop of echoes, where nothing
    /// is due at a set time, this is the symptom of a generator that cannot keep up. It is part of every measured time.
    fn reads_lagged(&self) -> Option<String> {
        let lag_us = self.read_lag_p99_us?;
        let Some(measured_us) = self.measured_p99_us() else {
            return (lag_us > SEND_LAG_US_ALONE_MAX).then(|| {
                format!(
                    "The generator read too late: 1 % of the data had been ready for {} or more (read lag).",
                    duration_us(lag_us as f64)
                )
            });
        };
        let share = share(lag_us, measured_us.max(1));
        (lag_us > SEND_LAG_US_IGNORED && share > SEND_LAG_SHARE_MAX).then(|| {
            format!(
                "The generator read too late: data had been ready for {} or more (99th percentile of read \
                 lag), {} of the measured times ({}).",
                duration_us(lag_us as f64),
                percent(share),
                duration_us(measured_us as f64),
            )
        })
    }

    /// Data that had arrived while a generator thread was runnable but other processes had the CPU. The generator's own
    /// work does not reveal this; like read lag, it is part of every measured time.
    fn cpus_were_waited_for(&self) -> Option<String> {
        let wait_us = self.cpu_wait_p99_us?;
        let Some(measured_us) = self.measured_p99_us() else {
            return (wait_us > SEND_LAG_US_ALONE_MAX).then(|| {
                format!(
                    "The generator waited for a CPU: 1 % of the data was read after a wait of {} or more.",
                    duration_us(wait_us as f64)
                )
            });
        };
        let share = share(wait_us, measured_us.max(1));
        (wait_us > SEND_LAG_US_IGNORED && share > SEND_LAG_SHARE_MAX).then(|| {
            format!(
                "The generator waited for a CPU: data was read after a wait of {} or more (99th percentile), \
                 {} of the measured times ({}). Other processes use its processors.",
                duration_us(wait_us as f64),
                percent(share),
                duration_us(measured_us as f64),
            )
        })
    }

    fn threads_were_busy(&self) -> Option<String> {
        let share = share(self.busy_seconds, self.sampled_seconds);
        (share > BUSY_SECONDS_SHARE_MAX).then(|| {
            format!(
                "The generator was at its limit: in {} of {} seconds one of its threads was at least {} busy \
                 while its users lagged.",
                count_of(self.busy_seconds),
                count_of(self.sampled_seconds),
                percent(THREAD_BUSY),
            )
        })
    }

    fn cpu_was_stolen(&self) -> Option<String> {
        let steal = self.generator.steal_mean;
        (steal > STEAL_MEAN_MAX).then(|| {
            format!("The hypervisor gave {} of the machine's CPU time to others (steal).", percent(steal))
        })
    }

    fn collector_stalled(&self) -> Option<String> {
        let stalled_ms = self.generator.stalled_ms;
        let thread_ms = self.seconds.max(1) * 1_000 * u64::from(self.generator.shards.max(1));
        let share = share(stalled_ms, thread_ms);
        (share > STALLED_SHARE_MAX).then(|| {
            format!(
                "The generator's threads waited {} for its own counting or event log: {} of their time.",
                duration_us(stalled_ms as f64 * 1e3),
                percent(share),
            )
        })
    }

    fn users_were_dropped(&self) -> Option<String> {
        let Counts { users_dropped, users_wanted, .. } = self.counts;
        (share(users_dropped, users_wanted) > DROPPED_SHARE_MAX).then(|| {
            format!(
                "{} of {} users were not started: the load was lower than the scenario demands.",
                count_of(users_dropped),
                count_of(users_wanted)
            )
        })
    }

    fn means_ran_out(&self) -> Option<String> {
        let counts = &self.counts;
        let tried = counts.connects + counts.connects_failed + counts.http + counts.http_failed;
        (share(self.without_means, tried) > DROPPED_SHARE_MAX).then(|| {
            format!(
                "{} of {} connects and requests failed because the generator had no free port or descriptor left.",
                count_of(self.without_means),
                count_of(tried)
            )
        })
    }

    fn agents_were_lost(&self) -> Option<String> {
        match self.generator.agents_lost {
            0 => None,
            1 => Some("An agent was lost during the run, together with the results of its users.".to_owned()),
            agents => Some(format!(
                "{agents} agents were lost during the run, together with the results of their users."
            )),
        }
    }
}

/// Returns how long the slowest users of bursts waited for the server: for a request, or to get in, which is a connect
/// and, where there are joins, the join after it. This is the 99th percentile or, if less than 2 % of operations are in
/// bursts, the median of the slowest operations, as many as are in bursts.
fn burst_operation_us(statistics: &Statistics) -> Option<u64> {
    let times = &statistics.times;
    let in_bursts = share(times.burst.count(), times.begin_lag.count());
    let below = (1.0 - in_bursts / 2.0).clamp(0.99, 1.0);
    let way_in = [&times.connect, &times.join].into_iter().filter_map(|times| times.quantile_us(below));
    way_in.reduce(u64::saturating_add).max(times.http.quantile_us(below))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
