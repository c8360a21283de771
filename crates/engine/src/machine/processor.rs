//! The processors and how their time was spent.

use std::io;

use super::{read, text_of};

/// What `/proc/cpuinfo` reports.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Processor {
    /// Name of the model, where the architecture has one.
    pub model: Option<String>,
    /// Logical processors that are online.
    pub count: u32,
    /// Clock frequency of the first, in MHz, if it is reported; it may change at any time.
    pub mhz: Option<f64>,
    /// Whether the processor reports that a hypervisor runs it.
    pub virtual_machine: bool,
}

/// How the time of all processors was spent since the machine started, in clock ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuTime {
    /// Total time.
    pub total_ticks: u64,
    /// Idle time.
    pub idle_ticks: u64,
    /// Time that the hypervisor gave to others while there was work.
    pub steal_ticks: u64,
}

/// Returns how many threads of this process can run at once, given its affinity and the quota of its control group.
///
/// # Errors
/// If the kernel does not report it.
pub fn cores() -> io::Result<usize> {
    std::thread::available_parallelism().map(std::num::NonZero::get)
}

/// Returns how many processors the machine may have, including those that are offline or assigned to others.
///
/// # Errors
/// If `/sys/devices/system/cpu/possible` cannot be read or has an unknown format.
pub fn processors_possible() -> io::Result<usize> {
    read("/sys/devices/system/cpu/possible", parse_processor_list)
}

/// Returns the last number of a processor list such as `0-3,8`, plus one.
fn parse_processor_list(text: &str) -> Option<usize> {
    text.trim().rsplit([',', '-']).next()?.parse::<usize>().ok()?.checked_add(1)
}

/// Reads `/proc/cpuinfo`.
///
/// # Errors
/// If it cannot be read or names no processor.
pub fn processor() -> io::Result<Processor> {
    read("/proc/cpuinfo", parse_cpuinfo)
}

/// Returns the frequency governor of the first processor, such as `performance` or `powersave`.
///
/// # Errors
/// `NotFound` if the machine does not scale its frequency, as on most virtual machines.
pub fn governor() -> io::Result<String> {
    text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").map(|text| text.trim().to_owned())
}

/// Reads how the time of all processors was spent, from `/proc/stat`.
///
/// # Errors
/// If it cannot be read or has an unknown format.
pub fn cpu_time() -> io::Result<CpuTime> {
    read("/proc/stat", parse_cpu_time)
}

/// Parses the processors from the text of `/proc/cpuinfo`; `None` if it names none.
#[must_use]
pub fn parse_cpuinfo(text: &str) -> Option<Processor> {
    let value = |name: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == name)
            .map(|pair| pair.1.trim())
    };
    let count = text.lines().filter(|line| line.starts_with("processor")).count();
    let processor = Processor {
        model: value("model name").or_else(|| value("Model")).map(str::to_owned),
        count: u32::try_from(count).ok()?,
        mhz: value("cpu MHz").and_then(|mhz| mhz.parse().ok()),
        virtual_machine: value("flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
    };
    (processor.count > 0).then_some(processor)
}

/// Parses the time from the text of `/proc/stat`; `None` if it has an unknown format.
#[must_use]
pub fn parse_cpu_time(text: &str) -> Option<CpuTime> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user, nice, system, idle, iowait, irq, softirq, steal; the guests' times that follow are part of user and nice.
    let ticks =
        line.split_ascii_whitespace().take(8).map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some(CpuTime {
        total_ticks: ticks.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part))?,
        idle_ticks: ticks.get(3)?.checked_add(*ticks.get(4)?)?,
        steal_ticks: *ticks.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processors_reaches_to_its_last() {
        let lists = ["0\n", "0-63\n", "0-3,8\n", "0,2-5\n", "\n"].map(parse_processor_list);
        assert_eq!(lists, [Some(1), Some(64), Some(9), Some(6), None]);
        assert!(processors_possible().expect("this machine says") >= 1);
    }

    #[test]
    fn a_virtual_machine_of_two_processors_is_read() {
        let one = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor @ 2.50GHz\ncpu MHz\t\t: 2499.982\n\
                   flags\t\t: fpu vme hypervisor lahf_lm\n\n";
        let expected = Processor {
            model: Some("Intel(R) Xeon(R) Processor @ 2.50GHz".to_owned()),
            count: 2,
            mhz: Some(2499.982),
            virtual_machine: true,
        };
        assert_eq!(parse_cpuinfo(&one.repeat(2)), Some(expected));
    }

    #[test]
    fn a_processor_that_tells_little_is_read_too() {
        let arm = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU part\t: 0xd0c\n";
        let expected = Processor { model: None, count: 1, mhz: None, virtual_machine: false };
        assert_eq!(parse_cpuinfo(arm), Some(expected));
        assert_eq!(parse_cpuinfo("nothing\n"), None);
    }

    #[test]
    fn the_time_is_the_first_lines() {
        let text = "cpu  100 10 20 600 40 5 15 10 3 0\ncpu0 50 5 10 300 20 2 8 5 1 0\nintr 1\n";
        let expected = CpuTime { total_ticks: 800, idle_ticks: 640, steal_ticks: 10 };
        assert_eq!(parse_cpu_time(text), Some(expected));
        assert_eq!(parse_cpu_time("cpu  1 2 3\n"), None);
        assert_eq!(parse_cpu_time("cpu  1 2 3 4 5 6 7 many\n"), None);
        assert_eq!(parse_cpu_time("intr 1\n"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        assert!(processor().expect("the machine has a processor").count > 0);
        assert!(cores().expect("the process may run") > 0);
        let time = cpu_time().expect("the machine has run");
        assert!(time.total_ticks > time.idle_ticks);
    }
}
