//! What limits the machine first, and what changes that.

use super::*;
use crate::Conntrack;

type Case = (&'static str, fn(&mut Facts, &mut Requirements), Option<(Resource, u64, &'static str)>);

#[test]
fn what_stops_the_machine_first_is_named_with_the_command_that_changes_it() {
    let cases: [Case; 14] = [
        ("small requirements", |_, requirements| requirements.clients = 20_000, None),
        (
            "one address has too few ports",
            |_, _| {},
            Some((Resource::Ports, 28_232, "more source addresses: 36, such as 127.0.0.1 to 127.0.0.36")),
        ),
        (
            "a wider range of ports would do",
            |_, requirements| requirements.clients = 60_000,
            Some((Resource::Ports, 28_232, "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"")),
        ),
        (
            "another machine is reached from addresses of a network",
            |_, requirements| *requirements = super::requirements(1_000_000, ELSEWHERE),
            Some((
                Resource::Ports,
                28_232,
                "more source addresses: 36, each added with: ip address add ADDRESS/PREFIX dev INTERFACE; or \
                 16 together with: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"",
            )),
        ),
        (
            "enough source addresses",
            |_, requirements| requirements.sources.addresses = loopback_sources(36),
            None,
        ),
        (
            "ports of the scenario's own",
            |_, requirements| {
                requirements.sources.addresses = loopback_sources(10);
                requirements.sources.ports = Some((1024, 65_535));
            },
            Some((Resource::Ports, 645_120, "more source addresses: 16, such as 127.0.0.1 to 127.0.0.16")),
        ),
        (
            "addresses of the wrong family",
            |_, requirements| requirements.sources.addresses = vec![IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])],
            Some((Resource::Ports, 0, "more source addresses: 36, such as 127.0.0.1 to 127.0.0.36")),
        ),
        (
            "each target has the ports once more",
            |_, requirements| {
                requirements.targets = (0..20).map(|index| target(LOOPBACK, 4000 + index)).collect()
            },
            Some((Resource::Ports, 564_640, "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"")),
        ),
        (
            "too few files",
            |facts, requirements| {
                requirements.sources.addresses = loopback_sources(36);
                facts.descriptors.file_max = Reading::Known(100_000);
                facts.descriptors.files_open = Reading::Known(1_000);
            },
            Some((Resource::Files, 49_500, "sysctl -w fs.file-max=2100000")),
        ),
        (
            "too little memory",
            |facts, requirements| {
                requirements.sources.addresses = loopback_sources(36);
                facts.memory.available_bytes = Reading::Known(1_000_000_000);
            },
            Some((Resource::Memory, 95_500, "more memory, or more machines: --agents")),
        ),
        (
            "a control group with little memory",
            |facts, requirements| {
                requirements.sources.addresses = loopback_sources(36);
                facts.memory.limit_bytes = Some(500_000_000);
            },
            Some((
                Resource::Memory,
                47_750,
                "raise the control group's memory limit (memory.max; docker run --memory), or use more machines: \
                 --agents",
            )),
        ),
        (
            "a firewall that follows connections",
            |facts, requirements| {
                requirements.sources.addresses = loopback_sources(36);
                facts.network.conntrack = Some(Conntrack { max: 262_144, count: 144 });
            },
            Some((Resource::Conntrack, 262_000, "sysctl -w net.netfilter.nf_conntrack_max=1100000")),
        ),
        (
            "a firewall that follows nothing does not stop anything",
            |facts, requirements| {
                requirements.sources.addresses = loopback_sources(36);
                facts.network.conntrack = Some(Conntrack { max: 1_000, count: 0 });
            },
            None,
        ),
        ("nothing is known", |facts, _| *facts = Facts::default(), None),
    ];
    for (name, edit, expected) in cases {
        let (mut facts, mut requirements) = (captured(), requirements(1_000_000, LOOPBACK));
        edit(&mut facts, &mut requirements);
        let diagnosis = diagnose(&facts, &requirements);
        let obstacle = diagnosis.obstacle();
        let found = obstacle
            .map(|bound| (bound.resource, bound.clients, bound.remedy.as_deref().unwrap_or_default()));
        assert_eq!(found, expected, "{name}");
        assert_eq!(diagnosis.state() == State::Stop, expected.is_some(), "{name}");
        if let Some((_, clients, _)) = expected {
            assert_eq!(diagnosis.holds, Some(clients), "{name}");
        }
    }
}
