//! The rate of new connections: connect, upgrade and, if the target requires it, join.

use std::io;

use serde::Serialize;

use super::{OPEN_PATIENCE, THREADS, microseconds_each};
use crate::{Crowd, Opened, ServerProcesses, Target};

/// Results of [`connect`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ConnectReport {
    /// The result of opening the connections.
    #[serde(flatten)]
    pub opened: Opened,
    /// Open connections divided by the time in which they opened.
    pub connections_per_second: f64,
    /// The server's CPU time per open connection.
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
