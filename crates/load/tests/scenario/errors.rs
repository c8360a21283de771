//! Tests of the error messages.

use std::collections::BTreeMap;
use std::path::Path;

use load::scenario::{self, Problem};

use super::{parse, with_steps};

fn problems(text: &str) -> Vec<Problem> {
    parse(text).expect_err("the scenario is wrong").problems
}

#[test]
fn a_problem_shows_place_line_caret_and_what_is_allowed() {
    let text = "target: ws://127.0.0.1:4000\nphases:\n  - raet: 100/s\n    duration: 5s\nsessions: [{ name: s, steps: [cut] }]\n";
    let printed = parse(text).expect_err("it is wrong").to_string();
    let expected = "\
error: unknown key `raet`
  --> test.yaml:3:5 (phases[0].raet)
   |
 3 |   - raet: 100/s
   |     ^
   = did you mean `rate`? Allowed: `name`, `duration`, `rate`, `ramp`,";
    assert!(printed.starts_with(expected), "{printed}");
}

#[test]
fn all_faults_of_a_file_are_said_at_once_in_the_order_of_the_text() {
    let text = "\
seed: many
target: ws://127.0.0.1:4000
phases:
  - rate: fast
    duration: 5
  - brust: 10
sessions:
  - name: a
    steps:
      - conect: /
      - think: soon
      - join: { topc: x }
      - push: { topic: t }
      - think: 1s
        cut: {}
  - steps: [{ http: { get: /, timeout: [1] } }]
";
    let problems = problems(text);
    let places: Vec<(Option<(usize, usize)>, &str)> =
        problems.iter().map(|problem| (problem.place, problem.path.as_str())).collect();
    let expected = [
        (Some((1, 7)), "seed"),
        (Some((4, 11)), "phases[0].rate"),
        (Some((5, 15)), "phases[0].duration"),
        (Some((6, 5)), "phases[1].brust"),
        (Some((10, 9)), "sessions[0].steps[0].conect"),
        (Some((11, 16)), "sessions[0].steps[1].think"),
        (Some((12, 17)), "sessions[0].steps[2].join.topc"),
        (Some((13, 15)), "sessions[0].steps[3].push"),
        (Some((15, 9)), "sessions[0].steps[4].cut"),
        (Some((16, 5)), "sessions[1]"),
        (Some((16, 40)), "sessions[1].steps[0].http.timeout"),
    ];
    assert_eq!(places, expected, "{problems:#?}");
}

