//! Recounts a recorded run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::folder::{FolderError, RunFolder};
use super::log_reader::{EventLog, LogError, Part};
use super::row::Row;
use crate::observe::{NO_LABEL, Observation};
use crate::statistics::{RunFacts, Statistics};

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
/// agents, sums up their logs one after the other.
///
/// # Errors
/// See [`RecountError`].
pub fn recount(folder: &Path) -> Result<Recount, RecountError> {
    recount_with(folder, thread::available_parallelism().map_or(1, usize::from))
}

/// Like [`recount`], with this number of threads.
///
/// # Errors
/// See [`RecountError`].
pub fn recount_with(folder: &Path, threads: usize) -> Result<Recount, RecountError> {
    let folder = RunFolder::open(folder).map_err(RecountError::Folder)?;
    let agents = folder.agents().map_err(RecountError::Folder)?;
    if agents.is_empty() {
        return recount_one(&folder, threads, Statistics::new);
    }
    let mut whole = Recount {
        statistics: Statistics::new().of_several_machines(),
        facts: folder.read_facts().map_err(RecountError::Folder)?.unwrap_or_default(),
        rows: 0,
        is_torn: false,
    };
    let mut sources = Vec::new();
    for agent in agents {
        let agent = RunFolder::open(&agent).map_err(RecountError::Folder)?;
        let mut part = recount_one(&agent, threads, || Statistics::new().of_several_machines())?;
        part.statistics.shift_sources(u16::try_from(sources.len()).unwrap_or(u16::MAX));
        sources.append(&mut part.facts.sources);
        whole.statistics.merge(&part.statistics);
        whole.rows += part.rows;
        whole.is_torn |= part.is_torn;
    }
    for (second, sample) in folder.read_samples().map_err(RecountError::Folder)? {
        whole.statistics.add_sample(second, sample);
    }
    // A run that was killed has not recorded the names of its source addresses.
    if whole.facts.sources.len() < sources.len() {
        whole.facts.sources = sources;
    }
    Ok(whole)
}

/// Recounts the log of one machine.
fn recount_one(
    folder: &RunFolder,
    threads: usize,
    beginning: fn() -> Statistics,
) -> Result<Recount, RecountError> {
    let mut facts = folder.read_facts().map_err(RecountError::Folder)?.unwrap_or_default();
    let parts =
        EventLog::find(folder.path()).and_then(|log| log.parts(threads)).map_err(RecountError::Log)?;
    let tables = Tables::of(&facts);
    let counted = thread::scope(|scope| {
        let counting: Vec<_> =
            parts.iter().map(|part| scope.spawn(|| count(part, &tables, beginning()))).collect();
        counting.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut whole = Counted { statistics: beginning(), ..Counted::default() };
    for part in counted {
        let part =
            part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(RecountError::Log)?;
        whole.statistics.merge(&part.statistics);
        whole.rows += part.rows;
        whole.is_torn |= part.is_torn;
    }
    for (second, sample) in folder.read_samples().map_err(RecountError::Folder)? {
        whole.statistics.add_sample(second, sample);
    }
    (facts.labels, facts.sources) = tables.into_names();
    Ok(Recount { statistics: whole.statistics, facts, rows: whole.rows, is_torn: whole.is_torn })
}

#[derive(Default)]
struct Counted {
    statistics: Statistics,
    rows: u64,
    is_torn: bool,
}

fn count(part: &Part, tables: &Tables, statistics: Statistics) -> Result<Counted, LogError> {
    let mut rows = part.rows()?;
    let mut counted = Counted { statistics, ..Counted::default() };
    let mut labels = Known::new(&tables.labels);
    let mut sources = Known::new(&tables.sources);
    while let Some(Row { observation, label, source, .. }) = rows.next_row()? {
        let seen = Observation {
            label: if observation.label == NO_LABEL { NO_LABEL } else { labels.index(&label) },
            source: sources.index(&source),
            ..observation
        };
        counted.statistics.observe(&seen);
        counted.rows += 1;
    }
    counted.is_torn = rows.is_torn();
    Ok(counted)
}

/// Name tables, shared by all threads.
struct Tables {
    labels: Mutex<Vec<String>>,
    sources: Mutex<Vec<String>>,
}

impl Tables {
    fn of(facts: &RunFacts) -> Self {
        Self { labels: Mutex::new(facts.labels.clone()), sources: Mutex::new(facts.sources.clone()) }
    }

    fn into_names(self) -> (Vec<String>, Vec<String>) {
        let names = |table: Mutex<Vec<String>>| table.into_inner().unwrap_or_else(PoisonError::into_inner);
        (names(self.labels), names(self.sources))
    }
}

/// One thread's cache of a table.
struct Known<'a> {
    table: &'a Mutex<Vec<String>>,
    indexes: HashMap<Box<[u8]>, u16>,
    /// Cache of the previous row's name, since most rows repeat it.
    last: (Vec<u8>, u16),
}

impl<'a> Known<'a> {
    fn new(table: &'a Mutex<Vec<String>>) -> Self {
        let mut known = Self { table, indexes: HashMap::new(), last: (Vec::new(), 0) };
        known.last.1 = known.looked_up(b"");
        known
    }

    fn index(&mut self, name: &[u8]) -> u16 {
        if self.last.0 != name {
            self.last.1 = self.looked_up(name);
            self.last.0.clear();
            self.last.0.extend_from_slice(name);
        }
        self.last.1
    }

    fn looked_up(&mut self, name: &[u8]) -> u16 {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = self.entered(&String::from_utf8_lossy(name));
        self.indexes.insert(name.into(), index);
        index
    }

    /// Returns the index of a name in the shared table, appending the name if it is new. The last index stands for all
    /// names beyond the table's capacity.
    fn entered(&self, name: &str) -> u16 {
        const LAST: u16 = NO_LABEL - 1;
        if name.is_empty() {
            return 0;
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let place = table.iter().position(|known| known == name).unwrap_or_else(|| {
            if table.len() < usize::from(LAST) {
                table.push(name.to_owned());
            }
            table.len() - 1
        });
        u16::try_from(place).unwrap_or(LAST)
    }
}
