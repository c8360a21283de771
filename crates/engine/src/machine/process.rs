//! What a process and its threads use.

use std::io;
use std::time::Duration;

use super::{field, read};

/// What a process uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessUsage {
    /// Memory resident in RAM (VmRSS), in bytes.
    pub resident_bytes: u64,
    /// Threads.
    pub threads: u64,
}

/// A process's memory, as the kernel divides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessMemory {
    /// Resident memory that the program asked for: heap and stacks (RssAnon), in bytes.
    pub anonymous_bytes: u64,
    /// Resident memory of files, which are the program itself and its libraries (RssFile), and shared memory
    /// (RssShmem), in bytes. The kernel reclaims it when it needs it.
    pub file_bytes: u64,
    /// The process's page tables (VmPTE), in bytes; not part of what is resident.
    pub page_table_bytes: u64,
    /// Threads.
    pub threads: u64,
}

impl ProcessMemory {
    /// Returns all that is resident, in bytes.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        self.anonymous_bytes.saturating_add(self.file_bytes)
    }
}

/// The CPU time of a process or of one thread, from its `stat` file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskTime {
    /// Process or thread id.
    pub id: u32,
    /// Its name, as the kernel stores it: at most 15 bytes.
    pub name: String,
    /// Time on a processor, in user and kernel mode.
    pub cpu: Duration,
    /// When it started, in clock ticks since boot. Distinguishes it from a later one with the same id.
    pub start_ticks: u64,
    /// Whether it has ended and only waits for its parent to reap it.
    pub ended: bool,
}

/// Reads this process's usage.
///
/// # Errors
/// If `/proc/self/status` cannot be read or lacks a line.
pub fn process_usage() -> io::Result<ProcessUsage> {
    read("/proc/self/status", parse_status)
}

/// Reads how this process's memory is divided.
///
/// # Errors
/// If `/proc/self/status` cannot be read or lacks a line: Linux has them all since 4.5.
pub fn process_memory() -> io::Result<ProcessMemory> {
    read("/proc/self/status", parse_process_memory)
}

/// Reads the usage of another process.
///
/// # Errors
/// If `/proc/PID/status` cannot be read or lacks a line: a process that has ended has no memory.
pub fn process_usage_of(pid: u32) -> io::Result<ProcessUsage> {
    read(&format!("/proc/{pid}/status"), parse_status)
}

/// Reads the CPU time of a process, all its threads together.
///
/// # Errors
/// If `/proc/PID/stat` cannot be read (`NotFound`: there is no such process) or has an unknown format.
pub fn process_time(pid: u32) -> io::Result<TaskTime> {
    let ticks = rustix::param::clock_ticks_per_second();
    read(&format!("/proc/{pid}/stat"), |text| parse_stat(text, ticks))
}

/// Reads the CPU time of each thread of this process. A thread that ends meanwhile is left out.
///
/// # Errors
/// If `/proc/self/task` cannot be listed.
pub fn thread_times() -> io::Result<Vec<TaskTime>> {
    let ticks = rustix::param::clock_ticks_per_second();
    let mut times = Vec::new();
    for entry in std::fs::read_dir("/proc/self/task")? {
        let path = entry?.path().join("stat");
        let time = std::fs::read_to_string(path).ok().and_then(|text| parse_stat(&text, ticks));
        times.extend(time);
    }
    Ok(times)
}

/// Counts the descriptors of a process's main table. Threads with their own tables have further ones.
///
/// # Errors
/// If `/proc/PID/fd` cannot be read, which requires the same user or root.
pub fn open_descriptors(pid: u32) -> io::Result<u64> {
    let path = format!("/proc/{pid}/fd");
    // Listing also shows whether we have permission; since Linux 6.2 the directory's size is the count, without
    // iterating.
    let entries = std::fs::read_dir(&path)?;
    match std::fs::metadata(&path)?.len() {
        0 => Ok(entries.count() as u64),
        count => Ok(count),
    }
}

/// Parses a process's usage from the text of its `status` file; `None` if a line is missing.
#[must_use]
pub fn parse_status(text: &str) -> Option<ProcessUsage> {
    let resident_bytes = field(text, "VmRSS:")?.checked_mul(1024)?;
    Some(ProcessUsage { resident_bytes, threads: field(text, "Threads:")? })
}

