//! Runs each exchange in turn: the server side in a separate process, the client side in this one.

use std::env::current_exe;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddrV4;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bench_load::scenario::{self, Broadcast, BroadcastReport, ConnectReport, Echo, EchoReport};
use bench_load::{Conversation, ServerProcesses, Target, wire};
use clap::ValueEnum;
use serde::Serialize;

use crate::bars::{self, Figure};
use crate::cli::{ExchangeName, RunArguments};
use crate::kernel_memory::slab_bytes;

const TOPIC: &str = "rooms:lobby";
const ECHOES_IN_FLIGHT: usize = 16;
const WARM_UP: Duration = Duration::from_millis(500);

#[derive(Serialize)]
struct Report {
    connect: ConnectReport,
    kernel_bytes_per_pair: Option<f64>,
    broadcast: BroadcastReport,
    echo: EchoReport,
    echo_in_flight: EchoReport,
}

/// Measures, then prints.
pub(crate) fn run(arguments: &RunArguments) -> io::Result<()> {
    let (connect, kernel_bytes_per_pair) = measure_connect(arguments)?;
    let broadcast = measure_broadcast(arguments)?;
    let echo = measure_echo(arguments, 1)?;
    let echo_in_flight = measure_echo(arguments, ECHOES_IN_FLIGHT)?;
    let report = Report { connect, kernel_bytes_per_pair, broadcast, echo, echo_in_flight };
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        report.figures().iter().for_each(|figure| println!("{figure}"));
    }
    Ok(())
}

fn measure_connect(arguments: &RunArguments) -> io::Result<(ConnectReport, Option<f64>)> {
    let server = Server::start(ExchangeName::Broadcast, arguments.connections, 2)?;
    let (slab_before, mut slab_while_open) = (slab_bytes(), None);
    let report =
        scenario::connect(server.joining(), arguments.connections, Some(&server.processes()?), || {
            slab_while_open = slab_bytes();
        })?;
    let slab = slab_while_open.zip(slab_before).map(|(after, before)| after.saturating_sub(before));
    Ok((report, slab.map(|bytes| bytes as f64 / report.opened.open.max(1) as f64)))
}

fn measure_broadcast(arguments: &RunArguments) -> io::Result<BroadcastReport> {
    let server = Server::start(ExchangeName::Broadcast, arguments.connections, 2)?;
    let target = server.joining();
    let publication = target.publication();
    let (receivers, rounds) = (arguments.connections, arguments.rounds);
    let (threads, patience) = (scenario::THREADS, scenario::HEAR_PATIENCE);
    let plan = Broadcast { receivers, threads, rounds, patience, read_every: None, publication };
    scenario::broadcast(target, &plan, Some(&server.processes()?))
}

fn measure_echo(arguments: &RunArguments, in_flight: usize) -> io::Result<EchoReport> {
    let server = Server::start(ExchangeName::Echo, arguments.echo_connections, 1)?;
    let plan = Echo {
        connections: arguments.echo_connections,
        in_flight,
        warm_up: WARM_UP,
        duration: Duration::from_secs_f64(arguments.echo_seconds),
        question: wire::client_frame(&wire::echo()),
    };
    scenario::echo(server.upgrading(), &plan, Some(&server.processes()?))
}

/// The server process; it ends when its standard input is closed, at the latest with this process.
struct Server {
    process: Child,
    address: SocketAddrV4,
}

impl Server {
    fn start(exchange: ExchangeName, connections: usize, threads: usize) -> io::Result<Self> {
        let exchange = exchange.to_possible_value().expect("no exchange is hidden");
        let mut process = Command::new(current_exe()?)
            .args(["serve", "--topic", TOPIC, "--exchange", exchange.get_name()])
            .args(["--connections", &connections.to_string(), "--threads", &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening ").and_then(|address| address.parse().ok());
        let address = address.ok_or_else(|| io::Error::other("the server process does not listen"))?;
        Ok(Self { process, address })
    }

    fn joining(&self) -> Target {
        Target::new(self.address, "/socket/websocket", Conversation::Join(TOPIC.to_owned()))
    }

    fn upgrading(&self) -> Target {
        Target::new(self.address, "/echo/websocket", Conversation::Upgrade)
    }

    fn processes(&self) -> io::Result<ServerProcesses> {
        ServerProcesses::new(vec![self.process.id()])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // Its exit status does not matter.
        let _ = self.process.wait();
    }
}

impl Report {
    fn figures(&self) -> Vec<Figure> {
        let figure = |name, value, unit, bar| Figure { name, value, unit, bar };
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let (connect, broadcast) = (&self.connect, &self.broadcast);
        let (echo, batch) = (&self.echo, &self.echo_in_flight);
        vec![
            figure(
                "connect + upgrade + join",
                connect.connections_per_second,
                "/s",
                Some(bars::CONNECTIONS_PER_SECOND),
            ),
            figure("  failed", connect.opened.failed as f64, "", None),
            figure("  server CPU", known(connect.server_cpu_us_per_connection), "µs per operation", None),
            figure("  kernel memory (slab)", known(self.kernel_bytes_per_pair), "bytes per pair", None),
            figure(
                "broadcast, server CPU",
                known(broadcast.server_cpu_us_per_delivery),
                "µs per delivery",
                Some(bars::CPU_US_PER_DELIVERY),
            ),
            figure("  receivers", broadcast.opened.open as f64, "", None),
            figure("  time to the last receiver, median", broadcast.last_receiver_ms_median, "ms", None),
            figure("  lost", broadcast.lost as f64, "", None),
            figure("echo, 1 in flight", echo.echoes_per_second, "/s", Some(bars::ECHOES_PER_SECOND)),
            figure("  server CPU", known(echo.server_cpu_us_per_echo), "µs per operation", None),
            figure("echo, 16 in flight", batch.echoes_per_second, "/s", None),
            figure("  server CPU", known(batch.server_cpu_us_per_echo), "µs per operation", None),
            figure("  server cores", known(batch.server_cores), "", None),
        ]
    }
}
