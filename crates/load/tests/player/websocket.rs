//! Users on plain WebSockets, against thread-based servers.

use std::io::Write;
use std::time::Duration;

use crate::play::servers::{Frames, Said, echo_server, head, room_server, say, say_close, serve, upgrade};
use crate::play::{
    self, Accounts, DEADLINE, begin, connect, load, own_echo, plan, play, repeat, stamped, think, wait,
};
use load::draw::Distribution;
use load::observe::{Kind, Outcome};
use load::player::EndReason;
use load::scenario::plan::{Action, Arrivals, Audience, Body, Matcher, Send, Sources};
use load::scenario::template::{Part, Template};
use proto::phoenix::FrameKind;

#[test]
fn an_echo_is_told_by_its_stamp() {
    let steps = vec![
        Action::Connect(connect()),
        repeat(3, vec![stamped(Audience::Echo), own_echo()]),
        Action::Close { code: 1000, reason: "done".to_owned() },
    ];
    let run = play(plan(echo_server(1), steps));
    run.assert_complete();
    assert_eq!(run.why, EndReason::Finished);
    assert_eq!(run.outcomes(Kind::Connect), [Outcome::Ok]);
    assert_eq!(run.outcomes(Kind::Receive), [Outcome::Ok; 3]);
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Ok]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    for (sent, received) in run.of(Kind::Send, Outcome::Ok).zip(run.of(Kind::Receive, Outcome::Ok)) {
        assert_eq!(
            (sent.message, sent.intended, sent.at),
            (received.message, received.intended, received.began)
        );
        assert!(sent.intended <= sent.began && sent.began <= sent.at && sent.at <= received.at);
        assert_eq!((sent.bytes, received.bytes), (54, 54));
    }
}

#[test]
fn a_second_echo_is_a_duplicate() {
    let steps = vec![Action::Connect(connect()), stamped(Audience::Echo), own_echo(), own_echo()];
    let run = play(plan(echo_server(2), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Receive), [Outcome::Ok, Outcome::Duplicate]);
}

#[test]
fn a_c10k_ping_is_told_by_its_time() {
    let ping = Action::Send(Send { binary: true, body: Body::C10kPing, audience: Audience::Echo });
    let steps = vec![Action::Connect(connect()), ping, own_echo()];
    let run = play(plan(echo_server(1), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Receive), [Outcome::Ok]);
    let bytes = run.of(Kind::Send, Outcome::Ok).map(|seen| seen.bytes).next();
    assert_eq!(bytes, Some(17));
}

#[test]
fn a_room_delivers_to_each_member_once() {
    const USERS: u64 = 8;
    let mut entry = connect();
    entry.room = Some(Template::text("the room"));
    entry.echo = true;
    let all_here = Action::Barrier {
        barrier: load::scenario::plan::BarrierId(0),
        users: Some(USERS),
        timeout: DEADLINE,
    };
    // A user that has its own message back knows that it is on its way to everyone, and no user leaves before that.
    let steps = vec![
        Action::Connect(entry),
        all_here.clone(),
        repeat(2, vec![stamped(Audience::Room), own_echo()]),
        all_here,
    ];
    let mut plan = plan(room_server(), steps);
    plan.load = load(Arrivals::Burst(USERS));
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; USERS as usize]);
    assert_eq!(run.count(Kind::Wait, Outcome::Ok) as u64, 4 * USERS, "two barriers and two echoes each");
    let expected = 2 * USERS * USERS;
    assert_eq!(run.accounts(), Accounts { expected, delivered: expected, lost: 0, in_flight: 0 });
    assert_eq!(run.count(Kind::Leave, Outcome::Ok) as u64, USERS);
}

