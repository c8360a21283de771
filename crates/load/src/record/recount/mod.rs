//! Recounts a recorded run.

mod names;
mod observations;
mod together;

use std::path::Path;
use std::thread;

use super::folder::{FolderError, RunFolder};
use super::log_reader::{EventLog, LogError, Part};
use crate::statistics::{RunFacts, Statistics};
use names::Tables;
use observations::Observations;

/// A run recounted from its event log.
#[derive(Clone, PartialEq, Debug)]
pub struct Recount {
    /// Equal to what was counted live, as far as the log goes.
    pub statistics: Statistics,
    /// The other facts about the run, with the names of all labels and source addresses in the log.
    pub facts: RunFacts,
    /// Number of rows counted.
    pub rows: u64,
    /// Whether the log's end was cut off in the middle of a frame or row, which is skipped.
    pub is_torn: bool,
}

impl Recount {
    /// Returns why the log contains less than the run knew at its end; `None` if it is complete, or if no end is known:
    /// then the log is all there is.
    #[must_use]
    pub fn shortfall(&self) -> Option<String> {
        let Self { facts, rows, is_torn, .. } = self;
        if facts.ended_by.is_empty() {
            return None;
        }
        if !facts.losses.is_empty() {
            return Some(format!("not all of the run's data was kept ({})", facts.losses.join("; ")));
        }
        if *rows < facts.log_rows {
            return Some(format!(
                "the event log has {rows} of the {} rows that were written",
                facts.log_rows
            ));
        }
        is_torn.then(|| "the last line of the event log was cut off".to_owned())
    }
}

/// Why a run cannot be recounted.
#[derive(Debug)]
pub enum RecountError {
    /// The event log.
    Log(LogError),
    /// The other files of the folder.
    Folder(FolderError),
}

impl std::fmt::Display for RecountError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Folder(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecountError {}

/// Recounts the run in this folder, using all cores, in memory that does not grow with the log. For a run played by
/// agents, counts all their logs together.
///
/// # Errors
/// See [`RecountError`].
pub fn recount(folder: &Path) -> Result<Recount, RecountError> {
    recount_with(folder, thread::available_parallelism().map_or(1, usize::from))
}

/// Like [`recount`], with this number of threads. The logs of several agents are read by a thread each instead.
///
/// # Errors
/// See [`RecountError`].
pub fn recount_with(folder: &Path, threads: usize) -> Result<Recount, RecountError> {
    let folder = RunFolder::open(folder).map_err(RecountError::Folder)?;
    let agents = folder.agents().map_err(RecountError::Folder)?;
    let agents = agents.iter().map(|agent| RunFolder::open(agent)).collect::<Result<Vec<_>, _>>();
    let agents = agents.map_err(RecountError::Folder)?;
    let parts = match agents.as_slice() {
        [] => return recount_one(&folder, threads),
        [agent] => vec![recount_one(agent, threads)?],
        agents => together::recount(agents)?,
    };
    let mut whole = Recount {
        statistics: Statistics::new(),
        facts: folder.read_facts().map_err(RecountError::Folder)?.unwrap_or_default(),
        rows: 0,
        is_torn: false,
    };
    let mut sources = Vec::new();
    for mut part in parts {
        part.statistics.shift_sources(u16::try_from(sources.len()).unwrap_or(u16::MAX));
        sources.append(&mut part.facts.sources);
        whole.statistics.merge(&part.statistics);
        whole.rows += part.rows;
        whole.is_torn |= part.is_torn;
    }
    add_samples(&mut whole.statistics, &folder)?;
    // A run that was killed has not recorded the names of its source addresses.
    if whole.facts.sources.len() < sources.len() {
        whole.facts.sources = sources;
    }
    Ok(whole)
}

/// Recounts the log of one machine.
fn recount_one(folder: &RunFolder, threads: usize) -> Result<Recount, RecountError> {
    let facts = folder.read_facts().map_err(RecountError::Folder)?.unwrap_or_default();
    let parts =
        EventLog::find(folder.path()).and_then(|log| log.parts(threads)).map_err(RecountError::Log)?;
    let tables = Tables::of(&facts);
    let counted = thread::scope(|scope| {
        let counting: Vec<_> = parts.iter().map(|part| scope.spawn(|| count(part, &tables))).collect();
        counting.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut whole = Counted::default();
    for part in counted {
        let part =
            part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(RecountError::Log)?;
        whole.statistics.merge(&part.statistics);
        whole.rows += part.rows;
        whole.is_torn |= part.is_torn;
    }
    whole.into_recount(folder, facts, tables)
}

fn add_samples(statistics: &mut Statistics, folder: &RunFolder) -> Result<(), RecountError> {
    for (second, sample) in folder.read_samples().map_err(RecountError::Folder)? {
        statistics.add_sample(second, sample);
    }
    Ok(())
}

/// What was counted in a log, or in a part of one.
#[derive(Default)]
struct Counted {
    statistics: Statistics,
    rows: u64,
    is_torn: bool,
}

impl Counted {
    /// Adds the samples in the folder, and the names of all labels and source addresses.
    fn into_recount(
        self,
        folder: &RunFolder,
        facts: RunFacts,
        tables: Tables,
    ) -> Result<Recount, RecountError> {
        let Self { mut statistics, rows, is_torn } = self;
        add_samples(&mut statistics, folder)?;
        let (labels, sources) = tables.into_names();
        Ok(Recount { statistics, facts: RunFacts { labels, sources, ..facts }, rows, is_torn })
    }
}

fn count(part: &Part, tables: &Tables) -> Result<Counted, LogError> {
    let mut observations = Observations::of(part, tables)?;
    let mut statistics = Statistics::new();
    while let Some(seen) = observations.next()? {
        statistics.observe(&seen);
    }
    Ok(Counted { statistics, rows: observations.count(), is_torn: observations.is_torn() })
}
