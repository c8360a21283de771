//! The machine as a server sees it.

use super::*;
use crate::{Budget, Configured, Role};

/// As many tables as the engine has shards at most.
const TABLES: Configured = Configured { tables: 65_535, connections_max: None };

/// Diagnoses the captured machine for a server of so many clients.
fn served(clients: u64, edit: fn(&mut Facts)) -> Diagnosis {
    let mut facts = captured();
    edit(&mut facts);
    diagnose(
        &facts,
        &Requirements {
            clients,
            role: Role::Server { tls: false, budget: None, configured: TABLES },
            ..Requirements::default()
        },
    )
}

#[test]
fn a_server_needs_no_ports_of_its_own_and_pays_for_one_end() {
    let diagnosis = served(1_000_000, |facts| facts.descriptors.file_max = Reading::Known(u64::MAX));
    let has = |resource| diagnosis.bounds.iter().any(|bound| bound.resource == resource);
    assert!(!has(Resource::Ports) && !diagnosis.checks.iter().any(|check| check.subject == "TIME_WAIT"));
    let played = diagnose(&captured(), &requirements(1_000_000, ELSEWHERE));
    assert!(bound(&diagnosis, Resource::Memory).clients > bound(&played, Resource::Memory).clients);
    assert_eq!(diagnosis.limited_by(), Some(Resource::Memory));
    let by_tls = Requirements {
        clients: 1_000_000,
        role: Role::Server { tls: true, budget: None, configured: TABLES },
        ..Requirements::default()
    };
    let by_tls = diagnose(&captured(), &by_tls);
    assert!(bound(&by_tls, Resource::Memory).clients < bound(&diagnosis, Resource::Memory).clients / 3);
}

#[test]
fn a_memory_budget_bounds_what_the_machine_has_room_for() {
    let role = |budget| Role::Server { tls: false, budget, configured: TABLES };
    let requirements = |clients| Requirements { clients, ..Requirements::default() };
    let budget = Budget { bytes: 1 << 30, clients: 150_000, wanted_bytes: 3 << 29, wanted_limit_bytes: None };
    let bounded = diagnose(&captured(), &Requirements { role: role(Some(budget)), ..requirements(200_000) });
    assert_eq!((bounded.limited_by(), bounded.holds), (Some(Resource::Budget), Some(150_000)));
    let remedy = bounded.obstacle().and_then(|bound| bound.remedy.as_deref()).expect("there is one");
    assert_eq!(remedy, "limits.memory_budget = \"1536MiB\", or more servers");
    let followed = Budget { wanted_limit_bytes: Some(51 << 25), ..budget };
    let followed =
        diagnose(&captured(), &Requirements { role: role(Some(followed)), ..requirements(200_000) });
    let remedy = followed.obstacle().and_then(|bound| bound.remedy.as_deref()).expect("there is one");
    assert!(remedy.starts_with("raise the control group's memory limit to 1632 MiB"), "{remedy}");
    assert!(followed.settings().into_iter().any(|setting| setting.line() == "MemoryMax=1632M"));
    let fits = diagnose(&captured(), &Requirements { role: role(Some(budget)), ..requirements(150_000) });
    assert_eq!(fits.obstacle(), None);
    let without = diagnose(&captured(), &Requirements { role: role(None), ..requirements(200_000) });
    assert!(!without.bounds.iter().any(|bound| bound.resource == Resource::Budget));
}

#[test]
fn a_server_holds_what_its_configuration_has_room_for() {
    let table = captured().table_size().expect("it is known") - 512;
    for (tables, connections_max, clients, holds, limit, remedy) in [
        (1, None, table, table, Resource::Descriptors, None),
        (1, None, 100_000, table, Resource::Descriptors, Some("limits.connections = 100000, for shards")),
        (3, None, 3 * table, 3 * table, Resource::Descriptors, None),
        (1, Some(1_000), 1_000, 1_000, Resource::Configuration, None),
        (1, Some(1_000), 5_000, 1_000, Resource::Configuration, Some("limits.connections = 5000")),
        (1, Some(100_000), 100_000, table, Resource::Descriptors, Some("limits.connections = 100000, for")),
    ] {
        let configured = Configured { tables, connections_max };
        let role = Role::Server { tls: false, budget: None, configured };
        let found = diagnose(&captured(), &Requirements { clients, role, ..Requirements::default() });
        assert_eq!((found.holds, found.limited_by()), (Some(holds), Some(limit)), "{configured:?}");
        let told = found.obstacle().and_then(|bound| bound.remedy.as_deref());
        assert_eq!(told.is_some(), remedy.is_some(), "{told:?}");
        assert!(told.zip(remedy).is_none_or(|(told, expected)| told.starts_with(expected)), "{told:?}");
    }
}

#[test]
fn the_lines_to_paste_are_those_that_make_room_and_no_others() {
    let lines = |diagnosis: &Diagnosis| -> Vec<String> {
        diagnosis.settings().into_iter().map(Setting::line).collect()
    };
    let small = served(1_000, |facts| facts.network.netdev_backlog = Reading::Known(100_000));
    assert_eq!(lines(&small), Vec::<String>::new());
    let large = served(3_000_000, |facts| {
        facts.descriptors.file_max = Reading::Known(100_000);
        facts.descriptors.files_open = Reading::Known(0);
        facts.descriptors.nr_open = Reading::Known(1_048_576);
        facts.network.somaxconn = Reading::Known(128);
        facts.network.netdev_backlog = Reading::Known(100_000);
        facts.network.max_orphans = Reading::Known(131_072);
    });
    let expected = [
        "fs.file-max = 3000000",
        "fs.nr_open = 3000512",
        "net.core.somaxconn = 65535",
        "net.ipv4.tcp_max_orphans = 3000000",
        "net.ipv4.tcp_mem = 3000000 3750000 4500000",
        "net.netfilter.nf_conntrack_max = 3000000",
        "LimitNOFILE=3000512",
    ];
    assert_eq!(lines(&large), expected);
}

#[test]
fn a_hash_table_is_large_enough_for_four_connections_an_entry() {
    let with = |facts: &mut Facts| facts.network.connection_table = Reading::Known(262_144);
    let fits = served(1_048_576, with);
    assert_eq!(check(&fits, "TCP hash table").state, State::Ok);
    let crowded = served(2_000_000, with);
    let table = check(&crowded, "TCP hash table");
    assert_eq!(table.state, State::Caution);
    assert!(table.text.contains("about 7 connections share one"), "{}", table.text);
    assert!(
        table.remedy.as_deref().is_some_and(|remedy| remedy.starts_with("boot with thash_entries=2097152;"))
    );
    assert_eq!(table.settings[0].line(), "net.ipv4.tcp_child_ehash_entries = 2097152");
    let both_ends = |address| {
        let mut facts = captured();
        with(&mut facts);
        check(&diagnose(&facts, &requirements(1_000_000, address)), "TCP hash table").state
    };
    assert_eq!([LOOPBACK, ELSEWHERE].map(both_ends), [State::Caution, State::Ok]);
    let unlimited = served(u64::MAX, |facts| facts.network.connection_table = Reading::Known(0));
    assert_eq!(check(&unlimited, "TCP hash table").settings[0].value, "16777216");
    let older_kernel = served(2_000_000, |_| {});
    assert!(!older_kernel.checks.iter().any(|check| check.subject == "TCP hash table"));
}
