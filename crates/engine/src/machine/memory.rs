//! The machine's memory, and the part of it that a control group leaves to the process.

use std::io;

use super::{field, read, text_of};

/// Control groups of version 1 write a number near this one, in bytes, for "no limit".
const NO_LIMIT_BYTES: u64 = 1 << 62;

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

/// The least memory limit of the control groups that the process is in, in bytes; `None` when they set none.
///
/// # Errors
/// If `/proc/self/cgroup` cannot be read.
pub fn memory_limit() -> io::Result<Option<u64>> {
    let groups = text_of("/proc/self/cgroup")?;
    let texts = limit_files(&groups).into_iter().filter_map(|path| text_of(&path).ok());
    Ok(texts.filter_map(|text| parse_limit(&text)).min())
}

/// Bytes of a page, the unit of `net.ipv4.tcp_mem`.
#[must_use]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// The machine's memory from the text of `/proc/meminfo`; `None` when a line is missing.
#[must_use]
pub fn parse_meminfo(text: &str) -> Option<Memory> {
    Some(Memory {
        total_bytes: field(text, "MemTotal:")?.checked_mul(1024)?,
        available_bytes: field(text, "MemAvailable:")?.checked_mul(1024)?,
    })
}

/// Where the groups of `/proc/self/cgroup` and their parents keep their limits.
fn limit_files(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|controller| controller == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            files.push(format!("{root}{path}/{name}"));
            match path.rfind('/') {
                Some(end) => path = &path[..end],
                None => break,
            }
        }
    }
    files
}

fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)
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
    fn a_group_is_looked_for_with_all_its_parents() {
        let unified = "0::/system.slice/stampede.service\n";
        let expected = [
            "/sys/fs/cgroup/system.slice/stampede.service/memory.max",
            "/sys/fs/cgroup/system.slice/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(limit_files(unified), expected);
        let older = "8:pids:/\n4:cpu,memory:/docker\n";
        let expected = [
            "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ];
        assert_eq!(limit_files(older), expected);
        assert_eq!(limit_files("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!(limit_files("nonsense\n"), [""; 0]);
    }

    #[test]
    fn a_group_without_a_limit_sets_none() {
        for (text, expected) in
            [("536870912\n", Some(536_870_912)), ("max\n", None), ("9223372036854771712\n", None), ("", None)]
        {
            assert_eq!(parse_limit(text), expected, "{text}");
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        assert!(memory().expect("the machine has memory").total_bytes > 0);
        assert!(memory_limit().expect("the process is in groups").is_none_or(|bytes| bytes > 0));
    }
}
