//! A Redis.

use crate::node::server::{Kind, Server, free_port};
use std::process::Command;

const REDIS: Kind = Kind { program: "redis-server", scheme: "redis", folder_option: "--dir" };

/// Every write is in its file before it is answered.
pub(crate) fn start() -> Server {
    start_with(&["--appendonly", "yes", "--appendfsync", "always"])
}

pub(crate) fn start_with(arguments: &[&str]) -> Server {
    let port = free_port();
    start_at(port, &[&["--port", &port.to_string()], arguments].concat())
}

/// Arguments say that it listens on this port, and how.
pub(crate) fn start_at(port: u16, arguments: &[&str]) -> Server {
    Server::start(REDIS, port, &[&["--bind", "127.0.0.1", "--save", ""], arguments].concat())
}

/// Runs one command by redis-cli and returns what it prints.
pub(crate) fn ask(server: &Server, arguments: &[&str]) -> String {
    let port = server.port.to_string();
    let output = Command::new("redis-cli").args(["-p", &port]).args(arguments).output();
    let output = output.expect("redis-cli, which comes with redis-server, runs");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}
