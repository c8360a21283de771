//! What the command line answers without a server.

use serde_json::Value;
use stampede_tests::Lab;

#[test]
fn a_wrong_scenario_is_told_with_its_line_and_key_and_exit_status_2() {
    let lab = Lab::new();
    lab.file("wrong.yaml", "name: wrong\ntarget: ws://127.0.0.1:1\nphases:\n  - raet: 100/s\nsessions: []\n");
    for command in ["check", "run"] {
        let outcome = lab.ask(&[command, "wrong.yaml"]);
        assert_eq!(outcome.code, 2, "{command}: {}{}", outcome.output, outcome.complaints);
        for part in ["wrong.yaml:4", "raet", "rate"] {
            assert!(outcome.complaints.contains(part), "{command}: {part} in {}", outcome.complaints);
        }
    }
}

#[test]
fn a_wrong_command_line_or_a_missing_file_has_exit_status_2() {
    let lab = Lab::new();
    for arguments in
        [&["run", "nowhere.yaml"][..], &["report", "nowhere"], &["rum"], &["c10k", "127.0.0.1", "port"]]
    {
        let outcome = lab.ask(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}{}", outcome.output, outcome.complaints);
        assert!(!outcome.complaints.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_flag_that_would_do_nothing_is_refused_with_exit_status_2() {
    let lab = Lab::new();
    lab.file("tsung.xml", "<tsung/>");
    let url = "ws://127.0.0.1:1/socket/websocket";
    for (arguments, part) in [
        (&["run", "tsung.xml", "--set", "users=3"][..], "users=3"),
        (&["search", "tsung.xml", "--until", "errors == 0"], "load=100"),
        (&["hold", url, "--set", "users=3"], "users=3"),
        (&["c10k", "127.0.0.1", "1", "--set", "users=3"], "users=3"),
        (&["chat", url, "--json"], "--load"),
        (&["chat", url, "--token", "a.b.c"], "--load"),
        (&["chat", url, "--load", "--name", "ann"], "--name"),
        (&["chat", url, "--load", "--topic", "room:default/lobby"], "messenger"),
        (&["chat", "http://127.0.0.1:1/c/default/r/lobby", "--load"], "messenger"),
        (&["hold", "http://127.0.0.1:1/app", "--http", "tsung.xml"], "http://127.0.0.1:1/app"),
        (&["compare", "before", "after", "--tolerance", "nan"], "0 or more"),
        (&["compare", "before", "after", "--tolerance=-1"], "0 or more"),
    ] {
        let outcome = lab.ask(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {}{}", outcome.output, outcome.complaints);
        assert!(outcome.complaints.contains(part), "{arguments:?}: {}", outcome.complaints);
    }
}

#[test]
fn what_an_import_says_as_json_is_never_mixed_with_the_scenario() {
    let lab = Lab::new();
    let xml = "<tsung><clients><client host=\"localhost\"/></clients><servers><server host=\"127.0.0.1\" port=\"1\" \
               type=\"tcp\"/></servers><load><arrivalphase phase=\"1\" duration=\"1\" unit=\"second\"><users \
               arrivalrate=\"1\" unit=\"second\"/></arrivalphase></load><sessions><session name=\"one\" \
               probability=\"100\" type=\"ts_http\"><request><http url=\"/\" method=\"GET\"/></request></session>\
               </sessions></tsung>";
    lab.file("tsung.xml", xml);
    let alone = lab.ask(&["import", "tsung.xml", "--json", "--output", "written.yaml"]);
    assert_eq!(alone.code, 0, "{}", alone.complaints);
    assert!(serde_json::from_str::<Value>(&alone.output).is_ok(), "{}", alone.output);
    let beside = lab.ask(&["import", "tsung.xml", "--json"]);
    assert!(serde_json::from_str::<Value>(&beside.complaints).is_ok(), "{}", beside.complaints);
    assert_eq!(beside.output, std::fs::read_to_string(lab.path("written.yaml")).expect("text"));
}

#[test]
fn the_schema_is_json_and_a_ready_made_run_prints_a_scenario_that_checks() {
    let lab = Lab::new();
    let schema: Value = serde_json::from_str(&lab.ask(&["schema"]).output).expect("JSON");
    assert!(schema["properties"]["phases"].is_object(), "{schema}");
    let url = "ws://127.0.0.1:1/socket/websocket";
    for arguments in [
        &["c10k", "127.0.0.1", "1"][..],
        &["hold", url],
        &["fanout", url],
        &["rooms", url],
        &["churn", url],
        &["storm", url],
        &["http", "http://127.0.0.1:1/"],
    ] {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--print-scenario"]).collect();
        let printed = lab.ask(&arguments);
        assert_eq!(printed.code, 0, "{arguments:?}: {}", printed.complaints);
        lab.file("printed.yaml", &printed.output);
        let checked = lab.ask(&["check", "printed.yaml"]);
        assert_eq!(checked.code, 0, "{arguments:?}: {}{}", checked.output, checked.complaints);
    }
}

#[test]
fn the_doctor_examines_this_machine_as_json() {
    let outcome = Lab::new().ask(&["doctor", "--clients", "1000", "--json"]);
    let examination: Value = serde_json::from_str(&outcome.output).expect("JSON");
    for part in ["facts", "targets", "diagnosis"] {
        assert!(!examination[part].is_null(), "{part}: {examination}");
    }
}
