//! The same captured machine, judged for different requirements.

mod judged;
mod obstacles;
mod served;

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::{ProcessFacts, Reading, Resolution, TargetFacts};

const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
const ELSEWHERE: [u8; 4] = [198, 51, 100, 7];

/// Returns the facts of a machine with two cores, 24 GiB and a hard limit of 20,000 descriptors, as they were read.
fn captured() -> Facts {
    let json = include_str!("../../../../testdata/doctor/two-cores.json");
    serde_json::from_str(json).expect("captured facts")
}

fn target(address: [u8; 4], port: u16) -> TargetFacts {
    let resolution = Resolution { addresses: vec![IpAddr::from(address)], time_us: 20 };
    TargetFacts {
        host: "server".to_owned(),
        port,
        resolution: Reading::Known(resolution),
        connect_us: Reading::Known(150),
        ..TargetFacts::default()
    }
}

fn requirements(clients: u64, address: [u8; 4]) -> Requirements {
    Requirements { clients, targets: vec![target(address, 4000)], ..Requirements::default() }
}

fn loopback_sources(count: u32) -> Vec<IpAddr> {
    (1..=count).map(|number| Ipv4Addr::from(0x7f00_0000 + number).into()).collect()
}

fn bound(diagnosis: &Diagnosis, resource: Resource) -> &Bound {
    diagnosis.bounds.iter().find(|bound| bound.resource == resource).expect("the bound is known")
}

fn check<'a>(diagnosis: &'a Diagnosis, subject: &str) -> &'a Check {
    diagnosis.checks.iter().find(|check| check.subject == subject).expect("the check is made")
}

#[test]
fn both_ends_of_a_local_target_are_paid_for() {
    let local = diagnose(&captured(), &requirements(10, LOOPBACK));
    let remote = diagnose(&captured(), &requirements(10, ELSEWHERE));
    let own = diagnose(&captured(), &requirements(10, [192, 0, 2, 2]));
    assert_eq!(bound(&local, Resource::Files).clients, bound(&remote, Resource::Files).clients / 2);
    assert_eq!(bound(&local, Resource::TcpMemory).clients, bound(&remote, Resource::TcpMemory).clients / 2);
    assert!(bound(&local, Resource::Memory).clients < bound(&remote, Resource::Memory).clients);
    assert_eq!(bound(&own, Resource::Memory), bound(&local, Resource::Memory), "an own address is local too");
}

#[test]
fn tls_takes_memory() {
    let mut with = requirements(10, ELSEWHERE);
    with.targets[0].tls = true;
    let plain = diagnose(&captured(), &requirements(10, ELSEWHERE));
    assert!(
        bound(&diagnose(&captured(), &with), Resource::Memory).clients
            < bound(&plain, Resource::Memory).clients / 3
    );
}

#[test]
fn more_clients_than_a_table_holds_take_threads_with_tables_of_their_own() {
    for (clients, threads) in [(1, 1), (19_488, 1), (19_489, 2), (2_000_000, 103)] {
        let diagnosis = diagnose(&captured(), &requirements(clients, LOOPBACK));
        assert_eq!(diagnosis.threads, Some(threads), "{clients}");
        let expected = if threads == 1 { State::Ok } else { State::Note };
        assert_eq!(check(&diagnosis, "descriptors").state, expected, "{clients}");
    }
}

#[test]
fn tcp_memory_warns_and_does_not_stop() {
    let mut requirements = requirements(1_000_000, LOOPBACK);
    requirements.sources.addresses = loopback_sources(36);
    let diagnosis = diagnose(&captured(), &requirements);
    let bound = bound(&diagnosis, Resource::TcpMemory);
    assert_eq!((bound.clients, bound.firm), (287_901, false));
    let remedy = "sysctl -w net.ipv4.tcp_mem=\"2000000 2500000 3000000\"";
    assert_eq!(bound.remedy.as_deref(), Some(remedy));
    assert_eq!(diagnosis.state(), State::Caution);
    assert!(diagnosis.warnings().iter().any(|warning| warning.contains(remedy)));
}

#[test]
fn a_servers_own_descriptor_limit_is_measured_by_its_share_of_the_clients() {
    let mut requirements = requirements(10_000, LOOPBACK);
    let process = |limit| ProcessFacts {
        pid: 77,
        name: "echo".to_owned(),
        rss_bytes: 1,
        threads: 1,
        descriptors: Reading::Known(8),
        descriptor_limit: Reading::Known(limit),
    };
    for (limit, state) in [(Some(1024), State::Caution), (Some(20_000), State::Ok)] {
        requirements.targets[0].process = Some(Reading::Known(process(limit)));
        let diagnosis = diagnose(&captured(), &requirements);
        let about = |check: &&Check| check.text.contains("process 77 (echo)");
        let check = diagnosis.checks.iter().find(about).expect("the process is judged");
        assert_eq!(check.state, state, "{check:?}");
    }
}

#[test]
fn what_is_warned_of_is_said_with_its_numbers() {
    let facts = captured();
    let diagnosis = diagnose(&facts, &requirements(1_000_000, LOOPBACK));
    assert!(facts.listed().iter().any(|(name, value)| name == "nofile" && value.contains("20,000")));
    let warnings = diagnosis.warnings();
    assert!(warnings[0].starts_with("source ports: enough for 28232 of 1000000"), "{warnings:?}");
}
