//! Echo servers that others wrote.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Program;

/// npm `ws`, from the client tests' modules. Returns the program and `HOST:PORT`.
#[must_use]
pub fn node_echo() -> (Program, String) {
    let mut command = Command::new("node");
    command.arg(tests_folder().join("clients/harness/echo.js"));
    listening(command)
}

/// Python's `websockets`, from an environment that `make stampede` builds. Returns the program and `HOST:PORT`.
#[must_use]
pub fn python_echo() -> (Program, String) {
    let peers = tests_folder().join("stampede/peers");
    let mut environment = Command::new("python3");
    environment.current_dir(tests_folder()).args(["-B", "-m", "harness.environment", "stampede-peers"]);
    let environment = environment.arg(peers.join("requirements.txt")).output().expect("python3 runs");
    let python = String::from_utf8_lossy(&environment.stdout).trim().to_owned();
    assert!(environment.status.success(), "{}", String::from_utf8_lossy(&environment.stderr));
    let mut command = Command::new(python);
    command.arg("-B").arg(peers.join("echo.py"));
    listening(command)
}

fn listening(command: Command) -> (Program, String) {
    let mut program = Program::start(command);
    let address = program.wait_for("listening ").trim().to_owned();
    (program, address)
}

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it stands among the tests").to_owned()
}
