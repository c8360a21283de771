//! The floor beside a run.

use stampede_tests::{Lab, echo};

#[test]
#[ignore = "measures for some seconds"]
fn a_run_with_a_floor_carries_its_figures_in_summary_text_and_page() {
    let (server, _) = echo();
    let lab = Lab::with_floor();
    let scenario = format!(
        "name: echoes\ntarget: {}\nphases: [{{ burst: 2 }}]\nsessions:\n  - name: speaker\n    steps:\n      \
         - connect: /\n      - send: {{ size: 64, audience: echo }}\n      - wait: {{ echo: true }}\n",
        server.url()
    );
    let ended = lab.start_scenario(&scenario, &["--floor=200"]).ended();
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
