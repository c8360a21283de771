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
    /// `HOST:PORT`.
    address: String,
    admin_address: String,
    /// Its data.
    folder: TempDir,
}

impl Throng {
    /// Starts it and waits until it is ready.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        Self::start_at("127.0.0.1:0", folder)
    }

    /// It dies, and comes back at the same address with what it has stored.
    #[must_use]
    pub fn restarted(self) -> Self {
        self.kill();
        let Self { program, address, folder, .. } = self;
        drop(program);
        Self::start_at(&address, folder)
    }

    fn start_at(listen: &str, folder: TempDir) -> Self {
        let mut command = command(&folder);
        command
            .args(["serve", "--profile", "load-test"])
            .env("THRONG_LISTEN", listen)
            .env("THRONG_ADMIN_LISTEN", "127.0.0.1:0");
        let mut program = Program::start(command);
        let address = program.wait_for("listening on http://");
        let admin_address = program.wait_for("administration on http://");
        let admin_address = admin_address.split(',').next().unwrap_or_default().to_owned();
        wait_until("the server is ready", || {
            get(&address, "/readyz").is_ok_and(|answer| answer.status == 200)
        });
        Self { program, address, admin_address, folder }
    }

    /// `HOST:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where Phoenix clients connect.
    #[must_use]
    pub fn socket(&self) -> String {
        format!("ws://{}/socket/websocket", self.address)
    }

    /// The page of a stored room that it has from the beginning.
    #[must_use]
    pub fn lobby(&self) -> String {
        format!("http://{}/c/default/r/lobby", self.address)
    }

    /// Where it exposes its metrics.
    #[must_use]
    pub fn metrics(&self) -> String {
        format!("{}/metrics", self.admin())
    }

    /// Does what its operator asks for by another command of the program.
    pub fn operate(&self, arguments: &[&str]) {
        let done = command(&self.folder).args(arguments).arg("--admin").arg(self.admin()).output();
        let done = done.expect("the program starts");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn admin(&self) -> String {
        format!("http://{}", self.admin_address)
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

/// The program, with nothing of this machine's but that folder for its data.
fn command(folder: &TempDir) -> Command {
    let mut command = Command::new(&*THRONG);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("THRONG_")) {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", folder.path()).env("THRONG_DATA_DIR", folder.path());
    command
}
