//! Presence lists, as kept by users that join with `presence`.

use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use crate::play::servers::{Frames, Said, say, say_close, serve, upgrade};
use crate::play::{self, DEADLINE, connect, load, plan, think};
use load::observe::{Kind, Outcome};
use load::scenario::plan::{Action, Arrivals, Audience, BarrierId, Body, Connect, Dialect, Join, Plan, Push};
use load::scenario::template::Template;
use proto::phoenix::{Payload, Version, decode, encode_broadcast, encode_reply};

const VERSION: Version = Version::V2;
const TOPIC: &str = "room:1";
const USERS: u64 = 2;
/// The player's maximum number of keys in a user's list, which the test must match.
const PRESENT_MAX: u64 = 100_000;

/// A server that sends the presence state after a join and, for each pushed event, the test's message for it before the
/// reply. Signals each push of `done`, which it does not reply to.
fn server(
    state: String,
    pushes: &'static [(&'static str, &'static str, &'static str)],
) -> (SocketAddr, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let state = Arc::new(state);
    let address = serve(move |mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        for said in Frames::new(&stream, false) {
            let (kind, body) = match said {
                Said::Message(kind, body) => (kind, body),
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => continue,
            };
            let message = decode(VERSION, kind, &body).expect("users speak Phoenix");
            let event = message.event.as_text().expect("an event");
            let broadcast = |event: &str, payload: &str| {
                let mut out = Vec::new();
                let kind = encode_broadcast(VERSION, &mut out, TOPIC, event, Payload::Json(payload));
                say(&stream, kind.expect("a broadcast"), &out);
            };
            for (_, change, payload) in pushes.iter().filter(|(pushed, ..)| *pushed == event) {
                broadcast(change, payload);
            }
            if event == "done" {
                // The test may have finished already.
                let _ = tell.lock().expect("no panic").send(());
                continue;
            }
            let (mut out, ok) = (Vec::new(), Payload::Json("{}"));
            let (join_ref, reference) = (&message.join_ref, &message.reference);
            let kind = encode_reply(VERSION, &mut out, join_ref, reference, &message.topic, "ok", ok);
            say(&stream, kind.expect("a reply"), &out);
            if event == "phx_join" {
                broadcast("presence_state", &state);
            }
        }
    });
    (address, told)
}

/// Users that join, push these events in order, and stay.
fn pushing(server: SocketAddr, presence: bool, events: &[&str]) -> Plan {
    let push = |event: &str, reply| {
        Action::Push(Push {
            topic: Template::text(TOPIC),
            event: Template::text(event),
            body: Body::Template(Template::text("{}")),
            binary: false,
            reply,
            audience: Audience::Nobody,
        })
    };
    let all_here = Action::Barrier { barrier: BarrierId(0), users: None, timeout: DEADLINE };
    let mut steps = vec![
        Action::Connect(Connect {
            path: Template::text("/socket/websocket"),
            dialect: Dialect::Phoenix { version: VERSION, heartbeat: None },
            ..connect()
        }),
        Action::Join(Join {
            topic: Template::text(TOPIC),
            payload: Template::text("{}"),
            timeout: DEADLINE,
            echo: false,
            presence,
            recover: false,
        }),
        all_here.clone(),
    ];
    // After the first reply, everything that came with the join has been read.
    for event in ["look"].iter().chain(events) {
        steps.extend([push(event, Some(DEADLINE)), all_here.clone()]);
    }
    steps.extend([push("done", None), think(600.0)]);
    let mut plan = plan(server, steps);
    plan.load = load(Arrivals::Burst(USERS));
    plan
}

/// Returns the current number of entries in all lists, its maximum, and the maximum of one list. Reads them when all
/// users are done, then ends the run and checks that no list is left.
fn lists(plan: Plan, done: &Receiver<()>) -> [u64; 3] {
    let playing = play::begin(plan);
    let gauges = playing.player.gauges();
    for _ in 0..USERS {
        done.recv_timeout(DEADLINE).expect("each user comes to its end");
    }
    let now = gauges.present.load(Relaxed);
    playing.player.stop();
    let run = playing.wait();
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Join), [Outcome::Ok; USERS as usize]);
    assert_eq!(gauges.present.load(Relaxed), 0, "who has gone keeps no list");
    [now, gauges.present_max.load(Relaxed), gauges.present_longest_max.load(Relaxed)]
}

const COMERS_AND_GOERS: &[(&str, &str, &str)] = &[
    (
        "change",
        "presence_diff",
        r#"{"joins":{"cy":{"metas":[{}]},"di":{"metas":[{}]}},"leaves":{"ann":{"metas":[{}]},"bob":{"metas":[{}]}}}"#,
    ),
    ("again", "presence_state", r#"{"eve":{"metas":[{}]}}"#),
];

fn ann_twice_and_bob() -> String {
    r#"{"ann":{"metas":[{},{}]},"bob":{"metas":[{}]}}"#.to_owned()
}

#[test]
fn a_list_follows_who_comes_and_goes_and_a_new_one_replaces_it() {
    // Ann is present once: with Cy and Di there are three, and Bob is gone.
    let (address, done) = server(ann_twice_and_bob(), COMERS_AND_GOERS);
    assert_eq!(lists(pushing(address, true, &["change"]), &done), [3 * USERS, 3 * USERS, 3]);
    let (address, done) = server(ann_twice_and_bob(), COMERS_AND_GOERS);
    assert_eq!(lists(pushing(address, true, &["change", "again"]), &done), [USERS, 3 * USERS, 3]);
}

#[test]
fn who_does_not_ask_for_a_list_keeps_none() {
    let (address, done) = server(ann_twice_and_bob(), COMERS_AND_GOERS);
    assert_eq!(lists(pushing(address, false, &["change"]), &done), [0; 3]);
}

#[test]
fn a_list_has_a_bound() {
    let people: Vec<String> =
        (0..=PRESENT_MAX).map(|number| format!(r#""{number}":{{"metas":[{{}}]}}"#)).collect();
    let (address, done) = server(format!("{{{}}}", people.join(",")), &[]);
    assert_eq!(
        lists(pushing(address, true, &[]), &done),
        [PRESENT_MAX * USERS, PRESENT_MAX * USERS, PRESENT_MAX]
    );
}
