//! The folder that holds the files of a run.

use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::log_writer::LogForm;
use super::{Histograms, ending, series_csv, series_reader};
use crate::statistics::wsdemo::C10k;
use crate::statistics::{MachineSample, RunFacts, SeriesRow, Statistics, Summary};

/// Facts about the run other than its observations.
const FACTS: &str = "run.json";
const SUMMARY: &str = "summary.json";
/// The summary of an incomplete event log, beside the summary written at the end of the run.
const SUMMARY_OF_LOG: &str = "summary.of-log.json";
const HISTOGRAMS: &str = "histograms.json";
const SERIES: &str = "series.csv";
const SERVERS: &str = "servers.csv";
/// The scenario that was played.
const SCENARIO: &str = "scenario.yaml";
/// Samples of the machine and the servers, one per line.
const SAMPLES: &str = "samples.jsonl";
/// The C10K test's result from its random samples, which cannot be derived from an event log.
const WSDEMO: &str = "wsdemo.txt";

/// Folders of the agents that played a run, named by their numbers from 1.
const AGENTS: &str = "agents";
/// The files of an agent's folder that a recount needs.
pub const AGENT_FILES: [&str; 4] = [FACTS, "events.csv.zst", "events.csv", SAMPLES];

/// Size limit of the C10K test's result: a hundred times its usual size.
const WSDEMO_BYTES_MAX: u64 = 1 << 20;

/// Maximum length of a run's name in its folder's name, in characters.
const NAME_CHARACTERS_MAX: usize = 64;
/// Maximum number that distinguishes folders of the same second and name.
const SAME_NAME_MAX: u32 = 1000;

/// A file or folder that cannot be written or read.
#[derive(Debug)]
pub struct FolderError {
    /// The file or folder.
    pub path: PathBuf,
    /// The cause.
    pub error: io::Error,
}

