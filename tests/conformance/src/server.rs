//! The server under test: a fixture process of our own, or one that runs already.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use serde::Deserialize;

use crate::failure::Failure;
use crate::{PATIENCE, POLL_INTERVAL};

/// What the fixture says on standard output once it listens, before the address.
const READY: &str = "listening on ";

/// A server that cases can be played against.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    process: Option<Mutex<Child>>,
}

impl Server {
    /// A server that runs already and stays. It may use the choices of the reference's section 12.
    pub fn outside(address: SocketAddr) -> Self {
        Self { address, process: None }
    }

    /// Starts the fixture on a free port and waits until it listens. Its standard error, with the panics
    /// that the cases ask for, goes to `log`.
    ///
    /// # Errors
    /// It cannot be started, or ends before it listens.
    pub fn start(binary: &Path, log: &Path) -> Result<Self, String> {
        let failed = |error| format!("{}: {error}", binary.display());
        let port = free_port().map_err(failed)?;
        let log = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut process = Command::new(binary)
            .args(["--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        let output = process.stdout.take().expect("standard output is piped");
        let server = Self { address: (Ipv4Addr::LOCALHOST, port).into(), process: Some(Mutex::new(process)) };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).map_err(failed)?;
        if !line.starts_with(READY) {
            return Err(format!("{} said {line:?} instead of `{READY}…`", binary.display()));
        }
        // Whatever else it says is read and dropped, so that it never blocks on a full pipe.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it is not ours, so that it may have chosen otherwise where the reference lets it.
    pub fn is_outside(&self) -> bool {
        self.process.is_none()
    }

    /// Waits for the process to end by itself with status 0.
    ///
    /// # Errors
    /// It ends with another status, or goes on when the patience is over.
    pub(crate) fn await_exit(&self) -> Result<(), Failure> {
        let Some(process) = &self.process else { return Ok(()) };
        let mut process = process.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match process.try_wait().map_err(Failure::broken("waiting for the server's process"))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(Failure::mismatch("exit status 0", status)),
                None if Instant::now() >= deadline => {
                    return Err(Failure::mismatch("the end of the process", "it goes on"));
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let process = process.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
            // It may have ended by itself; then there is nothing to stop.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Builds the fixture, an example of this workspace, and says where its binary is.
///
/// # Errors
/// It does not build; Cargo has said why on standard error.
pub fn build_fixture() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["build", "--quiet", "--package", "examples", "--example", "conformance"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo build: {error}"))?;
    let messages = String::from_utf8_lossy(&build.stdout);
    let binary = messages.lines().filter_map(fixture_binary).next_back();
    binary.filter(|_| build.status.success()).ok_or_else(|| "the example `conformance` does not build".into())
}

/// What Cargo says of one thing it built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

fn fixture_binary(message: &str) -> Option<PathBuf> {
    let artifact: Artifact = serde_json::from_str(message).ok()?;
    let is_fixture =
        artifact.target.name == "conformance" && artifact.target.kind.iter().any(|kind| kind == "example");
    artifact.executable.filter(|_| is_fixture)
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
