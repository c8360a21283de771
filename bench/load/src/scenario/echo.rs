//! Echoed messages: the rate, and the server's CPU time per message.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{OPEN_PATIENCE, microseconds_each};
use crate::{Crowd, Opened, ServerProcesses, Target};

/// What to send, and for how long.
#[derive(Clone, Debug)]
pub struct Echo {
    /// Number of connections, all on one thread, so that the other core is left to the server.
    pub connections: usize,
    /// Number of messages in flight on each connection.
    pub in_flight: usize,
    /// Time before the measurement.
    pub warm_up: Duration,
    /// Length of the measurement.
    pub duration: Duration,
    /// The client frame, to which the server replies with one message.
    pub question: Vec<u8>,
}

/// Results of [`echo`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EchoReport {
    /// The state of the connections; `closed` counts those cut during the measurement.
    pub opened: Opened,
    /// Messages echoed during the measurement.
    pub echoes: u64,
    /// Messages echoed per second.
    pub echoes_per_second: f64,
    /// The server's CPU time per echo.
    pub server_cpu_us_per_echo: Option<f64>,
    /// The server's CPU time divided by the time of the measurement: 1 is one core.
    pub server_cores: Option<f64>,
}

/// Opens the connections and keeps the messages in flight.
pub fn echo(target: Target, plan: &Echo, server: Option<&ServerProcesses>) -> io::Result<EchoReport> {
    let mut crowd = Crowd::start(target, 1, plan.connections)?;
    crowd.open_until(plan.connections, OPEN_PATIENCE)?;
    crowd.echo(&plan.question, plan.in_flight)?;
    thread::sleep(plan.warm_up);

    let (start, echoes_before) = (Instant::now(), crowd.messages());
    let cpu_before = server.map(|server| server.cpu());
    thread::sleep(plan.duration);
    let (elapsed, echoes) = (start.elapsed(), crowd.messages() - echoes_before);
    let cpu = server.zip(cpu_before).map(|(server, before)| server.cpu().saturating_sub(before));

    crowd.stop()?;
    Ok(EchoReport {
        opened: crowd.census()?,
        echoes,
        echoes_per_second: echoes as f64 / elapsed.as_secs_f64(),
        server_cpu_us_per_echo: cpu.map(|cpu| microseconds_each(cpu, echoes)),
        server_cores: cpu.map(|cpu| cpu.as_secs_f64() / elapsed.as_secs_f64()),
    })
}
