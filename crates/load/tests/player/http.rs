//! Users with HTTP requests, captures, conditions and transactions, against thread-based servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::play::servers::{http_server, serve};
use crate::play::{DEADLINE, actions, plan, play, repeat};
use load::observe::{Kind, Outcome};
use load::scenario::plan::{
    Action, Comparison, Condition, Expression, Extractor, HttpRequest, LabelId, Step, VariableId,
};
use load::scenario::template::{Part, Template};

fn get(url: &str) -> HttpRequest {
    HttpRequest {
        method: "GET".to_owned(),
        url: Template::text(url),
        headers: Vec::new(),
        body: None,
        connect_timeout: DEADLINE,
        timeout: DEADLINE,
        expect: Vec::new(),
        keep_alive: true,
    }
}

fn with_length(status: &str, body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = http_server(move |_, count| {
        counted.fetch_add(usize::from(count == 0), Ordering::Relaxed);
        with_length("200 OK", "hello")
    });
    let run = play(plan(server, vec![repeat(5, vec![Action::Http(get("/"))])]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Http), [Outcome::Ok; 5]);
    assert!(run.of(Kind::Http, Outcome::Ok).all(|seen| (seen.code, seen.bytes) == (200, 5)));
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let closing = HttpRequest { keep_alive: false, ..get("/") };
    play(plan(server, vec![repeat(3, vec![Action::Http(closing)])])).assert_complete();
    assert_eq!(connections.load(Ordering::Relaxed), 4);
}

#[test]
fn a_server_that_ends_a_kept_connection_is_asked_again() {
    // Answers one request on each connection and then closes it without having announced that.
    let server = http_server(|_, count| (count == 0).then(|| with_length("200 OK", "x")).flatten());
    let run = play(plan(server, vec![repeat(3, vec![Action::Http(get("/"))])]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Http), [Outcome::Ok; 3]);
}

#[test]
fn what_a_server_may_have_done_already_is_not_asked_again() {
    let server = http_server(|_, count| (count == 0).then(|| with_length("200 OK", "x")).flatten());
    let post = HttpRequest { method: "POST".to_owned(), ..get("/") };
    let run = play(plan(server, vec![repeat(2, vec![Action::Http(post)])]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Http), [Outcome::Ok, Outcome::Ended]);
}

#[test]
fn each_bad_response_has_its_outcome_and_the_session_goes_on() {
    let server = http_server(|head, _| match head.split(' ').nth(1) {
        Some("/missing") => with_length("404 Not Found", ""),
        Some("/garbage") => Some("garbage\r\n\r\n".to_owned()),
        Some("/ends") => None,
        Some("/cut") => {
            Some("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf".to_owned())
        }
        _ => with_length("200 OK", ""),
    });
    let slow = serve(|stream| {
        std::thread::sleep(Duration::from_secs(1));
        drop(stream);
    });
    let paths = ["/missing", "/garbage", "/ends", "/"];
    let run = play(plan(server, paths.map(|path| Action::Http(get(path))).into()));
    run.assert_complete();
    let expected = [Outcome::Rejected, Outcome::Protocol, Outcome::Ended, Outcome::Ok];
    assert_eq!(run.outcomes(Kind::Http), expected);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    let impatient = HttpRequest { timeout: Duration::from_millis(100), ..get("/") };
    let run = play(plan(slow, vec![Action::Http(impatient)]));
    assert_eq!(run.outcomes(Kind::Http), [Outcome::Timeout]);
}

#[test]
fn a_value_is_captured_and_used() {
    let server = http_server(|head, _| match head.split(' ').nth(1) {
        Some("/token") => with_length("200 OK", r#"{"token":"abc"}"#),
        Some("/use?token=abc") => with_length("201 Created", ""),
        _ => with_length("400 Bad Request", ""),
    });
    let token = VariableId(0);
    let path = serde_json_path::JsonPath::parse("$.token").expect("a path");
    let mut using = get("");
    using.url = Template { parts: vec![Part::Text("/use?token=".to_owned()), Part::Variable(token)] };
    using.expect = vec![201];
    let is_set = Condition {
        left: Template { parts: vec![Part::Variable(token)] },
        comparison: Comparison::Equal,
        right: Template::text("abc"),
    };
    let inner = actions(vec![
        Action::Http(get("/token")),
        Action::Capture(token, Extractor::JsonPath(Arc::new(path))),
        Action::If {
            condition: is_set,
            then: actions(vec![Action::Http(using)]),
            otherwise: actions(vec![Action::Abort(false)]),
        },
        Action::Set(VariableId(1), Expression::Sum(Template::text("1"), Template::text("2"))),
    ]);
    let mut plan = plan(server, vec![]);
    plan.sessions[0].steps = vec![Step { label: Some(LabelId(1)), action: Action::Transaction(inner) }];
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.of(Kind::Http, Outcome::Ok).map(|seen| seen.code).collect::<Vec<_>>(), [200, 201]);
    let transaction = run.of(Kind::Transaction, Outcome::Ok).next().expect("a transaction");
    assert_eq!(transaction.label, 1);
}

#[test]
fn a_transaction_that_is_not_completed_says_why() {
    let server = http_server(|_, _| None);
    let mut plan = plan(server, vec![]);
    let inner = actions(vec![Action::Cut]);
    plan.sessions[0].steps = vec![Step { label: Some(LabelId(1)), action: Action::Transaction(inner) }];
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Transaction), [Outcome::NotReady]);
}

#[test]
fn a_request_that_waits_when_the_run_ends_is_seen_and_is_no_failure() {
    let silent = serve(|mut stream| drop(std::io::Read::read_to_end(&mut stream, &mut Vec::new())));
    let mut plan = plan(silent, vec![Action::Http(get("/news"))]);
    plan.load.duration = Some(Duration::from_secs(2));
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Http), [Outcome::Stopped]);
    let waited = run.of(Kind::Http, Outcome::Stopped).map(|seen| seen.at - seen.began).sum::<u64>();
    assert!(waited > 1_000_000_000, "{waited} ns");
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Stopped]);
}
