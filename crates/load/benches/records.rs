//! What counting, logging and counting anew cost: `cargo bench -p load --bench records`.
//!
//! Prints nanoseconds per observation and rows per second of this machine; it asserts nothing.

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
    let since = Instant::now();
    let mut statistics = Statistics::new();
    stream.iter().for_each(|seen| statistics.observe(seen));
    report("Statistics::observe", stream.len(), since.elapsed());
    assert_eq!(statistics.counts().sent + statistics.counts().received, stream.len() as u64);
}

/// Through the channel, with all that the collector does.
fn collecting(stream: &[Observation], log: LogForm) {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "bench").expect("a folder");
    let batches: Vec<Vec<Observation>> = stream.chunks(Batch::LEN_MAX).map(<[Observation]>::to_vec).collect();
    let start = Instant::now();
    let config = CollectorConfig {
        start,
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
    report(&format!("collector, log {log:?}"), stream.len(), start.elapsed());
    println!("    the log held the collector up for {:?}", collected.stalled);
}

fn logging(stream: &[Observation]) {
    let since = Instant::now();
    let mut writer = LogWriter::new(std::io::sink(), LogForm::Zstd, Arc::new(Named)).expect("a writer");
    stream.iter().for_each(|seen| writer.add(seen).expect("written"));
    writer.flush().expect("written");
    report("log writer alone", stream.len(), since.elapsed());
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
    if form == LogForm::Zstd {
        std::fs::remove_file(folder.path().join("events.csv")).expect("removed");
    }
    for threads in [1, std::thread::available_parallelism().map_or(1, usize::from)] {
        let since = Instant::now();
        let again = recount_with(folder.path(), threads).expect("readable");
        let elapsed = since.elapsed();
        assert_eq!(again.rows, stream.len() as u64);
        report(&format!("recount, {form:?}, {threads} threads"), stream.len(), elapsed);
        println!("    {:.0} MB of CSV a second", text as f64 / 1e6 / elapsed.as_secs_f64());
    }
}

fn write(file: File, form: LogForm, stream: &[Observation]) {
    let mut writer = LogWriter::new(file, form, Arc::new(Named)).expect("a writer");
    stream.iter().for_each(|seen| writer.add(seen).expect("written"));
    writer.flush().expect("written");
}

fn report(what: &str, observations: usize, elapsed: Duration) {
    let each = elapsed.as_nanos() as f64 / observations as f64;
    println!("  {what}: {each:.0} ns per observation, {:.2} million a second", 1e3 / each);
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
