//! The command line: what it prints, and how it refuses.

use crate::throng::command;
use std::fs;
use std::net::TcpListener;
use std::process::Output;

fn run(arguments: &[&str], environment: &[(&str, &str)], file: Option<&str>) -> Output {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = command(home.path());
    command.args(arguments).envs(environment.iter().copied());
    if let Some(text) = file {
        let folder = home.path().join(".config/throng");
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join("throng.toml"), text).expect("written");
    }
    command.output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn a_bad_configuration_is_refused_with_code_2_and_every_mistake() {
    let file = "listen = \"nowhere\"\n[limits]\noutbox_byte = 1\n";
    for subcommand in [["serve"].as_slice(), &["config", "check"], &["config", "print"]] {
        let output = run(subcommand, &[("THRONG_SHARDS", "0")], Some(file));
        assert_eq!(output.status.code(), Some(2), "{subcommand:?}");
        let errors = text(&output.stderr);
        assert!(
            errors.contains("throng.toml:3:1: unknown key `limits.outbox_byte`: did you mean"),
            "{errors}"
        );
        assert!(
            errors.contains("throng.toml:1:10: `listen` is \"nowhere\": write an IP address"),
            "{errors}"
        );
        assert!(errors.contains("THRONG_SHARDS: `shards` is \"0\": write a number"), "{errors}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn a_file_that_was_named_must_exist() {
    for (arguments, environment) in [
        (["config", "check", "--config", "/nowhere/throng.toml"].as_slice(), [].as_slice()),
        (&["config", "check"], &[("THRONG_CONFIG", "/nowhere/throng.toml")]),
    ] {
        let output = run(arguments, environment, None);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with("throng: /nowhere/throng.toml: cannot be read"));
    }
    assert_eq!(run(&["config", "check"], &[], None).status.code(), Some(0));
}

#[test]
fn the_default_file_is_a_sound_configuration() {
    let default = run(&["config", "default"], &[], None);
    assert_eq!(default.status.code(), Some(0));
    let checked = run(&["config", "check"], &[], Some(text(&default.stdout)));
    assert_eq!((checked.status.code(), text(&checked.stdout)), (Some(0), "the configuration is valid\n"));
}

#[test]
fn what_is_in_force_is_printed_with_its_place() {
    let arguments = ["config", "print", "--set", "socket.channels_max=7"];
    let output = run(&arguments, &[("THRONG_LISTEN", "127.0.0.1:5000")], Some("shards = 3"));
    let printed = text(&output.stdout);
    for start in
        ["channels_max = \"7\"  # --set", "listen = \"127.0.0.1:5000\"  # THRONG_LISTEN", "shards = 3  # /"]
    {
        assert!(printed.lines().any(|line| line.starts_with(start)), "{start} in\n{printed}");
    }
}

#[test]
fn the_version_is_printed() {
    let expected = format!("throng {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&run(&["version"], &[], None).stdout), expected);
    assert_eq!(text(&run(&["--version"], &[], None).stdout), expected);
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = taken.local_addr().expect("an address").to_string();
    for variable in ["THRONG_LISTEN", "THRONG_ADMIN_LISTEN"] {
        let other = if variable == "THRONG_LISTEN" { "THRONG_ADMIN_LISTEN" } else { "THRONG_LISTEN" };
        let output = run(&["serve"], &[(variable, &address), (other, "127.0.0.1:0")], None);
        assert_eq!(output.status.code(), Some(1), "{variable}");
        assert!(text(&output.stderr).contains(&address), "{}", text(&output.stderr));
    }
}
