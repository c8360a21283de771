//! Recording end to end: from shards to the folder and back.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::observe::{Batch, Kind, NO_ROOM, Observation};
use crate::statistics::example::{observation, stream};
use crate::statistics::limits::OPEN_PUBLICATIONS_MAX;
use crate::statistics::{MachineSample, RunFacts, ServerRow, Statistics};

struct Named;

impl Names for Named {
    fn room(&self, room: u32) -> Option<String> {
        // One room's name has to be quoted, and one room has none.
        ["room:lobby", "room, \"quoted\""].get(room as usize).map(|name| (*name).to_owned())
    }
    fn label(&self, label: u16) -> Option<String> {
        facts().labels.get(usize::from(label)).cloned()
    }
    fn source(&self, source: u16) -> Option<String> {
        facts().sources.get(usize::from(source)).cloned()
    }
}

fn facts() -> RunFacts {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    RunFacts {
        labels: texts(&["visit", "login", "talk", "leave, at last"]),
        sources: texts(&["127.0.0.2", "127.0.0.3"]),
        ..RunFacts::default()
    }
}

fn collector(folder: &RunFolder, log: LogForm, start: Instant) -> CollectorHandle {
    folder.write_facts(&facts()).expect("written");
    let config = CollectorConfig {
        start,
        folder: Some(folder.clone()),
        log,
        names: Arc::new(Named),
        samples_seed: None,
        parts: None,
        spans_machines: false,
    };
    Collector::start(config).expect("a collector")
}

/// Sends a stream in batches, as two shards would.
fn send(stream: &[Observation], handle: &CollectorHandle) {
    let sink = handle.sink();
    for (number, observations) in stream.chunks(Batch::LEN_MAX).enumerate() {
        let batch = Batch { shard: number as u16 % 2, observations: observations.to_vec() };
        sink.send(batch).expect("the collector takes it");
    }
}

/// Writes a stream's log without a collector.
fn write_log(folder: &RunFolder, form: LogForm, stream: &[Observation], flush_every: usize) {
    let file = folder.create_log(form).expect("a file").expect("a log");
    let mut writer = LogWriter::new(file, form, Arc::new(Named)).expect("a writer");
    for rows in stream.chunks(flush_every) {
        rows.iter().for_each(|seen| writer.add(seen).expect("written"));
        writer.flush().expect("written");
    }
}

/// Returns times and messages of the rows in a folder's log, and whether its end was cut off.
fn rows_of(folder: &Path) -> (Vec<(u64, u64)>, bool) {
    let mut rows = EventLog::find(folder).and_then(|log| log.rows()).expect("a log");
    let mut seen = Vec::new();
    while let Some(row) = rows.next_row().expect("a row") {
        seen.push((row.observation.at, row.observation.message));
    }
    (seen, rows.is_torn())
}

#[test]
fn a_run_counted_anew_is_the_run_that_was_counted_live() {
    let parent = tempfile::tempdir().expect("a folder");
    // Enough for several frames.
    let stream = stream(7, 30_000, 10);
    for form in [LogForm::Zstd, LogForm::Csv] {
        let folder = RunFolder::create(parent.path(), "recount").expect("a folder");
        let handle = collector(&folder, form, Instant::now());
        send(&stream, &handle);
        for second in 0..5 {
            let servers =
                vec![ServerRow { name: "pid 7".to_owned(), rss_bytes: Some(4096), ..ServerRow::default() }];
            handle.sample(second, MachineSample { generator_cpu: 0.5, servers, ..MachineSample::default() });
        }
        let live = handle.finish();
        let log = live.log.expect("there is a log");
        assert_eq!(
            (log.rows, log.error.is_none(), live.samples_error.is_none()),
            (stream.len() as u64, true, true)
        );
        for threads in [1, 2, 3, 8] {
            let again = recount_with(folder.path(), threads).expect("readable");
            assert_eq!((again.rows, again.is_torn), (stream.len() as u64, false));
            // The third source has no name; both use its number instead.
            assert_eq!(again.facts.sources, ["127.0.0.2", "127.0.0.3", "source 2"]);
            assert_eq!(
                again.statistics.summary(&again.facts),
                live.statistics.summary(&facts()),
                "{threads} threads"
            );
            assert_eq!(again.statistics, live.statistics, "{threads} threads");
        }
    }
}

