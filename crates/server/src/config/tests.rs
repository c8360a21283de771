//! Configurations as users write them, and the exact messages they get.

use super::*;
use gateway::OriginRule;
use std::time::Duration;

fn sources(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str, &str)]) -> Sources {
    let home = [("HOME", "/home/ann")];
    Sources {
        file: Some(("throng.toml".into(), file.into())),
        environment: home
            .iter()
            .chain(environment)
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        flags: flags
            .iter()
            .map(|(name, key, value)| Flag {
                name: (*name).into(),
                key: (*key).into(),
                value: (*value).into(),
            })
            .collect(),
    }
}

fn errors_of(sources: &Sources) -> String {
    Loaded::from_sources(sources).err().map(|errors| errors.to_string()).unwrap_or_default()
}

fn config_of(sources: &Sources) -> Config {
    Loaded::from_sources(sources).map(|loaded| loaded.config).expect("a sound configuration")
}

#[test]
fn a_mistake_in_the_file_is_named_with_line_key_and_remedy() {
    let table = [
        ("listen 4000", "throng.toml:1:8: not valid TOML: key with no value, expected `=`"),
        ("listne = \"127.0.0.1:1\"", "throng.toml:1:1: unknown key `listne`: did you mean `listen`?"),
        (
            "[limits]\noutbox_byte = 1",
            "throng.toml:2:1: unknown key `limits.outbox_byte`: did you mean `limits.outbox_bytes`?",
        ),
        (
            "\n[cluster]\nseed = 1",
            "throng.toml:2:2: unknown key `cluster`: remove it; `throng config default` lists every key",
        ),
        ("limits = 3", "throng.toml:1:1: `limits` is a table: write [limits] with its keys below it"),
        (
            "listen = 4000",
            "throng.toml:1:10: `listen` is 4000: write an IP address with a port, such as \"127.0.0.1:4000\" or \
             \"[::1]:4000\"",
        ),
        (
            "[socket]\n  longpoll = \"yes\"",
            "throng.toml:2:14: `socket.longpoll` is \"yes\": write true or false",
        ),
        (
            "socket.idle_timeout = 60",
            "throng.toml:1:23: `socket.idle_timeout` is 60: write a time from \"1s\" to \"24h\", with a unit \
             (ms, s, m, h), or \"off\"",
        ),
        (
            "[limits]\nheader_bytes = \"1GiB\"",
            "throng.toml:2:16: `limits.header_bytes` is \"1GiB\": write a size from \"1KiB\" to \"16KiB\", with a \
             unit (B, KB, MB, GB, KiB, MiB, GiB) or in bytes",
        ),
        ("shards = 0", "throng.toml:1:10: `shards` is 0: write a number from 1 to 1024, or \"auto\""),
        (
            "socket.origins = [\"example.com\"]",
            "throng.toml:1:18: `socket.origins` is [\"example.com\"]: write \"same-host\", \"any\" or a list such as \
             [\"https://example.com\", \"//*.example.org\"]",
        ),
        ("log.format = \"xml\"", "throng.toml:1:14: `log.format` is \"xml\": write \"text\" or \"json\""),
        (
            "log.level = \"loud\"",
            "throng.toml:1:13: `log.level` is \"loud\": write \"error\", \"warn\", \"info\", \"debug\", \"trace\", \
             or a list such as \"info,gateway=debug\"",
        ),
        (
            "profile = \"production\"",
            "throng.toml:1:11: `profile` is \"production\": write \"standard\" or \"load-test\"",
        ),
        (
            "[tls]\nlisten = \"0.0.0.0:4443\"\nkey = \"key.pem\"",
            "throng.toml:2:10: `tls.listen` needs `tls.certificate`: write the path of a PEM file, or turn TLS off \
             with \"off\"",
        ),
        (
            "tls.certificate = \"cert.pem\"",
            "throng.toml:1:19: `tls.certificate` needs `tls.listen`: write an address for TLS, or \"off\"",
        ),
        (
            "data_dir = \"\"",
            "throng.toml:1:12: `data_dir` is \"\": write the path of a directory, or \"auto\"",
        ),
        (
            "[bus]\nurl = \"redis://host\"\nlisten = \"127.0.0.1:4001\"",
            "throng.toml:3:10: `bus.listen` is the same as `admin.listen`: they must be different",
        ),
        (
            "bus.announce = \"node-1:4002\"",
            "throng.toml:1:16: `bus.announce` is \"node-1:4002\": write an IP address with a port, such as \
             \"127.0.0.1:4000\" or \"[::1]:4000\", or \"auto\"",
        ),
        (
            "admin.listen = \"127.0.0.1:4000\"",
            "throng.toml:1:16: `admin.listen` is the same as `listen`: they must be different",
        ),
    ];
    for (file, message) in table {
        assert_eq!(errors_of(&sources(file, &[], &[])), message, "{file}");
    }
}

