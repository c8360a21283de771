//! `host DESCRIPTORS SHARDS shared|private one|all BUDGET`: a gateway with the rooms at `/socket` and a compressing echo
//! at `/echo`, on one processor or all. `-` in place of a number leaves it to the system; a budget is one of memory, in
//! bytes. See `faults::Host` for the commands that it takes.
#![allow(clippy::print_stdout)]

use faults::{Gate, Room, self_signed};
use gateway::{DeflateConfig, Gateway, Handle, Limits, Mount, Tables};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufRead;

const MESSAGE_BYTES_MAX: usize = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [descriptors, shards, tables, processors, budget] = arguments.as_slice() else {
        panic!("usage: host DESCRIPTORS SHARDS shared|private one|all BUDGET");
    };
    if processors == "one" {
        stay_on_one_processor();
    }
    let memory_budget = budget.parse().ok();
    if let Some(bytes) = memory_budget {
        // Heap and stacks: an allocation beyond it fails, which ends the process.
        setrlimit(Resource::RLIMIT_DATA, bytes, bytes).expect("a limit may be lowered");
    }
    faults::limit_descriptors(descriptors.parse().ok());
    let tables = if tables == "private" { Tables::Private } else { Tables::Shared };
    let (config, certificate) = self_signed();
    let rooms =
        Mount::channels("/socket").idle_timeout(None).channel("room:*", || Room::new(Gate::default(), None));
    let echo =
        Mount::echo("/echo").frame_bytes_max(MESSAGE_BYTES_MAX).compression(Some(DeflateConfig::default()));
    let mut builder = Gateway::builder()
        .listen(([127, 0, 0, 1], 0))
        .listen_tls(([127, 0, 0, 1], 0), config)
        .tables(tables)
        .limits(Limits { memory_budget, ..Limits::default() })
        .mount(rooms)
        .mount(echo);
    if let Ok(shards) = shards.parse() {
        builder = builder.shards(shards);
    }
    let running = builder.start().expect("a free port");
    let (plain, tls) = (running.local_addresses()[0].to_string(), running.tls_addresses()[0].to_string());
    println!("{}", json!({ "plain": plain, "tls": tls, "certificate": certificate }));
    obey(&running.handle());
}

/// Of those that it may use, the first. Threads inherit it.
fn stay_on_one_processor() {
    let allowed = sched_getaffinity(Pid::from_raw(0)).expect("every process has its processors");
    let first = (0..CpuSet::count()).find(|&processor| allowed.is_set(processor).unwrap_or(false));
    let mut one = CpuSet::new();
    one.set(first.expect("it runs on one")).expect("it is among those that there are");
    sched_setaffinity(Pid::from_raw(0), &one).expect("a process may keep to one of its own");
}

fn obey(handle: &Handle) {
    let mut files = Vec::new();
    for command in std::io::stdin().lock().lines() {
        let answer = match command.expect("text").as_str() {
            "numbers" => numbers(handle),
            "hog" => {
                files.extend(std::iter::from_fn(|| File::open("/dev/null").ok()));
                json!(files.len())
            }
            "free" => {
                files.clear();
                json!(0)
            }
            unknown => panic!("no command: {unknown}"),
        };
        println!("{answer}");
    }
}

/// Takes no descriptor, since there may be none.
fn numbers(handle: &Handle) -> Value {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every process has its usage");
    let now = handle.metrics();
    json!({
        "connections_open": now.connections_open,
        "joined": now.joined,
        "topics": now.topics,
        "cpu_us": (usage.user_time() + usage.system_time()).num_microseconds(),
        "rss_kib_max": usage.max_rss(),
    })
}
