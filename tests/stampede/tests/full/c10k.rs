//! `stampede c10k`: the original's term, which Erlang reads.

use std::process::Command;

use stampede_tests::{Lab, Program, node_echo};

const CLIENTS: u64 = 100;

/// Reads the term in the file and names its parts, one a line.
const READ_TERM: &str = r#"
    {ok, [Term]} = file:consult("result.term"),
    [io:format("~p~n", [element(1, Part)]) || Part <- Term],
    halt(0)."#;

#[test]
#[ignore = "needs Node.js and Erlang"]
fn the_c10k_test_prints_a_term_that_erlang_reads() {
    let (server, address) = node_echo();
    let (host, port) = address.rsplit_once(':').expect("an address");
    let lab = Lab::new();
    for more in [&[][..], &["--reservoir"]] {
        let clients = CLIENTS.to_string();
        let arguments = ["c10k", host, port, "--clients", &clients, "--seconds", "5"];
        let arguments: Vec<&str> = arguments.iter().chain(more).copied().collect();
        let ended = lab.run(&arguments);
        let summary = ended.summary();
        assert_eq!(summary.count("connects"), CLIENTS, "{}", ended.words());
        assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
        summary.assert_adds_up();
        let (_, term) = ended.output.split_once("Result: ").unwrap_or_else(|| panic!("{}", ended.words()));
        lab.file("result.term", &format!("{}.\n", term.trim().trim_end_matches('.')));
        let mut erlang = Command::new("erl");
        erlang.args(["-noshell", "-noinput", "-eval", READ_TERM]).current_dir(lab.path("."));
        let read = Program::start(erlang).ended();
        assert_eq!(read.code, 0, "{}{}\n{term}", read.output, read.complaints);
        for part in [
            "connection_time",
            "message_latency",
            "connections",
            "disconnections",
            "messages",
            "connection_timeouts",
            "crashes",
        ] {
            assert!(read.output.contains(part), "{part} in {}", read.output);
        }
    }
    drop(server);
}
