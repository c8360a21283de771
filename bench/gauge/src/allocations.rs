//! Allocations per message and per delivery in the steady state, after buffers have grown to size: allocations and
//! reallocations.

use crate::client::{heard, said};
use crate::heap::{Figures, Heap, rounded};
use crate::room::{BODY, broadcast, message, reply};
use crate::server::{Failure, Server, make_room};
use crate::shard::Shard;
use proto::phoenix::{FrameKind, Payload, Version, decode, encode_reply};
use proto::ws::{Decoder, Event, Inflater, Limits, Opcode, Pending, Role, encode_frame};

const MESSAGES: u32 = 1000;
const BROADCASTS: u32 = 20;
/// Number of simulated members of a topic.
const FEW: u32 = 1024;
const MANY: u32 = 16_384;
/// Number of members on sockets.
const FEW_SOCKETS: u32 = 256;
const MANY_SOCKETS: u32 = 1024;

/// Returns all figures of this group, by name.
pub(crate) fn measure() -> Result<Figures, Failure> {
    make_room(MANY_SOCKETS)?;
    let mut figures = of_the_hub();
    figures.insert("codec_allocations_per_message", of_the_codecs());
    figures.append(&mut of_the_server()?);
    Ok(figures)
}

/// Returns the allocator requests per call of `work`, after an equal number of warm-up calls.
fn per_time(times: u32, mut work: impl FnMut()) -> f64 {
    (0..times).for_each(|_| work());
    let before = Heap::now();
    (0..times).for_each(|_| work());
    Heap::now().requests_each(before, times)
}

/// A message through both codecs and back: a masked frame, its Phoenix message, a reply, its frame.
fn of_the_codecs() -> f64 {
    let frame = said(&message("reply"));
    let decoder = Decoder { role: Role::Server, limits: Limits::default(), deflate: false };
    let (mut pending, mut inflater) = (Pending::default(), Inflater::default());
    let (mut received, mut body, mut answer) = (Vec::new(), Vec::new(), Vec::new());
    per_time(MESSAGES, || {
        for buffer in [&mut received, &mut body, &mut answer] {
            buffer.clear();
        }
        received.extend_from_slice(&frame);
        let step = decoder.decode(&mut pending, &mut inflater, &mut received).expect("a good frame");
        let Some(Event::Text(text)) = step.event else { panic!("a whole text") };
        let said = decode(Version::V2, FrameKind::Text, text.as_bytes()).expect("a good message");
        let response = Payload::Json(BODY);
        encode_reply(Version::V2, &mut body, &said.join_ref, &said.reference, &said.topic, "ok", response)
            .expect("text can be sent");
        encode_frame(&mut answer, Opcode::Text, &body);
    })
}

fn of_the_hub() -> Figures {
    let mut shard = Shard::with_members(1);
    let mut told = |event| {
        let text = message(event);
        per_time(MESSAGES, || assert_eq!(shard.say(0, &text), 1, "one answer to `{event}`"))
    };
    let (reply, push) = (told("reply"), told("push"));
    let (few, many) = (per_hub_broadcast(FEW), per_hub_broadcast(MANY));
    Figures::from([
        ("hub_allocations_per_reply", reply),
        ("hub_allocations_per_push", push),
        ("hub_allocations_per_broadcast", few),
        ("hub_allocations_per_delivery", rounded((many - few) / f64::from(MANY - FEW))),
    ])
}

fn per_hub_broadcast(members: u32) -> f64 {
    let mut shard = Shard::with_members(members);
    let text = message("shout");
    per_time(BROADCASTS, || {
        shard.say(0, &text);
        // The publisher already received its own copy.
        assert_eq!(shard.deliver(), u64::from(members) - 1, "everybody else hears it");
    })
}

fn of_the_server() -> Result<Figures, Failure> {
    let server = Server::start(false)?;
    let mut echo = server.echo()?;
    let (said_plain, heard_plain) = (said(BODY), heard(BODY));
    let echoes = per_exchange(MESSAGES, || {
        echo.send(&said_plain)?;
        Ok(echo.expect(&heard_plain)?)
    })?;
    let mut member = server.member()?;
    let (said_asked, heard_reply) = (said(&message("reply")), heard(&reply()));
    let replies = per_exchange(MESSAGES, || {
        member.send(&said_asked)?;
        Ok(member.expect(&heard_reply)?)
    })?;
    drop(member);
    Ok(Figures::from([
        ("server_allocations_per_echo", echoes),
        ("server_allocations_per_reply", replies),
        ("server_allocations_per_delivery", per_server_delivery(&server)?),
    ]))
}

/// Returns what one more member adds to a broadcast.
fn per_server_delivery(server: &Server) -> Result<f64, Failure> {
    let (said_shout, heard_shout) = (said(&message("shout")), heard(&broadcast("shout")));
    let mut members = Vec::new();
    let mut per_broadcast = |crowd: u32| {
        while members.len() < crowd as usize {
            members.push(server.member()?);
        }
        per_exchange(BROADCASTS, || {
            members[0].send(&said_shout)?;
            members.iter_mut().try_for_each(|member| member.expect(&heard_shout))?;
            Ok(())
        })
    };
    let (few, many) = (per_broadcast(FEW_SOCKETS)?, per_broadcast(MANY_SOCKETS)?);
    Ok(rounded((many - few) / f64::from(MANY_SOCKETS - FEW_SOCKETS)))
}

/// Like [`per_time`], but counts all threads, between moments at which all are idle.
fn per_exchange(times: u32, mut exchange: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    (0..times).try_for_each(|_| exchange())?;
    let before = Heap::at_rest();
    (0..times).try_for_each(|_| exchange())?;
    Ok(Heap::at_rest().requests_each(before, times))
}
