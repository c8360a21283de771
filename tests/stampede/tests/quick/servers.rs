//! What is sampled of several servers beside a run.

use std::fs;

use nix::sys::signal::Signal;
use stampede_tests::{Counter, Lab, Server, echo};

/// How often the second page fails before it answers.
const FAILURES: u64 = 2;

/// A page of metrics that says how much memory its server has, after it has failed so often. The counter has what it was
/// asked.
fn metrics(resident_bytes: u64, failures: u64) -> (Server, Counter) {
    let asked = Counter::default();
    let counted = asked.clone();
    let server = Server::start(move |peer| {
        loop {
            peer.request()?;
            let is_failure = counted.count() < failures;
            counted.increase();
            let (status, body) = match is_failure {
                true => ("503 Service Unavailable", "not yet".to_owned()),
                false => ("200 OK", format!("process_resident_memory_bytes {resident_bytes}\n")),
            };
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
            peer.write(answer.as_bytes())?;
        }
    });
    (server, asked)
}

#[test]
fn several_pages_of_metrics_are_read_side_by_side_and_each_ones_failures_are_its_own() {
    let (target, _) = echo();
    let (steady, steady_asked) = metrics(1_048_576, 0);
    let (late, late_asked) = metrics(2_097_152, FAILURES);
    let urls = [&steady, &late].map(|server| format!("http://{}/metrics", server.address()));
    let lab = Lab::new();
    let scrapes = ["--scrape", &urls[0], "--scrape", &urls[1]];
    let run = lab.start_scenario(&crate::endless_echoes(&target.url(), 2), &scrapes);
    steady_asked.wait_for(5);
    late_asked.wait_for(FAILURES + 3);
    run.program.signal(Signal::SIGINT);
    let ended = run.ended();

    let sampled = &ended.summary().0["generator"]["servers_sampled"];
    let failed = [0, 1].map(|place| sampled[place]["failed"].as_u64().expect("a count"));
    assert_eq!(failed, [0, FAILURES], "{sampled}");
    for (place, url) in urls.iter().enumerate() {
        assert_eq!(sampled[place]["name"], url.as_str());
        assert!(sampled[place]["samples"].as_u64() >= Some(2), "{sampled}");
    }
    assert_eq!(ended.summary().0["generator"]["samples_failed"], FAILURES);
    let why = sampled[1]["first_error"].as_str().unwrap_or_default();
    assert!(why.contains("503"), "{sampled}");
    assert!(ended.output.contains(&urls[1]) && ended.output.contains(why), "{}", ended.words());

    let csv = fs::read_to_string(ended.folder.join("servers.csv")).expect("samples of the servers");
    let values = |url: &str, figure: &str| -> Vec<String> {
        let of_it = |line: &&str| line.contains(&format!(",{url},{figure},"));
        let value = |line: &str| line.rsplit(',').next().unwrap_or_default().to_owned();
        csv.lines().filter(of_it).map(value).collect()
    };
    for (url, resident_bytes) in urls.iter().zip(["1048576", "2097152"]) {
        let seen = values(url, "rss_bytes");
        assert!(!seen.is_empty() && seen.iter().all(|bytes| bytes == resident_bytes), "{csv}");
    }
    let failures =
        |url: &str| values(url, "failed_scrapes").iter().flat_map(|text| text.parse::<u64>()).sum::<u64>();
    assert_eq!(urls.each_ref().map(|url| failures(url)), [0, FAILURES], "{csv}");
}
