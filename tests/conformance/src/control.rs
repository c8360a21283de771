//! The fixture's own URLs: what no client of the protocol can ask for.

use std::net::SocketAddr;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::http::{Exchange, Request, Response};
use crate::{PATIENCE, POLL_INTERVAL};

/// The fixture's count of accepted joins, and of their ends.
#[derive(Debug, Deserialize)]
struct Counters {
    joined: u64,
    terminated: u64,
}

/// The server's own code broadcasts `payload`, JSON, on `topic`.
///
/// # Errors
/// The fixture does not take it.
pub(crate) fn broadcast(address: SocketAddr, topic: &str, event: &str, payload: &str) -> Result<(), Failure> {
    let payload: Value = serde_json::from_str(payload).map_err(|error| Failure::script(error.to_string()))?;
    let body = json!({ "topic": topic, "event": event, "payload": payload }).to_string();
    post(address, "/_fixture/broadcast", &body)
}

/// The server begins its graceful shutdown.
///
/// # Errors
/// The fixture does not take it.
pub(crate) fn drain(address: SocketAddr) -> Result<(), Failure> {
    post(address, "/_fixture/drain", "")
}

/// Waits until `count` channels are alive on the server.
///
/// # Errors
/// It has another count still when the patience is over.
pub(crate) fn await_live(address: SocketAddr, count: u64) -> Result<(), Failure> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let counters = counters(address)?;
        if counters.joined.checked_sub(counters.terminated) == Some(count) {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(Failure::mismatch(format!("{count} channels alive"), format!("{counters:?}")));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn counters(address: SocketAddr) -> Result<Counters, Failure> {
    let response = ask(address, Request::new("GET", "/_fixture/events", Vec::new()))?;
    serde_json::from_str(&response.body).map_err(|error| {
        Failure::mismatch(
            r#"{"joined":…,"terminated":…} at /_fixture/events"#,
            format!("{error}: {}", response.body),
        )
    })
}

fn post(address: SocketAddr, target: &str, body: &str) -> Result<(), Failure> {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    let response = ask(address, Request::new("POST", target, headers).with_body(body.into()))?;
    match response.status {
        204 => Ok(()),
        status => Err(Failure::mismatch(format!("204 from {target}"), format!("{status} {}", response.body))),
    }
}

fn ask(address: SocketAddr, request: Request) -> Result<Response, Failure> {
    Exchange::send(address, request)?.receive().map(|(response, _)| response)
}
