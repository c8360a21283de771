//! Tests that printing and parsing round-trip, and that no input makes the parser panic.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use load::draw::Distribution;
use load::scenario::source::{
    Action, Audience, Close, Condition, Connect, Expression, Heartbeat, Http, Join, Loop, Named, Nothing,
    Numbers, Operator, Pause, Phase, Push, Rate, ReadRate, Scenario, Session, Size, Sizes, Step, Time,
};
use load::scenario::template::Part;
use load::scenario::{self, literal};
use proptest::prelude::*;

use super::{plan, ready_scenarios, with_steps};

fn read(text: &str) -> Scenario {
    scenario::read(text, "test.yaml", &BTreeMap::new())
        .unwrap_or_else(|errors| panic!("{errors}\n\nin:\n{text}"))
}

#[test]
fn the_ready_scenarios_print_and_read_back() {
    for path in ready_scenarios() {
        let scenario = read(&fs::read_to_string(&path).expect("the scenario can be read"));
        let printed = scenario.to_yaml();
        assert_eq!(read(&printed), scenario, "{}:\n{printed}", path.display());
    }
}

#[test]
fn a_scenario_built_by_a_program_prints_as_people_write_it() {
    let scenario = Scenario {
        name: "fan-out".to_owned(),
        target: Some("ws://127.0.0.1:4000".to_owned()),
        phases: vec![Phase { max_users: Some(100), ..Phase::constant(Rate::per_second(10.0)) }],
        sessions: vec![Session {
            name: "member".to_owned(),
            weight: 1.0,
            steps: vec![
                Action::Connect(Connect { path: "/ws".to_owned(), ..Connect::default() }).into(),
                Action::Think(Pause(Distribution::Uniform(1.0, 2.5))).into(),
                Action::Cut(Nothing {}).into(),
            ],
        }],
        ..Scenario::default()
    };
    let expected = "\
name: fan-out
seed: 1
target: ws://127.0.0.1:4000
phases:
- rate: 10/s
  max_users: 100
sessions:
- name: member
  steps:
  - connect:
      path: /ws
  - think: 1s..2.5s
  - cut: {}
drain: 5s
";
    assert_eq!(scenario.to_yaml(), expected);
    assert_eq!(read(expected), scenario);
}

#[test]
fn texts_of_all_sorts_survive_printing() {
    for text in [
        "${user}",
        "$${",
        "yes",
        "null",
        "",
        " blanks ",
        "a: b # c",
        "two\nlines\n",
        "5",
        "{{x}}",
        "'",
        "\"\\",
        "é\u{1F600}\t",
    ] {
        let steps = vec![
            Step { label: Some(text.to_owned()), action: Action::Join(Join::topic(text)) },
            Action::Set([("x", Expression::Text(text.to_owned()))].into_iter().collect()).into(),
            Action::Http(Http {
                post: Some(text.to_owned()),
                headers: [("X-Text", text.to_owned())].into_iter().collect::<Named<String>>(),
                json: Some(serde_json::json!({ "text": text, "number": 1.5, "nothing": null })),
                ..Http::default()
            })
            .into(),
            Action::Close(Close { code: 1000, reason: text.to_owned() }).into(),
        ];
        let session = Session { name: "s".to_owned(), weight: 1.0, steps };
        let scenario = Scenario { sessions: vec![session], ..Scenario::default() };
        let printed = scenario.to_yaml();
        assert_eq!(read(&printed), scenario, "{printed}");
    }
}

fn amounts() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0_u32..1_000_000).prop_map(f64::from),
        0.000_001..1_000_000.0_f64,
        (1_u32..1000).prop_map(|n| f64::from(n) / 1000.0)
    ]
}

fn distributions() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        amounts().prop_map(Distribution::Constant),
        (amounts(), amounts()).prop_map(|(a, b)| Distribution::Uniform(a.min(b), a.max(b))),
        amounts().prop_map(|mean| Distribution::Exponential(mean + 0.5)),
        (amounts(), amounts()).prop_map(|(mean, deviation)| Distribution::Normal(mean, deviation)),
        (amounts(), 0.0..5.0).prop_map(|(median, sigma)| Distribution::LogNormal(median + 0.5, sigma)),
    ]
}

