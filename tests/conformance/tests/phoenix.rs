//! Plays every case of `cases/` against the fixture, one test per case.
//!
//! `FIXTURE_BIN` names a fixture that is built already; `CONFORMANCE_ADDR=host:port` names a server that
//! runs already. Without either the example `conformance` of this workspace is built and started.
#![allow(clippy::print_stdout, reason = "a test harness speaks on standard output")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use conformance::case::{self, Case};
use conformance::player;
use conformance::server::{self, Server};
use libtest_mimic::{Arguments, Failed, Trial};

/// The cases wait far more than they compute.
const THREADS: usize = 8;
/// Where the fixtures' standard error goes.
const LOGS: &str = env!("CARGO_TARGET_TMPDIR");
/// As many as section 8 of the reference has.
const CASES: usize = 92;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let stage = Arc::new(Stage::default());
    let cases = case::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"));
    let cases = cases.unwrap_or_else(|error| panic!("the case files: {error}"));
    assert_eq!(cases.len(), CASES, "the case files lack a case of the reference, or have one too many");
    let trials = cases.into_iter().map(|case| trial(case, &stage)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        stage.say_conclusion(&conclusion);
    }
    conclusion.exit_code()
}

fn trial(case: Case, stage: &Arc<Stage>) -> Trial {
    let stage = Arc::clone(stage);
    let name = format!("{:<3} {}", case.id, case.title);
    let (kind, ends_outsider) = (case.group.clone(), case.ends_server && outside_address().is_some());
    // A server that was running before us is ended only if someone asks for that with `--ignored`.
    Trial::test(name, move || stage.play(&case)).with_kind(kind).with_ignored_flag(ends_outsider)
}

/// What the cases share: the server, and the right to be alone with it.
#[derive(Default)]
struct Stage {
    server: OnceLock<Result<Server, String>>,
    fixture: OnceLock<Result<PathBuf, String>>,
    alone: RwLock<()>,
    started: AtomicUsize,
    retries: Mutex<Vec<String>>,
    played: AtomicUsize,
}

impl Stage {
    fn play(&self, case: &Case) -> Result<(), Failed> {
        self.played.fetch_add(1, Ordering::Relaxed);
        if case.ends_server && outside_address().is_none() {
            return self.play_attempts(case, &self.start_fixture()?);
        }
        let server = self.server()?;
        if case.alone {
            let _alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
            return self.play_attempts(case, server);
        }
        let _shared = self.alone.read().unwrap_or_else(PoisonError::into_inner);
        self.play_attempts(case, server)
    }

    fn play_attempts(&self, case: &Case, server: &Server) -> Result<(), Failed> {
        let mut attempt = 1;
        loop {
            match player::play(case, server) {
                Ok(()) => return Ok(()),
                Err(report) if attempt < case.attempts => {
                    let retry =
                        format!("{} failed at attempt {attempt} of {}:\n{report}", case.id, case.attempts);
                    self.retries.lock().unwrap_or_else(PoisonError::into_inner).push(retry);
                    attempt += 1;
                }
                Err(report) => {
                    let note =
                        case.note.as_ref().map_or_else(String::new, |note| format!("  note:     {note}\n"));
                    return Err(format!("{} {}\n{note}{report}", case.id, case.title).into());
                }
            }
        }
    }

    fn server(&self) -> Result<&Server, String> {
        let start = || match outside_address() {
            Some(address) => address.map(Server::outside),
            None => self.start_fixture(),
        };
        self.server.get_or_init(start).as_ref().map_err(String::clone)
    }

    fn start_fixture(&self) -> Result<Server, String> {
        let fixture = self.fixture.get_or_init(|| match std::env::var_os("FIXTURE_BIN") {
            Some(path) => Ok(path.into()),
            None => server::build_fixture(),
        });
        let log = format!("conformance-fixture-{}.log", self.started.fetch_add(1, Ordering::Relaxed));
        Server::start(fixture.as_ref().map_err(String::clone)?, &Path::new(LOGS).join(log))
    }

    fn say_conclusion(&self, conclusion: &libtest_mimic::Conclusion) {
        for retry in self.retries.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            println!("{retry}");
        }
        if conclusion.has_failed() && self.started.load(Ordering::Relaxed) > 0 {
            println!("what the fixture said is in {LOGS}/conformance-fixture-*.log");
        }
        let played = self.played.load(Ordering::Relaxed);
        println!("{played} cases: {} passed, {} failed", conclusion.num_passed, conclusion.num_failed);
    }
}

fn outside_address() -> Option<Result<std::net::SocketAddr, String>> {
    use std::net::ToSocketAddrs as _;
    let text = std::env::var("CONFORMANCE_ADDR").ok()?;
    let resolved = text.to_socket_addrs().map_err(|error| format!("CONFORMANCE_ADDR={text}: {error}"));
    Some(resolved.and_then(|mut addresses| addresses.next().ok_or_else(|| format!("{text} has no address"))))
}
