//! Users that reconnect when their connection ends, against a minimal Phoenix that keeps a history.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::play::servers::{Frames, Said, phoenix_server, say, say_close, serve, upgrade};
use crate::play::{DEADLINE, Run, connect, load, plan, play, repeat, think};
use load::draw::Distribution;
use load::observe::{Kind, Outcome};
use load::scenario::plan::{Action, Arrivals, Audience, Body, Connect, Dialect, Join, Push};
use load::scenario::template::{Part, Template};
use proto::phoenix::{FrameKind, Payload, Version, decode};

const ROOM: &str = "room:1";
const USERS: u64 = 4;
/// Close code that asks the client to reconnect (RFC 6455 and IANA: service restart).
const RESTART: u16 = 1012;

/// What the server does with a push instead of accepting and answering it.
#[derive(Clone, Copy)]
enum Mishap {
    /// The sender's connection ends before the push is accepted.
    NotTaken,
    /// The push is accepted, and then the sender's connection ends.
    NotAnswered,
    /// The push is accepted and answered; before that, the connections of all others end.
    OthersCut,
}

/// One recoverable topic, as specified in docs/protocol.md.
#[derive(Default)]
struct Topic {
    /// Payloads without their closing brace; the offset is the index plus one.
    said: Vec<String>,
    members: Vec<TcpStream>,
    pushes: usize,
    mishaps: usize,
}

