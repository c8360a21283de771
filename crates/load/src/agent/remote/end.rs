//! What a run came to that agents played, added up from what each said at its end.

use super::super::protocol::End;
use super::watch::{Loss, Outcomes};
use crate::statistics::limits::THREADS_TOLD_MAX;
use crate::statistics::{ErrorExample, GeneratorFacts, MachineFacts, Statistics, ThreadUse};

/// What a run came to that agents played.
pub struct RemoteEnd {
    /// What all agents counted together.
    pub statistics: Statistics,
    /// What ended it.
    pub ended_by: String,
    /// What the first error of each kind said.
    pub examples: Vec<ErrorExample>,
    /// Source addresses by their index, those of each agent with its address.
    pub sources: Vec<String>,
    /// What the agents did themselves, all together.
    pub generator: GeneratorFacts,
    /// The agents' machines; those that were lost say so.
    pub machines: Vec<MachineFacts>,
    /// What could not be kept of the run on which agent.
    pub losses: Vec<String>,
    /// Rows of all agents' event logs.
    pub log_rows: u64,
    /// What is to be said besides: agents lost, logs kept.
    pub notices: Vec<String>,
}

impl RemoteEnd {
    /// Adds how it ended with one agent.
    pub(super) fn take(&mut self, index: usize, outcome: Outcomes) {
        let Outcomes { address, offset: _, end, log_loss } = outcome;
        self.losses.extend(log_loss.map(|loss| format!("the event log of agent {address}: {loss}")));
        match end {
            Ok(end) => self.add(&address, end),
            Err(loss) => self.add_loss(index, &address, &loss),
        }
    }

    fn add(&mut self, address: &str, end: End) {
        // What ended one of them early says more than that others came to their end.
        if self.ended_by.is_empty() || self.ended_by == "finished" {
            self.ended_by = end.ended_by;
        }
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
        // Distributions of different machines are not added up: the worst of them speaks.
        if one.read_lag.p99_us >= all.read_lag.p99_us {
            all.read_lag = one.read_lag;
        }
        if one.cpu_wait.p99_us >= all.cpu_wait.p99_us {
            all.cpu_wait = one.cpu_wait;
        }
        // Each machine's lists were most at a time of their own, so that this is the bound of all together.
        all.presence.entries_max += one.presence.entries_max;
        all.memory += one.memory;
        all.presence.longest_max = all.presence.longest_max.max(one.presence.longest_max);
        let named = |thread: ThreadUse| ThreadUse { name: format!("{} on {address}", thread.name), ..thread };
        all.threads.extend(one.threads.into_iter().map(named));
        all.threads.sort_by(|one, other| other.cpu.total_cmp(&one.cpu));
        all.threads.truncate(THREADS_TOLD_MAX);
        self.log_rows += end.log_rows;
        self.notices
            .extend(end.folder.map(|folder| format!("agent {address} has its event log in {folder} too")));
        self.losses.extend(end.losses.iter().map(|loss| format!("agent {address}: {loss}")));
    }

    fn add_loss(&mut self, index: usize, address: &str, loss: &Loss) {
        let text = loss.told(address);
        self.generator.agents_lost += 1;
        if let Some(machine) = self.machines.get_mut(index) {
            machine.warnings.push(text.clone());
        }
        self.losses.push(format!("agent {address} was lost, with what it saw last and its event log"));
        self.notices.push(text);
    }
}
