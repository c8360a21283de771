//! Metrics of the memory by component, in total and per connection.

use super::page::Page;
use gateway::machine::{self, MemoryLimit};
use gateway::{MemoryBudget, MemorySnapshot, Snapshot, Space};
use std::fmt;

/// `resident_bytes_at_start` is what the process took without any connection. What the kernel does not report is left
/// out.
pub(super) fn encode(
    page: &mut Page<'_>,
    snapshot: &Snapshot,
    memory: &MemorySnapshot,
    resident_bytes_at_start: u64,
) -> fmt::Result {
    page.gauge(
        "throng_outbox_bytes",
        "Bytes that wait for slow clients, those that wait for several counted for each.",
        snapshot.outbox_bytes,
    )?;
    components(page, memory)?;
    let help = "Memory that the server takes of the machine: what is resident, and the kernel's for it.";
    page.gauge("throng_memory_whole_bytes", help, memory.whole())?;
    if memory.resident_bytes > 0 {
        let resident = memory.resident_bytes;
        page.gauge("process_resident_memory_bytes", "Resident memory of the process.", resident)?;
        let grown = resident.saturating_sub(resident_bytes_at_start);
        let each = grown.checked_div(snapshot.connections_open).unwrap_or_default();
        let help = "Resident memory beyond that at the start, divided by open connections.";
        page.gauge("throng_bytes_per_connection", help, each)?;
    }
    if let Ok(sockets) = machine::socket_usage() {
        let help = "Memory of the TCP buffers of the whole machine, in the kernel.";
        page.gauge("throng_kernel_socket_memory_bytes", help, sockets.tcp_buffer_bytes)?;
    }
    Ok(())
}

/// Encodes the bounds on memory, if any.
pub(super) fn encode_bounds(
    page: &mut Page<'_>,
    budget: Option<MemoryBudget>,
    limit: Option<&MemoryLimit>,
) -> fmt::Result {
    if let Some(MemoryBudget { bytes, capacity, allowed }) = budget {
        page.gauge("throng_memory_budget_bytes", "The memory budget.", bytes)?;
        let help = "How many connections the memory budget allows now.";
        page.gauge("throng_memory_budget_connections", help, allowed)?;
        let help =
            "How many idle connections the memory budget has room for, by what one takes at the least.";
        page.gauge("throng_memory_budget_idle_connections", help, capacity)?;
    }
    if let Some(MemoryLimit { bytes, file }) = limit {
        let help = "The memory limit of the server's control group at its start, and the file that says so.";
        page.gauges(
            "throng_memory_limit_bytes",
            help,
            "file",
            [(file.to_string_lossy(), *bytes)].into_iter(),
        )?;
    }
    Ok(())
}

fn components(page: &mut Page<'_>, memory: &MemorySnapshot) -> fmt::Result {
    let of = |space| {
        let components = memory.components.iter().filter(move |(component, _)| component.space() == space);
        components.map(|(component, bytes)| (component.label(), *bytes))
    };
    let help = "Memory of the process, by component; together about what is resident.";
    page.gauges("throng_memory_bytes", help, "component", of(Space::Process))?;
    let help = "Memory of the kernel for the process, by component; no part of what is resident.";
    page.gauges("throng_kernel_memory_bytes", help, "component", of(Space::Kernel))?;
    let each = memory.per_connection().map(|(component, bytes)| (component.label(), bytes));
    let help = "Memory of one open connection on average, by component, the kernel's among them.";
    page.gauges("throng_connection_memory_bytes", help, "component", each)
}
