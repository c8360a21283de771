//! A monitored process on this machine.

use std::io;
use std::time::{Duration, Instant};

use engine::machine;

use super::own::share;
use crate::statistics::ServerRow;

/// A monitored process.
#[derive(Debug)]
pub(super) struct MonitoredProcess {
    pid: u32,
    name: String,
    start_ticks: u64,
    last: (Instant, Duration),
}

impl MonitoredProcess {
    /// Starts monitoring the process with this id.
    pub(super) fn begin(pid: u32, now: Instant) -> io::Result<Self> {
        let time = machine::process_time(pid)?;
        if time.ended {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("process {pid} has ended")));
        }
        let name = format!("pid {pid} ({})", time.name);
        Ok(Self { pid, name, start_ticks: time.start_ticks, last: (now, time.cpu) })
    }

    /// Returns the name of the process in rows.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Samples the process, with its CPU usage since the last call; `None` if it is gone or its id has been reused.
    pub(super) fn sample(&mut self, now: Instant) -> Option<ServerRow> {
        let time = machine::process_time(self.pid).ok()?;
        if time.ended || time.start_ticks != self.start_ticks {
            return None;
        }
        let (before, used_before) = std::mem::replace(&mut self.last, (now, time.cpu));
        let elapsed = now.saturating_duration_since(before);
        let usage = machine::process_usage_of(self.pid).ok();
        Some(ServerRow {
            name: self.name.clone(),
            rss_bytes: usage.map(|usage| usage.resident_bytes),
            cpu: (!elapsed.is_zero()).then(|| share(time.cpu.saturating_sub(used_before), elapsed)),
            descriptors: machine::open_descriptors(self.pid).ok(),
            connections: None,
            figures: usage.map(|usage| ("threads".to_owned(), usage.threads as f64)).into_iter().collect(),
            failed_scrapes: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_watched_until_it_is_gone() {
        // It prints a word after its work, and then waits for the end of its input.
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; read line";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let start = Instant::now();
        let mut watched = MonitoredProcess::begin(child.id(), start).expect("it runs");
        let mut word = [0; 5];
        child.stdout.take().expect("its output").read_exact(&mut word).expect("it ends its work");
        let row = watched.sample(start + Duration::from_secs(1)).expect("it waits");
        assert_eq!(row.name, format!("pid {} (sh)", child.id()));
        assert!(row.rss_bytes.is_some_and(|bytes| bytes > 100_000), "{row:?}");
        assert!(row.cpu.is_some_and(|cpu| cpu > 0.0), "{row:?}");
        assert!(row.descriptors.is_some_and(|count| count >= 3), "{row:?}");
        assert_eq!(row.figures, [("threads".to_owned(), 1.0)]);
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        assert_eq!(watched.sample(start + Duration::from_secs(2)), None);
        assert!(MonitoredProcess::begin(child.id(), start).is_err());
    }
}
