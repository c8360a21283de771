//! Tests of how scenarios are interpreted.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use load::draw::Distribution;
use load::scenario::plan::{
    Action, Arrivals, Audience, Body, Comparison, Dialect, Expression, FeederId, LabelId, Measure, Metric,
    Plan, Step,
};
use load::scenario::template::{Part, Template};
use load::scenario::{self};

use super::{plan, with_steps, workspace};

fn steps(text: &str) -> Vec<Step> {
    plan(&with_steps(text)).sessions.remove(0).steps
}

fn action(text: &str) -> Action {
    steps(text).remove(0).action
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

#[test]
fn holes_become_parts() {
    let plan = plan(&with_steps(
        "- join: 'a{{user_id}}b{{ user_id % 25 }}{{unique_id}}{{sequence(s)}}{{random(1, 10)}}{{zipf(9, 1.5)}}'\n\
         - join: '{{filler(8)}}{{stamp}}{{pad_to(200..400)}}{{now_ms}}{{target_host}}\\{{x}}{{v}}'\n\
         - set: { v: 1 }",
    ));
    let topic = |index: usize| match &plan.sessions[0].steps[index].action {
        Action::Join(join) => join.topic.parts.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        topic(0),
        [
            text("a"),
            Part::UserId,
            text("b"),
            Part::UserGroup(25),
            Part::UniqueId,
            Part::Sequence(0),
            Part::Number(Distribution::Uniform(1.0, 10.0)),
            Part::Number(Distribution::Zipf { count: 9, exponent: 1.5 }),
        ]
    );
    let v = plan.variables.iter().position(|name| name == "v").expect("v is a variable");
    let v = load::scenario::plan::VariableId(u16::try_from(v).expect("there are few variables"));
    assert_eq!(
        topic(1),
        [
            Part::Filler(Distribution::Constant(8.0)),
            Part::Stamp,
            Part::PadTo(Distribution::Uniform(200.0, 400.0)),
            Part::NowMs,
            Part::TargetHost,
            text("{{x}}"),
            Part::Variable(v),
        ]
    );
    assert_eq!(plan.sequences, 1);
}

#[test]
fn json_escapes_what_stands_within_quotes() {
    let payload = |payload: &str| match steps(&format!(
        "- set: {{ v: x }}\n- push: {{ topic: t, event: e, payload: {payload} }}"
    ))
    .remove(1)
    .action
    {
        Action::Push(push) => match push.body {
            Body::Template(template) => template.parts,
            Body::C10kPing => panic!("a push is no ping"),
        },
        other => panic!("{other:?}"),
    };
    let variable = load::scenario::plan::VariableId(0);
    assert_eq!(
        payload(r#"{ a: 'say "{{v}}"', n: 1.5, t: yes, l: [true, null] }"#),
        [
            text(r#"{"a":"say \""#),
            Part::JsonVariable(variable),
            text(r#"\"","l":[true,null],"n":1.5,"t":"yes"}"#)
        ]
    );
    assert_eq!(
        payload(r#"'{"a": "{{v}}", "b": {{v}}}'"#),
        [
            text(r#"{"a": ""#),
            Part::JsonVariable(variable),
            text(r#"", "b": "#),
            Part::Variable(variable),
            text("}")
        ]
    );
}

#[test]
fn phases_become_arrivals() {
    let text = "\
target: ws://h
sessions: [{ name: a, steps: [cut] }, { name: b, weight: 0, steps: [cut] }]
phases:
  - { rate: 60/m, duration: 1m, max_users: 5 }
  - { ramp: { from: 1/s, to: 3/s }, duration: 2s, name: up }
  - { poisson: 2/s, duration: 1s, weights: { b: 2 } }
  - { burst: 9, wait_for_users: true }
  - { users: 4, iterations: 2, over: 1s }
  - { pause: 3s }
";
    let phases = plan(text).load.phases;
    let arrivals: Vec<Arrivals> = phases.iter().map(|phase| phase.arrivals).collect();
    assert_eq!(
        arrivals,
        [
            Arrivals::Constant(1.0),
            Arrivals::Ramp(1.0, 3.0),
            Arrivals::Poisson(2.0),
            Arrivals::Burst(9),
            Arrivals::Closed { users: 4, iterations: Some(2), ramp: Duration::from_secs(1) },
            Arrivals::Pause,
        ]
    );
    assert_eq!((phases[0].users_max, phases[0].name.as_str()), (Some(5), "phase 1"));
    assert_eq!(phases[1].name, "up");
    assert_eq!(phases[2].weights, Some(vec![0.0, 2.0]));
    assert!(phases[3].wait_for_users);
    assert_eq!(phases[5].duration, Some(Duration::from_secs(3)));
}

#[test]
fn targets_are_taken_apart() {
    let table = [
        ("ws://127.0.0.1:4000", (false, "127.0.0.1", 4000, "")),
        ("wss://Example.org/app/", (true, "example.org", 443, "/app")),
        ("http://[::1]:8080/a/b", (false, "::1", 8080, "/a/b")),
        ("https://h", (true, "h", 443, "")),
        ("ws://h", (false, "h", 80, "")),
    ];
    for (url, expected) in table {
        let plan = plan(&with_steps("- cut").replace("ws://127.0.0.1:4000", url));
        let target = &plan.targets[0];
        assert_eq!(
            (target.tls, target.host.as_str(), target.port, target.base_path.as_str()),
            expected,
            "{url}"
        );
    }
}

#[test]
fn source_addresses_come_from_ranges_networks_and_the_machine() {
    let addresses = |written: &str| -> Vec<IpAddr> {
        plan(&format!("source_addresses: {written}\n{}", with_steps("- cut"))).sources.addresses
    };
    let of = |texts: &[&str]| -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    };
    assert_eq!(addresses("127.0.0.1-127.0.0.3"), of(&["127.0.0.1", "127.0.0.2", "127.0.0.3"]));
    assert_eq!(addresses("[10.0.0.0/30, ::1]"), of(&["10.0.0.1", "10.0.0.2", "::1"]));
    assert_eq!(addresses("10.0.0.7/32"), of(&["10.0.0.7"]));
    assert_eq!(addresses("'fd00::/127'"), of(&["fd00::", "fd00::1"]));
    assert!(
        addresses("machine").contains(&IpAddr::from([127, 0, 0, 1])),
        "the target is on the loopback interface"
    );
}

#[test]
fn constants_stand_anywhere_and_can_be_given_from_outside() {
    let text = "\
variables: { users: 5, host: '127.0.0.1', stay: 2s, deflate: false }
target: ws://${host}:4000
phases: [burst: '${users}']
sessions:
  - name: s
    steps:
      - connect: { deflate: '${deflate}', path: '/$${x}/${users}' }
      - think: ${stay}
      - send:
          json:
            n: ${users}
            t: '${users}'
";
    let overrides =
        BTreeMap::from([("users".to_owned(), "7".to_owned()), ("deflate".to_owned(), "true".to_owned())]);
    let plan =
        scenario::parse(text, "x.yaml", &workspace(), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.load.phases[0].arrivals, Arrivals::Burst(7));
    assert_eq!(plan.targets[0].host, "127.0.0.1");
    let Action::Connect(connect) = &plan.sessions[0].steps[0].action else {
        panic!("the first step connects")
    };
    assert!(connect.deflate);
    assert_eq!(connect.path, Template::text("/${x}/7"));
    let Action::Send(send) = &plan.sessions[0].steps[2].action else { panic!("the third step sends") };
    assert!(matches!(&send.body, Body::Template(body) if *body == Template::text(r#"{"n":7,"t":"7"}"#)));
}

#[test]
fn one_constant_scales_others() {
    let text = "\
variables: { load: 3, each: 10 }
target: ws://h
phases: [burst: '${load * each}']
sessions: [{ name: s, steps: [cut, think: '${each / load / 100}s'] }]
";
    let overrides = BTreeMap::from([("load".to_owned(), "4".to_owned())]);
    let plan =
        scenario::parse(text, "x.yaml", &workspace(), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.load.phases[0].arrivals, Arrivals::Burst(40));
    assert!(
        matches!(plan.sessions[0].steps[1].action, Action::Think(Distribution::Constant(pause)) if pause == 0.025)
    );
}

#[test]
fn until_asks_for_the_opposite_at_the_end() {
    let Action::Loop(inner) = action("- loop: { until: '{{x}} >= 5', steps: [set: { x: 1 }] }") else {
        panic!("the step is a loop")
    };
    assert!(inner.at_end);
    assert!(matches!(inner.condition.expect("it has a condition").comparison, Comparison::Less));
    let Action::Loop(inner) = action("- loop: { until: '{{x}} matches ^a', steps: [set: { x: 1 }] }") else {
        panic!("the step is a loop")
    };
    assert!(matches!(inner.condition.expect("it has a condition").comparison, Comparison::DoesNotMatch(_)));
}

#[test]
fn a_session_has_a_row_of_each_feeder_that_it_uses() {
    let text = "\
feeders: { people: people.csv }
target: ws://h
phases: [burst: 1]
sessions:
  - { name: a, steps: [join: '{{people.name}}', feed: people, join: '{{people.password}}'] }
  - { name: b, steps: [cut] }
"
    .replace(
        "steps: [join: '{{people.name}}', feed: people, join: '{{people.password}}']",
        "steps: [{ join: '{{people.name}}' }, { feed: people }, { join: '{{people.password}}' }]",
    );
    let plan: Plan = plan(&text);
    assert_eq!(plan.feeders[0].rows.len(), 4);
    assert_eq!(plan.feeders[0].rows[2][0], r#"carol "the cat""#);
    let described: Vec<String> = plan.sessions[0]
        .steps
        .iter()
        .map(|step| match &step.action {
            Action::Set(_, Expression::FeederRow(FeederId(feeder))) => format!("row of {feeder}"),
            Action::Set(variable, Expression::FeederColumn(_, column)) => {
                format!("{} = column {column}", plan.variables[usize::from(variable.0)])
            }
            Action::Join(_) => "join".to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    let columns = ["people.name = column 0", "people.password = column 1"];
    assert_eq!(
        described,
        ["row of 0", columns[0], columns[1], "join", "row of 0", columns[0], columns[1], "join"]
    );
    assert_eq!(plan.sessions[1].steps.len(), 1);
}

#[test]
fn thresholds_are_judged_in_their_units() {
    let text = format!(
        "thresholds: [p99.9 < 100ms, 'mean(join) >= 1s', 'error_rate <= 1%', 'lost == 0', 'p50(example) != 1us', receive_rate > 5/s]\n{}",
        with_steps("- cut")
    );
    let plan = plan(&text);
    let judged: Vec<(Measure, f64)> =
        plan.thresholds.iter().map(|threshold| (threshold.measure.clone(), threshold.value)).collect();
    let label = LabelId(0);
    assert_eq!(plan.labels[0], "example");
    assert_eq!(
        judged,
        [
            (Measure::Percentile(Metric::Latency, 99.9), 100_000.0),
            (Measure::Mean(Metric::Join), 1_000_000.0),
            (Measure::ErrorRate, 0.01),
            (Measure::Lost, 0.0),
            (Measure::Percentile(Metric::Labelled(label), 50.0), 1.0),
            (Measure::ReceiveRate, 5.0),
        ]
    );
}

#[test]
fn short_forms_mean_what_the_long_ones_do() {
    let table = [
        ("- connect: /a", "- connect: { path: /a }"),
        ("- connect", "- connect: { path: / }"),
        ("- join: a", "- join: { topic: a }"),
        ("- leave: a", "- leave: { topic: a }"),
        ("- send: a", "- send: { text: a }"),
        ("- wait: a", "- wait: { event: a }"),
        ("- barrier: a", "- barrier: { name: a }"),
        ("- http: /a", "- http: { get: /a }"),
        ("- capture: { x: $.a }", "- capture: { x: { jsonpath: $.a } }"),
        ("- set: { x: 007 }", "- set: { x: { text: '007' } }"),
        ("- close", "- close: { code: 1000 }"),
        ("- cut", "- cut: {}"),
    ];
    for (short, long) in table {
        assert_eq!(format!("{:?}", action(short)), format!("{:?}", action(long)), "{short}");
    }
}

#[test]
fn phoenix_has_a_heartbeat_unless_it_is_told_not_to() {
    let dialect = |written: &str| match action(written) {
        Action::Connect(connect) => connect.dialect,
        other => panic!("{other:?}"),
    };
    let version = proto::phoenix::Version::V2;
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(dialect("- connect: { phoenix: v2 }"), Dialect::Phoenix { version, heartbeat: seconds(30) });
    assert_eq!(
        dialect("- connect: { phoenix: v2, heartbeat: never }"),
        Dialect::Phoenix { version, heartbeat: None }
    );
    assert_eq!(dialect("- connect: /"), Dialect::Raw);
}

#[test]
fn a_message_of_a_size_carries_a_stamp_for_its_audience() {
    let Action::Send(send) = action("- send: { size: 64, audience: echo }") else { panic!("the step sends") };
    assert_eq!(send.audience, Audience::Echo);
    let Body::Template(body) = send.body else { panic!("it is text") };
    assert_eq!(body.parts, [Part::Stamp, Part::PadTo(Distribution::Constant(64.0))]);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = with_steps(
        "- connect: &c { path: /a, deflate: true }\n- cut\n- connect: { <<: *c, path: /b }\n- cut\n- connect: *c",
    );
    let connects: Vec<(Template, bool)> = plan(&text).sessions[0]
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Connect(connect) => Some((connect.path.clone(), connect.deflate)),
            _ => None,
        })
        .collect();
    let expected = ["/a", "/b", "/a"].map(|path| (Template::text(path), true));
    assert_eq!(connects, expected);
}
