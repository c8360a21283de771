//! `throng doctor` on this machine.

use crate::throng::command;
use crate::tls;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs `throng doctor` with these arguments; returns its output, and whether it found nothing that must be solved.
fn doctor(arguments: &[&str]) -> (String, bool) {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = command(home.path());
    command.args(["doctor", "--admin-listen", "off"]).args(arguments);
    if !arguments.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    let output = command.output().expect("it ran");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

fn checks(json: &str) -> Vec<Value> {
    let examination: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    examination["diagnosis"]["checks"].as_array().expect("checks").clone()
}

#[test]
fn it_says_how_many_connections_the_machine_can_hold_and_what_limits_it() {
    let (text, _) = doctor(&["--clients", "1"]);
    assert!(text.contains("This machine can hold 1 client; its limit is "), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("source ports"), "{text}");
    let (text, good) = doctor(&["--clients", "4000000000"]);
    assert!(!good && text.contains("of 4,000,000,000 clients"), "{text}");
    assert!(
        text.contains("Settings that raise the limits") && text.contains("    LimitNOFILE=4000000512"),
        "{text}"
    );
    assert!(text.contains("/etc/sysctl.d/") && text.contains("    fs.file-max = "), "{text}");
}

#[test]
fn it_counts_on_no_more_than_the_configuration_has_room_for() {
    let found = |configured: &[&str], clients: &str| {
        let home = tempfile::tempdir().expect("a folder");
        let mut limited = Command::new("/bin/sh");
        limited.env_clear().env("HOME", home.path());
        limited.args(["-c", "ulimit -n 2000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_throng")]);
        limited.args(["doctor", "--json", "--clients", clients]);
        limited.args(["--admin-listen", "off", "--listen", "127.0.0.1:0"]);
        limited.args(configured.iter().flat_map(|set| ["--set", set]));
        let output = limited.output().expect("it ran");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        (told["diagnosis"]["holds"].as_u64().expect("a number"), output.status.success())
    };
    let table = 2_000 - 512;
    assert_eq!(found(&[], "100"), (table, true));
    assert_eq!(found(&[], "5000"), (table, false), "it is told before the server turns clients away");
    assert_eq!(found(&["limits.connections=5000"], "5000"), (5_000, true));
    assert_eq!(found(&["limits.connections=5000", "descriptor_tables=shared"], "5000"), (table, false));
    assert_eq!(found(&["limits.connections=1000"], "5000"), (1_000, false));
}

#[test]
fn an_address_in_use_stops() {
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = holder.local_addr().expect("an address").to_string();
    let (json, good) = doctor(&["--clients", "1", "--json", "--listen", &address]);
    let check = checks(&json).into_iter().find(|check| check["subject"] == "listen").expect("it is checked");
    assert!(!good && check["state"] == "stop", "{check}");
    assert!(check["text"].as_str().is_some_and(|text| text.contains("in use")), "{check}");
}

#[test]
fn the_tls_files_are_read_and_judged_by_their_time() {
    let folder = tempfile::tempdir().expect("a folder");
    tls::write_pair(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let set = [format!("tls.certificate={}", path("cert.pem")), format!("tls.key={}", path("key.pem"))];
    let judged = || {
        let (json, good) = doctor(&[
            "--clients",
            "1",
            "--json",
            "--set",
            "tls.listen=127.0.0.1:0",
            "--set",
            &set[0],
            "--set",
            &set[1],
        ]);
        (checks(&json), good)
    };
    fs::set_permissions(path("key.pem"), Permissions::from_mode(0o600)).expect("set");
    let (found, _) = judged();
    let check = found.iter().find(|check| check["subject"] == "certificate").expect("it is checked");
    assert!(
        check["state"] == "ok" && check["text"].as_str().is_some_and(|t| t.contains("valid until")),
        "{check}"
    );
    assert!(!found.iter().any(|check| check["subject"] == "private key"), "{found:?}");

    fs::set_permissions(path("key.pem"), Permissions::from_mode(0o644)).expect("set");
    let (found, _) = judged();
    let check = found.iter().find(|check| check["subject"] == "private key").expect("it is noticed");
    assert!(check["remedy"].as_str().is_some_and(|remedy| remedy.starts_with("chmod o= ")), "{check}");

    fs::write(path("key.pem"), "no key").expect("written");
    let (found, good) = judged();
    let check = found.iter().find(|check| check["subject"] == "certificate").expect("it is checked");
    assert!(!good && check["state"] == "stop", "{check}");
}

#[test]
fn a_memory_budget_is_among_what_limits_the_machine_and_one_that_suffices_is_told() {
    let (text, good) = doctor(&["--clients", "500000", "--memory-budget", "64MiB"]);
    assert!(
        !good && text.contains("This machine can hold ") && text.contains("first limit is memory budget"),
        "{text}"
    );
    let (_, wanted) = text.split_once("limits.memory_budget = \"").expect("it is told what would suffice");
    let (wanted, _) = wanted.split_once('"').expect("in quotes");
    // Slightly fewer: no two processes take exactly the same at their start.
    let (text, _) = doctor(&["--clients", "490000", "--memory-budget", wanted]);
    assert!(
        !text.contains("first limit is memory budget") && !text.contains("limits.memory_budget = "),
        "{text}"
    );
}
