//! A real NATS server with JetStream as a child process, with a folder of its own.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use crate::node::DEADLINE;
use crate::node::child::{Folder, free_port, settings};
use bus::Settings;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct NatsServer {
    child: Option<Child>,
    folder: Folder,
    pub(crate) port: u16,
    arguments: Vec<String>,
}

impl NatsServer {
    pub(crate) fn start() -> NatsServer {
        NatsServer::start_with(&["--jetstream"])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> NatsServer {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server = NatsServer { child: None, folder: Folder::new(), port: free_port(), arguments };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let mut command = Command::new("nats-server");
        command.args(["--addr", "127.0.0.1", "--port", &self.port.to_string(), "--store_dir"]);
        command.arg(self.folder.path()).args(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .expect("nats-server, of the Debian package of that name, starts; `make deps` installs it");
        self.child = Some(child);
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < DEADLINE, "nats-server does not listen on port {}", self.port);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
        }
    }

    pub(crate) fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill(Pid::from_raw(child.id() as i32), signal).expect("it is ours");
    }

    pub(crate) fn save_files(&mut self) {
        self.folder.save();
    }

    pub(crate) fn restore_files(&mut self) {
        assert!(self.child.is_none(), "it runs");
        self.folder.restore();
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn settings(&self) -> Settings {
        settings(&[&self.url()])
    }

    /// Publishes one message as somebody else, and returns when the server has taken it.
    pub(crate) fn publish(&self, subject: &str, payload: &[u8]) {
        let mut line = self.say_hello();
        let head = format!("PUB {subject} {}\r\n", payload.len());
        line.get_mut().write_all(&[head.as_bytes(), payload, b"\r\nPING\r\n"].concat()).expect("it listens");
        while !read(&mut line).starts_with("PONG") {}
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask(&self, subject: &str) -> String {
        let mut line = self.say_hello();
        let question = format!("SUB answer 1\r\nPUB {subject} answer 0\r\n\r\n");
        line.get_mut().write_all(question.as_bytes()).expect("it listens");
        while !read(&mut line).starts_with("MSG") {}
        read(&mut line)
    }

    fn say_hello(&self) -> BufReader<TcpStream> {
        let mut line = BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).expect("it listens"));
        line.get_ref().set_read_timeout(Some(DEADLINE)).expect("a time");
        assert!(read(&mut line).starts_with("INFO"));
        line.get_mut().write_all(b"CONNECT {\"verbose\":false}\r\n").expect("it listens");
        line
    }
}

fn read(line: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    assert!(line.read_line(&mut text).expect("it answers") > 0, "it hung up");
    text
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
