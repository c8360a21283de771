//! Recounts the logs of several agents in step.
//!
//! A publication has receivers on all machines, and only a limited number of publications can be open at once. So the
//! logs are not read one after the other: each is read by a thread of its own, which hands on its publications second
//! by second, and these are merged in the order of the seconds, as during the run.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::super::folder::RunFolder;
use super::super::log_reader::{EventLog, LogError};
use super::{Counted, Observations, Recount, RecountError, Tables};
use crate::statistics::{NANOS_PER_SECOND, Publications, Statistics};

/// How many seconds of a log may have been read before they are merged.
const SECONDS_AHEAD_MAX: usize = 2;

/// What one machine knows of the publications in one second of its log.
struct Slice {
    second: u64,
    publications: Publications,
}

/// Recounts the log of each agent. The first of the results has the publications of all.
pub(super) fn recount(agents: &[RunFolder]) -> Result<Vec<Recount>, RecountError> {
    let facts = agents.iter().map(|agent| Ok(agent.read_facts()?.unwrap_or_default()));
    let facts = facts.collect::<Result<Vec<_>, _>>().map_err(RecountError::Folder)?;
    let tables: Vec<Tables> = facts.iter().map(Tables::of).collect();
    let (counted, publications) = thread::scope(|scope| {
        let (threads, logs): (Vec<_>, Vec<_>) = agents
            .iter()
            .zip(&tables)
            .map(|(agent, tables)| {
                let (sink, slices) = sync_channel(SECONDS_AHEAD_MAX);
                (scope.spawn(move || count(agent, tables, &sink)), slices)
            })
            .unzip();
        let publications = merged(&logs);
        let counted: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        (counted, publications)
    });
    let mut recounts = Vec::new();
    for (((agent, facts), tables), counted) in agents.iter().zip(facts).zip(tables).zip(counted) {
        recounts.push(counted.map_err(RecountError::Log)?.into_recount(agent, facts, tables)?);
    }
    if let Some(first) = recounts.first_mut() {
        first.statistics.add_publications(&publications);
    }
    Ok(recounts)
}

/// Merges the slices of all logs in the order of their seconds, until the last log has ended.
fn merged(logs: &[Receiver<Slice>]) -> Publications {
    let mut publications = Publications::default();
    // A log whose channel is closed has ended.
    let mut next: Vec<Option<Slice>> = logs.iter().map(|log| log.recv().ok()).collect();
    loop {
        let waiting = next.iter_mut().zip(logs).filter(|(slice, _)| slice.is_some());
        let Some((first, log)) = waiting.min_by_key(|(slice, _)| slice.as_ref().map(|slice| slice.second))
        else {
            return publications;
        };
        if let Some(slice) = std::mem::replace(first, log.recv().ok()) {
            publications.merge(&slice.publications);
        }
    }
}

/// Counts an agent's log, and hands on its publications.
fn count(agent: &RunFolder, tables: &Tables, sink: &SyncSender<Slice>) -> Result<Counted, LogError> {
    let log = EventLog::find(agent.path())?;
    let mut observations = Observations::of(&log.whole(), tables)?;
    let beginning = || Statistics::new().of_several_machines();
    let mut statistics = beginning();
    let mut second = 0;
    while let Some(seen) = observations.next()? {
        // Observations are written nearly in the order of time; a belated one belongs to the present slice.
        let of_observation = seen.at / NANOS_PER_SECOND;
        if of_observation > second {
            hand_on(&mut statistics, second, sink);
            second = of_observation;
        }
        statistics.observe(&seen);
    }
    hand_on(&mut statistics, second, sink);
    Ok(Counted { statistics, rows: observations.count(), is_torn: observations.is_torn() })
}

fn hand_on(statistics: &mut Statistics, second: u64, sink: &SyncSender<Slice>) {
    // The other side receives until this one is gone.
    let _ = sink.send(Slice { second, publications: statistics.take_publications() });
}
