//! A real server of an engine as a child process, with its own data folder.

use crate::node::DEADLINE;
use crate::node::folder::Folder;
use crate::node::settings::settings;
use bus::Settings;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The program, and how to connect to it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The program.
    pub(crate) program: &'static str,
    pub(crate) scheme: &'static str,
    /// The command-line option for its data folder.
    pub(crate) folder_option: &'static str,
}

pub(crate) struct Server {
    kind: Kind,
    child: Option<Child>,
    folder: Folder,
    pub(crate) port: u16,
    arguments: Vec<String>,
}

impl Server {
    /// The arguments make it listen on this port.
    pub(crate) fn start(kind: Kind, port: u16, arguments: &[&str]) -> Server {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server = Server { kind, child: None, folder: Folder::new(), port, arguments };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let Kind { program, folder_option, .. } = self.kind;
        let mut command = Command::new(program);
        command.arg(folder_option).arg(self.folder.path()).args(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        self.child =
            Some(child.unwrap_or_else(|error| {
                panic!("{program} does not start ({error}); `make deps` installs it")
            }));
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < DEADLINE, "{program} does not listen on port {}", self.port);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
        }
    }

    /// Stops it without killing it: it answers nobody, and loses nothing.
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

    /// Saves a copy of its files.
    pub(crate) fn save_files(&mut self) {
        self.folder.save();
    }

    /// Restores its files; it must not be running.
    pub(crate) fn restore_files(&mut self) {
        assert!(self.child.is_none(), "it runs");
        self.folder.restore();
    }

    pub(crate) fn url(&self) -> String {
        self.url_by(self.port)
    }

    /// Returns its URL through another port that leads to it.
    pub(crate) fn url_by(&self, port: u16) -> String {
        format!("{}://127.0.0.1:{port}", self.kind.scheme)
    }

    /// Returns settings for nodes of one cluster on it.
    pub(crate) fn settings(&self) -> Settings {
        settings(&[&self.url()])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns an unused port, each only once. It is outside Linux's range for outgoing connections, one of which could
/// otherwise take an engine's port while the engine is restarted.
pub(crate) fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = std::process::id().wrapping_mul(61).wrapping_add(GIVEN.fetch_add(1, Relaxed));
        let port = 10_000 + u16::try_from(next % 22_000).expect("it is small");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
