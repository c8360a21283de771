//! From facts and a wish to a diagnosis. Pure: the same facts always give the same one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds::{Bound, Resource, bounds, clients_per_table};
use super::checks::{Check, State, machine_checks};
use super::facts::Facts;
use super::scene::{Scene, Wish};
use super::settings::Setting;
use super::target_checks::target_checks;

/// What a machine can do for a wish.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Clients that were wished for.
    pub clients: u64,
    /// Clients that the machine can hold: the lowest firm bound. `None` when no bound is known.
    pub holds: Option<u64>,
    /// Threads that the clients need by the descriptor limit; more than one means tables of their own.
    pub threads: Option<u64>,
    /// By resource, lowest first.
    pub bounds: Vec<Bound>,
    /// Facts that were judged, in reading order: the machine's, then the targets'.
    pub checks: Vec<Check>,
}

/// Judges what a machine can do for a wish.
#[must_use]
pub fn diagnose(facts: &Facts, wish: &Wish) -> Diagnosis {
    let scene = Scene { facts, wish };
    let bounds = bounds(&scene);
    let mut checks = machine_checks(&scene);
    checks.extend(target_checks(&scene));
    Diagnosis {
        clients: wish.clients,
        holds: bounds.iter().filter(|bound| bound.firm).map(|bound| bound.clients).min(),
        threads: clients_per_table(&scene).map(|each| wish.clients.div_ceil(each.max(1)).max(1)),
        bounds,
        checks,
    }
}

impl Diagnosis {
    /// The resource that runs out first, when it does so before the wish is fulfilled.
    #[must_use]
    pub fn obstacle(&self) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.firm && bound.clients < self.clients)
    }

    /// The gravest that was found, in bounds and checks.
    #[must_use]
    pub fn state(&self) -> State {
        let bounds = self.bounds.iter().map(|bound| self.state_of(bound));
        bounds.chain(self.checks.iter().map(|check| check.state)).max().unwrap_or(State::Ok)
    }

    /// How a bound bears on the wish.
    #[must_use]
    pub fn state_of(&self, bound: &Bound) -> State {
        match (bound.clients < self.clients, bound.firm) {
            (false, _) => State::Ok,
            (true, true) => State::Stop,
            (true, false) => State::Caution,
        }
    }

    /// The lines of configuration that make room for the wish, each once, by the place where they are kept.
    #[must_use]
    pub fn settings(&self) -> BTreeSet<&Setting> {
        let of_bounds = self.bounds.iter().flat_map(|bound| &bound.settings);
        of_bounds.chain(self.checks.iter().flat_map(|check| &check.settings)).collect()
    }

    /// The resource that sets the machine's limit.
    #[must_use]
    pub fn limited_by(&self) -> Option<Resource> {
        self.bounds.iter().find(|bound| bound.firm).map(|bound| bound.resource)
    }

    /// What stands in the way, gravest first, each with what changes it.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.findings().into_iter().map(|(_, text)| text).collect()
    }

    /// The same with how grave each is: [`State::Caution`] or [`State::Stop`].
    #[must_use]
    pub fn findings(&self) -> Vec<(State, String)> {
        let bounds = self.bounds.iter().map(|bound| {
            let label = bound.resource.label();
            let text = format!(
                "{label}: enough for {} of {} clients ({})",
                bound.clients, self.clients, bound.basis
            );
            (self.state_of(bound), with_remedy(text, bound.remedy.as_deref()))
        });
        let checks = self.checks.iter().map(|check| {
            (check.state, with_remedy(format!("{}: {}", check.subject, check.text), check.remedy.as_deref()))
        });
        let mut findings: Vec<(State, String)> =
            bounds.chain(checks).filter(|(state, _)| *state >= State::Caution).collect();
        findings.sort_by_key(|(state, _)| Reverse(*state));
        findings
    }
}

