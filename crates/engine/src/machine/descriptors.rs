//! The limits on descriptors in a table and on files of the machine.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{read, setting_numbers};

/// The limit on the descriptors of one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptorLimit {
    /// The limit in force; `None` is unlimited.
    pub soft: Option<u64>,
    /// How far the process may raise it; `None` is unlimited.
    pub hard: Option<u64>,
}

/// The files of the whole machine; a connection is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SystemFiles {
    /// Open now.
    pub open: u64,
    /// `fs.file-max`: how many may be open.
    pub max: u64,
}

/// Returns the descriptor limit (RLIMIT_NOFILE). It applies per table, so per shard with private tables.
#[must_use]
pub fn descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    DescriptorLimit { soft: limit.current, hard: limit.maximum }
}

/// Raises the limit in force as far as the process may, and returns the resulting limits.
///
/// # Errors
/// The kernel's error, if it refuses.
pub fn raise_descriptor_limit() -> io::Result<DescriptorLimit> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(descriptor_limit())
}

/// Returns the descriptor limit of another process, from `/proc/PID/limits`.
///
/// # Errors
/// If it cannot be read, which requires the same user or root, or has an unknown format.
pub fn descriptor_limit_of(pid: u32) -> io::Result<DescriptorLimit> {
    read(&format!("/proc/{pid}/limits"), parse_limits)
}

/// Returns the machine's file counts, from `fs.file-nr`.
///
/// # Errors
/// If it cannot be read or has an unknown format.
pub fn system_files() -> io::Result<SystemFiles> {
    let [open, _unused, max] = setting_numbers("fs.file-nr")?;
    Ok(SystemFiles { open, max })
}

/// Parses the descriptor limit from the text of `/proc/PID/limits`; `None` if it is missing or unreadable.
#[must_use]
pub fn parse_limits(text: &str) -> Option<DescriptorLimit> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_ascii_whitespace();
    let mut limit = || match words.next()? {
        "unlimited" => Some(None),
        number => Some(Some(number.parse().ok()?)),
    };
    Some(DescriptorLimit { soft: limit()?, hard: limit()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_a_process_are_read_from_its_table() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                    Max open files            1024                 unlimited            files\n";
        assert_eq!(parse_limits(text), Some(DescriptorLimit { soft: Some(1024), hard: None }));
        assert_eq!(parse_limits("Max open files            1024\n"), None);
        assert_eq!(parse_limits("Max open files            some more files\n"), None);
        assert_eq!(parse_limits(""), None);
    }

    #[test]
    fn the_own_limit_is_the_same_by_both_ways() {
        assert_eq!(descriptor_limit_of(std::process::id()).expect("Linux shows it"), descriptor_limit());
        assert!(system_files().expect("Linux shows it").open > 0);
    }
}
