//! What counting, logging and counting anew cost: `cargo bench -p load --bench records`.
//!
//! Prints nanoseconds of wall and of CPU time per observation, all threads together; the two differ where threads work
//! side by side, and where others use the machine. It asserts nothing.

#![allow(clippy::print_stdout)]

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use load::observe::{Batch, Kind, NO_LABEL, NO_ROOM, Observation, Outcome};
use load::record::{Collector, CollectorConfig, LogForm, LogWriter, Names, RunFolder, recount_with};
use load::statistics::Statistics;

const SECONDS: u64 = 20;
const MESSAGES_PER_SECOND: u64 = 100_000;

struct Named;

impl Names for Named {
    fn room(&self, room: u32) -> Option<String> {
        Some(format!("room:{room}"))
    }
    fn label(&self, _: u16) -> Option<String> {
        None
    }
    fn source(&self, source: u16) -> Option<String> {
        Some(format!("127.0.0.{}", source + 1))
    }
}

fn main() {
    // `cargo test --all-targets` runs it too, without optimisation and without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for (name, room, receivers) in [("echo", false, 1), ("rooms of 16", true, 16)] {
        let stream = stream(room, receivers);
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
    assert_eq!(statistics.counts().sent + statistics.counts().received, stream.len() as u64);
}

/// Through the channel, with all that the collector does.
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

/// Of all threads, in hundredths of a second: the 14th and 15th field of proc(5)'s `stat`, counted behind the name.
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

/// Sends with their receipts, as many of both as make the rate, in the order of their times.
fn stream(room: bool, receivers: u32) -> Vec<Observation> {
    let messages = SECONDS * MESSAGES_PER_SECOND / u64::from(receivers + 1);
    let mut stream = Vec::new();
    for message in 0..messages {
        let intended = message * SECONDS * 1_000_000_000 / messages;
        // Latencies as scattered as real ones, without a generator of random numbers.
        let noise = |n: u64| (message + n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
        let began = intended + noise(1) / 100;
        let user = (message % 10_000) as u32;
        let send = Observation {
            at: began + noise(2) / 50,
            intended,
            began,
            message: u64::from(user) << 32 | (message / 10_000 + 1),
            user,
            room: if room { user % 625 } else { NO_ROOM },
            bytes: 64,
            count: receivers,
            label: NO_LABEL,
            source: (user % 4) as u16,
            code: 0,
            kind: Kind::Send,
            outcome: Outcome::Ok,
        };
        stream.push(send);
        stream.extend((0..receivers).map(|receiver| Observation {
            at: send.at + 50_000 + noise(u64::from(receiver) + 3),
            began: send.at,
            user: (user + receiver * 625) % 10_000,
            count: 0,
            kind: Kind::Receive,
            ..send
        }));
    }
    stream.sort_by_key(|seen| seen.at);
    stream
}
