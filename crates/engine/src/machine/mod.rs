//! What the machine allows and what processes use: limits, settings, memory and time, read from the kernel.
//!
//! The parsers are pure; the readers apply them to `/proc` and `/sys`. Nothing here judges a value, keeps one between
//! two calls, or changes anything but the process's own descriptor limit.

mod descriptors;
mod identity;
mod kernel_objects;
mod memory;
mod memory_limit;
mod network;
mod process;
mod processor;
mod schedule;
mod setting;

use std::io;

pub use descriptors::{
    DescriptorLimit, SystemFiles, descriptor_limit, descriptor_limit_of, parse_limits,
    raise_descriptor_limit, system_files,
};
pub use identity::{Hypervisor, clock_source, host_name, hypervisor, kernel_release};
pub use kernel_objects::{parse_slabinfo, socket_bytes, thread_stack_bytes};
pub use memory::{Memory, memory, page_bytes, parse_meminfo};
pub use memory_limit::{MemoryLimit, memory_limit};
pub use network::{
    Drops, LocalAddress, SocketUsage, drops, local_addresses, parse_fib_trie, parse_if_inet6, parse_netstat,
    parse_sockstat, parse_softnet, socket_usage,
};
pub use process::{
    ProcessMemory, ProcessUsage, TaskTime, open_descriptors, parse_process_memory, parse_stat, parse_status,
    process_memory, process_time, process_usage, process_usage_of, thread_times,
};
pub use processor::{
    CpuTime, Processor, cores, cpu_time, governor, parse_cpu_time, parse_cpuinfo, processor,
    processors_possible,
};
pub use schedule::{OwnScheduling, Scheduling, parse_schedstat};
pub use setting::{setting, setting_numbers};

/// Returns the number after `name`, which is at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the file's text, or an error that names the file.
fn text_of(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

fn read<T>(path: &str, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
    parse(&text_of(path)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path} has an unknown format")))
}