#[test]
fn each_fault_of_meaning_is_named_where_it_is() {
    let head = "target: ws://127.0.0.1:4000\nphases: [burst: 1]\nsessions: [{ name: s, steps: [cut] }]\n";
    let top = |keys: &str| format!("{keys}\n{head}");
    let table = [
        (
            with_steps("- join: 'a {{nmae}}'\n- set: { name: x }"),
            "sessions[0].steps[0].join.topic",
            "gives `nmae` a value",
            "did you mean `name`",
        ),
        (with_steps("- join: 'a {{b'"), "sessions[0].steps[0].join.topic", "no closing `}}`", "\\{{"),
        (
            with_steps("- join: 'a {{filler()}}'"),
            "sessions[0].steps[0].join.topic",
            "does not say what to draw",
            "filler(64)",
        ),
        (
            with_steps("- join: 'a {{zpif(1, 2)}}'"),
            "sessions[0].steps[0].join.topic",
            "nothing is drawn by `zpif`",
            "did you mean `zipf`",
        ),
        (with_steps("- join: 'a {{user_id % 0}}'"), "sessions[0].steps[0].join.topic", "makes groups", ""),
        (
            with_steps("- join: 'a {{people.name}}'"),
            "sessions[0].steps[0].join.topic",
            "no feeder `people`",
            "",
        ),
        (
            with_steps("- send: { text: hi, audience: room }"),
            "sessions[0].steps[0].send",
            "only by its stamp",
            "{{stamp}}",
        ),
        (
            with_steps("- send: { size: 17, audience: echo }"),
            "sessions[0].steps[0].send.size",
            "48 bytes at least",
            "",
        ),
        (with_steps("- send: {}"), "sessions[0].steps[0].send", "exactly one of", ""),
        (
            with_steps("- push: { topic: t, event: e, payload: '{oops' }"),
            "sessions[0].steps[0].push.payload",
            "not JSON",
            "single quotes",
        ),
        (
            with_steps("- wait: { regex: '(' }"),
            "sessions[0].steps[0].wait.regex",
            "not a regular expression",
            "",
        ),
        (
            with_steps("- capture: { x: '$[' }"),
            "sessions[0].steps[0].capture.x.jsonpath",
            "not a JSONPath",
            "",
        ),
        (with_steps("- connect: chat"), "sessions[0].steps[0].connect.path", "does not begin with `/`", ""),
        (
            with_steps("- connect: { heartbeat: 5s }"),
            "sessions[0].steps[0].connect.heartbeat",
            "only with `phoenix",
            "",
        ),
        (
            with_steps("- connect: { headers: { Upgrade: x } }"),
            "sessions[0].steps[0].connect.headers.Upgrade",
            "written by the step itself",
            "",
        ),
        (
            with_steps("- http: http://example.com/"),
            "sessions[0].steps[0].http.get",
            "not one of the targets",
            "targets",
        ),
        (with_steps("- http: { get: /, post: / }"), "sessions[0].steps[0].http", "one method", ""),
        (
            with_steps("- close: { code: 1005 }"),
            "sessions[0].steps[0].close.code",
            "cannot stand in a close frame",
            "",
        ),
        (with_steps("- loop: { steps: [] }"), "sessions[0].steps[0].loop.steps", "never rest", ""),
        (
            with_steps("- choose: [{ weight: 0, steps: [cut] }]"),
            "sessions[0].steps[0].choose",
            "all weights are 0",
            "",
        ),
        (
            with_steps("- set: { n: { draw: zipf(9, 1) } }"),
            "sessions[0].steps[0].set.n",
            "found `draw`, `1)`",
            "in quotes",
        ),
        (
            with_steps("- send: { size: 9, 1): 2 }"),
            "sessions[0].steps[0].send.1)",
            "unknown key `1)`",
            "in quotes",
        ),
        (with_steps("- feed: poeple"), "sessions[0].steps[0].feed", "no feeder `poeple`", ""),
        (with_steps("- set: { user_id: x }"), "sessions[0].steps[0].set.user_id", "a meaning of its own", ""),
        (top("thresholds: p99 < 5"), "thresholds[0]", "`5` is not a time", "p99 < 100ms"),
        (
            top("thresholds: [errors == 0, p99(chekc) < 1s]"),
            "thresholds[1]",
            "no metric or label `chekc`",
            "",
        ),
        (top("thresholds: [nonsense]"), "thresholds[0]", "compares nothing", ""),
        (top("ports: 5-1"), "ports", "not a range of ports", ""),
        (
            top("source_addresses: [127.0.0.1, 127.0.0.9-127.0.0.1]"),
            "source_addresses[1]",
            "ends before it begins",
            "a range",
        ),
        (top("source_addresses: '127.0.0.1-::1'"), "source_addresses[0]", "mixes IPv4 and IPv6", "a range"),
        (top("source_addresses: 10.0.0.0/8"), "source_addresses[0]", "more than 65535", ""),
        (top("feeders: { f: missing.csv }"), "feeders.f.file", "cannot be opened", ""),
        (top("rounds: 0"), "rounds", "at least 1", ""),
        (top("tls: { ca: missing.pem }"), "tls.ca", "there is no file", ""),
        (head.replace("ws://127.0.0.1:4000", "127.0.0.1:4000"), "target", "has no scheme", "ws://host"),
        (head.replace("burst: 1", "rate: 1/s"), "phases[0]", "needs a `duration`", ""),
        (
            head.replace("burst: 1", "{ burst: 1, rate: 1/s, duration: 1s }"),
            "phases[0]",
            "more than one way",
            "",
        ),
        (head.replace("burst: 1", "users: 5"), "phases[0]", "needs a `duration` or `iterations`", ""),
        (
            head.replace("burst: 1", "{ burst: 1, weights: { z: 1 } }"),
            "phases[0].weights.z",
            "no session `z`",
            "`s`",
        ),
    ];
    for (text, path, message, help) in table {
        let problems = problems(&text);
        let problem = &problems[0];
        assert!(problem.place.is_some() && problem.path.starts_with(path), "{problems:#?}\nin:\n{text}");
        assert!(problem.message.contains(message), "{problems:#?}\nin:\n{text}");
        assert!(problem.help.as_deref().unwrap_or_default().contains(help), "{problems:#?}\nin:\n{text}");
    }
}

