//! A NATS server with JetStream, and a minimal client.

use crate::node::DEADLINE;
use crate::node::server::{Kind, Server, free_port};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

const NATS: Kind = Kind { program: "nats-server", scheme: "nats", folder_option: "--store_dir" };

pub(crate) fn start() -> Server {
    start_with(&["--jetstream"])
}

pub(crate) fn start_with(arguments: &[&str]) -> Server {
    let port = free_port();
    Server::start(NATS, port, &[&["--addr", "127.0.0.1", "--port", &port.to_string()], arguments].concat())
}

/// Publishes one message, and returns when the server has received it.
pub(crate) fn publish(server: &Server, subject: &str, payload: &[u8]) {
    let mut line = say_hello(server);
    let head = format!("PUB {subject} {}\r\n", payload.len());
    line.get_mut().write_all(&[head.as_bytes(), payload, b"\r\nPING\r\n"].concat()).expect("it listens");
    while !read(&mut line).starts_with("PONG") {}
}

/// Sends a request and waits for the answer.
pub(crate) fn ask(server: &Server, subject: &str) -> String {
    let mut line = say_hello(server);
    let question = format!("SUB answer 1\r\nPUB {subject} answer 0\r\n\r\n");
    line.get_mut().write_all(question.as_bytes()).expect("it listens");
    while !read(&mut line).starts_with("MSG") {}
    read(&mut line)
}

fn say_hello(server: &Server) -> BufReader<TcpStream> {
    let mut line = BufReader::new(TcpStream::connect(("127.0.0.1", server.port)).expect("it listens"));
    line.get_ref().set_read_timeout(Some(DEADLINE)).expect("a time");
    assert!(read(&mut line).starts_with("INFO"));
    line.get_mut().write_all(b"CONNECT {\"verbose\":false}\r\n").expect("it listens");
    line
}

fn read(line: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    assert!(line.read_line(&mut text).expect("it answers") > 0, "it hung up");
    text
}
