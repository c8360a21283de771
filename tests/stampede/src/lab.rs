//! A test's own folder, and Stampede run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use tempfile::TempDir;

use crate::program::{Outcome, built};
use crate::{Ended, Program, Terminal};

static STAMPEDE: LazyLock<PathBuf> = LazyLock::new(|| built("load", "stampede"));
static FLOOR: LazyLock<PathBuf> = LazyLock::new(|| built("floor", "floor"));

/// How often a run is played in the hope that nothing disturbs it.
const UNDISTURBED_TRIES: usize = 4;

/// A folder with scenarios and run folders, gone with the last that needs it.
pub struct Lab {
    folder: Arc<TempDir>,
    /// What Stampede is started by, if not by itself.
    wrapper: Vec<&'static str>,
    /// Folders in which it finds other programs first.
    programs: Vec<PathBuf>,
}

/// A run that goes on.
pub struct Run {
    /// The program.
    pub program: Program,
    runs: PathBuf,
    lab: Arc<TempDir>,
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

impl Lab {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder for temporary files"));
        Self { folder, wrapper: Vec::new(), programs: Vec::new() }
    }

    /// One whose Stampede is started by another program, such as `nice`.
    #[must_use]
    pub fn under(wrapper: &[&'static str]) -> Self {
        Self { wrapper: wrapper.to_vec(), ..Self::new() }
    }

    /// One whose Stampede finds the program `floor`.
    #[must_use]
    pub fn with_floor() -> Self {
        let folder = FLOOR.parent().expect("a program is in a folder");
        Self { programs: vec![folder.to_owned()], ..Self::new() }
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in it, and says where that is.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("the folder can be written");
        path
    }

    /// Starts Stampede in it.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Program {
        Program::start(self.command(&self.wrapper, arguments))
    }

    /// Starts Stampede in it, on a terminal of its own.
    #[must_use]
    pub fn start_on_terminal(&self, arguments: &[&str]) -> Terminal {
        // In a session of its own it does not find the terminal that the tests are run on.
        Terminal::start(self.command(&["setsid"], arguments))
    }

    fn command(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let words = wrapper.iter().map(Path::new).chain([STAMPEDE.as_path()]).collect::<Vec<_>>();
        let mut command = Command::new(words[0]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.programs.iter().cloned().chain(std::env::split_paths(&path));
        command.args(&words[1..]).env("PATH", std::env::join_paths(folders).expect("folders of programs"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("STAMPEDE_TOKEN").env_remove("STAMPEDE_CHAT_TOKEN");
        command
    }

    /// Runs Stampede in it, to the end.
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> Outcome {
        self.start(arguments).ended()
    }

    /// Starts a run: any command that makes a run folder.
    #[must_use]
    pub fn start_run(&self, arguments: &[&str]) -> Run {
        let runs = tempfile::Builder::new().prefix("runs-").tempdir_in(self.folder.path());
        let runs = runs.expect("the folder can be written").keep();
        let out = runs.to_str().expect("its name is text");
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--out", out]).collect();
        Run { program: self.start(&arguments), runs, lab: Arc::clone(&self.folder) }
    }

    /// Starts a scenario.
    #[must_use]
    pub fn start_scenario(&self, scenario: &str, arguments: &[&str]) -> Run {
        let path = self.file("scenario.yaml", scenario);
        let mut all = vec!["run", path.to_str().expect("its name is text")];
        all.extend(arguments);
        self.start_run(&all)
    }

    /// Plays a run to the end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.start_run(arguments).ended()
    }

    /// Plays a scenario to the end.
    #[must_use]
    pub fn play(&self, scenario: &str) -> Ended {
        self.start_scenario(scenario, &[]).ended()
    }

    /// Plays a scenario until the run is valid, a few times at most: whatever else the machine does may spoil one, and
    /// what is wrong with the judgement spoils all. The last of them.
    #[must_use]
    pub fn play_undisturbed(scenario: &str) -> Ended {
        let mut ended = Self::new().play(scenario);
        for _ in 1..UNDISTURBED_TRIES {
            if ended.summary().is_valid() {
                break;
            }
            ended = Self::new().play(scenario);
        }
        ended
    }
}

impl Run {
    /// Waits for its end.
    #[must_use]
    pub fn ended(self) -> Ended {
        let Outcome { code, output, complaints } = self.program.ended();
        let folder = only_folder(&self.runs)
            .unwrap_or_else(|| panic!("a run leaves one folder; it ended with {code}: {output}{complaints}"));
        Ended { code, output, complaints, folder, _lab: self.lab }
    }

    /// Its folder, once it is there.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let mut folder = None;
        crate::wait_until("the run has a folder", || {
            folder = only_folder(&self.runs);
            folder.is_some()
        });
        folder.unwrap_or_default()
    }
}

fn only_folder(parent: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(parent).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let folder = entries.next().filter(|path| path.is_dir())?;
    entries.next().is_none().then_some(folder)
}
