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
        "Bytes waiting for slow clients; bytes waiting for several clients are counted for each.",
        snapshot.outbox_bytes,
    )?;
    components(page, memory)?;
    let help = "Memory that the server uses: resident memory and the kernel's memory for it.";
    page.gauge("throng_memory_whole_bytes", help, memory.whole())?;
    if memory.resident_bytes > 0 {
        let resident = memory.resident_bytes;
        page.gauge("process_resident_memory_bytes", "Resident memory of the process.", resident)?;
        let grown = resident.saturating_sub(resident_bytes_at_start);
        let each = grown.checked_div(snapshot.connections_open).unwrap_or_default();
        let help = "Resident memory added since the start, divided by the number of open connections.";
        page.gauge("throng_bytes_per_connection", help, each)?;
    }
    if let Ok(sockets) = machine::socket_usage() {
        let help = "Kernel memory of all TCP buffers on the machine.";
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
        let help = "Connections that the memory budget currently allows.";
        page.gauge("throng_memory_budget_connections", help, allowed)?;
        let help = "Idle connections that fit into the memory budget, by the minimum size of one.";
        page.gauge("throng_memory_budget_idle_connections", help, capacity)?;
    }
    if let Some(MemoryLimit { bytes, file }) = limit {
        let help = "Memory limit of the server's control group at the start, and the file that sets it.";
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
    let help = "Memory of the process, by component; the sum is about the resident memory.";
    page.gauges("throng_memory_bytes", help, "component", of(Space::Process))?;
    let help = "Kernel memory for the process, by component; not part of the resident memory.";
    page.gauges("throng_kernel_memory_bytes", help, "component", of(Space::Kernel))?;
    let each = memory.per_connection().map(|(component, bytes)| (component.label(), bytes));
    let help = "Average memory of an open connection, by component, including kernel memory.";
    page.gauges("throng_connection_memory_bytes", help, "component", each)
}
