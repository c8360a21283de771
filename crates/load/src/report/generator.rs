//! Facts about the load generator itself, in words; shared by the page and the terminal.

use super::chart::{Unit, grouped};
use crate::statistics::{GeneratorFacts, GeneratorMemory, ServerSamples, ThreadUse};

/// Number of threads listed by name; the summary has more.
const THREADS_NAMED: usize = 4;

/// Returns names and values in reading order; empty if nothing is known.
pub(super) fn generator_facts(generator: &GeneratorFacts) -> Vec<(&'static str, String)> {
    if *generator == GeneratorFacts::default() {
        return Vec::new();
    }
    let mut facts = vec![
        ("version", generator.version.clone()),
        ("threads with connections", generator.shards.to_string()),
        (
            "CPU used",
            format!(
                "{} cores on average; busiest thread {}",
                Unit::Cores.format(generator.cpu_mean),
                Unit::Share.format(generator.thread_cpu_max)
            ),
        ),
    ];
    if !generator.threads.is_empty() {
        facts.push(("busiest threads", threads(&generator.threads)));
    }
    facts.extend([
        ("taken by the hypervisor", Unit::Share.format(generator.steal_mean)),
        ("memory at most", Unit::Bytes.format(generator.rss_max_bytes as f64)),
        ("held back by its own log", Unit::Microseconds.format(generator.stalled_ms as f64 * 1000.0)),
    ]);
    if generator.memory != GeneratorMemory::default() {
        facts.push(("memory of users and connections", memory(&generator.memory)));
    }
    if generator.presence.entries_max > 0 {
        let presence = &generator.presence;
        let (all, longest) = (grouped(presence.entries_max), grouped(presence.longest_max));
        facts.push(("lists of who is present", format!("{all} entries at most, {longest} in the longest")));
    }
    if generator.samples_failed > 0 {
        facts.push(("samples of servers failed", failed_samples(generator)));
    }
    for (name, count) in [
        ("deliveries not judged", generator.deliveries_unjudged),
        ("publications not followed", generator.publications_unjudged),
        ("agents lost", u64::from(generator.agents_lost)),
    ] {
        if count > 0 {
            facts.push((name, grouped(count)));
        }
    }
    if generator.clock_error_us > 0 {
        let error = Unit::Microseconds.format(generator.clock_error_us as f64);
        facts.push(("clocks differ by at most", error));
    }
    facts
}

/// Describes how many samples failed, and of which servers.
fn failed_samples(generator: &GeneratorFacts) -> String {
    let of_server = |server: &ServerSamples| {
        let asked = grouped(server.samples.saturating_add(server.failed));
        let why = server.first_error.as_deref().unwrap_or("no reason given");
        format!("{} of {asked} of {} ({why})", grouped(server.failed), server.name)
    };
    let servers = generator.servers_sampled.iter().filter(|server| server.failed > 0);
    let servers: Vec<String> = servers.map(of_server).collect();
    match servers.is_empty() {
        true => grouped(generator.samples_failed),
        false => servers.join("; "),
    }
}

fn memory(memory: &GeneratorMemory) -> String {
    let parts = [
        ("users", memory.users_bytes),
        ("timers", memory.timers_bytes),
        ("connections", memory.connections_bytes),
        ("buffers", memory.buffers_bytes),
    ];
    parts.map(|(name, bytes)| format!("{name} {}", Unit::Bytes.format(bytes as f64))).join(", ")
}

fn threads(threads: &[ThreadUse]) -> String {
    let named = threads.iter().take(THREADS_NAMED);
    let mut words: Vec<String> =
        named.map(|thread| format!("{} {}", thread.name, Unit::Share.format(thread.cpu))).collect();
    if threads.len() > THREADS_NAMED {
        words.push(format!("and {} more", threads.len() - THREADS_NAMED));
    }
    words.join(", ")
}
