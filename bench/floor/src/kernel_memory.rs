//! Kernel memory used for sockets, as far as its counters show.

use std::fs;

/// Returns the memory in the kernel's slab caches in bytes; these contain sockets, files, epoll entries and port
/// bindings. It covers the whole machine, so only differences on an otherwise idle machine are meaningful.
pub(crate) fn slab_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find(|line| line.starts_with("Slab:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