fn with_remedy(text: String, remedy: Option<&str>) -> String {
    match remedy {
        Some(remedy) => format!("{text}; change it: {remedy}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::{Conntrack, ProcessFacts, Reading, Resolution, Role, TargetFacts};

    const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
    const ELSEWHERE: [u8; 4] = [198, 51, 100, 7];

    /// A machine of two cores and 24 GiB with a hard limit of 20,000 descriptors, as it was read.
    fn captured() -> Facts {
        let json = include_str!("../../../testdata/doctor/two-cores.json");
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

    fn wish(clients: u64, address: [u8; 4]) -> Wish {
        Wish { clients, targets: vec![target(address, 4000)], ..Wish::default() }
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

    type Case = (&'static str, fn(&mut Facts, &mut Wish), Option<(Resource, u64, &'static str)>);

    #[test]
    fn what_stops_the_machine_first_is_named_with_the_command_that_changes_it() {
        let cases: [Case; 14] = [
            ("a small wish", |_, wish| wish.clients = 20_000, None),
            (
                "one address has too few ports",
                |_, _| {},
                Some((Resource::Ports, 28_232, "more source addresses: 36, such as 127.0.0.1 to 127.0.0.36")),
            ),
            (
                "a wider range of ports would do",
                |_, wish| wish.clients = 60_000,
                Some((Resource::Ports, 28_232, "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"")),
            ),
            (
                "another machine is reached from addresses of a network",
                |_, wish| *wish = super::tests::wish(1_000_000, ELSEWHERE),
                Some((
                    Resource::Ports,
                    28_232,
                    "more source addresses: 36, each added by: ip address add ADDRESS/PREFIX dev INTERFACE; or 16 of \
                     them with: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"",
                )),
            ),
            ("enough source addresses", |_, wish| wish.sources.addresses = loopback_sources(36), None),
            (
                "ports of the scenario's own",
                |_, wish| {
                    wish.sources.addresses = loopback_sources(10);
                    wish.sources.ports = Some((1024, 65_535));
                },
                Some((
                    Resource::Ports,
                    645_120,
                    "more source addresses: 16, such as 127.0.0.1 to 127.0.0.16",
                )),
            ),
            (
                "addresses of the wrong family",
                |_, wish| wish.sources.addresses = vec![IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])],
                Some((Resource::Ports, 0, "more source addresses: 36, such as 127.0.0.1 to 127.0.0.36")),
            ),
            (
                "each target has the ports once more",
                |_, wish| wish.targets = (0..20).map(|index| target(LOOPBACK, 4000 + index)).collect(),
                Some((Resource::Ports, 564_640, "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"")),
            ),
            (
                "too few files",
                |facts, wish| {
                    wish.sources.addresses = loopback_sources(36);
                    facts.descriptors.file_max = Reading::Known(100_000);
                    facts.descriptors.files_open = Reading::Known(1_000);
                },
                Some((Resource::Files, 49_500, "sysctl -w fs.file-max=2100000")),
            ),
            (
                "too little memory",
                |facts, wish| {
                    wish.sources.addresses = loopback_sources(36);
                    facts.memory.available_bytes = Reading::Known(1_000_000_000);
                },
                Some((Resource::Memory, 95_500, "more memory, or more machines: --agents")),
            ),
            (
                "a control group with little memory",
                |facts, wish| {
                    wish.sources.addresses = loopback_sources(36);
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
                |facts, wish| {
                    wish.sources.addresses = loopback_sources(36);
                    facts.network.conntrack = Some(Conntrack { max: 262_144, count: 144 });
                },
                Some((Resource::Conntrack, 262_000, "sysctl -w net.netfilter.nf_conntrack_max=1100000")),
            ),
            (
                "a firewall that follows nothing does not stop anything",
                |facts, wish| {
                    wish.sources.addresses = loopback_sources(36);
                    facts.network.conntrack = Some(Conntrack { max: 1_000, count: 0 });
                },
                None,
            ),
            ("nothing is known", |facts, _| *facts = Facts::default(), None),
        ];
        for (name, edit, expected) in cases {
            let (mut facts, mut wish) = (captured(), wish(1_000_000, LOOPBACK));
            edit(&mut facts, &mut wish);
            let diagnosis = diagnose(&facts, &wish);
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

    #[test]
    fn both_ends_of_a_local_target_are_paid_for() {
        let local = diagnose(&captured(), &wish(10, LOOPBACK));
        let remote = diagnose(&captured(), &wish(10, ELSEWHERE));
        let own = diagnose(&captured(), &wish(10, [192, 0, 2, 2]));
        assert_eq!(bound(&local, Resource::Files).clients, bound(&remote, Resource::Files).clients / 2);
        assert_eq!(
            bound(&local, Resource::TcpMemory).clients,
            bound(&remote, Resource::TcpMemory).clients / 2
        );
        assert!(bound(&local, Resource::Memory).clients < bound(&remote, Resource::Memory).clients);
        assert_eq!(
            bound(&own, Resource::Memory),
            bound(&local, Resource::Memory),
            "an own address is local too"
        );
    }

    #[test]
    fn tls_takes_memory() {
        let mut with = wish(10, ELSEWHERE);
        with.targets[0].tls = true;
        let plain = diagnose(&captured(), &wish(10, ELSEWHERE));
        assert!(
            bound(&diagnose(&captured(), &with), Resource::Memory).clients
                < bound(&plain, Resource::Memory).clients / 3
        );
    }

    #[test]
    fn more_clients_than_a_table_holds_take_threads_with_tables_of_their_own() {
        for (clients, threads) in [(1, 1), (19_488, 1), (19_489, 2), (2_000_000, 103)] {
            let diagnosis = diagnose(&captured(), &wish(clients, LOOPBACK));
            assert_eq!(diagnosis.threads, Some(threads), "{clients}");
            let expected = if threads == 1 { State::Ok } else { State::Note };
            assert_eq!(check(&diagnosis, "descriptors").state, expected, "{clients}");
        }
    }

    #[test]
    fn tcp_memory_warns_and_does_not_stop() {
        let mut wish = wish(1_000_000, LOOPBACK);
        wish.sources.addresses = loopback_sources(36);
        let diagnosis = diagnose(&captured(), &wish);
        let bound = bound(&diagnosis, Resource::TcpMemory);
        assert_eq!((bound.clients, bound.firm), (287_901, false));
        let remedy = "sysctl -w net.ipv4.tcp_mem=\"2000000 2500000 3000000\"";
        assert_eq!(bound.remedy.as_deref(), Some(remedy));
        assert_eq!(diagnosis.state(), State::Caution);
        assert!(diagnosis.warnings().iter().any(|warning| warning.contains(remedy)));
    }

    type Judged = (&'static str, fn(&mut Facts, &mut Wish), &'static str, State, &'static str);

    #[test]
    fn settings_are_judged_by_what_they_do_to_the_wish() {
        let cases: [Judged; 19] = [
            ("own server", |_, _| {}, "cores", State::Caution, "another machine"),
            ("far server", |_, wish| *wish = tests::wish(10, ELSEWHERE), "cores", State::Ok, ""),
            (
                "a quota",
                |facts, wish| {
                    *wish = tests::wish(10, ELSEWHERE);
                    facts.processor.cores = Reading::Known(1);
                },
                "cores",
                State::Note,
                "",
            ),
            (
                "a saving governor",
                |facts, _| facts.processor.governor = Some("powersave".to_owned()),
                "frequency",
                State::Caution,
                "cpupower frequency-set -g performance",
            ),
            (
                "a fast governor",
                |facts, _| facts.processor.governor = Some("performance".to_owned()),
                "frequency",
                State::Ok,
                "",
            ),
            (
                "stolen time",
                |facts, _| facts.processor.steal = Reading::Known(0.05),
                "steal",
                State::Caution,
                "cores",
            ),
            ("reuse on loopback", |_, _| {}, "TIME_WAIT", State::Ok, ""),
            (
                "reuse on loopback is none elsewhere",
                |_, wish| *wish = tests::wish(10, ELSEWHERE),
                "TIME_WAIT",
                State::Caution,
                "sysctl -w net.ipv4.tcp_tw_reuse=1",
            ),
            (
                "reuse takes time stamps",
                |facts, _| facts.ports.timestamps = Reading::Known(0),
                "TIME_WAIT",
                State::Caution,
                "sysctl -w net.ipv4.tcp_timestamps=1 net.ipv4.tcp_tw_reuse=1",
            ),
            ("an old guide", |_, _| {}, "tcp_tw_recycle", State::Note, ""),
            (
                "a short accept queue",
                |facts, _| facts.network.somaxconn = Reading::Known(128),
                "accept queue",
                State::Caution,
                "net.core.somaxconn=65535",
            ),
            (
                "somebody else's accept queue",
                |facts, wish| {
                    *wish = tests::wish(10, ELSEWHERE);
                    facts.network.somaxconn = Reading::Known(128);
                },
                "accept queue",
                State::Note,
                "",
            ),
            (
                "no cookies",
                |facts, _| facts.network.syncookies = Reading::Known(0),
                "SYN queue",
                State::Caution,
                "net.ipv4.tcp_syncookies=1",
            ),
            (
                "packets dropped",
                |_, _| {},
                "packet queue",
                State::Caution,
                "net.core.netdev_max_backlog=30000",
            ),
            (
                "the small buffers of an old guide",
                |facts, _| facts.network.tcp_rmem = Reading::Known([1024, 4096, 16_384]),
                "buffers",
                State::Caution,
                "net.ipv4.tcp_rmem",
            ),
            (
                "a slow clock",
                |facts, _| facts.clock.source = Reading::Known("hpet".to_owned()),
                "clock",
                State::Caution,
                "current_clocksource",
            ),
            (
                "a clock on its own",
                |facts, _| facts.clock.synchronised = Reading::Known(false),
                "time of day",
                State::Caution,
                "timedatectl set-ntp true",
            ),
            (
                "a name that is none",
                |_, wish| wish.targets[0].resolution = Reading::from(Err("no such host")),
                "server:4000",
                State::Stop,
                "getent ahosts server",
            ),
            (
                "nobody listens",
                |_, wish| wish.targets[0].connect_us = Reading::from(Err("refused")),
                "server:4000",
                State::Stop,
                "start the server",
            ),
        ];
        for (name, edit, subject, state, remedy) in cases {
            let (mut facts, mut wish) = (captured(), wish(10, LOOPBACK));
            edit(&mut facts, &mut wish);
            let diagnosis = diagnose(&facts, &wish);
            let check = check(&diagnosis, subject);
            assert_eq!(check.state, state, "{name}: {check:?}");
            let given = check.remedy.as_deref().unwrap_or_default();
            assert!(given.contains(remedy) && given.is_empty() == remedy.is_empty(), "{name}: {check:?}");
        }
    }

    #[test]
    fn a_servers_own_descriptor_limit_is_measured_by_its_share_of_the_clients() {
        let mut wish = wish(10_000, LOOPBACK);
        let process = |limit| ProcessFacts {
            pid: 77,
            name: "echo".to_owned(),
            rss_bytes: 1,
            threads: 1,
            descriptors: Reading::Known(8),
            descriptor_limit: Reading::Known(limit),
        };
        for (limit, state) in [(Some(1024), State::Caution), (Some(20_000), State::Ok)] {
            wish.targets[0].process = Some(Reading::Known(process(limit)));
            let diagnosis = diagnose(&captured(), &wish);
            let about = |check: &&Check| check.text.contains("process 77 (echo)");
            let check = diagnosis.checks.iter().find(about).expect("the process is judged");
            assert_eq!(check.state, state, "{check:?}");
        }
    }

    #[test]
    fn what_is_warned_of_is_said_with_its_numbers() {
        let facts = captured();
        let diagnosis = diagnose(&facts, &wish(1_000_000, LOOPBACK));
        assert!(facts.listed().iter().any(|(name, value)| name == "nofile" && value.contains("20,000")));
        let warnings = diagnosis.warnings();
        assert!(warnings[0].starts_with("source ports: enough for 28232 of 1000000"), "{warnings:?}");
    }

    /// What a server of so many clients finds on the captured machine.
    fn served(clients: u64, edit: fn(&mut Facts)) -> Diagnosis {
        let mut facts = captured();
        edit(&mut facts);
        diagnose(&facts, &Wish { clients, role: Role::Server { tls: false }, ..Wish::default() })
    }

    #[test]
    fn a_server_needs_no_ports_of_its_own_and_pays_for_one_end() {
        let diagnosis = served(1_000_000, |facts| facts.descriptors.file_max = Reading::Known(u64::MAX));
        let has = |resource| diagnosis.bounds.iter().any(|bound| bound.resource == resource);
        assert!(!has(Resource::Ports) && !diagnosis.checks.iter().any(|check| check.subject == "TIME_WAIT"));
        let played = diagnose(&captured(), &wish(1_000_000, ELSEWHERE));
        assert!(bound(&diagnosis, Resource::Memory).clients > bound(&played, Resource::Memory).clients);
        assert_eq!(diagnosis.limited_by(), Some(Resource::Memory));
        let by_tls = Wish { clients: 1_000_000, role: Role::Server { tls: true }, ..Wish::default() };
        let by_tls = diagnose(&captured(), &by_tls);
        assert!(bound(&by_tls, Resource::Memory).clients < bound(&diagnosis, Resource::Memory).clients / 3);
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
        });
        let expected = [
            "fs.file-max = 3000000",
            "fs.nr_open = 3000512",
            "net.core.somaxconn = 65535",
            "net.ipv4.tcp_mem = 3000000 3750000 4500000",
            "net.netfilter.nf_conntrack_max = 3000000",
            "LimitNOFILE=3000512",
        ];
        assert_eq!(lines(&large), expected);
    }
}