impl Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for FolderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The folder of one run. The contents of each file are documented in `docs/stampede-files.md`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates `YYYYMMDD-HHMMSS-name` (UTC) in the parent, which is created if necessary. Characters that a file name
    /// should not contain become `-` in the name.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(parent: &Path, name: &str) -> Result<Self, FolderError> {
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        let first = parent.join(format!("{now}-{}", file_name(name)));
        for number in 1..SAME_NAME_MAX {
            let mut path = first.clone().into_os_string();
            if number > 1 {
                path.push(format!("-{number}"));
            }
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path: path.into() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(Path::new(&path))(error)),
            }
        }
        Err(failed(&first)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Opens an existing folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self { path: path.to_owned() }),
            Ok(_) => Err(failed(path)(io::ErrorKind::NotADirectory.into())),
            Err(error) => Err(failed(path)(error)),
        }
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder for the files of an agent that played a part of the run; agents are counted from 0.
    #[must_use]
    pub fn of_agent(&self, agent: usize) -> PathBuf {
        self.path.join(AGENTS).join((agent + 1).to_string())
    }

    /// Returns the folders of the agents that played the run, as far as their files are here, in order.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn agents(&self) -> Result<Vec<PathBuf>, FolderError> {
        let path = self.path.join(AGENTS);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&path)(error)),
        };
        let mut agents = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed(&path))?;
            agents.extend(entry.file_name().to_str().and_then(|name| name.parse::<usize>().ok()));
        }
        agents.sort_unstable();
        Ok(agents.into_iter().map(|agent| path.join(agent.to_string())).collect())
    }

    /// Creates the event log's file; `None` for [`LogForm::None`].
    ///
    /// # Errors
    /// If it cannot be created, or exists already.
    pub fn create_log(&self, form: LogForm) -> Result<Option<File>, FolderError> {
        let Some(name) = form.file_name() else { return Ok(None) };
        let path = self.path.join(name);
        File::create_new(&path).map(Some).map_err(failed(&path))
    }

    /// Writes all results at the end of a run: facts, summary, histograms, series and, if random samples were kept, the
    /// C10K test's result. Returns the summary.
    ///
    /// # Errors
    /// If a file cannot be written; the files before it have been.
    pub fn write_results(&self, statistics: &Statistics, facts: &RunFacts) -> Result<Summary, FolderError> {
        let summary = ending::summary(statistics, facts);
        self.write_facts(facts)?;
        self.write_summary(&summary)?;
        self.write_json(HISTOGRAMS, &Histograms::of(statistics, facts))?;
        let rows = statistics.series();
        self.write(SERIES, |file| series_csv::write_series(&rows, file))?;
        self.write(SERVERS, |file| series_csv::write_servers(&rows, file))?;
        if let Some(result) = C10k::of_samples(statistics) {
            self.write(WSDEMO, |file| writeln!(file, "{result}"))?;
        }
        Ok(summary)
    }

    /// Writes `run.json`: once at the start, so that the log's tables are known however the run ends, and once at the
    /// end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_facts(&self, facts: &RunFacts) -> Result<(), FolderError> {
        self.write_json(FACTS, facts)
    }

    /// Writes `scenario.yaml`: the scenario that was played.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_scenario(&self, yaml: &str) -> Result<(), FolderError> {
        let path = self.path.join(SCENARIO);
        std::fs::write(&path, yaml).map_err(failed(&path))
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FolderError> {
        self.write_json(SUMMARY, summary)
    }

    /// Writes `summary.of-log.json`, the summary of an incomplete event log, beside the summary of the run's end.
    /// Returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_summary_of_log(&self, summary: &Summary) -> Result<PathBuf, FolderError> {
        self.write_json(SUMMARY_OF_LOG, summary)?;
        Ok(self.path.join(SUMMARY_OF_LOG))
    }

    /// Reads `run.json`; `None` if there is none.
    ///
    /// # Errors
    /// If it exists but cannot be read.
    pub fn read_facts(&self) -> Result<Option<RunFacts>, FolderError> {
        self.read_json(FACTS)
    }

    /// Reads `summary.json`; `None` if there is none.
    ///
    /// # Errors
    /// If it exists but cannot be read.
    pub fn read_summary(&self) -> Result<Option<Summary>, FolderError> {
        self.read_json(SUMMARY)
    }

    /// Reads `histograms.json`; `None` if there is none.
    ///
    /// # Errors
    /// If it exists but cannot be read.
    pub fn read_histograms(&self) -> Result<Option<Histograms>, FolderError> {
        self.read_json(HISTOGRAMS)
    }

    /// Reads `series.csv` and `servers.csv`: the run second by second; empty if there is no such file.
    ///
    /// # Errors
    /// If one exists but cannot be read.
    pub fn read_series(&self) -> Result<Vec<SeriesRow>, FolderError> {
        let mut rows = match self.open_file(SERIES)? {
            Some(file) => series_reader::read_series(file).map_err(failed(&self.path.join(SERIES)))?,
            None => Vec::new(),
        };
        if let Some(file) = self.open_file(SERVERS)? {
            series_reader::read_servers(file, &mut rows).map_err(failed(&self.path.join(SERVERS)))?;
        }
        Ok(rows)
    }

    /// Reads `wsdemo.txt`: the C10K test's result from its random samples; `None` if there is none.
    ///
    /// # Errors
    /// If it exists but cannot be read.
    pub fn read_wsdemo_term(&self) -> Result<Option<String>, FolderError> {
        let Some(file) = self.open_file(WSDEMO)? else { return Ok(None) };
        let mut text = String::new();
        file.take(WSDEMO_BYTES_MAX).read_to_string(&mut text).map_err(failed(&self.path.join(WSDEMO)))?;
        Ok(Some(text.trim_end().to_owned()))
    }

    /// Opens `samples.jsonl` for appending.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn sample_log(&self) -> Result<SampleLog, FolderError> {
        let path = self.path.join(SAMPLES);
        let file = File::options().create(true).append(true).open(&path).map_err(failed(&path))?;
        Ok(SampleLog { path, file })
    }

    /// Reads `samples.jsonl`: the samples with their seconds; empty if there is no such file. A truncated last line is
    /// skipped.
    ///
    /// # Errors
    /// If it exists but cannot be read.
    pub fn read_samples(&self) -> Result<Vec<(u32, MachineSample)>, FolderError> {
        let path = self.path.join(SAMPLES);
        let Some(mut file) = self.open_file(SAMPLES)? else { return Ok(Vec::new()) };
        let mut samples = Vec::new();
        let mut line = String::new();
        while file.read_line(&mut line).map_err(failed(&path))? > 0 && line.ends_with('\n') {
            let sample: SampleLine =
                serde_json::from_str(&line).map_err(|error| failed(&path)(error.into()))?;
            samples.push((sample.second, sample.sample));
            line.clear();
        }
        Ok(samples)
    }

    /// Opens one of the folder's files; `None` if it does not exist.
    fn open_file(&self, name: &str) -> Result<Option<BufReader<File>>, FolderError> {
        let path = self.path.join(name);
        match File::open(&path) {
            Ok(file) => Ok(Some(BufReader::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path)(error)),
        }
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FolderError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| failed(&path)(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path)(error)),
        }
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), FolderError> {
        self.write(name, |file| {
            serde_json::to_writer_pretty(&mut *file, value)?;
            file.write_all(b"\n")
        })
    }

    /// Writes a file atomically, by renaming a temporary file, so that no reader ever sees a partial one.
    fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let unfinished = self.path.join(format!("{name}.unfinished"));
        let written = File::create(&unfinished).and_then(|file| {
            let mut file = io::BufWriter::new(file);
            content(&mut file)?;
            file.flush()?;
            fs::rename(&unfinished, &path)
        });
        written.map_err(failed(&path))
    }
}

