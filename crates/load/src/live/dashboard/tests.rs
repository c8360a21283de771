//! Tests over real connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use super::*;
use crate::live::{Stage, Status, Stop};
use crate::statistics::SeriesRow;

fn local() -> Options {
    Options { address: ([127, 0, 0, 1], 0).into(), host_names: Vec::new() }
}

fn board() -> Arc<Board> {
    let board = Board::new(Status::starting("rooms", "ws://127.0.0.1:4000", 7));
    for second in 0..700 {
        let latest = SeriesRow { second, sent: 10, ..SeriesRow::default() };
        board.publish(Status { stage: Stage::Running, latest, ..Status::starting("rooms", "ws://h", 7) });
    }
    Arc::new(board)
}

/// Sends a request and returns the status and the body of the response.
fn ask(address: SocketAddr, line: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
}

#[test]
fn the_status_and_the_series_are_json() {
    let dashboard = serve(board(), &local()).expect("a dashboard");
    let (code, body) = ask(dashboard.address(), "GET /api/status", "");
    let status: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(code, 200);
    assert_eq!(status["scenario"], "rooms");
    assert_eq!(status["stage"], "running");
    assert_eq!(status["stop"], "no");
    assert_eq!(status["latest"]["second"], 699);

    let (_, body) = ask(dashboard.address(), "GET /api/series?since=650", "");
    let rows: Vec<SeriesRow> = serde_json::from_str(&body).expect("rows");
    assert_eq!(rows.iter().map(|row| row.second).collect::<Vec<_>>(), (650..700).collect::<Vec<_>>());
    let (_, body) = ask(dashboard.address(), "GET /api/series", "");
    assert_eq!(
        serde_json::from_str::<Vec<SeriesRow>>(&body).expect("rows").len(),
        SERIES_ROWS_PER_ANSWER_MAX
    );
    assert_eq!(ask(dashboard.address(), "GET /api/series?since=soon", "").0, 400);
}

#[test]
fn the_run_is_stopped_by_the_own_page_but_not_by_another() {
    let board = board();
    let dashboard = serve(Arc::clone(&board), &local()).expect("a dashboard");
    let address = dashboard.address();
    assert_eq!(ask(address, "GET /api/stop", "").0, 405);
    assert_eq!(ask(address, "POST /api/stop", "Content-Length: 0\r\nOrigin: http://evil.example\r\n").0, 403);
    assert_eq!(board.stop(), Stop::No);
    let own = format!("Content-Length: 0\r\nOrigin: http://{address}\r\n");
    assert_eq!(ask(address, "POST /api/stop", &own), (202, r#"{"stop":"orderly"}"#.to_owned()));
    assert_eq!(board.stop(), Stop::Orderly);
    assert_eq!(ask(address, "POST /api/stop?at_once=true", &own).0, 202);
    assert_eq!(board.stop(), Stop::AtOnce);
}

#[test]
fn metrics_are_served_with_the_dashboard_and_alone() {
    let with = serve(board(), &local()).expect("a dashboard");
    let alone = serve_metrics(board(), local().address).expect("a listener");
    for address in [with.address(), alone.address()] {
        let (code, page) = ask(address, "GET /metrics", "");
        assert_eq!(code, 200);
        assert!(page.contains("stampede_users "), "{page}");
        assert!(page.contains("# TYPE stampede_messages_sent_total counter\n"), "{page}");
        let (_, page) = ask(address, "GET /metrics", "Accept: application/openmetrics-text\r\n");
        assert!(page.contains("# TYPE stampede_messages_sent counter\n"), "{page}");
        assert!(page.ends_with("# EOF\n"), "{page}");
    }
    assert_eq!(ask(alone.address(), "GET /api/status", "").0, 404);
    assert_eq!(ask(with.address(), "GET /", "").0, 200);
}

#[test]
fn an_address_in_use_is_said() {
    let dashboard = serve(board(), &local()).expect("a dashboard");
    let taken = Options { address: dashboard.address(), ..local() };
    let error = serve(board(), &taken).expect_err("the port is taken").to_string();
    assert!(error.contains("give another address"), "{error}");
}
