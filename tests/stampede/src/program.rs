//! Programs that the tests start, and where those of this workspace are.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::wait_until;

/// A running program with what it has said. It is killed when it is dropped.
pub struct Program {
    name: String,
    process: Child,
    input: Option<ChildStdin>,
    output: Said,
    complaints: Said,
    readers: Vec<JoinHandle<()>>,
}

type Said = Arc<Mutex<String>>;

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit status; negative for the signal that killed it.
    pub code: i32,
    /// What it said on standard output.
    pub output: String,
    /// And on standard error.
    pub complaints: String,
}

impl Program {
    /// Starts it with pipes for all that it says and hears.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (output, complaints) = (Said::default(), Said::default());
        let input = process.stdin.take();
        let mut readers = Vec::new();
        readers.extend(process.stdout.take().map(|pipe| listen(pipe, &output)));
        readers.extend(process.stderr.take().map(|pipe| listen(pipe, &complaints)));
        Self { name, process, input, output, complaints, readers }
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// What it has said on standard output so far.
    #[must_use]
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// And on standard error.
    #[must_use]
    pub fn complaints(&self) -> String {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until it says this, and returns the rest of that line.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut rest = None;
        wait_until(&format!("{} says {words:?}", self.name), || {
            for said in [self.output(), self.complaints()] {
                let line = said.split_once(words).and_then(|(_, rest)| rest.split_once('\n'));
                rest = rest.take().or_else(|| line.map(|(rest, _)| rest.to_owned()));
            }
            let has_ended = rest.is_none() && self.has_ended();
            assert!(!has_ended, "{} has ended: {}{}", self.name, self.output(), self.complaints());
            rest.is_some()
        });
        rest.unwrap_or_default()
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("its input is open");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("it reads its input");
    }

    /// Closes its standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.process.try_wait().expect("it is ours").is_some()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).expect("a process number"));
        kill(pid, signal).unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    /// Waits for its end.
    #[must_use]
    pub fn ended(mut self) -> Outcome {
        let mut status = None;
        let name = self.name.clone();
        wait_until(&format!("{name} ends"), || {
            status = self.process.try_wait().expect("it is ours");
            status.is_some()
        });
        for reader in self.readers.drain(..) {
            reader.join().expect("its pipe is read to the end");
        }
        let code = status.map_or(-1, code_of);
        Outcome { code, output: self.output(), complaints: self.complaints() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The binary of a package of this workspace: the one that `NAME_BIN` in the environment names, or else built now.
#[must_use]
pub(crate) fn built(package: &str, binary: &str) -> PathBuf {
    let variable = format!("{}_BIN", binary.to_uppercase());
    if let Some(path) = std::env::var_os(variable) {
        return path.into();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["build", "--quiet", "--package", package, "--bin", binary])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&build.stdout);
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == binary).then(|| message["executable"].as_str().map(PathBuf::from))?
    });
    executables.next_back().unwrap_or_else(|| panic!("{binary} does not build"))
}

fn listen(pipe: impl Read + Send + 'static, said: &Said) -> JoinHandle<()> {
    let said = Arc::clone(said);
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            said.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}

fn code_of(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap_or(i32::MIN)
}
