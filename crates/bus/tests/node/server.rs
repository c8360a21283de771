//! A real server of an engine as a child process, with a folder of its own.

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

/// What is started, and how it is found.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The program.
    pub(crate) program: &'static str,
    pub(crate) scheme: &'static str,
    /// Behind which its folder is named.
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
    /// Arguments say that it listens on this port, and how.
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

    /// As by `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
        }
    }

    /// It answers nobody, and forgets nothing.
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
        self.folder.save();
    }

    /// Puts them back; it must not run.
    pub(crate) fn restore_files(&mut self) {
        assert!(self.child.is_none(), "it runs");
        self.folder.restore();
    }

    pub(crate) fn url(&self) -> String {
        self.url_by(self.port)
    }

    /// By a port that leads to it.
    pub(crate) fn url_by(&self, port: u16) -> String {
        format!("{}://127.0.0.1:{port}", self.kind.scheme)
    }

    /// For nodes of one cluster on it.
    pub(crate) fn settings(&self) -> Settings {
        settings(&[&self.url()])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody listens on, and that is given once. It is below those that Linux gives to outgoing connections, one
/// of which would else take an engine's between two starts.
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
