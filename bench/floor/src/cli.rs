//! The command line.

use std::net::SocketAddrV4;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures the floor of this machine: raw TCP pairs on epoll, fixed bytes, no parsing.
///
/// The client side is the load driver that also drives all other servers.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run only the server; prints its address when it listens, and exits at the end of standard input.
    Serve(ServeArguments),
    /// Run client and server in two processes, measure everything, and compare it with the values of a good floor.
    Run(RunArguments),
}

#[derive(Args)]
pub(crate) struct ServeArguments {
    /// Exchange on a pair after its handshake.
    #[arg(long, value_enum)]
    pub(crate) exchange: ExchangeName,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddrV4,
    /// Topic in the fixed bytes.
    #[arg(long, default_value = "rooms:lobby")]
    pub(crate) topic: String,
    /// Expected number of connections: starts more threads if one descriptor table is too small for its share.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) connections: usize,
    /// Minimum number of threads, each with its own listener, loop and descriptor table.
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// Number of connection pairs.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) connections: usize,
    /// Number of broadcasts to measure.
    #[arg(long, default_value_t = 10)]
    pub(crate) rounds: u32,
    /// Duration of the measurement of each kind of echo, in seconds.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) echo_seconds: f64,
    /// Number of pairs that echo.
    #[arg(long, default_value_t = 100)]
    pub(crate) echo_connections: usize,
    /// Print one line of JSON instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ExchangeName {
    /// Upgrade and join; then send each message to every joined pair.
    Broadcast,
    /// Upgrade; then send each message back.
    Echo,
    /// Upgrade; then send each message of the C10K test back unmasked.
    C10k,
    /// Upgrade and join; then answer each message with a channel's reply.
    ChannelEcho,
}