/// Generates text from tokens that have a meaning in a scenario.
fn scenario_like_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\n  ",
        "\n    ",
        "\n      ",
        "- ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "{{",
        "}}",
        "${",
        "\"",
        "'",
        "&a ",
        "*a",
        "<<: *a",
        "target: ",
        "phases:",
        "sessions:",
        "steps:",
        "name: x",
        "rate: 1/s",
        "burst: 1",
        "connect: ",
        "join: ",
        "push: ",
        "send: ",
        "loop: ",
        "times: ",
        "think: ",
        "1s..3s",
        "zipf(",
        ")",
        "variables:",
        "thresholds: ",
        "p99 < 1s",
        "ws://127.0.0.1:1",
        "payload: ",
        "!t ",
        "|",
        ">",
        "#",
        "---",
        "null",
        "if: ",
        "condition: ",
        "a == b",
        "set: ",
        "capture: ",
        "label: ",
        "é",
        "\t",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = scenario::parse(&text, "x.yaml", Path::new("/nonexistent"), &BTreeMap::new());
    }

    #[test]
    fn any_text_that_looks_like_a_scenario_is_read_without_panic(text in scenario_like_text()) {
        if let Err(errors) = scenario::parse(&text, "x.yaml", Path::new("/nonexistent"), &BTreeMap::new()) {
            prop_assert!(!errors.problems.is_empty());
            let _ = errors.to_string();
        }
    }

    #[test]
    fn any_step_text_is_compiled_without_panic(text in "[a-z{}%$.()0-9, '\"\\\\]{0,40}") {
        let value = serde_json::Value::from(text.as_str());
        for step in ["join: ", "think: ", "connect: ", "http: ", "send: ", "loop: { while: ", "if: { condition: "] {
            let end = if step.ends_with("while: ") { ", steps: [cut] }" } else if step.contains('{') { ", then: [] }" } else { "" };
            let scenario = with_steps(&format!("- {step}{value}{end}"));
            let _ = scenario::parse(&scenario, "x.yaml", Path::new("/nonexistent"), &BTreeMap::new());
        }
    }

    #[test]
    fn durations_round_trip(nanoseconds in 0_u64..366 * 24 * 3600 * 1_000_000_000) {
        let time = Time(Duration::from_nanos(nanoseconds));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn round_durations_round_trip(milliseconds in 0_u64..100_000_000) {
        let time = Time(Duration::from_millis(milliseconds));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn sizes_rates_and_speeds_round_trip(bytes in any::<u64>(), rate in amounts()) {
        prop_assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
        prop_assert_eq!(Size(bytes >> 40 << 20).to_string().parse(), Ok(Size(bytes >> 40 << 20)));
        prop_assert_eq!(ReadRate(Some(bytes)).to_string().parse(), Ok(ReadRate(Some(bytes))));
        prop_assert_eq!(Rate::per_second(rate).to_string().parse(), Ok(Rate::per_second(rate)));
        let heartbeat = Heartbeat(Some(Duration::from_millis(bytes % 1_000_000 + 1)));
        prop_assert_eq!(heartbeat.to_string().parse(), Ok(heartbeat));
    }

    #[test]
    fn distributions_round_trip(distribution in distributions(), count in 1_u64.., exponent in 0.0..9.0) {
        prop_assert_eq!(Pause(distribution).to_string().parse(), Ok(Pause(distribution)));
        prop_assert_eq!(Sizes(distribution).to_string().parse(), Ok(Sizes(distribution)));
        prop_assert_eq!(Numbers(distribution).to_string().parse(), Ok(Numbers(distribution)));
        let zipf = Numbers(Distribution::Zipf { count, exponent });
        prop_assert_eq!(zipf.to_string().parse(), Ok(zipf));
    }

    #[test]
    fn conditions_round_trip(
        left in "[a-z{}=<>'! ]{0,12}",
        right in "[a-z{}=<>'! ]{0,12}",
        operator in prop::sample::select(Operator::ALL.map(|(operator, _)| operator).to_vec()),
    ) {
        let condition = Condition { left, operator, right };
        prop_assert_eq!(condition.to_string().parse(), Ok(condition));
    }

    #[test]
    fn literal_text_is_just_that_text(text in "[a-z{}\\\\]{0,20}") {
        let push = Push {
            topic: literal(&text),
            event: "e".to_owned(),
            audience: Audience::Nobody,
            ..Push::default()
        };
        let steps = vec![Action::Push(push).into()];
        let scenario = Scenario {
            target: Some("ws://h".to_owned()),
            phases: vec![Phase::burst(1)],
            sessions: vec![Session { name: "s".to_owned(), weight: 1.0, steps }],
            ..Scenario::default()
        };
        let plan = plan(&scenario.to_yaml());
        let load::scenario::plan::Action::Push(push) = &plan.sessions[0].steps[0].action else { unreachable!() };
        let expected = if text.is_empty() { vec![] } else { vec![Part::Text(text)] };
        prop_assert_eq!(&push.topic.parts, &expected);
    }

    #[test]
    fn loops_print_and_read_back(times in 0_u32..1000, seconds in 1_u64..1000) {
        let inner = Loop {
            times: Some(Numbers(Distribution::Constant(f64::from(times)))),
            during: Some(Time::seconds(seconds)),
            steps: vec![Action::Cut(Nothing {}).into()],
            ..Loop::default()
        };
        let session = Session { name: "s".to_owned(), weight: 0.25, steps: vec![Action::Loop(inner).into()] };
        let scenario = Scenario { sessions: vec![session], ..Scenario::default() };
        prop_assert_eq!(read(&scenario.to_yaml()), scenario);
    }
}