/// An open `samples.jsonl`.
#[derive(Debug)]
pub struct SampleLog {
    path: PathBuf,
    file: File,
}

#[derive(Serialize, Deserialize)]
struct SampleLine {
    second: u32,
    #[serde(flatten)]
    sample: MachineSample,
}

impl SampleLog {
    /// Appends the sample of one second.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, second: u32, sample: &MachineSample) -> Result<(), FolderError> {
        let line = SampleLine { second, sample: sample.clone() };
        let written = serde_json::to_vec(&line).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)
        });
        written.map_err(failed(&self.path))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = path.to_owned();
    move |error| FolderError { path: path.clone(), error }
}

/// Returns a run's name in a form suitable for a file name.
fn file_name(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
    let name: String = name
        .chars()
        .take(NAME_CHARACTERS_MAX)
        .map(|character| if plain(character) { character } else { '-' })
        .collect();
    if name.is_empty() { "run".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_time_and_run_and_never_used_twice() {
        let parent = tempfile::tempdir().expect("a folder");
        let runs = parent.path().join("runs");
        let first = RunFolder::create(&runs, "a chat/with spaces").expect("a folder");
        let name = first.path().file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let (time, rest) = name.split_at(15);
        assert!(
            time.bytes().enumerate().all(|(place, byte)| byte.is_ascii_digit() != (place == 8)),
            "{name}"
        );
        assert_eq!(rest, "-a-chat-with-spaces");
        // Whether or not created within the same second, three folders are distinct.
        let more = [(); 2].map(|()| RunFolder::create(&runs, "a chat/with spaces").expect("a folder"));
        assert!(more[0] != more[1] && more.iter().all(|folder| *folder != first));
    }

    #[test]
    fn a_last_sample_that_was_cut_off_is_left_out() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::create(parent.path(), "").expect("a folder");
        assert_eq!(folder.read_samples().expect("no samples"), []);
        let sample = MachineSample { generator_cpu: 1.5, ..MachineSample::default() };
        let mut log = folder.sample_log().expect("a file");
        log.add(3, &sample).expect("written");
        log.file.write_all(b"{\"second\":4,\"gener").expect("written");
        assert_eq!(folder.read_samples().expect("readable"), [(3, sample)]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = RunFolder::open(Path::new("/no/such/folder")).expect_err("it is not there");
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
