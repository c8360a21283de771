//! The result of a run played by agents, added up from what each reported at its end.

use super::super::protocol::End;
use super::watch::{Loss, Outcomes};
use crate::statistics::limits::THREADS_TOLD_MAX;
use crate::statistics::{ErrorExample, GeneratorFacts, MachineFacts, Statistics, ThreadUse};

/// The result of a run played by agents.
pub struct RemoteEnd {
    /// The statistics of all agents together.
    pub statistics: Statistics,
    /// Why the run ended.
    pub ended_by: String,
    /// Time from the start of the run until the last user on any agent had left, or an agent was lost, in seconds.
    pub seconds: f64,
    /// The text of the first error of each kind.
    pub examples: Vec<ErrorExample>,
    /// Source addresses by index, each with its agent's address.
    pub sources: Vec<String>,
    /// Facts about all agents together as generators.
    pub generator: GeneratorFacts,
    /// The agents' machines; lost ones have a warning.
    pub machines: Vec<MachineFacts>,
    /// Parts of the recording that failed, with the agent.
    pub losses: Vec<String>,
    /// Number of rows in all agents' event logs.
    pub log_rows: u64,
    /// Further messages for the user: agents lost, logs kept.
    pub notices: Vec<String>,
}

impl RemoteEnd {
    /// Adds the outcome of one agent.
    pub(super) fn take(&mut self, index: usize, outcome: Outcomes) {
        let Outcomes { address, offset: _, end, log_loss } = outcome;
        self.losses.extend(log_loss.map(|loss| format!("the event log of agent {address}: {loss}")));
        match end {
            Ok(end) => self.add(&address, end),
            Err(loss) => self.add_loss(index, &address, &loss),
        }
    }

    fn add(&mut self, address: &str, end: End) {
        // The reason why one agent ended early takes precedence over normal ends of others.
        if self.ended_by.is_empty() || self.ended_by == "finished" {
            self.ended_by = end.ended_by;
        }
        self.seconds = self.seconds.max(end.seconds);
        let (all, one) = (&mut self.generator, end.generator);
        all.shards += one.shards;
        all.cpu_mean += one.cpu_mean;
        all.thread_cpu_max = all.thread_cpu_max.max(one.thread_cpu_max);
        all.steal_mean = all.steal_mean.max(one.steal_mean);
        all.rss_max_bytes += one.rss_max_bytes;
        all.stalled_ms += one.stalled_ms;
        all.samples_failed += one.samples_failed;
        all.deliveries_unjudged += one.deliveries_unjudged;
        all.publications_unjudged += one.publications_unjudged;
        // Distributions of different machines are not merged: the worst one is reported.
        if one.read_lag.p99_us >= all.read_lag.p99_us {
            all.read_lag = one.read_lag;
        }
        if one.cpu_wait.p99_us >= all.cpu_wait.p99_us {
            all.cpu_wait = one.cpu_wait;
        }
        // Each machine's lists had their maximum at a different time, so the sum is an upper bound.
        all.presence.entries_max += one.presence.entries_max;
        all.memory += one.memory;
        all.presence.longest_max = all.presence.longest_max.max(one.presence.longest_max);
        let named = |thread: ThreadUse| ThreadUse { name: format!("{} on {address}", thread.name), ..thread };
        all.threads.extend(one.threads.into_iter().map(named));
        all.threads.sort_by(|one, other| other.cpu.total_cmp(&one.cpu));
        all.threads.truncate(THREADS_TOLD_MAX);
        self.log_rows += end.log_rows;
        self.notices
            .extend(end.folder.map(|folder| format!("agent {address} also keeps its event log in {folder}")));
        self.losses.extend(end.losses.iter().map(|loss| format!("agent {address}: {loss}")));
    }

    fn add_loss(&mut self, index: usize, address: &str, loss: &Loss) {
        let text = loss.told(address);
        self.seconds = self.seconds.max(loss.after.as_secs_f64());
        self.generator.agents_lost += 1;
        if let Some(machine) = self.machines.get_mut(index) {
            machine.warnings.push(text.clone());
        }
        self.losses
            .push(format!("agent {address} was lost, together with its latest results and its event log"));
        self.notices.push(text);
    }
}
