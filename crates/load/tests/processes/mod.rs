//! Controllers and agents as processes on this machine.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::panic, reason = "a test that cannot go on says why")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use load::statistics::Summary;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time limit for anything that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with the test.
pub(crate) struct Running {
    pub(crate) process: Child,
    said: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    /// Waits for an output line that contains this text.
    pub(crate) fn hear(&self, what: &str) -> String {
        self.hear_any(&[what])
    }

    /// Waits for an output line that contains one of these texts.
    pub(crate) fn hear_any(&self, what: &[&str]) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left) {
                Ok(line) if what.iter().any(|what| line.contains(what)) => return line,
                Ok(_) => {}
                Err(error) => panic!("it never said any of {what:?}: {error}"),
            }
        }
    }
}

pub(crate) fn stampede() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampede"));
    command.env_remove("STAMPEDE_TOKEN").env("NO_COLOR", "1");
    command
}

pub(crate) fn start(command: &mut Command) -> Running {
    let spawned = command.stderr(Stdio::piped()).stdout(Stdio::null()).stdin(Stdio::null()).spawn();
    let mut process = spawned.expect("a process");
    let lines = BufReader::new(process.stderr.take().expect("its standard error")).lines();
    let (say, said) = channel();
    // The output is read to the end, so that the process never blocks on a full pipe.
    thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(say.send(line))));
    Running { process, said }
}

/// Starts an agent and returns its address.
pub(crate) fn agent(flags: &[&str]) -> (Running, String) {
    let running = start(stampede().args(["agent", "--listen", "127.0.0.1:0"]).args(flags));
    let line = running.hear("waiting for a controller on ");
    let address = line.split(" on ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an address");
    let address = address.to_owned();
    (running, address)
}

pub(crate) fn run(scenario: &Path, agents: &[&str], flags: &[&str]) -> Command {
    let mut command = stampede();
    let out = scenario.parent().expect("its folder").join("runs");
    command.arg("run").arg(scenario).arg("--out").arg(out).args(["--agents", &agents.join(",")]).args(flags);
    command
}

pub(crate) fn summary(output: &Output) -> Summary {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}; it said: {said}"))
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the directory of the only run.
pub(crate) fn run_folder(folder: &Path) -> PathBuf {
    let runs = std::fs::read_dir(folder.join("runs")).expect("the runs' folder");
    runs.map_while(Result::ok).next().expect("one run").path()
}

/// Reads the summary in the directory of the only run.
pub(crate) fn kept(folder: &Path) -> Summary {
    let run = run_folder(folder);
    assert!(run.join("report.html").is_file(), "the report is missing");
    let text = std::fs::read_to_string(run.join("summary.json")).expect("its summary");
    serde_json::from_str(&text).expect("a summary")
}

pub(crate) fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.process.id()).expect("the id of a process");
    kill(Pid::from_raw(pid), signal).expect("it is running");
}
