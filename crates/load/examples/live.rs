//! Shows the live views of a simulated run, to inspect them without a server:
//! `cargo run -p load --example live -- terminal|plain|dashboard [SECONDS [SECONDS_BEFORE]]`.
#![allow(clippy::print_stdout, reason = "a program tells its user where it listens")]

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use load::live::{Board, Buckets, PhaseStatus, Stage, Status, Stop, Users, dashboard, plain, terminal};
use load::statistics::{Counts, ErrorCount, SeriesRow, ServerRow, Spread, Times};

const USERS: u64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let view = arguments.next().unwrap_or_else(|| "terminal".to_owned());
    let seconds: u32 = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let before: u32 = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let board = Arc::new(Board::new(Status::starting("rooms", "ws://127.0.0.1:4000/socket/websocket", 42)));
    let playing = thread::spawn({
        let board = Arc::clone(&board);
        move || play(&board, seconds, before)
    });
    match view.as_str() {
        "terminal" => terminal::run(&board)?,
        "plain" => plain::run(&board, &mut std::io::stdout().lock(), plain::INTERVAL)?,
        "dashboard" => {
            let options =
                dashboard::Options { address: ([127, 0, 0, 1], 8091).into(), host_names: Vec::new() };
            let dashboard = dashboard::serve(Arc::clone(&board), &options)?;
            println!("{}", dashboard.url());
            let _ = playing.join();
            thread::sleep(Duration::from_secs(u64::from(seconds)));
        }
        other => return Err(format!("{other}: not terminal, plain or dashboard").into()),
    }
    Ok(())
}

/// Publishes a run second by second; the first `before` seconds are published at once.
fn play(board: &Board, seconds: u32, before: u32) {
    let began = Instant::now();
    let mut totals = Counts::default();
    for second in 0..seconds + before {
        if second >= before {
            let due = began + Duration::from_secs(u64::from(second - before));
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        board.publish(status(second, seconds + before, &mut totals));
        if board.stop() != Stop::No {
            break;
        }
    }
    let status = board.status();
    let ended_by = if board.stop() == Stop::No { "finished" } else { "stopped" };
    board.publish(Status {
        stage: Stage::Ended,
        phase: None,
        ended_by: ended_by.into(),
        ..(*status).clone()
    });
}

fn status(second: u32, of: u32, totals: &mut Counts) -> Status {
    let done = f64::from(second + 1) / f64::from(of);
    let wanted = ((2.0 * done).min(1.0) * USERS as f64) as u64;
    let connected = wanted.saturating_sub(u64::from(second % 7)).min(USERS * 9 / 10);
    let wave = (f64::from(second) / 9.0).sin();
    let slow = if done > 0.6 { 4.0 } else { 1.0 };
    let sent = connected / 10;
    let errors = if connected < wanted { (wanted - connected) / 40 } else { 0 };
    add(totals, wanted, connected, sent, errors);
    let latency = spread(sent * 16, (1_200.0 + 300.0 * wave) * slow);
    let row = SeriesRow {
        second,
        users_wanted: wanted,
        users: wanted,
        connected,
        joined: connected.saturating_sub(3),
        connects: 120,
        sent,
        received: sent * 16,
        bytes_sent: sent * 64,
        bytes_received: sent * 16 * 80,
        errors,
        latency,
        service_latency: spread(sent * 16, 1_100.0 * slow),
        connect: spread(120, 800.0 * slow),
        join: spread(120, 950.0 * slow),
        send_lag: spread(sent, 90.0),
        generator_cpu: 0.6 + 0.2 * wave,
        generator_thread_cpu_max: 0.41,
        steal: 0.012,
        servers: vec![ServerRow {
            name: "4711".into(),
            rss_bytes: Some((40 << 20) + connected * 9_000),
            cpu: Some(0.7 + 0.3 * wave),
            descriptors: Some(connected + 20),
            connections: Some(connected),
            ..ServerRow::default()
        }],
        ..SeriesRow::default()
    };
    let mut buckets = Buckets::default();
    buckets.counts[4] = totals.received;
    let mut status = Status {
        stage: Stage::Running,
        phase: Some(PhaseStatus {
            number: if done < 0.5 { 1 } else { 2 },
            of: 2,
            name: if done < 0.5 { "ramp" } else { "hold" }.into(),
        }),
        elapsed_seconds: f64::from(second + 1),
        remaining_seconds: Some(f64::from(of - second - 1)),
        progress: Some(done),
        users: Users { wanted, active: wanted, connected, joined: row.joined },
        totals: *totals,
        times: Times {
            latency,
            connect: row.connect,
            send_lag: row.send_lag,
            join: row.join,
            ..Times::default()
        },
        latest: row,
        latency: buckets,
        errors: error_counts(totals.errors),
        ..Status::starting("rooms", "ws://127.0.0.1:4000/socket/websocket", 42)
    };
    if done > 0.8 {
        status.verdict.valid = false;
        status
            .verdict
            .reasons
            .push("send lag p99 was over 10 ms for 12 s: the generator was the limit".into());
    }
    status
}

fn add(totals: &mut Counts, users: u64, connected: u64, sent: u64, errors: u64) {
    totals.users_wanted = USERS;
    totals.users = users;
    totals.connected_max = totals.connected_max.max(connected);
    totals.connects = connected;
    totals.sent += sent;
    totals.received += sent * 16;
    totals.expected += sent * 16;
    totals.delivered += sent * 16 - errors;
    totals.lost += errors;
    totals.errors += errors;
}

fn error_counts(all: u64) -> Vec<ErrorCount> {
    let error = |kind: &str, outcome: &str, code, count, example: &str| ErrorCount {
        kind: kind.into(),
        outcome: outcome.into(),
        code,
        count,
        sources: [("127.0.0.2".to_owned(), count)].into(),
        first_second: 31.25,
        example: example.into(),
    };
    let kinds = vec![
        error("connect", "refused", 0, all * 6 / 10, "127.0.0.2:41022 to 127.0.0.1:4000: connection refused"),
        error("connect", "status", 503, all * 3 / 10, "503 Service Unavailable: too many connections"),
        error("join", "timeout", 0, all - all * 6 / 10 - all * 3 / 10, "rooms:17: no reply in 10 s"),
    ];
    kinds.into_iter().filter(|error| error.count > 0).collect()
}

fn spread(count: u64, median_us: f64) -> Spread {
    let at = |factor: f64| (median_us * factor) as u64;
    Spread {
        count,
        min_us: at(0.3),
        mean_us: median_us * 1.2,
        stddev_us: median_us,
        p50_us: at(1.0),
        p75_us: at(1.6),
        p90_us: at(2.4),
        p95_us: at(3.3),
        p99_us: at(6.9),
        p999_us: at(14.0),
        max_us: at(34.0),
    }
}
