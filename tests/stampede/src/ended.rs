//! A run that has ended: its exit status, its summary and its event log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tempfile::TempDir;

/// What a run left.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Exit status.
    pub code: i32,
    /// What it said on standard output.
    pub output: String,
    /// And on standard error.
    pub complaints: String,
    /// The run folder.
    pub folder: PathBuf,
    /// What it is in.
    pub(crate) _lab: Arc<TempDir>,
}

/// `summary.json`.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary(pub Value);

/// The summary's counts.
pub type Counts = Map<String, Value>;

/// The event log, read to its last line.
#[derive(Clone, Debug)]
pub struct EventLog {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Ended {
    /// The folder's `summary.json`.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let path = self.folder.join("summary.json");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}; {}{}", path.display(), self.output, self.complaints)
        });
        Summary(serde_json::from_str(&text).expect("JSON"))
    }

    /// The folder's event log, whose last line must be complete.
    #[must_use]
    pub fn event_log(&self) -> EventLog {
        EventLog::read(&self.folder)
    }

    /// The folder's path as an argument.
    #[must_use]
    pub fn path(&self) -> &str {
        self.folder.to_str().expect("its name is text")
    }

    /// All that it said, for messages.
    #[must_use]
    pub fn words(&self) -> String {
        format!("exit {}\n{}{}", self.code, self.output, self.complaints)
    }
}

impl Summary {
    /// One of the counts.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.0["counts"][name].as_u64().unwrap_or_else(|| panic!("no count {name} in {}", self.0["counts"]))
    }

    /// All of them.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        self.0["counts"].as_object().expect("counts")
    }

    /// How many errors of a kind had an outcome, with the codes that came with them.
    #[must_use]
    pub fn errors(&self, kind: &str, outcome: &str) -> (u64, Vec<u64>) {
        let errors = self.0["errors"].as_array().expect("errors").iter();
        let found = errors.filter(|error| error["kind"] == kind && error["outcome"] == outcome);
        found.fold((0, Vec::new()), |(count, mut codes), error| {
            codes.push(error["code"].as_u64().expect("a code"));
            (count + error["count"].as_u64().expect("a count"), codes)
        })
    }

    /// Whether its figures are to be believed.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0["verdict"]["valid"].as_bool().expect("a verdict")
    }

    /// Why not.
    #[must_use]
    pub fn reasons(&self) -> String {
        self.0["verdict"]["reasons"].to_string()
    }

    /// `expected = delivered + lost + late + in_flight`, and the verdict does not say otherwise.
    pub fn assert_adds_up(&self) {
        let parts = ["delivered", "lost", "late", "in_flight"].map(|name| self.count(name));
        assert_eq!(self.count("expected"), parts.iter().sum::<u64>(), "{}", self.0["counts"]);
        assert!(!self.reasons().contains("add up"), "{}", self.reasons());
    }

    /// The exit status that it asks for: 3 for an invalid run, 1 for a missed threshold, else 0.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        let mut thresholds = self.0["thresholds"].as_array().expect("thresholds").iter();
        match (self.is_valid(), thresholds.all(|threshold| threshold["passed"] == true)) {
            (false, _) => 3,
            (true, false) => 1,
            (true, true) => 0,
        }
    }
}

impl EventLog {
    fn read(folder: &Path) -> Self {
        let text = match fs::read(folder.join("events.csv.zst")) {
            Ok(bytes) => zstd::decode_all(bytes.as_slice()).expect("whole frames"),
            Err(_) => fs::read(folder.join("events.csv")).expect("an event log in one form"),
        };
        let text = String::from_utf8(text).expect("text");
        assert!(text.ends_with('\n'), "its last line is cut: {:?}", text.lines().last());
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let columns = lines.next().expect("a head");
        let rows: Vec<_> = lines.collect();
        Self { columns, rows }
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many lines have these values.
    #[must_use]
    pub fn count(&self, wanted: &[(&str, &str)]) -> u64 {
        let column = |name: &str| {
            let place = self.columns.iter().position(|column| column == name);
            place.unwrap_or_else(|| panic!("no column {name} in {:?}", self.columns))
        };
        let wanted: Vec<(usize, &str)> = wanted.iter().map(|(name, value)| (column(name), *value)).collect();
        let fits = |row: &&Vec<String>| {
            wanted.iter().all(|(place, value)| row.get(*place).is_some_and(|cell| cell == value))
        };
        self.rows.iter().filter(fits).count() as u64
    }
}
