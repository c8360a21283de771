//! `bench-load`: one measurement of one server, reported as lines of JSON on standard output.

use std::io::{self, Write, stdin};
use std::net::SocketAddrV4;
use std::time::Duration;

use bench_load::scenario::{self, Broadcast, Echo, OPEN_PATIENCE, THREADS};
use bench_load::{Conversation, Crowd, ServerProcess, Target, wire};
use clap::{Args, Parser, Subcommand};
use serde::Serialize;

/// Drives one server with many clients and reports as JSON.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    server: Server,
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Args)]
struct Server {
    /// Address of the server, IPv4.
    #[arg(long, default_value = "127.0.0.1:4000", global = true)]
    address: SocketAddrV4,
    /// Path of the upgrade request [default: /echo/websocket for `echo`, else /socket/websocket].
    #[arg(long, global = true)]
    path: Option<String>,
    /// Topic that each connection joins.
    #[arg(long, default_value = "rooms:lobby", global = true)]
    topic: String,
    /// Process whose CPU time is the server's.
    #[arg(long, global = true)]
    server_pid: Option<u32>,
}

#[derive(Subcommand)]
enum Mode {
    /// Opens connections, then reports the rate.
    Connect {
        #[arg(long, default_value_t = 10_000)]
        connections: usize,
    },
    /// Opens connections in steps; reports at each step and waits for a line on standard input.
    Hold {
        /// Totals, in rising order.
        #[arg(long, value_delimiter = ',', default_value = "10000")]
        steps: Vec<usize>,
    },
    /// Publishes on the topic and waits until every connection has heard.
    Broadcast {
        #[arg(long, default_value_t = 10_000)]
        receivers: usize,
        #[arg(long, default_value_t = 10)]
        rounds: u32,
    },
    /// Messages that come straight back, on an echo mount.
    Echo(EchoArgs),
    /// The same as replies of a channel: an `echo` event on the topic.
    ChannelEcho(EchoArgs),
}

#[derive(Args)]
struct EchoArgs {
    #[arg(long, default_value_t = 100)]
    connections: usize,
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

fn main() -> io::Result<()> {
    let Cli { server, mode } = Cli::parse();
    let process = server.server_pid.map(ServerProcess::new).transpose()?;
    match mode {
        Mode::Connect { connections } => {
            report(&scenario::connect(server.joining(), connections, process, || ())?)
        }
        Mode::Hold { steps } => hold(server.joining(), &steps),
        Mode::Broadcast { receivers, rounds } => {
            let publication = wire::client_frame(&wire::publication(&server.topic));
            let plan = Broadcast { receivers, rounds, publication };
            report(&scenario::broadcast(server.joining(), &plan, process)?)
        }
        Mode::Echo(args) => {
            let plan = args.plan(wire::client_frame(&wire::echo()));
            report(&scenario::echo(server.echo_mount(), &plan, process)?)
        }
        Mode::ChannelEcho(args) => {
            let plan = args.plan(wire::client_frame(&wire::channel_echo(&server.topic)));
            report(&scenario::echo(server.joining(), &plan, process)?)
        }
    }
}

impl Server {
    fn joining(&self) -> Target {
        let path = self.path.as_deref().unwrap_or("/socket/websocket");
        Target::new(self.address, path, &Conversation::Join(self.topic.clone()))
    }

    fn echo_mount(&self) -> Target {
        let path = self.path.as_deref().unwrap_or("/echo/websocket");
        Target::new(self.address, path, &Conversation::Upgrade)
    }
}

impl EchoArgs {
    fn plan(&self, question: Vec<u8>) -> Echo {
        let duration = Duration::from_secs_f64(self.seconds);
        let warm_up = duration / 4;
        Echo { connections: self.connections, in_flight: self.in_flight, warm_up, duration, question }
    }
}

fn hold(target: Target, steps: &[usize]) -> io::Result<()> {
    let mut crowd = Crowd::start(target, THREADS, steps.iter().copied().max().unwrap_or(0))?;
    for total in steps {
        report(&crowd.open_until(*total, OPEN_PATIENCE)?)?;
        if stdin().read_line(&mut String::new())? == 0 {
            break;
        }
    }
    report(&crowd.census()?)
}

fn report(report: &impl Serialize) -> io::Result<()> {
    println!("{}", serde_json::to_string(report)?);
    io::stdout().flush()
}
