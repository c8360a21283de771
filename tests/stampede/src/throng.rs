//! A server of our own house, as it is delivered.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::program::built;
use crate::{Program, get, wait_until};

static THRONG: LazyLock<PathBuf> = LazyLock::new(|| built("server", "throng"));

/// `throng serve` on free ports.
pub struct Throng {
    program: Program,
    port: u16,
    admin_port: u16,
    /// Its data.
    _folder: TempDir,
}

impl Throng {
    /// Starts it and waits until it is ready.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (port, admin_port) = (free_port(), free_port());
        let mut command = Command::new(&*THRONG);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("THRONG_")) {
            command.env_remove(name);
        }
        command
            .args(["serve", "--profile", "load-test"])
            .env("XDG_CONFIG_HOME", folder.path())
            .env("THRONG_LISTEN", format!("127.0.0.1:{port}"))
            .env("THRONG_ADMIN_LISTEN", format!("127.0.0.1:{admin_port}"))
            .env("THRONG_DATA_DIR", folder.path());
        let mut program = Program::start(command);
        let address = format!("127.0.0.1:{port}");
        wait_until("the server is ready", || {
            assert!(!program.has_ended(), "it has ended: {}{}", program.output(), program.complaints());
            get(&address, "/readyz").is_ok_and(|answer| answer.status == 200)
        });
        Self { program, port, admin_port, _folder: folder }
    }

    /// `HOST:PORT`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where Phoenix clients connect.
    #[must_use]
    pub fn socket(&self) -> String {
        format!("ws://127.0.0.1:{}/socket/websocket", self.port)
    }

    /// Where it exposes its metrics.
    #[must_use]
    pub fn metrics(&self) -> String {
        format!("http://127.0.0.1:{}/metrics", self.admin_port)
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.program.pid()
    }

    /// It dies.
    pub fn kill(&self) {
        self.program.signal(Signal::SIGKILL);
    }
}

/// A port of 127.0.0.1 that nobody has now.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("it is bound").port()
}