impl Topic {
    /// Handles a message; returns whether the connection stays open.
    fn hear(&mut self, stream: &TcpStream, body: &[u8], server: Server) -> bool {
        let message = decode(Version::V2, FrameKind::Text, body).expect("users speak Phoenix");
        let answer = |status: &str, response: &str| {
            let (join_ref, reference) = (message.join_ref.as_json(), message.reference.as_json());
            let reply = format!(
                r#"[{join_ref},{reference},"{ROOM}","phx_reply",{{"status":"{status}","response":{response}}}]"#
            );
            say(stream, FrameKind::Text, reply.as_bytes());
        };
        let Payload::Json(payload) = message.payload else { panic!("users push JSON") };
        match message.event.as_text() {
            Some("phx_join") => {
                let wish: serde_json::Value = serde_json::from_str(payload).expect("an object");
                let wanted = wish["recover"]["offset"].as_u64();
                let is_recovered = wanted.is_some() && server.remembers;
                let newest = self.said.len() as u64;
                let from = wanted.filter(|_| is_recovered).unwrap_or(newest);
                let told = wanted.map_or(String::new(), |_| format!(r#","recovered":{is_recovered}"#));
                answer("ok", &format!(r#"{{"recover":{{"epoch":"e","offset":{from}{told}}}}}"#));
                (from..newest).for_each(|offset| self.tell(stream, offset as usize));
                self.members.push(stream.try_clone().expect("a stream can be cloned"));
                true
            }
            // Ignores further messages of a connection that was ended here.
            _ if !self.members.iter().any(|member| is_same(member, stream)) => true,
            Some("new_msg") => {
                self.pushes += 1;
                let mishap = (server.mishap_of)(self);
                self.mishaps += usize::from(mishap.is_some());
                match mishap {
                    Some(Mishap::NotTaken) => {
                        self.members.retain(|member| !is_same(member, stream));
                        return false;
                    }
                    Some(Mishap::NotAnswered) => self.members.retain(|member| !is_same(member, stream)),
                    Some(Mishap::OthersCut) => {
                        let others = self.members.extract_if(.., |member| !is_same(member, stream));
                        others.for_each(|other| say_close(&other, Some(RESTART)));
                    }
                    None => {}
                }
                self.said.push(payload.strip_suffix('}').expect("an object").to_owned());
                let offset = self.said.len() - 1;
                self.members.iter().for_each(|member| self.tell(member, offset));
                if matches!(mishap, Some(Mishap::NotAnswered)) {
                    return false;
                }
                answer("ok", "{}");
                true
            }
            _ => {
                answer("ok", "{}");
                true
            }
        }
    }

    fn tell(&self, stream: &TcpStream, index: usize) {
        let (payload, offset) = (&self.said[index], index + 1);
        let push = format!(r#"[null,null,"{ROOM}","new_msg",{payload},"phx_offset":{offset}}}]"#);
        say(stream, FrameKind::Text, push.as_bytes());
    }
}

#[derive(Clone, Copy)]
struct Server {
    /// Whether the server can replay what was missed.
    remembers: bool,
    mishap_of: fn(&Topic) -> Option<Mishap>,
}

fn is_same(one: &TcpStream, other: &TcpStream) -> bool {
    let peer = |stream: &TcpStream| stream.peer_addr().ok();
    peer(one).is_some() && peer(one) == peer(other)
}

fn start(server: Server) -> SocketAddr {
    let topic: Arc<Mutex<Topic>> = Arc::default();
    serve(move |mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(_, body) => {
                    if !topic.lock().expect("no panic").hear(&stream, &body, server) {
                        return say_close(&stream, Some(RESTART));
                    }
                }
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    })
}

fn steps(reconnect: Option<Distribution>) -> Vec<Action> {
    let body = Template {
        parts: vec![Part::Text(r#"{"body":""#.to_owned()), Part::Stamp, Part::Text(r#""}"#.to_owned())],
    };
    let push = Action::Push(Push {
        topic: Template::text(ROOM),
        event: Template::text("new_msg"),
        body: Body::Template(body),
        binary: false,
        reply: Some(DEADLINE),
        audience: Audience::Room,
    });
    vec![
        Action::Connect(Connect {
            path: Template::text("/socket/websocket"),
            dialect: Dialect::Phoenix { version: Version::V2, heartbeat: None },
            reconnect,
            ..connect()
        }),
        Action::Join(Join {
            topic: Template::text(ROOM),
            payload: Template::text("{}"),
            timeout: DEADLINE,
            echo: true,
            presence: false,
            recover: true,
        }),
        repeat(5, vec![push, think(0.02)]),
        // Users that are away in the meantime come back.
        think(1.0),
    ]
}

fn run(server: Server, reconnect: Option<Distribution>) -> Run {
    let mut plan = plan(start(server), steps(reconnect));
    plan.load = load(Arrivals::Burst(USERS));
    plan.drain = Duration::from_millis(300);
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.count(Kind::Receive, Outcome::Duplicate), 0);
    run
}

const SOON: Option<Distribution> = Some(Distribution::Uniform(0.01, 0.1));

#[test]
fn who_comes_back_is_given_what_it_missed_and_nothing_is_lost() {
    let mishap_of = |topic: &Topic| match topic.pushes {
        3 => Some(Mishap::NotTaken),
        6 => Some(Mishap::NotAnswered),
        9 => Some(Mishap::OthersCut),
        _ => None,
    };
    let run = run(Server { remembers: true, mishap_of }, SOON);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; USERS as usize]);
    assert!(run.count(Kind::Disconnect, Outcome::Closed) >= 2);
    assert_eq!(run.count(Kind::Step, Outcome::Rejected), 0);
    let accounts = run.accounts();
    // A push that was not accepted has reached nobody, and its sender was not told otherwise.
    assert_eq!(accounts.lost, 0, "{accounts:?}");
    assert!(accounts.delivered > 0 && accounts.in_flight > 0, "{accounts:?}");
}

#[test]
fn who_is_not_given_what_it_missed_has_lost_it() {
    let mishap_of = |topic: &Topic| {
        (topic.mishaps == 0 && topic.members.len() == USERS as usize).then_some(Mishap::OthersCut)
    };
    let run = run(Server { remembers: false, mishap_of }, Some(Distribution::Constant(0.8)));
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; USERS as usize]);
    let accounts = run.accounts();
    assert!(run.count(Kind::Step, Outcome::Rejected) > 0);
    assert!(accounts.lost + accounts.in_flight > 0, "{accounts:?}");
}

#[test]
fn without_a_word_about_it_nobody_comes_back() {
    let mishap_of = |topic: &Topic| (topic.pushes == 3).then_some(Mishap::NotTaken);
    let run = run(Server { remembers: true, mishap_of }, None);
    assert_eq!(run.count(Kind::Finish, Outcome::Closed), 1);
    assert_eq!(run.count(Kind::Finish, Outcome::Ok), USERS as usize - 1);
}

#[test]
fn a_topic_that_keeps_nothing_is_not_taken_for_one_that_does() {
    let run = play(plan(phoenix_server(Version::V2), steps(None)));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Join), [Outcome::Protocol]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Protocol]);
}

#[test]
fn who_finds_nobody_gives_up_in_the_end() {
    // Nothing listens on this port.
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let run = play(plan(address, steps(Some(Distribution::Constant(0.001)))));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Refused]);
    assert_eq!(run.count(Kind::Connect, Outcome::Refused), 101);
}
