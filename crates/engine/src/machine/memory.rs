//! The machine's memory.

use std::io;

use super::{field, read};

/// The machine's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// MemTotal, in bytes.
    pub total_bytes: u64,
    /// MemAvailable: what a new program could use without swapping, in bytes.
    pub available_bytes: u64,
}

/// Reads the machine's memory from `/proc/meminfo`.
///
/// # Errors
/// If it cannot be read or lacks a line.
pub fn memory() -> io::Result<Memory> {
    read("/proc/meminfo", parse_meminfo)
}

/// Returns the size of a page, the unit of `net.ipv4.tcp_mem`, in bytes.
#[must_use]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Parses the machine's memory from the text of `/proc/meminfo`; `None` if a line is missing.
#[must_use]
pub fn parse_meminfo(text: &str) -> Option<Memory> {
    Some(Memory {
        total_bytes: field(text, "MemTotal:")?.checked_mul(1024)?,
        available_bytes: field(text, "MemAvailable:")?.checked_mul(1024)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_given_in_bytes() {
        let text = "MemTotal:       24000 kB\nMemFree: 1 kB\nMemAvailable:   20000 kB\n";
        let expected = Memory { total_bytes: 24000 * 1024, available_bytes: 20000 * 1024 };
        assert_eq!(parse_meminfo(text), Some(expected));
        assert_eq!(parse_meminfo("MemTotal: 1 kB\n"), None);
        assert_eq!(parse_meminfo("MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        assert!(memory().expect("the machine has memory").total_bytes > 0);
    }
}
