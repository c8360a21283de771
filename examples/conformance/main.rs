//! The fixture against which the protocol's conformance cases run: every mount and channel that they use.
//!
//! `cargo run --example conformance -- --port 5907` listens until SIGTERM, then drains. `POST /_fixture/broadcast` with
//! `{"topic", "event", "payload"}` publishes as server code would, `POST /_fixture/drain` shuts down gracefully, and
//! `GET /_fixture/events` returns how many channels were started and ended.
#![allow(clippy::print_stdout, reason = "a program tells its user where it listens")]

mod control;
mod room;

use clap::Parser;
use gateway::{
    ConnectRequest, DeflateConfig, Gateway, Mount, OriginPattern, OriginRule, Refusal, Running, Socket,
};
use nix::sys::signal::{SigSet, Signal};
use room::{Counts, Room};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[derive(Parser)]
struct Arguments {
    /// The port on 127.0.0.1; 0 for a free one.
    #[arg(long, default_value_t = 5907)]
    port: u16,
    /// How many shards; by default one for each core.
    #[arg(long)]
    shards: Option<usize>,
}

fn main() -> Result<(), gateway::StartError> {
    let arguments = Arguments::parse();
    // Before any thread starts, so that none of them receives the signal.
    let term = SigSet::from_iter([Signal::SIGTERM]);
    let blocked = term.thread_block();
    let counts = Arc::new(Counts::default());
    let handle = Arc::new(OnceLock::new());
    let mut builder = Gateway::builder().listen(([127, 0, 0, 1], arguments.port));
    if let Some(shards) = arguments.shards {
        builder = builder.shards(shards);
    }
    for mount in mounts(&counts) {
        builder = builder.mount(mount);
    }
    let running = builder.http(control::router(handle.clone(), counts)).start()?;
    // Nothing reads it earlier: the address is not known yet.
    let _ = handle.set(running.handle());
    println!("listening on {}", running.local_addresses()[0]);
    if blocked.is_ok() {
        drain_on(term, &running);
    }
    running.wait();
    Ok(())
}

fn drain_on(signals: SigSet, running: &Running) {
    let handle = running.handle();
    std::thread::spawn(move || {
        if signals.wait().is_ok() {
            control::drain(&handle);
        }
    });
}

fn mounts(counts: &Arc<Counts>) -> Vec<Mount> {
    let mount = |path: &str| {
        let counts = counts.clone();
        Mount::channels(path)
            .origins(OriginRule::Any)
            .longpoll(Some(Duration::from_millis(200)))
            .sequential_joins(true)
            .connect(connect)
            .channel("room:*", move || Room::new(counts.clone()))
    };
    let list = |pattern: &str| OriginRule::List(OriginPattern::parse(pattern).into_iter().collect());
    vec![
        mount("/socket"),
        mount("/origins").origins(list("//example.com")),
        mount("/origin-host").origins(OriginRule::Host("host.test".to_owned())),
        mount("/origin-wildcard").origins(list("https://*.ex.com")),
        mount("/origin-port").origins(list("//port.com:81")),
        mount("/ws/admin"),
        mount("/auth").auth_token(true),
        mount("/protocols").protocols(&["sip"]),
        mount("/small").frame_bytes_max(1024),
        mount("/idle").idle_timeout(Some(Duration::from_millis(200))),
        mount("/one").channels_max(1),
        // For clients that a busy machine may hold up for longer than two of the other windows, which end a session.
        mount("/patient").longpoll(Some(Duration::from_secs(1))),
        mount("/deflate").compression(Some(DeflateConfig::default())),
    ]
}

/// Information about a socket that the channels may expose.
pub(crate) struct Connected {
    params: Value,
    auth_token: Option<String>,
}

fn connect(request: &ConnectRequest<'_>) -> Result<Socket, Refusal> {
    match request.param("refuse") {
        Some("429") => return Err(Refusal::with(429, "slow down")),
        Some(_) => return Err(Refusal::forbidden()),
        None => {}
    }
    let params = Value::Object(request.params().clone());
    let auth_token = request.auth_token().map(str::to_owned);
    let socket = Socket::new().assign(Connected { params, auth_token });
    Ok(match request.param("user") {
        Some(user) => socket.id(&format!("u:{user}")),
        None => socket,
    })
}