#[test]
fn publications_between_two_agents_are_complete_however_many_the_logs_have() {
    const SECONDS: u64 = 10;
    const PER_SECOND: u64 = OPEN_PUBLICATIONS_MAX as u64 / 4;
    let parent = tempfile::tempdir().expect("a folder");
    let run = RunFolder::create(parent.path(), "agents").expect("a folder");
    let agents = [0, 1].map(|agent| {
        fs::create_dir_all(run.of_agent(agent)).expect("a folder");
        RunFolder::open(&run.of_agent(agent)).expect("a folder")
    });
    let mut logs = [Vec::new(), Vec::new()];
    for message in 1..=SECONDS * PER_SECOND {
        let sent = message * 1_000_000_000 / PER_SECOND;
        let of_message = Observation { message, room: 0, intended: sent, began: sent, ..observation() };
        let send = Observation { kind: Kind::Send, at: sent, count: 1, ..of_message };
        let receive = |at, count| Observation { kind: Kind::Receive, at: sent + at, count, ..of_message };
        logs[0].extend([send, receive(1_000_000, 0)]);
        // The last receiver is on the other machine.
        logs[1].push(receive(5_000_000, 1));
    }
    for (agent, log) in agents.iter().zip(&logs) {
        write_log(agent, LogForm::Zstd, log, log.len());
    }
    let again = recount(run.path()).expect("readable");
    let fan_out = again.statistics.fan_out();
    assert_eq!(again.rows, 3 * SECONDS * PER_SECOND);
    assert_eq!((fan_out.publications, fan_out.complete), (SECONDS * PER_SECOND, SECONDS * PER_SECOND));
    assert_eq!((fan_out.first_receiver.max_us, fan_out.last_receiver.min_us), (1_000, 5_000));
}

#[test]
fn a_run_without_a_log_leaves_none_and_says_so() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "none").expect("a folder");
    let handle = collector(&folder, LogForm::None, Instant::now());
    send(&stream(1, 100, 2), &handle);
    assert!(handle.finish().log.is_none());
    let error = recount(folder.path()).expect_err("there is no log");
    assert!(error.to_string().contains("--event-log none"), "{error}");
}

#[test]
fn a_collector_that_is_dropped_leaves_a_complete_log() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "dropped").expect("a folder");
    let stream = stream(3, 2_000, 5);
    let panicking = {
        let (folder, stream) = (folder.clone(), stream.clone());
        std::thread::spawn(move || {
            let handle = collector(&folder, LogForm::Zstd, Instant::now());
            send(&stream, &handle);
            panic!("a panic in the thread that holds the collector, for the test");
        })
    };
    assert!(panicking.join().is_err());
    let (rows, is_torn) = rows_of(folder.path());
    assert_eq!((rows.len(), is_torn), (stream.len(), false));
}

#[test]
fn the_live_row_is_that_of_the_newest_second_that_is_over() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "live").expect("a folder");
    let began = Instant::now().checked_sub(Duration::from_secs(5)).expect("the machine is up for longer");
    let handle = collector(&folder, LogForm::Zstd, began);
    let connect = Observation { kind: Kind::Connect, at: 4_200_000_000, ..observation() };
    send(&[connect, Observation { at: 1_000_000_000, ..connect }], &handle);
    let until = Instant::now() + Duration::from_secs(30);
    let live = loop {
        let live = handle.latest();
        // The row may be from before the batch arrived: then the next second's row shows the connections.
        if live.row.connected == 2 {
            break live;
        }
        assert!(Instant::now() < until, "no second was shown: {live:?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(live.row.second >= 4);
    assert_eq!(live.counts.connects, 2);
    assert_eq!(live.connect.count(), 2);
    assert_eq!(handle.finish().statistics.counts().connects, 2);
}

#[test]
fn a_log_that_ends_anywhere_is_read_up_to_there() {
    let parent = tempfile::tempdir().expect("a folder");
    let stream = stream(5, 200, 5);
    let written: Vec<_> = stream.iter().map(|seen| (seen.at, seen.message)).collect();
    for form in [LogForm::Zstd, LogForm::Csv] {
        let folder = RunFolder::create(parent.path(), "torn").expect("a folder");
        write_log(&folder, form, &stream, 30);
        let path = folder.path().join(form.file_name().expect("a name"));
        let whole = fs::read(&path).expect("a log");
        assert_eq!(rows_of(folder.path()), (written.clone(), false));
        let mut rows_before = 0;
        for bytes in (0..whole.len()).step_by(7) {
            fs::write(&path, &whole[..bytes]).expect("written");
            let (rows, _) = rows_of(folder.path());
            assert!(rows.len() >= rows_before && written.starts_with(&rows), "{form:?} {bytes}");
            rows_before = rows.len();
            if bytes % 50 == 0 {
                assert_eq!(recount_with(folder.path(), 3).expect("readable").rows, rows.len() as u64);
            }
        }
        assert!(rows_before + 31 >= written.len(), "{rows_before}");
    }
}

#[test]
fn a_log_that_was_compressed_anew_or_put_together_is_read_as_well() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "anew").expect("a folder");
    let stream = stream(5, 3_000, 5);
    write_log(&folder, LogForm::Csv, &stream, 1000);
    let text = fs::read(folder.path().join("events.csv")).expect("a log");
    let one_frame = zstd::encode_all(text.as_slice(), 3).expect("compressed");
    let path = folder.path().join("events.csv.zst");
    fs::write(&path, &one_frame).expect("written");
    assert_eq!(recount_with(folder.path(), 4).expect("readable").rows, stream.len() as u64);
    fs::write(&path, [one_frame.as_slice(), &one_frame].concat()).expect("written");
    assert_eq!(recount_with(folder.path(), 4).expect("readable").rows, 2 * stream.len() as u64);
}

