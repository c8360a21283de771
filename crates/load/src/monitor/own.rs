//! The generator's own resource usage, from readings of the kernel's counters.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use engine::machine::{self, CpuTime, TaskTime};

use crate::statistics::ThreadUse;

/// A reading of the kernel's counters.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OwnReading {
    pub(super) at: Instant,
    /// CPU time of the process.
    pub(super) cpu: Duration,
    /// CPU time of each of its threads.
    pub(super) threads: Vec<TaskTime>,
    /// CPU time of the machine.
    pub(super) machine: CpuTime,
    pub(super) resident_bytes: u64,
}

/// Resource usage between two readings.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct OwnUse {
    /// CPU usage in cores.
    pub(super) cpu: f64,
    /// Utilisation of the busiest thread, 0 … 1.
    pub(super) thread_cpu_max: f64,
    /// Stolen share of the machine's CPU time, 0 … 1.
    pub(super) steal: f64,
}

/// The first and the latest reading, and the maxima between them.
#[derive(Debug)]
pub(super) struct UsageTracker {
    first: OwnReading,
    last: OwnReading,
    resident_bytes_max: u64,
    /// The busiest of the threads that have ended.
    ended: Option<(String, Duration)>,
}

impl OwnReading {
    pub(super) fn read(at: Instant) -> io::Result<Self> {
        Ok(Self {
            at,
            cpu: machine::process_time(std::process::id())?.cpu,
            threads: machine::thread_times()?,
            machine: machine::cpu_time()?,
            resident_bytes: machine::process_usage()?.resident_bytes,
        })
    }

    fn thread_cpu(&self) -> HashMap<(u32, u64), Duration> {
        self.threads.iter().map(|thread| ((thread.id, thread.start_ticks), thread.cpu)).collect()
    }
}

impl UsageTracker {
    pub(super) fn open(first: OwnReading) -> Self {
        Self { last: first.clone(), resident_bytes_max: first.resident_bytes, first, ended: None }
    }

    /// Returns the time of the latest reading.
    pub(super) fn last_at(&self) -> Instant {
        self.last.at
    }

    /// Adds a reading, and returns the usage since the previous one.
    pub(super) fn enter(&mut self, reading: OwnReading) -> OwnUse {
        self.note_ended(&reading);
        let before = std::mem::replace(&mut self.last, reading);
        self.resident_bytes_max = self.resident_bytes_max.max(self.last.resident_bytes);
        let elapsed = self.last.at.saturating_duration_since(before.at);
        let known = before.thread_cpu();
        let grown = self.last.threads.iter().map(|thread| {
            // A new thread started with no CPU time.
            let earlier = known.get(&(thread.id, thread.start_ticks)).copied().unwrap_or_default();
            share(thread.cpu.saturating_sub(earlier), elapsed)
        });
        OwnUse {
            thread_cpu_max: grown.fold(0.0, f64::max),
            cpu: share(self.last.cpu.saturating_sub(before.cpu), elapsed),
            steal: steal(before.machine, self.last.machine),
        }
    }

    pub(super) fn cpu_mean(&self) -> f64 {
        share(self.last.cpu.saturating_sub(self.first.cpu), self.elapsed())
    }

    pub(super) fn steal_mean(&self) -> f64 {
        steal(self.first.machine, self.last.machine)
    }

    pub(super) fn resident_bytes_max(&self) -> u64 {
        self.resident_bytes_max
    }

    /// Returns the running threads and the busiest one that has ended, busiest first.
    pub(super) fn threads(&self) -> Vec<ThreadUse> {
        let running = self.last.threads.iter().map(|thread| (thread.name.clone(), self.since_first(thread)));
        let mut threads: Vec<ThreadUse> = running
            .chain(self.ended.clone())
            .map(|(name, cpu)| ThreadUse { name, cpu: share(cpu, self.elapsed()) })
            .collect();
        threads.sort_by(|one, other| other.cpu.total_cmp(&one.cpu));
        threads
    }

