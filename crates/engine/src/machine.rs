//! What the machine allows and what the process uses of it: limits and memory, read from the kernel.
//!
//! The parsers are pure; the readers apply them to `/proc`.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many descriptors one table may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptorLimit {
    /// The limit in force; `None` is none.
    pub soft: Option<u64>,
    /// How far the process may raise it; `None` is as far as it likes.
    pub hard: Option<u64>,
}

/// The descriptor limit (RLIMIT_NOFILE). It holds per table, so per shard with private tables.
#[must_use]
pub fn descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    DescriptorLimit { soft: limit.current, hard: limit.maximum }
}

/// Raises the limit in force as far as the process may, and returns what then holds.
///
/// # Errors
/// What the kernel says, if it refuses.
pub fn raise_descriptor_limit() -> io::Result<DescriptorLimit> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(descriptor_limit())
}

/// What the process itself uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessUsage {
    /// Memory resident in RAM (VmRSS), in bytes.
    pub resident_bytes: u64,
    /// Threads.
    pub threads: u64,
}

/// What all TCP sockets of the machine's network namespace use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SocketUsage {
    /// TCP sockets allocated, those in TIME_WAIT left out.
    pub tcp_sockets: u64,
    /// Sockets in TIME_WAIT.
    pub tcp_time_wait: u64,
    /// Memory of TCP's buffers, in bytes; not that of the sockets themselves.
    pub tcp_buffer_bytes: u64,
}

/// The machine's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// MemTotal, in bytes.
    pub total_bytes: u64,
    /// MemAvailable: what a new program could use without swapping, in bytes.
    pub available_bytes: u64,
}

/// Reads the process's usage from `/proc/self/status`.
///
/// # Errors
/// If it cannot be read or lacks a line.
pub fn process_usage() -> io::Result<ProcessUsage> {
    read("/proc/self/status", parse_status)
}

/// Reads the sockets' usage from `/proc/net/sockstat`.
///
/// # Errors
/// If it cannot be read or lacks a line.
pub fn socket_usage() -> io::Result<SocketUsage> {
    let page_bytes = rustix::param::page_size() as u64;
    read("/proc/net/sockstat", |text| parse_sockstat(text, page_bytes))
}

/// Reads the machine's memory from `/proc/meminfo`.
///
/// # Errors
/// If it cannot be read or lacks a line.
pub fn memory() -> io::Result<Memory> {
    read("/proc/meminfo", parse_meminfo)
}

/// The process's usage from the text of `/proc/self/status`; `None` when a line is missing.
#[must_use]
pub fn parse_status(text: &str) -> Option<ProcessUsage> {
    Some(ProcessUsage { resident_bytes: field(text, "VmRSS:")? * 1024, threads: field(text, "Threads:")? })
}

/// The sockets' usage from the text of `/proc/net/sockstat`, which counts memory in pages; `None` when a word is
/// missing.
#[must_use]
pub fn parse_sockstat(text: &str, page_bytes: u64) -> Option<SocketUsage> {
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let value_of = |name: &str| {
        let mut words = tcp.split_ascii_whitespace();
        words.find(|word| *word == name)?;
        words.next()?.parse::<u64>().ok()
    };
    Some(SocketUsage {
        tcp_sockets: value_of("alloc")?,
        tcp_time_wait: value_of("tw")?,
        tcp_buffer_bytes: value_of("mem")? * page_bytes,
    })
}

/// The machine's memory from the text of `/proc/meminfo`; `None` when a line is missing.
#[must_use]
pub fn parse_meminfo(text: &str) -> Option<Memory> {
    Some(Memory {
        total_bytes: field(text, "MemTotal:")? * 1024,
        available_bytes: field(text, "MemAvailable:")? * 1024,
    })
}

/// The number behind `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

fn read<T>(path: &str, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
    let text = std::fs::read_to_string(path)?;
    parse(&text)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path} has an unknown form")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_gives_memory_and_threads() {
        let text = "Name:\tthrong\nVmHWM:\t 9000 kB\nVmRSS:\t  1504 kB\nThreads:\t7\n";
        assert_eq!(parse_status(text), Some(ProcessUsage { resident_bytes: 1504 * 1024, threads: 7 }));
        assert_eq!(parse_status("Name:\tthrong\n"), None);
        assert_eq!(parse_status("VmRSS:\tmany kB\nThreads:\t7\n"), None);
    }

    #[test]
    fn the_socket_statistics_count_pages() {
        let text = "sockets: used 28\nTCP: inuse 5 orphan 0 tw 3 alloc 7 mem 2\nUDP: inuse 0 mem 0\n";
        let expected = SocketUsage { tcp_sockets: 7, tcp_time_wait: 3, tcp_buffer_bytes: 8192 };
        assert_eq!(parse_sockstat(text, 4096), Some(expected));
        assert_eq!(parse_sockstat("TCP: inuse 5 alloc", 4096), None);
        assert_eq!(parse_sockstat("", 4096), None);
    }

    #[test]
    fn the_memory_is_given_in_bytes() {
        let text = "MemTotal:       24000 kB\nMemFree: 1 kB\nMemAvailable:   20000 kB\n";
        let expected = Memory { total_bytes: 24000 * 1024, available_bytes: 20000 * 1024 };
        assert_eq!(parse_meminfo(text), Some(expected));
        assert_eq!(parse_meminfo("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        let usage = process_usage().expect("the process has a status");
        assert!(usage.resident_bytes > 0 && usage.threads > 0);
        assert!(memory().expect("the machine has memory").total_bytes > 0);
        assert!(descriptor_limit().soft.is_none_or(|soft| soft > 0));
    }
}
