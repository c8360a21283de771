//! The samples per second, written by the sampling threads and read by the run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::figure::Scraped;
use super::own::OwnUse;
use crate::statistics::{ServerRow, ServerSamples};

/// Maximum number of rows kept; older ones are dropped.
const ROWS_MAX: usize = 600;
/// Maximum number of pending notices; further ones are dropped.
const NOTICES_MAX: usize = 256;

/// The samples of one second, by the run's clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MonitorRow {
    /// Samples of each server in the order in which they were configured, processes first. Unknown values are `None`.
    pub servers: Vec<ServerRow>,
    /// CPU usage of the generator, in cores.
    pub generator_cpu: f64,
    /// Utilisation of the generator's busiest thread, 0 … 1.
    pub generator_thread_cpu_max: f64,
    /// Share of the machine's CPU time stolen by the hypervisor, 0 … 1.
    pub steal: f64,
}

/// The rows of all seconds, shared by the sampling threads.
#[derive(Debug)]
pub(super) struct Rows {
    epoch: Instant,
    books: Mutex<Books>,
}

#[derive(Debug)]
struct Books {
    rows: BTreeMap<u32, MonitorRow>,
    tallies: Vec<ServerSamples>,
    notices: Vec<String>,
}

impl Rows {
    pub(super) fn new(epoch: Instant, servers: impl Iterator<Item = String>) -> Self {
        let tallies = servers.map(|name| ServerSamples { name, ..ServerSamples::default() }).collect();
        Self { epoch, books: Mutex::new(Books { rows: BTreeMap::new(), tallies, notices: Vec::new() }) }
    }

    /// Returns the row of a second as far as it is known.
    pub(super) fn row(&self, second: u32) -> MonitorRow {
        let books = self.books();
        books.rows.get(&second).cloned().unwrap_or_else(|| blank(&books.tallies))
    }

    pub(super) fn enter_own(&self, second: u32, used: OwnUse) {
        let mut books = self.books();
        let row = books.row(second);
        row.generator_cpu = used.cpu;
        row.generator_thread_cpu_max = used.thread_cpu_max;
        row.steal = used.steal;
    }

    pub(super) fn enter_process(&self, second: u32, server: usize, sample: ServerRow) {
        let mut books = self.books();
        books.succeed(server);
        if let Some(place) = books.row(second).servers.get_mut(server) {
            *place = sample;
        }
    }

    /// Enters a scraped page into the second in which it arrived.
    pub(super) fn enter_scrape(&self, at: Instant, server: usize, scraped: Scraped, cpu: Option<f64>) {
        let second = self.second_of(at);
        let mut books = self.books();
        books.succeed(server);
        if let Some(place) = books.row(second).servers.get_mut(server) {
            place.rss_bytes = scraped.resident_bytes;
            place.cpu = cpu;
            place.descriptors = scraped.descriptors;
            place.connections = scraped.connections;
            place.figures = scraped.figures;
        }
    }

    /// Counts a failed scrape in the second in which it failed.
    pub(super) fn enter_failure(&self, at: Instant, server: usize, error: String) {
        let second = self.second_of(at);
        let mut books = self.books();
        if let Some(place) = books.row(second).servers.get_mut(server) {
            place.failed_scrapes += 1;
        }
        books.fail(server, || error);
    }

    /// Counts a second in which a process no longer existed.
    pub(super) fn enter_loss(&self, second: u32, server: usize) {
        let mut books = self.books();
        books.fail(server, || format!("the process is gone, since second {second}"));
    }

    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.books().notices)
    }

    pub(super) fn tallies(&self) -> Vec<ServerSamples> {
        self.books().tallies.clone()
    }

    /// Returns the second that contains a time; earlier times count as the first second.
    pub(super) fn second_of(&self, at: Instant) -> u32 {
        u32::try_from(at.saturating_duration_since(self.epoch).as_secs()).unwrap_or(u32::MAX)
    }

    /// Returns the start of a second.
    pub(super) fn beginning_of(&self, second: u32) -> Instant {
        self.epoch + Duration::from_secs(second.into())
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Each update is complete in itself, so a panicking thread cannot leave the data inconsistent.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn row(&mut self, second: u32) -> &mut MonitorRow {
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&second) {
            self.rows.pop_first();
        }
        let tallies = &self.tallies;
        self.rows.entry(second).or_insert_with(|| blank(tallies))
    }

    fn succeed(&mut self, server: usize) {
        if let Some(tally) = self.tallies.get_mut(server) {
            tally.samples += 1;
        }
    }

    /// Counts a failure; a server's first failure adds a notice.
    fn fail(&mut self, server: usize, error: impl FnOnce() -> String) {
        let Some(tally) = self.tallies.get_mut(server) else { return };
        tally.failed += 1;
        if tally.first_error.is_none() {
            let text = error();
            if self.notices.len() < NOTICES_MAX {
                self.notices.push(format!("{}: {text}", tally.name));
            }
            tally.first_error = Some(text);
        }
    }
}

fn blank(tallies: &[ServerSamples]) -> MonitorRow {
    let named = |tally: &ServerSamples| ServerRow { name: tally.name.clone(), ..ServerRow::default() };
    MonitorRow { servers: tallies.iter().map(named).collect(), ..MonitorRow::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        Rows::new(Instant::now(), ["one".to_owned(), "two".to_owned()].into_iter())
    }

    #[test]
    fn a_second_without_samples_names_the_servers_and_knows_nothing() {
        let row = rows().row(7);
        let names: Vec<&str> = row.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(row.servers[0].rss_bytes, None);
    }

    #[test]
    fn samples_meet_in_their_second() {
        let rows = rows();
        rows.enter_own(3, OwnUse { cpu: 1.5, thread_cpu_max: 0.9, steal: 0.1 });
        let scraped = Scraped { connections: Some(10), ..Scraped::default() };
        rows.enter_scrape(rows.beginning_of(3) + Duration::from_millis(999), 1, scraped, Some(0.5));
        let row = rows.row(3);
        assert_eq!((row.generator_cpu, row.generator_thread_cpu_max, row.steal), (1.5, 0.9, 0.1));
        assert_eq!((row.servers[1].connections, row.servers[1].cpu), (Some(10), Some(0.5)));
        assert_eq!(rows.row(4).servers[1].connections, None);
    }

    #[test]
    fn failures_are_counted_and_said_once() {
        let rows = rows();
        for second in [0, 0, 5] {
            rows.enter_failure(rows.beginning_of(second), 1, format!("broken in {second}"));
        }
        assert_eq!((rows.row(0).servers[1].failed_scrapes, rows.row(5).servers[1].failed_scrapes), (2, 1));
        assert_eq!(rows.take_notices(), ["two: broken in 0"]);
        assert_eq!(rows.take_notices(), [""; 0]);
        let tally = &rows.tallies()[1];
        assert_eq!((tally.failed, tally.first_error.as_deref()), (3, Some("broken in 0")));
    }

    #[test]
    fn only_so_many_seconds_are_kept() {
        let rows = rows();
        for second in 0..ROWS_MAX as u32 + 5 {
            rows.enter_own(second, OwnUse { cpu: 1.0, ..OwnUse::default() });
        }
        assert_eq!(rows.books().rows.len(), ROWS_MAX);
        assert_eq!((rows.row(4).generator_cpu, rows.row(5).generator_cpu), (0.0, 1.0));
    }
}
