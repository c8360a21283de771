//! How fast connections come to be: connect, upgrade and, where the target says so, join.

use std::io;

use serde::Serialize;

use super::{OPEN_PATIENCE, THREADS, microseconds_each};
use crate::{Crowd, Opened, ServerProcesses, Target};

/// What [`connect`] measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ConnectReport {
    /// How the connections fared.
    #[serde(flatten)]
    pub opened: Opened,
    /// Open connections over the time that all of them took.
    pub connections_per_second: f64,
    /// The server's CPU time for each open connection.
    pub server_cpu_us_per_connection: Option<f64>,
}

/// Opens `connections`, and calls `while_open` before they are closed again.
pub fn connect(
    target: Target,
    connections: usize,
    server: Option<&ServerProcesses>,
    while_open: impl FnOnce(),
) -> io::Result<ConnectReport> {
    let mut crowd = Crowd::start(target, THREADS, connections)?;
    let cpu_before = server.map(|server| server.cpu());
    let opened = crowd.open_until(connections, OPEN_PATIENCE)?;
    let cpu = server.zip(cpu_before).map(|(server, before)| server.cpu().saturating_sub(before));
    while_open();
    Ok(ConnectReport {
        opened,
        connections_per_second: opened.open as f64 / opened.seconds,
        server_cpu_us_per_connection: cpu.map(|cpu| microseconds_each(cpu, opened.open as u64)),
    })
}
