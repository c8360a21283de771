//! What a commit costs the processor if each has one message of its own: the insert of [`bare`](crate::bare) at a steady
//! rate, on a thread that is woken for each.

use crate::bare::Bare;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

/// `USER_HZ`: the clock of `/proc` on all Linux systems that a program sees.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) struct Paced {
    messages: u32,
    took: Duration,
    cpu: Duration,
}

/// Commits so many messages, one each `interval`.
pub(crate) fn run(path: &Path, messages: u32, interval: Duration) -> Paced {
    let (asked, requests) = sync_channel::<u32>(messages as usize);
    let bare = Bare::open(path);
    let (begun, cpu_before) = (Instant::now(), cpu_time());
    let writer = thread::spawn(move || {
        let mut insert = bare.insert();
        requests.iter().for_each(|nth| insert(nth as usize));
    });
    for nth in 0..messages {
        thread::sleep((begun + interval * nth).saturating_duration_since(Instant::now()));
        asked.send(nth).expect("the writer takes all of them");
    }
    drop(asked);
    writer.join().expect("the disk has room");
    Paced { messages, took: begun.elapsed(), cpu: cpu_time() - cpu_before }
}

impl Paced {
    pub(crate) fn to_json(&self, what: &str) -> Value {
        json!({
            "what": what,
            "messages": self.messages,
            "messages_per_second": f64::from(self.messages) / self.took.as_secs_f64(),
            "cpu_us_per_message": self.cpu.as_secs_f64() * 1e6 / f64::from(self.messages),
        })
    }
}

/// Returns the processor time of all threads so far (proc_pid_stat(5), `utime` and `stime`).
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system is Linux");
    // The name before it may contain blanks.
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND)
}
