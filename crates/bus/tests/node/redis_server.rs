//! A real Redis as a child process, with a folder of its own.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use crate::node::{DEADLINE, histories};
use bus::{Address, Settings};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) struct RedisServer {
    child: Option<Child>,
    folder: TempDir,
    saved: Option<TempDir>,
    pub(crate) port: u16,
    arguments: Vec<String>,
}

impl RedisServer {
    /// Every write is in its file before it is answered.
    pub(crate) fn start() -> RedisServer {
        RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> RedisServer {
        let port = free_port();
        RedisServer::start_at(port, &[&["--port", &port.to_string()], arguments].concat())
    }

    /// Arguments say that it listens on this port, and how.
    pub(crate) fn start_at(port: u16, arguments: &[&str]) -> RedisServer {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = RedisServer { child: None, folder, saved: None, port, arguments };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(self.folder.path())
            .args(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .expect("redis-server, of the Debian package of that name, starts; `make deps` installs it");
        self.child = Some(child);
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < DEADLINE, "redis-server does not listen on port {}", self.port);
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

    /// Keeps its files as they are now.
    pub(crate) fn save_files(&mut self) {
        let saved = tempfile::tempdir().expect("a folder");
        copy(self.folder.path(), saved.path());
        self.saved = Some(saved);
    }

    /// Puts the files back that were saved; it must not run.
    pub(crate) fn restore_files(&mut self) {
        assert!(self.child.is_none(), "it runs");
        self.folder = self.saved.take().expect("files were saved");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn settings(&self) -> Settings {
        settings(&[&self.url()])
    }

    /// Runs one command by redis-cli and returns what it prints.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli").args(["-p", &port]).args(arguments).output();
        let output = output.expect("redis-cli, which comes with redis-server, runs");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn settings(urls: &[&str]) -> Settings {
    let instances = urls.iter().map(|url| Address::parse(url).expect("an address")).collect();
    Settings { instances, prefix: "test".to_owned(), certificate_authority: None, histories: histories() }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