#[test]
fn a_message_that_nobody_says_back_is_lost_when_the_drain_is_over() {
    let server = serve(|mut stream| {
        if upgrade(&mut stream, "").is_some() {
            for said in Frames::new(&stream, false) {
                if let Said::Close(code) = said {
                    return say_close(&stream, code);
                }
            }
        }
    });
    let mut plan = plan(server, vec![Action::Connect(connect()), stamped(Audience::Echo), think(600.0)]);
    plan.load.duration = Some(Duration::from_millis(500));
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.why, EndReason::Duration);
    assert_eq!(run.accounts(), Accounts { expected: 1, delivered: 0, lost: 1, in_flight: 0 });
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Stopped]);
}

#[test]
fn who_leaves_at_once_has_its_message_in_flight() {
    let server = serve(|mut stream| {
        if upgrade(&mut stream, "").is_some() {
            let mut frames = Frames::new(&stream, false);
            while frames.next().is_some() {}
        }
    });
    let mut plan = plan(server, vec![Action::Connect(connect()), stamped(Audience::Echo), Action::Cut]);
    plan.drain = Duration::from_secs(60);
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.accounts(), Accounts { expected: 1, delivered: 0, lost: 0, in_flight: 1 });
}

#[test]
fn pings_are_answered_and_compression_is_understood() {
    let offer = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n";
    let server = serve(move |mut stream| {
        if upgrade(&mut stream, offer).is_none() {
            return;
        }
        let mut ping = Vec::new();
        proto::ws::encode_frame(&mut ping, proto::ws::Opcode::Ping, b"are you there");
        drop(stream.write_all(&ping));
        for said in Frames::new(&stream, true) {
            match said {
                // Only a client that answered the ping gets its message back.
                Said::Pong(payload) if payload == b"are you there" => {
                    say(&stream, FrameKind::Text, b"answered")
                }
                Said::Pong(_) => return,
                Said::Message(kind, body) => {
                    let mut compressed = Vec::new();
                    proto::ws::Deflater::default().compress(&body, &mut compressed);
                    let opcode = if kind == FrameKind::Text {
                        proto::ws::Opcode::Text
                    } else {
                        proto::ws::Opcode::Binary
                    };
                    let mut frame = Vec::new();
                    proto::ws::encode_header(&mut frame, opcode, true, true, compressed.len(), None);
                    frame.extend_from_slice(&compressed);
                    drop(stream.write_all(&frame));
                }
                Said::Close(code) => return say_close(&stream, code),
            }
        }
    });
    let mut entry = connect();
    entry.deflate = true;
    let answered = Matcher { contains: Some(Template::text("answered")), ..Matcher::default() };
    let long = Template { parts: vec![Part::Text("again and again ".repeat(40)), Part::Stamp] };
    let send = Action::Send(Send { binary: false, body: Body::Template(long), audience: Audience::Echo });
    let steps = vec![Action::Connect(entry), wait(answered, DEADLINE), send, own_echo()];
    let run = play(plan(server, steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.count(Kind::Receive, Outcome::Ok), 1);
}

#[test]
fn each_fault_of_a_server_has_its_outcome() {
    fn answering(response: &'static str) -> std::net::SocketAddr {
        serve(move |mut stream| {
            if head(&mut stream).is_some() {
                drop(stream.write_all(response.as_bytes()));
                // Waits until the user has disconnected.
                drop(std::io::copy(&mut stream, &mut std::io::sink()));
            }
        })
    }
    let closed_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("an address")
    };
    let wrong_accept = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n";
    let ends = serve(|mut stream| drop(head(&mut stream)));
    let resets = serve(|stream| {
        // With a linger time of zero, closing the socket sends a reset.
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket option");
    });
    let cases = [
        (closed_port, Outcome::Refused, 0),
        (answering("HTTP/1.1 404 Not Found\r\n\r\n"), Outcome::Status, 404),
        (answering("HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n"), Outcome::Redirect, 302),
        (answering(wrong_accept), Outcome::BadHandshake, 101),
        (answering("220 mail.test ESMTP\r\n"), Outcome::Protocol, 0),
        (answering(""), Outcome::HandshakeTimeout, 0),
        (ends, Outcome::Ended, 0),
        (resets, Outcome::Reset, 0),
    ];
    for (server, outcome, code) in cases {
        let mut entry = connect();
        if outcome == Outcome::HandshakeTimeout {
            entry.handshake_timeout = Duration::from_millis(200);
        }
        let run = play(plan(server, vec![Action::Connect(entry)]));
        run.assert_complete();
        assert_eq!(run.outcomes(Kind::Connect), [outcome]);
        assert_eq!(run.outcomes(Kind::Finish), [outcome]);
        let seen = run.of(Kind::Connect, outcome).next().expect("a failed connect");
        assert_eq!(seen.code, code, "{outcome:?}");
        assert!(run.examples.of(Kind::Connect, outcome, code).is_some(), "{outcome:?} has no example");
    }
}

