//! `bench-load`: one measurement of one server, reported as lines of JSON on standard output.

use std::io::{self, Write, stdin};
use std::net::SocketAddrV4;
use std::time::Duration;

use bench_load::returning::{Returning, returning};
use bench_load::scenario::{self, Broadcast, Echo, HEAR_PATIENCE, OPEN_PATIENCE, THREADS};
use bench_load::{Conversation, Crowd, ServerProcesses, Target, wire};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;

/// Drives one server with many clients and reports results as JSON.
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
    /// Path of the upgrade request [default: /echo/websocket for `echo`, /socket/websocket for Phoenix, otherwise /].
    #[arg(long, global = true)]
    path: Option<String>,
    /// Protocol of `connect`, `hold` and `broadcast`.
    #[arg(long, value_enum, default_value = "phoenix", global = true)]
    dialect: Dialect,
    /// Topic to join, or subject to subscribe to, on each connection.
    #[arg(long, default_value = "rooms:lobby", global = true)]
    topic: String,
    /// Processes of the server whose CPU time is measured, separated by commas.
    #[arg(long, value_delimiter = ',', global = true)]
    server_pid: Vec<u32>,
    /// Minimum number of driver threads, for `hold` and `broadcast`.
    #[arg(long, default_value_t = THREADS, global = true)]
    threads: usize,
}

/// What a connection says when it is upgraded, and how it publishes.
#[derive(Clone, Copy, ValueEnum)]
enum Dialect {
    /// Phoenix Channels V1: joins the topic.
    Phoenix,
    /// Plain WebSocket: a message goes to all connections on the path.
    Plain,
    /// NATS: subscribes to the topic.
    Nats,
}

#[derive(Subcommand)]
enum Mode {
    /// Opens connections, then reports the rate.
    Connect {
        #[arg(long, default_value_t = 10_000)]
        connections: usize,
    },
    /// Opens connections in steps; after each step, reports and waits for a line on standard input.
    Hold {
        /// Total numbers of connections, in ascending order.
        #[arg(long, value_delimiter = ',', default_value = "10000")]
        steps: Vec<usize>,
    },
    /// Publishes messages and waits until every connection has received each.
    Broadcast {
        #[arg(long, default_value_t = 10_000)]
        receivers: usize,
        #[arg(long, default_value_t = 10)]
        rounds: u32,
        /// Timeout for the last receiver of a round; the measurement ends after a round that took longer.
        #[arg(long, default_value_t = HEAR_PATIENCE.as_secs())]
        patience_seconds: u64,
        /// Milliseconds between the moments at which receivers read, instead of when something arrives. For many threads on
        /// the server's own processors: waking them costs the server more than their reading does.
        #[arg(long)]
        read_every_ms: Option<u64>,
    },
    /// Joins recoverable rooms, and rejoins them on other servers when the server dies. Reports when all clients have joined,
    /// when all have rejoined, and what they received; waits in between for a line on standard input with the last number
    /// that was published.
    Return(ReturnArgs),
    /// Measures echoes on an echo mount.
    Echo(EchoArgs),
    /// Measures echoes as replies of a channel: an `echo` event on the topic.
    ChannelEcho(EchoArgs),
}

#[derive(Args)]
struct ReturnArgs {
    #[arg(long, default_value_t = 20_000)]
    connections: usize,
    /// Number of rooms; their names are `--topic` followed by a number.
    #[arg(long, default_value_t = 100)]
    rooms: usize,
    /// Servers to reconnect to when the first server has died.
    #[arg(long, value_delimiter = ',', required = true)]
    others: Vec<SocketAddrV4>,
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
    let processes = match server.server_pid.as_slice() {
        [] => None,
        pids => Some(ServerProcesses::new(pids.to_vec())?),
    };
    let processes = processes.as_ref();
    match mode {
        Mode::Connect { connections } => {
            report(&scenario::connect(server.crowded(), connections, processes, || ())?)
        }
        Mode::Hold { steps } => hold(server.crowded(), &steps, server.threads),
        Mode::Broadcast { receivers, rounds, patience_seconds, read_every_ms } => {
            let target = server.crowded();
            let publication = target.publication();
            let patience = Duration::from_secs(patience_seconds);
            let (threads, read_every) = (server.threads, read_every_ms.map(Duration::from_millis));
            let plan = Broadcast { receivers, threads, rounds, patience, read_every, publication };
            report(&scenario::broadcast(target, &plan, processes)?)
        }
        Mode::Return(args) => {
            let plan = server.returning(args);
            report(&returning(
                &plan,
                |came| report(&came),
                |back| report(&back).and_then(|()| last_number()),
            )?)
        }
        Mode::Echo(args) => {
            let plan = args.plan(wire::client_frame(&wire::echo()));
            report(&scenario::echo(server.echo_mount(), &plan, processes)?)
        }
        Mode::ChannelEcho(args) => {
            let plan = args.plan(wire::client_frame(&wire::channel_echo(&server.topic)));
            report(&scenario::echo(server.joining(), &plan, processes)?)
        }
    }
}

impl Server {
    /// Returns the target for a crowd in the requested dialect.
    fn crowded(&self) -> Target {
        match self.dialect {
            Dialect::Phoenix => self.joining(),
            Dialect::Plain => self.target("/", Conversation::Upgrade),
            Dialect::Nats => self.target("/", Conversation::Subscribe(self.topic.clone())),
        }
    }

    fn returning(&self, ReturnArgs { connections, rooms, others }: ReturnArgs) -> Returning {
        let path = self.path.as_deref().unwrap_or("/socket/websocket").to_owned();
        let (topic_prefix, threads) = (self.topic.clone(), self.threads);
        Returning { first: self.address, others, path, topic_prefix, rooms, connections, threads }
    }

    fn joining(&self) -> Target {
        self.target("/socket/websocket", Conversation::Join(self.topic.clone()))
    }

    fn echo_mount(&self) -> Target {
        self.target("/echo/websocket", Conversation::Upgrade)
    }

    fn target(&self, usual_path: &str, conversation: Conversation) -> Target {
        Target::new(self.address, self.path.as_deref().unwrap_or(usual_path), conversation)
    }
}

impl EchoArgs {
    fn plan(&self, question: Vec<u8>) -> Echo {
        let duration = Duration::from_secs_f64(self.seconds);
        let warm_up = duration / 4;
        Echo { connections: self.connections, in_flight: self.in_flight, warm_up, duration, question }
    }
}

fn hold(target: Target, steps: &[usize], threads: usize) -> io::Result<()> {
    let mut crowd = Crowd::start(target, threads, steps.iter().copied().max().unwrap_or(0))?;
    for total in steps {
        report(&crowd.open_until(*total, OPEN_PATIENCE)?)?;
        if stdin().read_line(&mut String::new())? == 0 {
            break;
        }
    }
    report(&crowd.census()?)
}

/// Reads a line that contains only a number.
fn last_number() -> io::Result<u64> {
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    line.trim().parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn report(report: &impl Serialize) -> io::Result<()> {
    println!("{}", serde_json::to_string(report)?);
    io::stdout().flush()
}
