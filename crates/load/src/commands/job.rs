//! Turns a scenario file or a preset, together with the flags, into a job.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exit::Failure;
use crate::cli::Overrides;
use crate::run::Job;
use crate::scenario::source::Scenario;
use crate::scenario::{self, Context};
use crate::tsung;

/// A scenario as written, with the folder that its file names are relative to.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) scenario: Scenario,
    pub(super) file_name: String,
    pub(super) base_dir: PathBuf,
}

impl Written {
    /// Reads a scenario, or translates Tsung's XML; parts that cannot be translated are reported on standard error.
    pub(super) fn read(path: &Path, set: &[(String, String)]) -> Result<Self, Failure> {
        let file_name = path.display().to_string();
        let base_dir = path.parent().unwrap_or(Path::new("")).to_path_buf();
        if is_xml(path) {
            refuse_values(
                set,
                "Tsung's XML has no variables; translate it with `stampede import` to use some",
            )?;
            let imported = import(path)?;
            for remark in imported.unsupported() {
                let note = remark.verdict.note().unwrap_or_default();
                eprintln!("stampede: {file_name}:{}: {}: {note}", remark.line, remark.element);
            }
            return Ok(Self { scenario: imported.scenario, file_name, base_dir });
        }
        let set: BTreeMap<String, String> = set.iter().cloned().collect();
        let text = text_of(path, scenario::FILE_BYTES_MAX)?;
        // Compile with the source text first, so that each error is reported with its line.
        scenario::parse(&text, &file_name, &base_dir, &set).map_err(Failure::usage)?;
        let mut scenario = scenario::read(&text, &file_name, &set).map_err(Failure::usage)?;
        if scenario.name.is_empty() {
            scenario.name =
                path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        }
        Ok(Self { scenario, file_name, base_dir })
    }

    /// Wraps a preset's scenario.
    pub(super) fn ready_made(
        scenario: Result<Scenario, impl Display>,
        overrides: &Overrides,
    ) -> Result<Self, Failure> {
        refuse_values(&overrides.set, "ready-made runs have flags instead of variables; see --help")?;
        let scenario = scenario.map_err(Failure::usage)?;
        Ok(Self { file_name: scenario.name.clone(), scenario, base_dir: PathBuf::new() })
    }

    /// Applies the overrides from the flags.
    pub(super) fn with(mut self, overrides: &Overrides) -> Self {
        let scenario = &mut self.scenario;
        if let Some(seed) = overrides.seed {
            scenario.seed = seed;
        }
        if !overrides.sources.is_empty() {
            scenario.source_addresses.0.clone_from(&overrides.sources);
        }
        scenario.thresholds.0.extend(overrides.thresholds.iter().cloned());
        if let Some(ca) = &overrides.ca {
            // Relative to the working directory, not to the scenario.
            let ca = std::path::absolute(ca).unwrap_or_else(|_| ca.clone());
            scenario.tls.ca = Some(ca.to_string_lossy().into_owned());
        }
        scenario.tls.insecure |= overrides.insecure;
        self
    }

    /// Compiles the scenario into a job.
    pub(super) fn job(&self) -> Result<Job, Failure> {
        let context = Context { file_name: &self.file_name, base_dir: &self.base_dir };
        let plan = self.scenario.compile(&context).map_err(Failure::usage)?;
        Ok(Job {
            plan: Arc::new(plan),
            yaml: self.scenario.to_yaml(),
            base_dir: self.base_dir.clone(),
            keeps_samples: false,
        })
    }
}

/// Translates Tsung's XML.
pub(super) fn import(path: &Path) -> Result<tsung::Imported, Failure> {
    let file_name = path.display().to_string();
    let text = text_of(path, tsung::FILE_BYTES_MAX as u64)?;
    tsung::import(&text, &file_name).map_err(Failure::usage)
}

/// Reads a file as text, reading at most one byte beyond the limit.
fn text_of(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    let failed = |error| Failure::usage(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Failure::usage(format!("{}: larger than {bytes_max} bytes", path.display())));
    }
    String::from_utf8(bytes).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// Rejects values for variables where there are none: they would be ignored silently.
fn refuse_values(set: &[(String, String)], why: &str) -> Result<(), Failure> {
    match set.first() {
        Some((name, value)) => Err(Failure::usage(format!("cannot set {name}={value}: {why}"))),
        None => Ok(()),
    }
}

/// Returns whether a file is a Tsung configuration, judged by its name.
pub(super) fn is_xml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
}
