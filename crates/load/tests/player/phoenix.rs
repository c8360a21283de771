//! Users on Phoenix channels, against a minimal thread-based Phoenix.

use std::time::Duration;

use crate::play::servers::{Frames, Said, phoenix_server, say_close, serve, upgrade};
use crate::play::{Accounts, DEADLINE, connect, load, own_echo, plan, play, repeat, think, wait};
use load::observe::{Kind, Outcome};
use load::scenario::plan::{
    Action, Arrivals, Audience, BarrierId, Body, Connect, Dialect, Join, Matcher, Push,
};
use load::scenario::template::{Part, Template};
use proto::phoenix::Version;

fn phoenix(version: Version, heartbeat: Option<Duration>) -> Action {
    Action::Connect(Connect {
        path: Template::text("/socket/websocket"),
        dialect: Dialect::Phoenix { version, heartbeat },
        ..connect()
    })
}

fn join(topic: &str) -> Action {
    Action::Join(Join {
        topic: Template::text(topic),
        payload: Template::text("{}"),
        timeout: DEADLINE,
        echo: true,
        presence: false,
        recover: false,
    })
}

fn push(topic: &str, event: &str, audience: Audience, reply: Option<Duration>) -> Action {
    let body = Template {
        parts: vec![Part::Text(r#"{"body":""#.to_owned()), Part::Stamp, Part::Text(r#""}"#.to_owned())],
    };
    Action::Push(Push {
        topic: Template::text(topic),
        event: Template::text(event),
        body: Body::Template(body),
        binary: false,
        reply,
        audience,
    })
}

#[test]
fn a_broadcast_reaches_each_member_once_in_both_versions() {
    const USERS: u64 = 6;
    for version in [Version::V1, Version::V2] {
        let all_here = Action::Barrier { barrier: BarrierId(0), users: None, timeout: DEADLINE };
        let steps = vec![
            phoenix(version, None),
            join("room:1"),
            all_here.clone(),
            repeat(2, vec![push("room:1", "new_msg", Audience::Room, None), own_echo()]),
            all_here,
            Action::Leave(Template::text("room:1")),
        ];
        let mut plan = plan(phoenix_server(version), steps);
        plan.load = load(Arrivals::Burst(USERS));
        let run = play(plan);
        run.assert_complete();
        assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; USERS as usize], "{version:?}");
        assert_eq!(run.outcomes(Kind::Join), [Outcome::Ok; USERS as usize]);
        assert_eq!(run.outcomes(Kind::Leave), [Outcome::Ok; USERS as usize]);
        let expected = 2 * USERS * USERS;
        assert_eq!(run.accounts(), Accounts { expected, delivered: expected, lost: 0, in_flight: 0 });
    }
}

#[test]
fn replies_are_waited_for_and_a_missing_one_goes_on() {
    let steps = vec![
        phoenix(Version::V2, None),
        join("room:1"),
        join("room:2"),
        push("room:2", "ping", Audience::Nobody, Some(DEADLINE)),
        push("room:1", "mute", Audience::Nobody, Some(Duration::from_millis(100))),
        Action::Leave(Template::text("room:1")),
        push("room:2", "ping", Audience::Nobody, Some(DEADLINE)),
    ];
    let run = play(plan(phoenix_server(Version::V2), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Reply), [Outcome::Ok, Outcome::Timeout, Outcome::Ok]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.outcomes(Kind::Leave), [Outcome::Ok; 2]);
}

#[test]
fn a_join_that_fails_ends_the_session() {
    let steps = vec![phoenix(Version::V2, None), join("deny:1"), think(600.0)];
    let run = play(plan(phoenix_server(Version::V2), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Join), [Outcome::Rejected]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Rejected]);
    assert!(
        run.examples
            .of(Kind::Join, Outcome::Rejected, 0)
            .is_some_and(|example| example.text.contains("deny:1"))
    );
}

#[test]
fn an_event_is_waited_for_by_topic_and_name() {
    let until = Matcher {
        topic: Some(Template::text("room:1")),
        event: Some(Template::text("new_msg")),
        ..Matcher::default()
    };
    let steps = vec![
        phoenix(Version::V2, None),
        join("room:1"),
        push("room:1", "new_msg", Audience::Room, None),
        wait(until, DEADLINE),
    ];
    let run = play(plan(phoenix_server(Version::V2), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Wait), [Outcome::Ok]);
}

#[test]
fn heartbeats_keep_a_connection_and_a_missing_reply_ends_it() {
    let every = Some(Duration::from_millis(50));
    let run = play(plan(phoenix_server(Version::V2), vec![phoenix(Version::V2, every), think(0.4)]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    let silent = serve(|mut stream| {
        if upgrade(&mut stream, "").is_some() {
            for said in Frames::new(&stream, false) {
                if let Said::Close(code) = said {
                    return say_close(&stream, code);
                }
            }
        }
    });
    let run = play(plan(silent, vec![phoenix(Version::V2, every), think(600.0)]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Heartbeat]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Heartbeat]);
}