    fn note_ended(&mut self, newer: &OwnReading) {
        let running = newer.thread_cpu();
        for thread in &self.last.threads {
            if !running.contains_key(&(thread.id, thread.start_ticks)) {
                let used = self.since_first(thread);
                if self.ended.as_ref().is_none_or(|(_, most)| used > *most) {
                    self.ended = Some((thread.name.clone(), used));
                }
            }
        }
    }

    fn since_first(&self, thread: &TaskTime) -> Duration {
        let same = |first: &&TaskTime| (first.id, first.start_ticks) == (thread.id, thread.start_ticks);
        let at_first = self.first.threads.iter().find(same).map(|first| first.cpu).unwrap_or_default();
        thread.cpu.saturating_sub(at_first)
    }

    fn elapsed(&self) -> Duration {
        self.last.at.saturating_duration_since(self.first.at)
    }
}

/// Returns `used` divided by `elapsed`; 0 if no time has passed.
pub(super) fn share(used: Duration, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { used.as_secs_f64() / elapsed.as_secs_f64() }
}

fn steal(before: CpuTime, after: CpuTime) -> f64 {
    let total = after.total_ticks.saturating_sub(before.total_ticks);
    // The kernel may decrease a counter slightly; a share is never negative.
    let stolen = after.steal_ticks.saturating_sub(before.steal_ticks);
    if total == 0 { 0.0 } else { stolen as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(start: Instant, seconds: u64, threads: &[(u32, u64)], steal_ticks: u64) -> OwnReading {
        let task = |(id, cpu_ms): &(u32, u64)| TaskTime {
            id: *id,
            name: format!("thread-{id}"),
            cpu: Duration::from_millis(*cpu_ms),
            start_ticks: 1,
            ended: false,
        };
        OwnReading {
            at: start + Duration::from_secs(seconds),
            cpu: Duration::from_millis(threads.iter().map(|(_, cpu_ms)| cpu_ms).sum()),
            threads: threads.iter().map(task).collect(),
            machine: CpuTime { total_ticks: seconds * 200, idle_ticks: 0, steal_ticks },
            resident_bytes: 1000 * (10 - seconds),
        }
    }

    #[test]
    fn use_is_what_grew_between_two_readings() {
        let start = Instant::now();
        let mut books = UsageTracker::open(reading(start, 0, &[(1, 5000), (2, 100)], 40));
        let used = books.enter(reading(start, 1, &[(1, 5250), (2, 850)], 42));
        assert_eq!(used, OwnUse { cpu: 1.0, thread_cpu_max: 0.75, steal: 0.01 });
        let used = books.enter(reading(start, 3, &[(1, 5250), (2, 850), (3, 1000)], 42));
        assert_eq!(used, OwnUse { cpu: 0.5, thread_cpu_max: 0.5, steal: 0.0 });
        assert_eq!(books.resident_bytes_max(), 10_000);
        assert_eq!(books.steal_mean(), 2.0 / 600.0);
        assert!((books.cpu_mean() - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_busy_thread_is_remembered_when_it_has_ended() {
        let start = Instant::now();
        let mut books = UsageTracker::open(reading(start, 0, &[(1, 0), (2, 100)], 0));
        books.enter(reading(start, 1, &[(1, 10), (2, 1100)], 0));
        books.enter(reading(start, 2, &[(1, 20)], 0));
        let named: Vec<(String, f64)> =
            books.threads().into_iter().map(|thread| (thread.name, thread.cpu)).collect();
        assert_eq!(named, [("thread-2".to_owned(), 0.5), ("thread-1".to_owned(), 0.01)]);
    }

    #[test]
    fn counters_that_go_back_give_nothing() {
        let start = Instant::now();
        let mut books = UsageTracker::open(reading(start, 0, &[(1, 500)], 50));
        let mut later = reading(start, 1, &[(1, 400)], 40);
        assert_eq!(books.enter(later.clone()), OwnUse::default());
        later.at = start;
        assert_eq!(books.enter(later), OwnUse::default());
    }
}
