//! The run as lines of text, for a log or a pipe: one every few seconds, and one for each new event.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::live::figures::{clock, count, one_line, share, time_us};
use crate::live::{Board, Stage, Status};
use crate::statistics::ServerRow;

/// Default interval between lines.
pub const INTERVAL: Duration = Duration::from_secs(5);

/// Maximum length of an error's example in characters.
const EXAMPLE_CHARS_MAX: usize = 160;

/// Writes lines until the run has ended.
///
/// # Errors
/// An error of `out`, such as a closed pipe.
pub fn run(board: &Board, out: &mut dyn Write, interval: Duration) -> io::Result<()> {
    let mut reporter = Reporter::default();
    let mut version = 0;
    let mut due = Instant::now();
    loop {
        let status = board.status();
        let is_due = Instant::now() >= due;
        if is_due {
            due = Instant::now() + interval;
        }
        for line in reporter.lines(&status, is_due) {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        if status.stage == Stage::Ended {
            return Ok(());
        }
        version = board.wait(version, due.saturating_duration_since(Instant::now()));
    }
}

/// Tracks what has already been reported.
#[derive(Debug, Default)]
struct Reporter {
    phase: u32,
    stage: Stage,
    errors_said: BTreeSet<(String, String, u16)>,
    reasons_said: usize,
    /// Latest sample of each server's memory in bytes, by name; a second's sample arrives after its other figures.
    memory: Vec<(String, u64)>,
}

impl Reporter {
    /// Returns the lines to print now: events at once, figures when they are due and at the end.
    fn lines(&mut self, status: &Status, figures_due: bool) -> Vec<String> {
        let mut lines = Vec::new();
        self.news(status, &mut lines);
        self.note_memory(&status.latest.servers);
        let began = status.stage != Stage::Starting;
        if began && (figures_due || status.stage == Stage::Ended) {
            lines.push(figures_line(status) + &self.memory_text());
        }
        if status.stage == Stage::Ended {
            lines.push(format!("{}  ended: {}", clock(status.elapsed_seconds), status.ended_by));
        }
        lines
    }

    fn note_memory(&mut self, servers: &[ServerRow]) {
        for server in servers {
            let Some(bytes) = server.rss_bytes else { continue };
            match self.memory.iter_mut().find(|(name, _)| *name == server.name) {
                Some((_, known)) => *known = bytes,
                None => self.memory.push((server.name.clone(), bytes)),
            }
        }
    }

    /// Formats each server's memory; a single server is not named.
    fn memory_text(&self) -> String {
        let one = |name: &str, bytes: u64| format!("  {name} rss {} KiB", count(bytes / 1024));
        match self.memory.as_slice() {
            [(_, bytes)] => one("server", *bytes),
            several => several.iter().map(|(name, bytes)| one(&one_line(name), *bytes)).collect(),
        }
    }

    fn news(&mut self, status: &Status, lines: &mut Vec<String>) {
        let at = clock(status.elapsed_seconds);
        if let Some(phase) = status.phase.as_ref().filter(|phase| phase.number != self.phase) {
            self.phase = phase.number;
            lines.push(format!("{at}  phase {} of {}: {}", phase.number, phase.of, phase.name));
        }
        if status.stage != self.stage && status.stage == Stage::Draining {
            lines.push(format!("{at}  draining: waiting for what is on its way"));
        }
        self.stage = status.stage;
        for error in &status.errors {
            if self.errors_said.insert((error.kind.clone(), error.outcome.clone(), error.code)) {
                let code = if error.code == 0 { String::new() } else { format!(" {}", error.code) };
                let example: String = one_line(&error.example).chars().take(EXAMPLE_CHARS_MAX).collect();
                lines.push(format!("{at}  error: {} {}{code}: {example}", error.kind, error.outcome));
            }
        }
        for reason in status.verdict.reasons.iter().skip(self.reasons_said) {
            lines.push(format!("{at}  INVALID so far: {reason}"));
        }
        self.reasons_said = self.reasons_said.max(status.verdict.reasons.len());
    }
}

fn figures_line(status: &Status) -> String {
    let row = &status.latest;
    let progress = status.progress.map(|progress| format!(" {}", share(progress))).unwrap_or_default();
    let mut line = format!(
        "{}{progress}  users {}/{}  connected {}  sent {}/s  received {}/s",
        clock(status.elapsed_seconds),
        count(status.users.active),
        count(status.users.wanted),
        count(status.users.connected),
        count(row.sent),
        count(row.received),
    );
    if row.latency.count > 0 {
        line += &format!(
            "  latency p50 {} p99 {} max {}",
            time_us(row.latency.p50_us),
            time_us(row.latency.p99_us),
            time_us(row.latency.max_us)
        );
    }
    if row.http > 0 {
        line += &format!("  http {}/s p99 {}", count(row.http), time_us(row.http_time.p99_us));
    }
    if row.send_lag.count > 0 {
        line += &format!("  lag p99 {}", time_us(row.send_lag.p99_us));
    }
    line + &format!(
        "  errors {} (+{})  cpu {:.2} steal {}",
        count(status.totals.errors),
        count(row.errors),
        row.generator_cpu,
        share(row.steal)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{PhaseStatus, Users};
    use crate::statistics::{ErrorCount, SeriesRow, Spread};

    fn running() -> Status {
        let latency = Spread { count: 9, p50_us: 1_200, p99_us: 8_300, max_us: 41_000, ..Spread::default() };
        Status {
            stage: Stage::Running,
            phase: Some(PhaseStatus { number: 1, of: 2, name: "ramp".into() }),
            elapsed_seconds: 65.0,
            progress: Some(0.25),
            users: Users { wanted: 2_000, active: 1_200, connected: 1_198, joined: 1_190 },
            latest: SeriesRow { second: 64, sent: 4_012, received: 64_190, latency, ..SeriesRow::default() },
            ..Status::starting("s", "ws://h", 1)
        }
    }

    #[test]
    fn a_phase_and_an_error_are_said_once() {
        let error = ErrorCount {
            kind: "connect".into(),
            outcome: "refused".into(),
            count: 3,
            example: "127.0.0.2 to 127.0.0.1:4000".into(),
            ..ErrorCount::default()
        };
        let mut status = Status { errors: vec![error], ..running() };
        let mut reporter = Reporter::default();
        assert_eq!(
            reporter.lines(&status, true),
            [
                "01:05  phase 1 of 2: ramp",
                "01:05  error: connect refused: 127.0.0.2 to 127.0.0.1:4000",
                "01:05 25 %  users 1,200/2,000  connected 1,198  sent 4,012/s  received 64,190/s  \
                 latency p50 1.20 ms p99 8.30 ms max 41.0 ms  errors 0 (+0)  cpu 0.00 steal 0 %",
            ]
        );
        assert!(reporter.lines(&status, false).is_empty());
        status.verdict.reasons.push("send lag p99 12 ms".into());
        assert_eq!(reporter.lines(&status, false), ["01:05  INVALID so far: send lag p99 12 ms"]);
        assert!(reporter.lines(&status, false).is_empty());
    }

    #[test]
    fn a_line_has_the_memory_that_was_last_sampled_of_each_server() {
        let server =
            |name: &str, rss_bytes| ServerRow { name: name.into(), rss_bytes, ..ServerRow::default() };
        let with = |servers| {
            let mut status = running();
            status.latest.servers = servers;
            status
        };
        let mut reporter = Reporter::default();
        let last = |lines: Vec<String>| lines.last().cloned().unwrap_or_default();
        let one = last(reporter.lines(&with(vec![server("a", Some(5 << 20))]), true));
        assert!(one.ends_with("steal 0 %  server rss 5,120 KiB"), "{one}");
        let belated = last(reporter.lines(&with(vec![server("a", None)]), true));
        assert!(belated.ends_with("  server rss 5,120 KiB"), "{belated}");
        let two =
            last(reporter.lines(&with(vec![server("a", Some(6 << 20)), server("b", Some(1024))]), true));
        assert!(two.ends_with("  a rss 6,144 KiB  b rss 1 KiB"), "{two}");
    }

    #[test]
    fn lines_are_written_until_the_run_has_ended() {
        let board = Board::new(Status::starting("s", "ws://h", 1));
        let mut out = Vec::new();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| run(&board, &mut out, Duration::from_secs(600)));
            board.publish(running());
            board.publish(Status { stage: Stage::Ended, ended_by: "finished".into(), ..running() });
            writing.join().expect("the writing thread").expect("memory takes everything");
        });
        let text = String::from_utf8(out).expect("text");
        assert!(text.ends_with("01:05  ended: finished\n"), "{text}");
    }
}
