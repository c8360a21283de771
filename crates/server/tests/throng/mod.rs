//! The real binary as a child process, killed when its handle is dropped.

// Each test program uses only part of this.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for any wait. Only a broken server reaches it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

/// For tests in which nobody sends heartbeats: on a busy machine the first connections are older than the idle timeout
/// before the last ones have come.
pub(crate) const NO_IDLE_TIMEOUT: [&str; 2] = ["--profile", "load-test"];

/// Looks again and again until there is something to see: a server tells nobody that it changed.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Creates a `throng` command in an environment that is independent of the machine's.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.env_clear().env("HOME", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server that listens on free ports, with a data directory of its own.
pub(crate) struct Throng {
    child: Child,
    home: TempDir,
    output: Receiver<String>,
    errors: Receiver<String>,
    /// Lines that were logged while the test waited for the end.
    pub(crate) last_lines: Vec<String>,
    pub(crate) announced: Vec<String>,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Throng {
    /// Starts `throng serve` with additional arguments and waits until it announces its addresses.
    pub(crate) fn start(arguments: &[&str]) -> Throng {
        let home = tempfile::tempdir().expect("a folder");
        let mut command = command(home.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.spawn().expect("the binary starts");
        let output = lines(child.stdout.take().expect("a pipe"));
        let errors = lines(child.stderr.take().expect("a pipe"));

        let mut announced = Vec::new();
        // The line about the administration is the last one, except those of a profile.
        while !announced.iter().any(|line: &String| line.starts_with("administration on")) {
            match output.recv_timeout(DEADLINE) {
                Ok(line) => announced.push(line),
                Err(_) => panic!("the server did not start: {:?}", errors.try_iter().collect::<Vec<_>>()),
            }
        }
        let address = address_in(&announced, "listening on http://");
        let admin = address_in(&announced, "administration on http://");
        Throng { child, home, output, errors, last_lines: Vec::new(), announced, address, admin }
    }

    /// Waits until this line is announced after the addresses.
    pub(crate) fn announces(&mut self, line: &str) {
        while !self.announced.iter().any(|announced| announced == line) {
            match self.output.recv_timeout(DEADLINE) {
                Ok(next) => self.announced.push(next),
                Err(_) => panic!("{line:?} was not announced, but {:?}", self.announced),
            }
        }
    }

    /// Waits for an announced line with this beginning.
    pub(crate) fn announced_like(&mut self, beginning: &str) -> String {
        loop {
            if let Some(line) = self.announced.iter().find(|line| line.starts_with(beginning)) {
                return line.clone();
            }
            match self.output.recv_timeout(DEADLINE) {
                Ok(next) => self.announced.push(next),
                Err(_) => panic!("{beginning:?} was not announced, but {:?}", self.announced),
            }
        }
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home.path().join(".local/share/throng")
    }

    pub(crate) fn token(&self) -> String {
        let text = std::fs::read_to_string(self.data_dir().join("admin-token")).expect("a token file");
        text.trim_end().to_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).expect("a process id");
        kill(Pid::from_raw(id), signal).expect("the process is there");
    }

    /// Waits for the end of the process, which is the end of its log.
    pub(crate) fn exit_status(&mut self) -> ExitStatus {
        loop {
            match self.errors.recv_timeout(DEADLINE) {
                Ok(line) => self.last_lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().expect("a child"),
                Err(RecvTimeoutError::Timeout) => panic!("the server did not end"),
            }
        }
    }

    /// Waits for a log line with this text.
    pub(crate) fn logged(&self, text: &str) -> String {
        loop {
            let line =
                self.errors.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{text:?} was not logged"));
            if line.contains(text) {
                return line;
            }
        }
    }

    pub(crate) fn get(&self, address: SocketAddr, path: &str) -> Response {
        request(address, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"))
    }

    /// Sends a request to the administration API with the token.
    pub(crate) fn api(&self, method: &str, path: &str, body: &str) -> Response {
        let (admin, token, length) = (self.admin, self.token(), body.len());
        request(
            admin,
            &format!(
                "{method} {path} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
                 content-length: {length}\r\n\r\n{body}"
            ),
        )
    }
}

impl Drop for Throng {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends one request with `Connection: close`, and reads until the end.
pub(crate) fn request(address: SocketAddr, text: &str) -> Response {
    let mut stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(DEADLINE)).expect("set");
    stream.write_all(text.as_bytes()).expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Response { status, head: head.to_lowercase(), body: body.to_owned() }
}

fn address_in(lines: &[String], prefix: &str) -> SocketAddr {
    let line = lines.iter().find_map(|line| line.strip_prefix(prefix)).expect("an address is announced");
    line.split(',').next().and_then(|address| address.parse().ok()).expect("an address")
}

/// Reads the lines of a pipe in a thread, so that the child never waits for a reader.
fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
