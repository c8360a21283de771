//! What a run serves while it goes on: the dashboard with its stop button, and Prometheus metrics.

use stampede_tests::{Lab, echo, get, post};

#[test]
fn the_dashboard_answers_and_its_stop_button_stops_the_run() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let scenario = crate::endless_echoes(&server.url(), 5);
    let mut run = lab.start_scenario(&scenario, &["--dashboard", "127.0.0.1:0"]);
    let url = run.program.wait_for("dashboard: http://");
    let address = url.trim_end_matches('/').to_owned();
    messages.wait_for(100);
    let page = get(&address, "/").expect("it answers");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<html"), "{}", page.body);
    let status = get(&address, "/api/status").expect("it answers");
    let status: serde_json::Value = serde_json::from_str(&status.body).expect("JSON");
    assert!(status.is_object(), "{status}");
    let foreign = post(&address, "/api/stop", "Origin: http://elsewhere.example\r\n").expect("it answers");
    assert_eq!(foreign.status, 403, "another page may not stop the run");
    let origin = format!("Origin: http://{address}\r\n");
    let stopped = post(&address, "/api/stop", &origin).expect("it answers");
    assert!((200..300).contains(&stopped.status), "{}", stopped.head);
    let ended = run.ended();
    assert_eq!(ended.summary().0["ended_by"], "stopped");
    ended.summary().assert_adds_up();
}

#[test]
fn metrics_are_valid_prometheus_text_and_count_what_is_sent() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let mut run = lab.start_scenario(&crate::endless_echoes(&server.url(), 5), &["--metrics", "127.0.0.1:0"]);
    let url = run.program.wait_for("metrics: http://");
    let address = url.trim_end_matches('/').trim_end_matches("/metrics").to_owned();
    messages.wait_for(100);
    let mut metrics = Metrics::default();
    stampede_tests::wait_until("sent messages show in the metrics", || {
        let answer = get(&address, "/metrics").expect("it answers");
        assert_eq!(answer.status, 200);
        metrics = Metrics::parse(&answer.body);
        metrics.sum_of("sent") > 0.0
    });
    assert!(!metrics.samples.is_empty());
    run.program.signal(nix::sys::signal::Signal::SIGINT);
    run.ended().summary().assert_adds_up();
}

/// Samples of the text exposition format, read strictly.
#[derive(Default)]
struct Metrics {
    samples: Vec<(String, f64)>,
}

impl Metrics {
    fn parse(text: &str) -> Self {
        let mut typed: Vec<&str> = Vec::new();
        let mut samples = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && *line != "# EOF") {
            if let Some(comment) = line.strip_prefix("# ") {
                let (word, rest) = comment.split_once(' ').expect("HELP, TYPE or UNIT");
                assert!(["HELP", "TYPE", "UNIT"].contains(&word), "{line}");
                let name = rest.split(' ').next().expect("a name");
                if word == "TYPE" {
                    assert!(!typed.contains(&name), "{name} has two types");
                    typed.push(name);
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
            let name = series.split('{').next().expect("a name");
            assert!(is_name(name), "{line}");
            assert!(series.contains('{') == series.ends_with('}'), "{line}");
            assert!(typed.iter().any(|known| name.starts_with(known)), "{name} has no type");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
            assert!(!samples.iter().any(|(known, _)| known == series), "{series} comes twice");
            samples.push((series.to_owned(), value));
        }
        Self { samples }
    }

    fn sum_of(&self, part: &str) -> f64 {
        self.samples.iter().filter(|(series, _)| series.contains(part)).map(|(_, value)| value).sum()
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    name.bytes().all(is_part) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

#[test]
fn a_page_that_cannot_be_served_ends_the_run_before_its_first_user() {
    let (server, _) = echo();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let lab = Lab::new();
    lab.file("scenario.yaml", &crate::echoes(&server.url(), 5, 1, "20ms"));
    let outcome = lab.ask(&["run", "scenario.yaml", "--dashboard", &address]);
    assert_eq!(outcome.code, 4, "{}{}", outcome.output, outcome.complaints);
    assert_eq!(server.accepted().count(), 0, "{}", outcome.complaints);
}
