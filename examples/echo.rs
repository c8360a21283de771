//! Two kinds of echo: raw WebSocket messages at `/echo/websocket`, and a channel `echo:*` at `/socket/websocket`.
//!
//! `cargo run --release --example echo -- --port 9001`
#![allow(clippy::print_stdout, reason = "a program tells its user where it listens")]

use clap::Parser;
use gateway::{Channel, Context, DeflateConfig, Gateway, Joining, Mount, OriginRule, Payload};

#[derive(Parser)]
struct Arguments {
    /// The port on 127.0.0.1; 0 for a free one.
    #[arg(long, default_value_t = 9001)]
    port: u16,
}

struct Echo;

impl Channel for Echo {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, _event: &str, payload: Payload<'_>) {
        cx.reply_ok(payload);
    }
}

fn main() -> Result<(), gateway::StartError> {
    let arguments = Arguments::parse();
    // Test suites send messages of 16 MiB, use compression, and set their own origins.
    let raw = Mount::echo("/echo")
        .origins(OriginRule::Any)
        .idle_timeout(None)
        .frame_bytes_max(32 << 20)
        .compression(Some(DeflateConfig::default()));
    let socket = Mount::channels("/socket").origins(OriginRule::Any).channel("echo:*", || Echo);
    let limits = gateway::Limits { outbox_bytes_max: 64 << 20, ..gateway::Limits::default() };
    let builder = Gateway::builder().listen(([127, 0, 0, 1], arguments.port)).limits(limits);
    let running = builder.mount(raw).mount(socket).start()?;
    println!("listening on {}", running.local_addresses()[0]);
    running.wait();
    Ok(())
}