/// Parses how a process's memory is divided from the text of its `status` file; `None` if a line is missing.
#[must_use]
pub fn parse_process_memory(text: &str) -> Option<ProcessMemory> {
    let bytes = |name: &str| field(text, name)?.checked_mul(1024);
    Some(ProcessMemory {
        anonymous_bytes: bytes("RssAnon:")?,
        file_bytes: bytes("RssFile:")?.checked_add(bytes("RssShmem:")?)?,
        page_table_bytes: bytes("VmPTE:")?,
        threads: field(text, "Threads:")?,
    })
}

/// Parses a CPU time from the text of a `stat` file (proc_pid_stat(5)), whose times are in ticks; `None` if it has an
/// unknown format.
#[must_use]
pub fn parse_stat(text: &str, ticks_per_second: u64) -> Option<TaskTime> {
    // The name is in parentheses and may itself contain spaces and parentheses.
    let (head, rest) = text.rsplit_once(')')?;
    let (id, name) = head.split_once('(')?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The first word after the name is field 3 of the manual page.
    let number = |field: usize| words.get(field - 3)?.parse::<u64>().ok();
    let ticks = number(14)?.checked_add(number(15)?)?;
    Some(TaskTime {
        id: id.trim().parse().ok()?,
        name: name.to_owned(),
        cpu: Duration::try_from_secs_f64(ticks as f64 / ticks_per_second.max(1) as f64).ok()?,
        start_ticks: number(22)?,
        ended: matches!(*words.first()?, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "5763 (a) cat (b) R 5753 5753 1066 0 -1 4194304 101 0 0 0 250 150 0 0 20 0 1 0 1303317 3133440 388 \
                        18446744073709551615 94066873729024 94066873748905 140723488732096 0 0 0\n";

    #[test]
    fn the_status_gives_memory_and_threads() {
        let text = "Name:\tthrong\nVmHWM:\t 9000 kB\nVmRSS:\t  1504 kB\nThreads:\t7\n";
        assert_eq!(parse_status(text), Some(ProcessUsage { resident_bytes: 1504 * 1024, threads: 7 }));
        assert_eq!(parse_status("Name:\tthrong\n"), None);
        assert_eq!(parse_status("VmRSS:\tmany kB\nThreads:\t7\n"), None);
    }

    #[test]
    fn the_memory_of_a_process_is_told_apart() {
        let text = "VmRSS:\t 1504 kB\nRssAnon:\t 1000 kB\nRssFile:\t 500 kB\nRssShmem:\t 4 kB\nVmPTE:\t 80 kB\n\
                    Threads:\t7\n";
        let memory = parse_process_memory(text).expect("has the form");
        assert_eq!((memory.resident_bytes(), memory.file_bytes), (1504 * 1024, 504 * 1024));
        assert_eq!((memory.page_table_bytes, memory.threads), (80 * 1024, 7));
        assert_eq!(parse_process_memory("VmRSS:\t 1504 kB\nThreads:\t7\n"), None);
        assert!(process_memory().expect("the process has a status").anonymous_bytes > 0);
    }

    #[test]
    fn the_stat_file_is_read_whatever_the_name_contains() {
        let expected = TaskTime {
            id: 5763,
            name: "a) cat (b".to_owned(),
            cpu: Duration::from_secs(4),
            start_ticks: 1_303_317,
            ended: false,
        };
        assert_eq!(parse_stat(STAT, 100), Some(expected));
        let ended = parse_stat(&STAT.replace(" R ", " Z "), 100).expect("has the form");
        assert!(ended.ended);
        for broken in ["", "12 (x", "12 (x) R 1 2 3", "x (x) R 1"] {
            assert_eq!(parse_stat(broken, 100), None, "{broken}");
        }
        assert_eq!(parse_stat(STAT, 0).expect("has the form").cpu, Duration::from_secs(400));
    }

    #[test]
    fn this_process_can_be_read() {
        let usage = process_usage().expect("the process has a status");
        assert!(usage.resident_bytes > 0 && usage.threads > 0);
        let pid = std::process::id();
        assert_eq!(process_time(pid).expect("it runs").id, pid);
        assert!(open_descriptors(pid).expect("it is ours") > 2);
        assert!(thread_times().expect("it has threads").iter().any(|thread| thread.id == pid));
    }

    #[test]
    fn a_process_that_is_not_there_is_not_found() {
        let error = process_time(u32::MAX).expect_err("no process has this id");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/proc/4294967295/stat"), "{error}");
    }
}
