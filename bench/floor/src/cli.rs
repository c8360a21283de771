//! The command line.

use std::net::SocketAddrV4;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The floor under every figure: raw TCP pairs on epoll, canned bytes, no parsing.
///
/// The client side is the load driver's, the same that drives every other server.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// The server side alone; prints its address when it listens, and ends when standard input does.
    Serve(ServeArguments),
    /// Both sides, in two processes: measures everything and compares it with what a good floor reaches.
    Run(RunArguments),
}

#[derive(Args)]
pub(crate) struct ServeArguments {
    /// What happens on a pair after its handshake.
    #[arg(long, value_enum)]
    pub(crate) exchange: ExchangeName,
    /// Where to listen; port 0 picks one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddrV4,
    /// Topic in the canned bytes.
    #[arg(long, default_value = "rooms:lobby")]
    pub(crate) topic: String,
    /// Connections to be ready for: more threads where one descriptor table is too small for its share.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) connections: usize,
    /// Threads at least, each with its own listener, loop and descriptor table.
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// Pairs to connect, and to broadcast to.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) connections: usize,
    /// Broadcasts to measure.
    #[arg(long, default_value_t = 10)]
    pub(crate) rounds: u32,
    /// How long to measure each kind of echo.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) echo_seconds: f64,
    /// Pairs that echo.
    #[arg(long, default_value_t = 100)]
    pub(crate) echo_connections: usize,
    /// One line of JSON in place of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ExchangeName {
    /// Upgrade and join; then each message goes to every pair that has joined.
    Broadcast,
    /// Upgrade; then each message comes back.
    Echo,
    /// Upgrade; then each of the C10K test's messages comes back unmasked.
    C10k,
    /// Upgrade and join; then each message has a channel's reply.
    ChannelEcho,
}