#[test]
fn each_bad_end_of_a_connection_has_its_outcome() {
    let after_upgrade = |bytes: &'static [u8]| {
        serve(move |mut stream| {
            if upgrade(&mut stream, "").is_some() {
                drop(stream.write_all(bytes));
                if !bytes.is_empty() {
                    drop(std::io::copy(&mut stream, &mut std::io::sink()));
                }
            }
        })
    };
    let cases = [
        (after_upgrade(b"\x88\x02\x03\xf3"), Outcome::Closed, 1011),
        (after_upgrade(b"\x88\x00"), Outcome::Closed, 1005),
        (after_upgrade(b"\xff\xff\xff\xff"), Outcome::Protocol, 1002),
        (after_upgrade(b""), Outcome::Ended, 0),
    ];
    for (server, outcome, code) in cases {
        let run = play(plan(server, vec![Action::Connect(connect()), think(600.0)]));
        run.assert_complete();
        assert_eq!(run.outcomes(Kind::Connect), [Outcome::Ok]);
        let ends: Vec<_> = run.seen.iter().filter(|seen| seen.kind == Kind::Disconnect).collect();
        assert_eq!(ends.iter().map(|seen| (seen.outcome, seen.code)).collect::<Vec<_>>(), [(outcome, code)]);
        assert_eq!(run.outcomes(Kind::Finish), [outcome]);
    }
}

#[test]
fn a_beat_is_the_intended_time_however_late_the_user_is() {
    // The user waits for the first message's echo, which the server delays.
    let server = serve(|mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        let mut is_first = true;
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(kind, body) => {
                    if std::mem::take(&mut is_first) {
                        std::thread::sleep(Duration::from_millis(100));
                    }
                    say(&stream, kind, &body);
                }
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    });
    let pace = Action::Pace(Distribution::Constant(0.02));
    let steps = vec![Action::Connect(connect()), repeat(4, vec![pace, stamped(Audience::Echo), own_echo()])];
    let run = play(plan(server, steps));
    run.assert_complete();
    let sends: Vec<_> = run.of(Kind::Send, Outcome::Ok).collect();
    let gaps: Vec<u64> = sends.windows(2).map(|pair| pair[1].intended - pair[0].intended).collect();
    assert_eq!(gaps, [20_000_000; 3]);
    let late = sends[1];
    assert!(late.began - late.intended > 50_000_000, "the server's delay is not the generator's");
    assert!(late.at >= late.began);
}

#[test]
fn a_stopped_run_ends_orderly_and_an_aborted_one_at_once() {
    for is_abort in [false, true] {
        let mut plan = plan(echo_server(1), vec![Action::Connect(connect()), think(600.0)]);
        plan.load = load(Arrivals::Closed { users: 20, iterations: None, ramp: Duration::ZERO });
        let playing = begin(plan);
        let gauges = playing.player.gauges();
        let began = std::time::Instant::now();
        while gauges.connected.load(std::sync::atomic::Ordering::Relaxed) < 20 {
            assert!(began.elapsed() < DEADLINE, "20 users connect");
            std::thread::sleep(Duration::from_millis(1));
        }
        if is_abort {
            playing.player.abort()
        } else {
            playing.player.stop()
        }
        let run = playing.wait();
        run.assert_complete();
        assert_eq!(run.why, if is_abort { EndReason::Aborted } else { EndReason::Stopped });
        assert_eq!(run.outcomes(Kind::Finish), [Outcome::Stopped; 20]);
        assert_eq!(gauges.connected.load(std::sync::atomic::Ordering::Relaxed), 0);
        assert_eq!(gauges.users.load(std::sync::atomic::Ordering::Relaxed), 0);
    }
}

