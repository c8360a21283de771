//! Each fact, judged by its effect on the requirements.

use super::*;

type Judged = (&'static str, fn(&mut Facts, &mut Requirements), &'static str, State, &'static str);

#[test]
fn settings_are_judged_by_what_they_do_to_the_requirements() {
    let cases: [Judged; 19] = [
        ("own server", |_, _| {}, "cores", State::Caution, "another machine"),
        (
            "far server",
            |_, requirements| *requirements = super::requirements(10, ELSEWHERE),
            "cores",
            State::Ok,
            "",
        ),
        (
            "a quota",
            |facts, requirements| {
                *requirements = super::requirements(10, ELSEWHERE);
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
            |_, requirements| *requirements = super::requirements(10, ELSEWHERE),
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
            |facts, requirements| {
                *requirements = super::requirements(10, ELSEWHERE);
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
        ("packets dropped", |_, _| {}, "packet queue", State::Caution, "net.core.netdev_max_backlog=30000"),
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
            |_, requirements| requirements.targets[0].resolution = Reading::from(Err("no such host")),
            "server:4000",
            State::Stop,
            "getent ahosts server",
        ),
        (
            "nobody listens",
            |_, requirements| requirements.targets[0].connect_us = Reading::from(Err("refused")),
            "server:4000",
            State::Stop,
            "start the server",
        ),
    ];
    for (name, edit, subject, state, remedy) in cases {
        let (mut facts, mut requirements) = (captured(), requirements(10, LOOPBACK));
        edit(&mut facts, &mut requirements);
        let diagnosis = diagnose(&facts, &requirements);
        let check = check(&diagnosis, subject);
        assert_eq!(check.state, state, "{name}: {check:?}");
        let given = check.remedy.as_deref().unwrap_or_default();
        assert!(given.contains(remedy) && given.is_empty() == remedy.is_empty(), "{name}: {check:?}");
    }
}
