//! A scenario together with the files that it names, for machines that do not have them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::protocol::{FILES_BYTES_MAX, File};
use crate::scenario::{self, ScenarioErrors};

/// A scenario and its files.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Bundle {
    /// YAML in which the files have the names in `files`.
    pub(super) scenario: String,
    pub(super) files: Vec<File>,
}

/// Why a scenario cannot be sent.
#[derive(Debug)]
pub enum BundleError {
    /// The scenario cannot be read.
    Scenario(ScenarioErrors),
    /// A file that it names cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The scenario's files are too large in total.
    TooLarge {
        /// The file that exceeds the limit.
        path: PathBuf,
    },
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(errors) => errors.fmt(f),
            Self::File { path, error } => write!(f, "cannot send {} to the agents: {error}", path.display()),
            Self::TooLarge { path } => write!(
                f,
                "{}: with this file, the scenario's files exceed {FILES_BYTES_MAX} bytes, the maximum for \
                 agents",
                path.display()
            ),
        }
    }
}

impl std::error::Error for BundleError {}

impl Bundle {
    /// Reads the files that a scenario names, relative to `base_dir`.
    pub(super) fn pack(yaml: &str, base_dir: &Path) -> Result<Self, BundleError> {
        let mut scenario =
            scenario::read(yaml, "scenario", &BTreeMap::new()).map_err(BundleError::Scenario)?;
        let mut files = Vec::new();
        let mut left = FILES_BYTES_MAX;
        let feeders = scenario.feeders.values_mut().map(|feeder| &mut feeder.file);
        for name in feeders.chain(scenario.tls.ca.as_mut()) {
            let content = read(&base_dir.join(&*name), &mut left)?;
            *name = format!("file-{}", files.len());
            files.push(File { name: name.clone(), content });
        }
        Ok(Self { scenario: scenario.to_yaml(), files })
    }
}

fn read(path: &Path, left: &mut usize) -> Result<String, BundleError> {
    let failed = |error| BundleError::File { path: path.to_owned(), error };
    let mut content = String::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(*left as u64 + 1).read_to_string(&mut content).map_err(failed)?;
    *left = left.checked_sub(content.len()).ok_or_else(|| BundleError::TooLarge { path: path.to_owned() })?;
    Ok(content)
}

/// Writes a file of a bundle into a folder. Only names that [`Bundle::pack`] assigns are accepted; others could escape
/// the folder.
pub(super) fn unpack(file: &File, folder: &Path) -> io::Result<()> {
    let is_ours = |name: &str| {
        name.strip_prefix("file-").is_some_and(|number| {
            (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    if !is_ours(&file.name) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "unexpected file name"));
    }
    fs::write(folder.join(&file.name), &file.content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Context;

    const SCENARIO: &str = "
target: ws://127.0.0.1:1
feeders:
  people: { file: names.csv }
tls: { ca: authority.pem }
phases: [{ burst: 1 }]
sessions:
  - name: one
    steps: [connect]
";

    #[test]
    fn a_scenario_means_the_same_where_its_files_were_sent_to() {
        let home = tempfile::tempdir().expect("a folder");
        fs::write(home.path().join("names.csv"), "name\nanna\nbert\n").expect("written");
        fs::write(home.path().join("authority.pem"), "PEM").expect("written");
        let bundle = Bundle::pack(SCENARIO, home.path()).expect("packed");
        assert_eq!(bundle.files.len(), 2);

        let away = tempfile::tempdir().expect("a folder");
        bundle.files.iter().for_each(|file| unpack(file, away.path()).expect("written"));
        let compile = |yaml: &str, base_dir: &Path| {
            let read = scenario::read(yaml, "", &BTreeMap::new()).expect("a scenario");
            read.compile(&Context { file_name: "", base_dir }).expect("a plan")
        };
        let (here, there) = (compile(SCENARIO, home.path()), compile(&bundle.scenario, away.path()));
        assert_eq!(format!("{:?}", here.feeders), format!("{:?}", there.feeders));
        assert_eq!(format!("{:?}", here.sessions), format!("{:?}", there.sessions));
        assert!(there.tls.authorities.is_some_and(|path| path.starts_with(away.path())));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let home = tempfile::tempdir().expect("a folder");
        let error = Bundle::pack(SCENARIO, home.path()).expect_err("it is not there").to_string();
        assert!(error.contains("names.csv"), "{error}");
    }

    #[test]
    fn a_file_is_written_nowhere_but_into_the_folder() {
        let away = tempfile::tempdir().expect("a folder");
        for name in ["../file-0", "/etc/file-0", "file-", "file-x", "file-00000", ".."] {
            let file = File { name: name.to_owned(), content: String::new() };
            assert!(unpack(&file, away.path()).is_err(), "{name}");
        }
    }
}
