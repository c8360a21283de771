//! Users that mistreat their connection, from the server's point of view, and messages that arrive when nobody waits
//! any more.

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::play::servers::{Frames, Said, say, say_close, serve, upgrade};
use crate::play::{Accounts, DEADLINE, connect, plan, play, stamped, wait};
use load::observe::{Kind, Outcome};
use load::scenario::plan::{Action, Audience, Matcher};
use load::scenario::template::Template;
use proto::phoenix::FrameKind;
use proto::ws::{Opcode, encode_frame};

#[test]
fn a_slow_reader_reads_no_faster_than_it_is_told() {
    const MESSAGES: u64 = 16;
    const BYTES: u64 = 64 << 10;
    const RATE: u64 = 512 << 10;
    // The amount read before the first pause: one turn of the engine, and the contents of its buffer.
    const AHEAD: u64 = 192 << 10;
    let server = serve(|mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        for said in Frames::new(&stream, false) {
            match said {
                // Sends at once, as fast as the connection accepts it.
                Said::Message(..) => {
                    (0..MESSAGES).for_each(|_| say(&stream, FrameKind::Text, &[b'x'; BYTES as usize]))
                }
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    });
    let mut all = wait(Matcher { contains: Some(Template::text("x")), ..Matcher::default() }, DEADLINE);
    if let Action::Wait(wait) = &mut all {
        wait.count = MESSAGES as u32;
    }
    let steps =
        vec![Action::Connect(connect()), Action::SlowReader(Some(RATE)), stamped(Audience::Nobody), all];
    let run = play(plan(server, steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.count(Kind::Receive, Outcome::Unstamped), MESSAGES as usize);
    let sent = run.of(Kind::Send, Outcome::Ok).map(|seen| seen.at).next().expect("a send");
    let last = run.of(Kind::Receive, Outcome::Unstamped).map(|seen| seen.at).max().expect("receipts");
    let least = Duration::from_secs_f64((MESSAGES * BYTES - AHEAD) as f64 / RATE as f64);
    assert!(Duration::from_nanos(last - sent) >= least, "{} ns, not {least:?}", last - sent);
}

#[test]
fn a_half_open_user_answers_nothing_and_hears_nothing_until_it_cuts() {
    const SILENCE: Duration = Duration::from_millis(700);
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = serve(move |mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        let mut heard = Vec::new();
        for said in Frames::new(&stream, false) {
            if heard.is_empty() {
                let mut ping = Vec::new();
                encode_frame(&mut ping, Opcode::Ping, b"there?");
                stream.write_all(&ping).expect("the user is connected");
                say(&stream, FrameKind::Text, b"are you there?");
            }
            heard.push(said);
        }
        // If the test has already failed, nobody receives this.
        let _ = tell.lock().expect("no panic").send(heard);
    });
    let steps = vec![Action::Connect(connect()), stamped(Audience::Nobody), Action::HalfOpen(SILENCE)];
    let run = play(plan(server, steps));
    run.assert_complete();
    assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    assert_eq!(run.outcomes(Kind::Disconnect), [Outcome::Ok]);
    assert!(run.outcomes(Kind::Receive).is_empty(), "it hears nothing");
    let heard = told.recv_timeout(DEADLINE).expect("the server sees the end");
    assert!(matches!(heard.as_slice(), [Said::Message(..)]), "no pong and no close: {heard:?}");
    let sent = run.of(Kind::Send, Outcome::Ok).map(|seen| seen.intended).next().expect("a send");
    let cut = run.of(Kind::Disconnect, Outcome::Ok).map(|seen| seen.at).next().expect("an end");
    assert!(Duration::from_nanos(cut - sent) >= SILENCE, "{} ns", cut - sent);
}

#[test]
fn what_comes_when_the_run_has_drained_is_late_and_neither_delivered_nor_lost() {
    // Messages are echoed only when the client closes, before its close is answered: the run has ended by then.
    let server = serve(|mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        let mut held = Vec::new();
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(kind, body) => held.push((kind, body)),
                Said::Close(code) => {
                    held.iter().for_each(|(kind, body)| say(&stream, *kind, body));
                    return say_close(&stream, code);
                }
                Said::Pong(_) => {}
            }
        }
    });
    let in_a_room =
        load::scenario::plan::Connect { room: Some(Template::text("late")), echo: true, ..connect() };
    for (connect, audience) in [(connect(), Audience::Echo), (in_a_room, Audience::Room)] {
        let steps = vec![
            Action::Connect(connect),
            stamped(audience.clone()),
            stamped(audience.clone()),
            Action::Stay,
        ];
        let run = play(plan(server, steps));
        assert_eq!(run.outcomes(Kind::Receive), [Outcome::Late; 2], "{audience:?}");
        assert_eq!(
            run.accounts(),
            Accounts { expected: 2, delivered: 0, lost: 0, in_flight: 0 },
            "{audience:?}"
        );
        assert_eq!(run.outcomes(Kind::Finish), [Outcome::Ok]);
    }
}
