//! Enlarges a descriptor table before connections need the room.
//!
//! Linux doubles a table that is full, and if threads share it, it first waits for an RCU grace period
//! (`expand_fdtable` in its `fs/file.c`). That takes ten milliseconds and more, during which the thread that accepts or
//! connects is blocked, and with it every connection on it: six times between 256 connections and 10,000.

use std::io;

use rustix::event::epoll;

use crate::config::EngineConfig;
use crate::machine::descriptor_limit;

/// The maximum number of descriptors that room is made for: half a mebibyte of kernel memory. Beyond it a table grows
/// on demand, four times on the way to a million.
const DESCRIPTORS_MAX: usize = 65_536;

/// Makes room for what this configuration admits, up to the descriptor limit and [`DESCRIPTORS_MAX`]. What cannot be
/// made now is left to grow later.
pub(crate) fn make_room(config: &EngineConfig) {
    let limit = descriptor_limit().soft.map_or(usize::MAX, |soft| soft as usize);
    let wanted = config.limits.connections_max.saturating_add(config.limits.descriptors_reserve);
    let last = wanted.min(limit).min(DESCRIPTORS_MAX).saturating_sub(1);
    if let Err(error) = touch(last) {
        tracing::debug!(%error, last, "the descriptor table grows later");
    }
}

/// Opens a descriptor with this number or a higher one for a moment: a table never shrinks.
fn touch(number: usize) -> io::Result<()> {
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // Any open file would do; this one exists whatever the process has closed.
    let file = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    rustix::io::fcntl_dupfd_cloexec(&file, number)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns how many descriptors the table has room for.
    fn table_size() -> usize {
        let status = fs::read_to_string("/proc/thread-self/status").expect("Linux shows it");
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).expect("it is among it");
        size.trim().parse().expect("a number")
    }

    #[test]
    fn a_table_has_room_for_what_may_come_as_far_as_its_limit_goes() {
        let limit = descriptor_limit().soft.map_or(usize::MAX, |soft| soft as usize);
        let mut config = EngineConfig::new(Vec::new());
        config.limits.connections_max = 2_000;
        make_room(&config);
        assert!(table_size() >= limit.min(2_000), "{} of {limit}", table_size());
        config.limits.connections_max = usize::MAX;
        make_room(&config);
        assert!(table_size() >= limit.min(DESCRIPTORS_MAX), "{} of {limit}", table_size());
        let open = fs::read_dir("/proc/self/fd").expect("Linux shows it").count();
        assert!(open < 1_000, "{open} descriptors are open");
    }
}
