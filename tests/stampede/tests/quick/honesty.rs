//! Whose fault it is: a generator without CPU makes a run INVALID, a slow server does not.

use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use stampede_tests::{Lab, Program, echo, echo_after};

#[test]
fn a_generator_that_is_starved_of_cpu_makes_the_run_invalid() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let mut run = lab.start_scenario(&crate::echoes(&server.url(), 10, 100, "20ms"), &[]);
    messages.wait_for(1);
    while !run.program.has_ended() {
        // A tenth of the CPU time is left, in slices, as to a process under a quota.
        run.program.signal(Signal::SIGSTOP);
        thread::sleep(Duration::from_millis(180));
        run.program.signal(Signal::SIGCONT);
        thread::sleep(Duration::from_millis(20));
    }
    let ended = run.ended();
    let summary = ended.summary();
    assert!(!summary.is_valid(), "{}", summary.0["times"]["send_lag"]);
    assert!(summary.reasons().contains("could not keep up"), "{}", summary.reasons());
    assert_eq!(ended.code, 3, "{}", ended.words());
    // What it counted is right all the same.
    summary.assert_adds_up();
    assert_eq!((summary.count("sent"), summary.count("delivered")), (1000, 1000));
}

#[test]
fn a_generator_that_others_keep_from_the_cpu_makes_the_run_invalid_though_it_is_never_late_by_its_own_clock()
{
    // It thinks for a moment, so that the generator sleeps and has to be given a CPU for each answer: within one turn on a
    // CPU it would send and read dozens, of which only the first had waited.
    let (server, _) = echo_after(Duration::from_millis(5));
    // Nothing is due at a time of its own: who waits for the CPU finds the answer only when it runs again.
    let scenario = "name: starved
target: URL
phases: [{ burst: 10 }]
sessions:
  - name: speaker
    steps:
      - connect: /
      - loop:
          times: 25
          steps:
            - send: { size: 64, audience: echo }
            - wait: { echo: true }
";
    // Server and other tests, in this process, go before those who keep the generator from the CPU: it is the generator that
    // is to be starved.
    let lab = Lab::under(&["nice", "-n", "19"]);
    let hogs = 2 * thread::available_parallelism().map_or(1, usize::from);
    let hogs: Vec<Program> = (0..hogs)
        .map(|_| {
            let mut command = Command::new("nice");
            command.args(["-n", "10", "sh", "-c", "while :; do :; done"]);
            Program::start(command)
        })
        .collect();
    let ended = lab.play(&scenario.replace("URL", &server.url()));
    drop(hogs);
    let summary = ended.summary();
    assert!(!summary.is_valid(), "{}", summary.0["generator"]);
    assert!(
        summary.reasons().contains("waited for a CPU"),
        "{}: {}, {}",
        summary.reasons(),
        summary.0["generator"],
        summary.0["times"]
    );
    assert_eq!((summary.count("sent"), summary.count("delivered")), (250, 250));
    assert_eq!(ended.code, 3, "{}", ended.words());
    assert!(ended.output.contains("generator: wait for a CPU"), "{}", ended.words());
}

#[test]
fn a_slow_server_makes_a_slow_run_and_not_an_invalid_one() {
    let thought = Duration::from_millis(500);
    let (server, _) = echo_after(thought);
    let ended = Lab::play_undisturbed(&crate::echoes(&server.url(), 5, 4, "1s"));
    let summary = ended.summary();
    assert!(summary.is_valid(), "{}", summary.reasons());
    let latency_us = summary.0["times"]["latency"]["min_us"].as_u64().expect("a time");
    assert!(u128::from(latency_us) >= thought.as_micros(), "{latency_us} µs");
    assert_eq!(summary.count("delivered"), 20);
    assert_eq!(ended.code, 0, "{}", ended.words());
}

#[test]
fn a_server_slower_than_its_clients_shows_in_the_latency_from_the_intended_time() {
    let (server, _) = echo_after(Duration::from_millis(300));
    let scenario = "name: impatient
target: URL
phases: [{ burst: 2 }]
sessions:
  - name: impatient
    steps:
      - connect: /
      - loop:
          times: 10
          steps:
            - pace: 100ms
            - send: { size: 64, audience: echo }
            - wait: { echo: true }
";
    let ended = Lab::play_undisturbed(&scenario.replace("URL", &server.url()));
    let summary = ended.summary();
    let max_us = |name: &str| summary.0["times"][name]["max_us"].as_u64().expect("a time");
    // The tenth beat was 900 ms after the first; its answer came after ten answers of 300 ms.
    assert!(max_us("latency") >= 2_000_000, "{}", summary.0["times"]);
    assert!(max_us("service_latency") < max_us("latency"), "{}", summary.0["times"]);
    assert!(summary.is_valid(), "{}", summary.reasons());
}