#[test]
fn faults_of_yaml_itself_have_a_place() {
    let bomb = format!(
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n{}target: *j\n",
        ('b'..='j').fold(String::new(), |text, name| {
            let before = char::from(name as u8 - 1);
            let aliases = vec![format!("*{before}"); 10].join(", ");
            text + &format!("{name}: &{name} [{aliases}]\n")
        })
    );
    let deep = format!("target: {}x{}\n", "[".repeat(500), "]".repeat(500));
    let table: [(&str, &str, usize); 9] = [
        ("", "nothing in it", 1),
        ("target: [a\n", "unclosed bracket", 1),
        ("target: a\ntarget: b\n", "stands here already, in line 1", 2),
        ("target: a\n---\ntarget: b\n", "one document", 2),
        ("target: !made a\n", "tag `!made`", 1),
        ("target: &a [*a]\n", "", 1),
        ("{a: 1}: 2\n", "a key is a word", 1),
        (&bomb, "more than 200000 values", 6),
        (&deep, "", 1),
    ];
    for (text, message, line) in table {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].message.contains(message), "{problems:#?}");
        assert_eq!(problems[0].place.map(|(line, _)| line), Some(line), "{problems:#?}");
    }
}

#[test]
fn an_unknown_constant_and_an_unknown_override_are_named() {
    let text = "variables: { users: 5 }\ntarget: ws://h\nphases: [burst: '${uesrs}']\nsessions: [{ name: s, steps: [cut] }]\n";
    let overrides = BTreeMap::from([("user".to_owned(), "7".to_owned())]);
    let errors = scenario::parse(text, "x.yaml", Path::new(""), &overrides).expect_err("it is wrong");
    let messages: Vec<&str> = errors.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`user` was given a value from outside and is not one of the scenario's variables",
            "there is no variable `uesrs`"
        ]
    );
    assert_eq!(errors.problems[1].path, "phases[0].burst");
}

#[test]
fn a_term_of_constants_that_are_no_numbers_is_named_with_its_place() {
    let text = "variables: { stay: 2s }\ntarget: ws://h\nphases: [burst: '${stay * 2}']\nsessions: [{ name: s, steps: [cut] }]\n";
    let problems = parse(text).expect_err("it is wrong").problems;
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].message, "`stay` in `${stay * 2}` is `2s`, which is no number");
    assert_eq!(problems[0].path, "phases[0].burst");
}

#[test]
fn a_long_line_is_shown_around_the_column() {
    let text =
        format!("target: ws://127.0.0.1:4000\nphases: [{{ burst: 1{}, burts: 2 }}]\n", " ".repeat(400));
    let printed = parse(&text).expect_err("it is wrong").to_string();
    let caret = printed.lines().find(|line| line.trim_end().ends_with('^')).expect("there is a caret");
    let shown = printed.lines().find(|line| line.contains("burts: 2")).expect("the line is shown");
    let column = caret.find('^').expect("there is a caret");
    assert!(shown[column..].starts_with("burts"), "{printed}");
}

#[test]
fn a_feeders_fault_names_its_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("p.csv"), "a,b\n1,2\n3\n").expect("a file can be written");
    let text = "feeders: { p: p.csv }\ntarget: ws://h\nphases: [burst: 1]\nsessions: [{ name: s, steps: [join: '{{p.a}}'] }]\n";
    let errors = scenario::parse(text, "x.yaml", folder.path(), &BTreeMap::new()).expect_err("it is wrong");
    assert_eq!(errors.problems.len(), 1, "{errors}");
    assert!(errors.problems[0].message.contains("line: 3"), "{errors}");
}

#[test]
fn a_missing_file_is_said_without_a_place() {
    let errors = scenario::load(Path::new("/nonexistent/x.yaml"), &BTreeMap::new())
        .expect_err("there is no such file");
    assert_eq!(errors.problems[0].place, None);
    assert!(errors.to_string().contains("/nonexistent/x.yaml"), "{errors}");
}