#[test]
fn a_mistake_in_a_variable_or_a_flag_is_named_by_it() {
    let environment = [("THRONG_SHARDS", "many"), ("THRONG_LISTEM", "x"), ("THRONG_ZZZ", "x")];
    let flags = [("--set", "limits.outbox", "1MiB"), ("--listen", "listen", "here")];
    let expected = [
        "THRONG_LISTEM: unknown environment variable: did you mean THRONG_LISTEN?",
        "THRONG_ZZZ: unknown environment variable: unset it; variables are named THRONG_ and the key in capitals",
        "--set: unknown key `limits.outbox`: did you mean `limits.outbox_bytes`?",
        "--listen: `listen` is \"here\": write an IP address with a port, such as \"127.0.0.1:4000\" or \"[::1]:4000\"",
        "THRONG_SHARDS: `shards` is \"many\": write a number from 1 to 1024, or \"auto\"",
    ];
    assert_eq!(errors_of(&sources("", &environment, &flags)), expected.join("\n"));
}

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nadmin.listen = \"127.0.0.1:2\"\nshards = 3";
    let environment = [("THRONG_ADMIN_LISTEN", "127.0.0.1:20"), ("THRONG_LISTEN", "127.0.0.1:10")];
    let flags = [("--listen", "listen", "127.0.0.1:100")];
    let config = config_of(&sources(file, &environment, &flags));
    assert_eq!(config.listen.port(), 100);
    assert_eq!(config.admin_listen.map(|address| address.port()), Some(20));
    assert_eq!(config.shards, Some(3));
}

#[test]
fn a_profile_changes_defaults_and_nothing_that_was_written() {
    let config =
        config_of(&sources("socket.idle_timeout = \"90s\"", &[], &[("--profile", "profile", "load-test")]));
    assert_eq!(config.profile, Profile::LoadTest);
    assert_eq!(config.socket.idle_timeout, Some(Duration::from_secs(90)));
    assert!(matches!(config.socket.origins, OriginRule::Any));
    assert!(config.socket.lenient_origin);
    assert_eq!(config.echo_path.as_deref(), Some("/echo"));
}

#[test]
fn numbers_may_be_written_as_toml_writes_them() {
    let config =
        config_of(&sources("limits.connections = 1_000_000\nlimits.header_bytes = 0x1000", &[], &[]));
    assert_eq!(config.limits.connections, Some(1_000_000));
    assert_eq!(config.limits.header_bytes, 4096);
}

#[test]
fn the_default_file_is_sound_with_and_without_its_comments() {
    let commented = default_file();
    assert_eq!(errors_of(&sources(&commented, &[], &[])), "");
    let written: String = commented
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting)
                if setting.split_once(" = ").is_some_and(|(name, _)| !name.contains([' ', '`'])) =>
            {
                setting
            }
            Some(_) | None => line,
        })
        .fold(String::new(), |text, line| text + line + "\n");
    assert!(written.contains("\noutbox_bytes = \"1MiB\"\n"), "{written}");
    assert_eq!(errors_of(&sources(&written, &[], &[])), "");
}

#[test]
fn what_is_in_force_names_its_places_and_can_be_read_again() {
    let given =
        sources("shards = 2", &[("THRONG_LOG_FORMAT", "json")], &[("--set", "socket.longpoll", "false")]);
    let printed = Loaded::from_sources(&given).expect("a sound configuration").print();
    for line in [
        "shards = 2  # throng.toml:1:10",
        "format = \"json\"  # THRONG_LOG_FORMAT",
        "longpoll = \"false\"  # --set",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line} in\n{printed}");
    }
    assert_eq!(errors_of(&sources(&printed, &[], &[])), "");
}

#[test]
fn without_a_home_the_data_folder_must_be_named() {
    let mut given = sources("", &[], &[]);
    given.environment.clear();
    assert_eq!(
        errors_of(&given),
        "default: `data_dir` is \"auto\", but neither XDG_DATA_HOME nor HOME is set: set `data_dir` to a directory"
    );
    given.flags.push(Flag { name: "--data-dir".into(), key: "data_dir".into(), value: "/srv/throng".into() });
    assert_eq!(config_of(&given).data_dir, PathBuf::from("/srv/throng"));
}

#[test]
fn a_listener_for_proxies_needs_their_networks() {
    for (file, key) in [
        ("proxy_protocol = \"v2\"", "proxy_protocol"),
        (
            "tls = {listen = \"[::1]:0\", certificate = \"c\", key = \"k\", proxy_protocol = \"v2\"}",
            "tls.proxy_protocol",
        ),
    ] {
        let errors = errors_of(&sources(file, &[], &[]));
        assert!(errors.contains(key) && errors.contains("`trusted_proxies`"), "{errors}");
        let environment = [("THRONG_TRUSTED_PROXIES", "10.0.0.0/8,::1")];
        assert_eq!(config_of(&sources(file, &environment, &[])).trusted_proxies.len(), 2);
    }
}

#[test]
fn an_authority_for_a_database_needs_a_connection_that_is_encrypted() {
    let file = |url: &str| format!("[store]\nurl = \"{url}\"\ncertificate_authority = \"ca.pem\"\n");
    for query in ["", "?sslmode=prefer", "?sslmode=disable"] {
        let errors = errors_of(&sources(&file(&format!("postgres://db/throng{query}")), &[], &[]));
        let begin = "throng.toml:3:25: `store.certificate_authority` needs `?sslmode=require`: append it to";
        assert!(errors.starts_with(begin), "{query}: {errors}");
    }
    for mode in ["require", "verify-full"] {
        config_of(&sources(&file(&format!("postgres://db/throng?sslmode={mode}")), &[], &[]));
    }
    let plain = "[store]\nurl = \"postgres://db/throng\"\n";
    assert!(config_of(&sources(plain, &[], &[])).store.certificate_authority.is_none());
}
