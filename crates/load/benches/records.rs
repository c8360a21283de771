//! Measures the cost of aggregating, logging and recounting: `cargo bench -p load --bench records`.
//!
//! Prints wall time and CPU time in nanoseconds per observation, summed over all threads; the two differ where threads
//! run in parallel, and where other processes use the machine. It asserts nothing.

#![allow(clippy::print_stdout)]

mod stream;

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use load::observe::{Batch, Observation};
use load::record::{Collector, CollectorConfig, LogForm, LogWriter, RunFolder, recount_with};
use load::statistics::Statistics;
use stream::{MESSAGES_PER_SECOND, Named, Stream};

const SECONDS: u64 = 20;

fn main() {
    // `cargo test --all-targets` also runs this program, unoptimised and without the argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for (name, room, receivers) in [("echo", false, 1), ("rooms of 16", true, 16)] {
        let mut endless = Stream::new(room, receivers);
        let most = (SECONDS * MESSAGES_PER_SECOND) as usize;
        let mut stream: Vec<Observation> = endless.by_ref().take(most).collect();
        endless.stop();
        stream.extend(endless);
        println!("{name}: {} observations", stream.len());
        counting(&stream);
        collecting(&stream, LogForm::None);
        collecting(&stream, LogForm::Zstd);
        logging(&stream);
        recounting(&stream, LogForm::Zstd);
        recounting(&stream, LogForm::Csv);
    }
}

fn counting(stream: &[Observation]) {
    let since = Stopwatch::start();
    let mut statistics = Statistics::new();
    stream.iter().for_each(|seen| statistics.observe(seen));
    report("Statistics::observe", stream.len(), &since);
    let counts = statistics.counts();
    assert_eq!(counts.sent + counts.received, stream.len() as u64);
}

/// Sends the stream through the channel, including all work of the collector.
fn collecting(stream: &[Observation], log: LogForm) {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "bench").expect("a folder");
    let batches: Vec<Vec<Observation>> = stream.chunks(Batch::LEN_MAX).map(<[Observation]>::to_vec).collect();
    let start = Stopwatch::start();
    let config = CollectorConfig {
        start: start.at,
        folder: Some(folder),
        log,
        names: Arc::new(Named),
        samples_seed: None,
        parts: None,
        spans_machines: false,
    };
    let collector = Collector::start(config).expect("a collector");
    let sink = collector.sink();
    for observations in batches {
        sink.send(Batch { shard: 0, observations }).expect("taken");
    }
    let collected = collector.finish();
    report(&format!("collector, log {log:?}"), stream.len(), &start);
    println!("    the log held the collector up for {:?}", collected.stalled);
}

fn logging(stream: &[Observation]) {
    let since = Stopwatch::start();
    let mut writer = LogWriter::new(std::io::sink(), LogForm::Zstd, Arc::new(Named)).expect("a writer");
    stream.iter().for_each(|seen| writer.add(seen).expect("written"));
    writer.flush().expect("written");
    report("log writer alone", stream.len(), &since);
    println!("    {:.1} compressed bytes per row", writer.bytes() as f64 / stream.len() as f64);
}

fn recounting(stream: &[Observation], form: LogForm) {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "bench").expect("a folder");
    for form in [LogForm::Csv, form] {
        let Ok(Some(file)) = folder.create_log(form) else { continue };
        write(file, form, stream);
    }
    let text = std::fs::metadata(folder.path().join("events.csv")).expect("a log").len();
    println!("    {:.0} bytes of CSV per row", text as f64 / stream.len() as f64);
    if form == LogForm::Zstd {
        std::fs::remove_file(folder.path().join("events.csv")).expect("removed");
    }
    for threads in [1, std::thread::available_parallelism().map_or(1, usize::from)] {
        let since = Stopwatch::start();
        let again = recount_with(folder.path(), threads).expect("readable");
        report(&format!("recount, {form:?}, {threads} threads"), stream.len(), &since);
        assert_eq!(again.rows, stream.len() as u64);
    }
}

fn write(file: File, form: LogForm, stream: &[Observation]) {
    let mut writer = LogWriter::new(file, form, Arc::new(Named)).expect("a writer");
    stream.iter().for_each(|seen| writer.add(seen).expect("written"));
    writer.flush().expect("written");
}

/// Wall and CPU time of this process.
struct Stopwatch {
    at: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Self { at: Instant::now(), cpu: cpu_time() }
    }
}

/// Returns the CPU time of all threads, which proc(5) counts in hundredths of a second: fields 14 and 15 of `stat`,
/// counted from after the name.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn report(what: &str, observations: usize, since: &Stopwatch) {
    let each = |time: Duration| time.as_nanos() as f64 / observations as f64;
    let (wall, cpu) = (each(since.at.elapsed()), each(cpu_time() - since.cpu));
    println!("  {what}: {wall:.0} ns wall, {cpu:.0} ns CPU per observation");
}
