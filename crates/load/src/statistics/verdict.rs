//! Whether a run's figures are to be believed: whether it was the generator that shaped them.
//!
//! A pure judgement over what was counted. What the server did, however slow, never makes a run invalid: each reason
//! names something that the generator, its machine or its own books did.

use super::text::{count_of, duration_us, percent};
use super::{Counts, GeneratorFacts, Statistics, Verdict};
use crate::observe::{Kind, Outcome};

/// The 99th percentile of the send lag, of the read lag and of the wait for a CPU may be this share of the latency's,
/// which contains it.
pub const SEND_LAG_SHARE_MAX: f64 = 0.2;
/// Send lag, read lag and wait for a CPU that is never held against a run: it is as fine as sends are scheduled.
pub const SEND_LAG_US_IGNORED: u64 = 2_000;
/// The greatest send, begin or read lag, wait for a CPU, and time with a burst (99th percentiles), of a run without any
/// time to compare it with.
pub const SEND_LAG_US_ALONE_MAX: u64 = 100_000;
/// The generator's delay of beginnings, and the time that it is busy with a burst (99th percentiles), that is never held
/// against a run.
pub const BEGIN_LAG_US_IGNORED: u64 = 20_000;
/// How long the generator is busy with a burst (99th percentile) may be this share of that and of what was measured of
/// it together. A burst says "everybody now", and what is measured of it contains what lay unread while the generator
/// was busy: of a server that answers at once, that is all of it, and the two are about equal. Here the generator had
/// nothing left to do for a third of the time that was measured, or longer: that third is the server's alone.
pub const BURST_SHARE_MAX: f64 = 0.4;
/// From here on a thread counts as busy.
pub const THREAD_BUSY: f64 = 0.9;
/// Share of the seconds in which a thread of the generator may be busy while what users do lags.
pub const BUSY_SECONDS_SHARE_MAX: f64 = 0.2;
/// Mean share of the machine's CPU time that may be given to others.
pub const STEAL_MEAN_MAX: f64 = 0.05;
/// Share of their time that shards may wait for the collector and the log.
pub const STALLED_SHARE_MAX: f64 = 0.01;
/// Share of users, or of connects, that may be missing because of the generator.
pub const DROPPED_SHARE_MAX: f64 = 0.001;

/// Judges a run.
#[must_use]
pub fn judge(statistics: &Statistics, generator: &GeneratorFacts) -> Verdict {
    let reasons = Evidence::of(statistics, generator).reasons();
    Verdict { valid: reasons.is_empty(), reasons }
}

/// Judges a run that goes on, by the reasons that its end cannot take back. Whether anything was measured, whether it
/// adds up, and what the server made of a burst, only the end can know. The steal is that of the samples so far.
#[must_use]
pub fn judge_so_far(statistics: &Statistics, generator: &GeneratorFacts) -> Verdict {
    let mut evidence = Evidence::of(statistics, generator);
    evidence.generator.steal_mean = evidence.steal_sampled / evidence.sampled_seconds.max(1) as f64;
    let reasons = evidence.reasons_so_far();
    Verdict { valid: reasons.is_empty(), reasons }
}

/// All that the judgement rests on.
#[derive(Clone, PartialEq, Debug, Default)]
struct Evidence {
    counts: Counts,
    /// 99th percentiles; `None` where there are none.
    send_lag_p99_us: Option<u64>,
    latency_p99_us: Option<u64>,
    begin_lag_p99_us: Option<u64>,
    /// Of the slowest among connects, joins and HTTP requests.
    operation_p99_us: Option<u64>,
    /// From when all of a burst were due until the last had begun and what had come meanwhile was read.
    burst_p99_us: Option<u64>,
    /// A connect with its join, or an HTTP request, as far as those of bursts can be told from the others.
    burst_operation_us: Option<u64>,
    /// How long what users read had been ready at least.
    read_lag_p99_us: Option<u64>,
    /// How long the generator's threads waited for a CPU before they looked at what users then read.
    cpu_wait_p99_us: Option<u64>,
    /// Seconds with samples of the generator's CPU, and those among them with a busy thread while users lagged.
    sampled_seconds: u64,
    busy_seconds: u64,
    /// Sum of the sampled seconds' steal.
    steal_sampled: f64,
    /// Connects and HTTP requests that failed for want of a port or a descriptor.
    without_means: u64,
    /// Seconds that the run took.
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
            begin_lag_p99_us: times.begin_lag.quantile_us(0.99),
            operation_p99_us: operations.iter().filter_map(|times| times.quantile_us(0.99)).max(),
            burst_p99_us: times.burst.quantile_us(0.99),
            burst_operation_us: burst_operation_us(statistics),
            read_lag_p99_us: (generator.read_lag.count > 0).then_some(generator.read_lag.p99_us),
            cpu_wait_p99_us: (generator.cpu_wait.count > 0).then_some(generator.cpu_wait.p99_us),
            without_means: [Kind::Connect, Kind::Http]
                .into_iter()
                .flat_map(|kind| [(kind, Outcome::NoPort), (kind, Outcome::NoDescriptor)])
                .map(|(kind, outcome)| statistics.errors.count_of(kind, outcome))
                .sum(),
            generator: generator.clone(),
            ..Self::default()
        };
        // Of reading there is no figure for each second: it lagged throughout, or it did not.
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
        let known_at_the_end = [self.nothing_measured(), self.does_not_add_up(), self.bursts_lagged()];
        known_at_the_end.into_iter().flatten().chain(self.reasons_so_far()).collect()
    }

    /// Those that hold in the middle of a run as well.
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
        let Some(latency_us) = self.latency_p99_us else {
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

    /// Users, connects, joins and HTTP requests that began late. What they waited for the server is none of it.
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
        // Operations are measured from when they began, so that the lag comes on top of them.
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

    /// Who is due with many others waits for those before it, in any generator, and answers wait until all have begun.
    /// What matters is whether the server had more to do than the generator, or was done with each piece of the crowd
    /// before the next came, or before anybody looked.
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

    /// What had come and lay there while the shard was busy with others: in a loop of echoes, where nothing is due at a
    /// time of its own, this is how a generator that cannot keep up shows. It is part of every time that is measured.
    fn reads_lagged(&self) -> Option<String> {
        let lag_us = self.read_lag_p99_us?;
        let Some(measured_us) = self.latency_p99_us.or(self.operation_p99_us) else {
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

    /// What had come while a thread of the generator was ready to run and others had the CPU. No work of its own shows
    /// that; it is part of every time that is measured, as reading late is.
    fn cpus_were_waited_for(&self) -> Option<String> {
        let wait_us = self.cpu_wait_p99_us?;
        let Some(measured_us) = self.latency_p99_us.or(self.operation_p99_us) else {
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

/// How long the slowest users of bursts waited for the server: for a request, or on their way in, which is a connect and
/// the join after it where there are joins. It is the 99th percentile, or, where bursts are rarer, that of the middle of
/// as many of the slowest as bursts have.
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
