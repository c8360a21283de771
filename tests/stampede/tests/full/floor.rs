//! The floor beside a run.

use stampede_tests::{Lab, Program, echo};

/// Users of a server, with one message each.
fn scenario(url: &str) -> String {
    format!(
        "name: echoes\ntarget: {url}\nphases: [{{ burst: 2 }}]\nsessions:\n  - name: speaker\n    steps:\n      \
         - connect: /\n      - send: {{ size: 64, audience: echo }}\n      - wait: {{ echo: true }}\n"
    )
}

#[test]
#[ignore = "measures for some seconds"]
fn a_run_with_a_floor_carries_its_figures_in_summary_text_and_page() {
    let (server, _) = echo();
    let lab = Lab::with_floor();
    let ended = lab.start_scenario(&scenario(&server.url()), &["--floor=200"]).ended();
    let summary = ended.summary();
    let facts = summary.0["machines"][0]["facts"].as_array().expect("facts").iter();
    let floor: Vec<(&str, &str)> = facts
        .filter_map(|fact| Some((fact[0].as_str()?.strip_prefix("floor: ")?, fact[1].as_str()?)))
        .collect();
    let page = std::fs::read_to_string(ended.folder.join("report.html")).expect("a page");
    for name in [
        "connects",
        "broadcast, CPU per delivery",
        "broadcast, last receiver",
        "echoes, 1 in flight",
        "echoes, 16 in flight",
    ] {
        let figure = floor.iter().find(|fact| fact.0 == name).map(|fact| fact.1);
        let figure = figure.unwrap_or_else(|| panic!("{name} is missing: {floor:?}"));
        let number: f64 = figure.split(' ').next().and_then(|number| number.parse().ok()).expect("a figure");
        assert!(number > 0.0, "{name}: {figure}");
        let line = ended.output.lines().find(|line| line.trim_start().starts_with(name));
        assert!(line.is_some_and(|line| line.ends_with(figure)), "{name}: {}", ended.words());
        assert!(page.contains(&format!("<dt>floor: {name}</dt><dd>{figure}</dd>")), "{name}");
    }
}

#[test]
#[ignore = "measures for some seconds"]
fn each_agent_measures_the_floor_of_its_own_machine() {
    let (server, _) = echo();
    let lab = Lab::with_floor();
    let agents: Vec<(Program, String)> = (0..2).map(|_| agent(&lab)).collect();
    let addresses = agents.iter().map(|(_, address)| address.as_str()).collect::<Vec<_>>().join(",");
    let run = lab.start_scenario(&scenario(&server.url()), &["--floor=200", "--agents", &addresses]);
    let ended = run.ended();
    let summary = ended.summary();
    let machines = summary.0["machines"].as_array().expect("machines");
    assert_eq!(machines.len(), agents.len(), "{}", ended.words());
    for ((_, address), machine) in agents.iter().zip(machines) {
        let name = machine["name"].as_str().expect("a name");
        assert!(name.ends_with(&format!("({address})")), "{name}");
        let facts = machine["facts"].as_array().expect("facts");
        assert!(facts.iter().any(|fact| fact[0] == "floor: echoes, 1 in flight"), "{name}: {facts:?}");
        assert!(ended.output.contains(&format!("Kernel limits (floor) of {name}")), "{}", ended.words());
    }
}

/// An agent, and where it listens.
fn agent(lab: &Lab) -> (Program, String) {
    let mut agent = lab.start(&["agent", "--listen", "127.0.0.1:0"]);
    let told = agent.wait_for("waiting for a controller on ");
    (agent, told.split(' ').next().unwrap_or_default().to_owned())
}