#[test]
fn a_damaged_log_is_named_and_not_counted() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "damaged").expect("a folder");
    write_log(&folder, LogForm::Zstd, &stream(5, 500, 5), 100);
    let path = folder.path().join("events.csv.zst");
    let mut bytes = fs::read(&path).expect("a log");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&path, &bytes).expect("written");
    let error = recount(folder.path()).expect_err("a frame is damaged").to_string();
    assert!(error.contains("events.csv.zst"), "{error}");

    let folder = RunFolder::create(parent.path(), "foreign").expect("a folder");
    let mut file = folder.create_log(LogForm::Csv).expect("a file").expect("a log");
    file.write_all(b"time,what\n1,2\n").expect("written");
    let error = recount_with(folder.path(), 1).expect_err("it is no event log").to_string();
    assert!(error.contains("line 1") && error.contains("at_ns"), "{error}");
}

#[test]
fn the_results_of_a_run_are_read_again() {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "results").expect("a folder");
    let mut statistics = Statistics::new();
    stream(9, 2_000, 5).iter().for_each(|seen| statistics.observe(seen));
    let summary = folder.write_results(&statistics, &facts()).expect("written");
    assert_eq!(folder.read_summary().expect("readable"), Some(summary));
    assert_eq!(folder.read_facts().expect("readable"), Some(facts()));
    let histograms = folder.read_histograms().expect("readable").expect("there");
    assert_eq!(histograms, Histograms::of(&statistics, &facts()));
    let mut merged = Histograms::default();
    merged.merge(&histograms);
    merged.merge(&histograms);
    assert_eq!(merged.metrics["latency"].count(), 2 * histograms.metrics["latency"].count());
    assert!(
        fs::read_dir(folder.path())
            .expect("a folder")
            .all(|file| { !file.expect("a file").path().to_string_lossy().ends_with(".unfinished") })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_stream_is_counted_from_its_log_as_it_was_live(seed: u64, things in 0..200_u32, flush_every in 1..50_usize) {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(parent.path(), "any").expect("a folder");
        folder.write_facts(&facts()).expect("written");
        let stream = stream(seed, things, 10);
        write_log(&folder, LogForm::Zstd, &stream, flush_every);
        let mut live = Statistics::new();
        stream.iter().for_each(|seen| live.observe(seen));
        prop_assert_eq!(recount_with(folder.path(), 3).expect("readable").statistics, live);
        let mut rows = EventLog::find(folder.path()).and_then(|log| log.rows()).expect("a log");
        for seen in &stream {
            let row = rows.next_row().expect("readable").expect("a row");
            let room = if seen.room == NO_ROOM { "" } else { ["room:lobby", "room, \"quoted\"", "room 2"][seen.room as usize] };
            prop_assert_eq!(row.room.as_ref(), room.as_bytes());
        }
    }
}
