//! What the kernel holds for sockets, as far as its counters tell.

use std::fs;

/// Memory in the kernel's slab caches, in bytes; sockets, files, epoll entries and port bindings live there. The whole
/// machine's, so it is worth something only as a difference on a machine that does little else.
pub(crate) fn slab_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find(|line| line.starts_with("Slab:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
