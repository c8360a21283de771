use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::live::{PhaseStatus, Users};
use crate::statistics::{Counts, ErrorCount, ServerRow, Spread, Times};

fn running() -> Status {
    let latency =
        Spread { count: 9, p50_us: 1_200, p95_us: 4_000, p99_us: 8_300, max_us: 41_000, ..Spread::default() };
    let error = ErrorCount {
        kind: "connect".into(),
        outcome: "refused".into(),
        count: 1_204,
        example: "127.0.0.2 to 127.0.0.1:4000\u{1b}[2J".into(),
        ..ErrorCount::default()
    };
    let server =
        ServerRow { name: "4711".into(), rss_bytes: Some(1 << 30), cpu: Some(0.75), ..ServerRow::default() };
    Status {
        stage: Stage::Running,
        phase: Some(PhaseStatus { number: 2, of: 4, name: "ramp".into() }),
        elapsed_seconds: 83.0,
        remaining_seconds: Some(217.0),
        progress: Some(0.42),
        users: Users { wanted: 2_000, active: 1_998, connected: 1_990, joined: 1_989 },
        latest: SeriesRow { second: 82, sent: 4_012, latency, servers: vec![server], ..SeriesRow::default() },
        totals: Counts { expected: 10, delivered: 8, lost: 2, errors: 1_204, ..Counts::default() },
        times: Times { latency, ..Times::default() },
        errors: vec![error; 9],
        ..Status::starting("chat-rooms", "ws://127.0.0.1:4000", 1)
    }
}

fn drawn(status: Status, stop: Stop, width: u16, height: u16) -> Vec<String> {
    let rows = vec![status.latest.clone(); 9];
    let view = View { status: &Arc::new(status), rows: &rows, stop, palette: Palette::plain() };
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory is a terminal");
    terminal.draw(|frame| view.draw(frame)).expect("memory takes everything");
    let buffer = terminal.backend().buffer();
    buffer
        .content
        .chunks(usize::from(width))
        .map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect())
        .collect()
}

#[test]
fn every_size_shows_what_matters_most() {
    for (width, height) in [(80, 24), (120, 40), (60, 15), (200, 60), (76, 21)] {
        let text = drawn(running(), Stop::No, width, height).join("\n");
        for part in [
            "chat-rooms",
            "VALID so far",
            "42 %",
            "phase 2 of 4 ramp",
            "1,998",
            "4,012",
            "8.30 ms",
            "41.0 ms",
            "1,204",
            "refused",
            "q: stop",
        ] {
            assert!(text.contains(part), "no {part:?} at {width}×{height}:\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    assert!(drawn(running(), Stop::No, 120, 40).join("\n").contains("memory 1.0 GiB"));
}

#[test]
fn no_size_is_too_small() {
    for width in [1, 2, 5, 20, 75, 76, 300] {
        for height in [1, 2, 3, 8, 20, 21, 22, 30, 100] {
            drawn(running(), Stop::Orderly, width, height);
            drawn(Status::default(), Stop::AtOnce, width, height);
        }
    }
}

#[test]
fn why_a_run_is_invalid_is_said() {
    let mut status = running();
    status.verdict.valid = false;
    status.verdict.reasons.push("send lag p99 is 12 ms".into());
    let text = drawn(status, Stop::Orderly, 80, 24).join("\n");
    assert!(text.contains("INVALID so far") && text.contains("INVALID: send lag p99 is 12 ms"), "{text}");
    assert!(text.contains("q again: stop without waiting"), "{text}");
}

#[test]
fn only_q_and_control_c_stop() {
    let key = |code, modifiers| asks_to_stop(KeyEvent::new(code, modifiers));
    assert!(key(KeyCode::Char('q'), KeyModifiers::NONE));
    assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE));
    assert!(!key(KeyCode::Esc, KeyModifiers::NONE));
}