#[test]
fn users_that_stay_do_not_hold_up_the_end_and_hear_until_then() {
    let mut plan = plan(echo_server(1), vec![Action::Connect(connect()), Action::Stay]);
    plan.load = load(Arrivals::Burst(5));
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.why, EndReason::Finished);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; 5]);
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Ok; 5]);
}

/// Nothing waits for a response to a cut, so the time that the generator takes for all of them affects no measurement.
#[test]
fn users_who_are_cut_at_once_and_pause_are_no_burst() {
    const USERS: u64 = 40;
    let all_connected = Action::Barrier {
        barrier: load::scenario::plan::BarrierId(0),
        users: Some(USERS),
        timeout: DEADLINE,
    };
    let mut plan =
        plan(echo_server(USERS as usize), vec![Action::Connect(connect()), all_connected, Action::Cut]);
    plan.load = load(Arrivals::Burst(USERS));
    let (run, _) = play::play_with(plan, Some(1));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Ok; USERS as usize]);
    let begun: u64 = run.of(Kind::Burst, Outcome::Ok).map(|seen| u64::from(seen.count)).sum();
    assert!((1..=2 * USERS).contains(&begun), "{begun} began, of whom {USERS} arrived and connected");
}

#[test]
fn a_closed_user_plays_its_session_so_many_times() {
    let mut plan =
        plan(echo_server(1), vec![Action::Connect(connect()), stamped(Audience::Echo), own_echo()]);
    plan.load = load(Arrivals::Closed { users: 3, iterations: Some(4), ramp: Duration::ZERO });
    let run = play(plan);
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok; 12]);
    let mut messages: Vec<u64> = run.of(Kind::Send, Outcome::Ok).map(|seen| seen.message).collect();
    messages.sort_unstable();
    messages.dedup();
    assert_eq!(messages.len(), 12, "no number is used twice");
}

#[test]
fn half_open_users_and_slow_readers_end_as_told() {
    let steps = vec![
        Action::Connect(connect()),
        Action::SlowReader(Some(1000)),
        stamped(Audience::Echo),
        own_echo(),
        Action::SlowReader(None),
        Action::HalfOpen(Duration::from_millis(50)),
        Action::Connect(connect()),
        stamped(Audience::Echo),
        own_echo(),
        Action::Cut,
    ];
    let run = play(plan(echo_server(1), steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Ok; 2]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.count(Kind::Receive, Outcome::Ok), 2);
}

#[test]
fn a_step_without_what_it_needs_ends_the_session() {
    let run = play(plan(echo_server(1), vec![stamped(Audience::Echo)]));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Step), [Outcome::NotReady]);
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::NotReady]);
}

#[test]
fn sources_are_used_to_their_end_and_then_there_is_no_port() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.9:0").expect("a free port");
        listener.local_addr().expect("an address").port()
    };
    let all_tried = Action::Barrier {
        barrier: load::scenario::plan::BarrierId(0),
        users: None,
        timeout: Duration::from_secs(1),
    };
    let mut plan = plan(echo_server(1), vec![Action::Connect(connect()), all_tried]);
    let addresses = ["127.0.0.9", "127.0.0.10"].map(|address| address.parse().expect("an address"));
    plan.sources = Sources { addresses: addresses.into(), ports: Some((port, port)) };
    plan.load = load(Arrivals::Burst(3));
    let (run, _) = play::play_with(plan, Some(1));
    run.assert_complete();
    let mut sources: Vec<u16> = run.of(Kind::Connect, Outcome::Ok).map(|seen| seen.source).collect();
    sources.sort_unstable();
    assert_eq!(sources, [0, 1]);
    assert_eq!(run.count(Kind::Connect, Outcome::NoPort), 1);
}
