//! Tests against small servers on real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use proto::handshake::accept_key;
use proto::ws::{
    Decoder, Event as Frame, Inflater, Limits, Opcode, Pending, Role, encode_close, encode_frame,
};

use super::*;
use crate::scenario::plan::TlsTrust;

const PATIENCE: Duration = Duration::from_secs(60);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// The server side of one connection.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
    pending: Pending,
}

impl Peer {
    fn accept(listener: &TcpListener) -> Self {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a request");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).expect("a key");
        let accept = accept_key(key);
        write!(stream, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")
            .expect("sent");
        Self { stream, input: Vec::new(), pending: Pending::default() }
    }

    fn say(&mut self, text: &str) {
        let mut frame = Vec::new();
        encode_frame(&mut frame, Opcode::Text, text.as_bytes());
        self.stream.write_all(&frame).expect("sent");
    }

    /// Returns the next text; `None` is a close.
    fn hear(&mut self) -> Option<String> {
        let decoder = Decoder { role: Role::Server, limits: Limits::default(), deflate: false };
        loop {
            let mut inflater = Inflater::default();
            let step = decoder.decode(&mut self.pending, &mut inflater, &mut self.input).expect("frames");
            let consumed = step.consumed;
            let heard = match step.event {
                Some(Frame::Text(text)) => Some(Some(text.into_owned())),
                Some(Frame::Close { .. }) => Some(None),
                Some(Frame::Binary(_) | Frame::Ping(_) | Frame::Pong(_)) | None => None,
            };
            self.input.drain(..consumed);
            if let Some(heard) = heard {
                return heard;
            }
            if consumed == 0 {
                let mut chunk = [0; 4096];
                let read = self.stream.read(&mut chunk).expect("bytes");
                assert!(read > 0, "the client ended the connection without a close");
                self.input.extend_from_slice(&chunk[..read]);
            }
        }
    }

    fn close(mut self) {
        let mut frame = Vec::new();
        encode_close(&mut frame, Some(1012), "restarting");
        self.stream.write_all(&frame).expect("sent");
    }
}

fn session(url: String) -> Session {
    Session::begin(Options { url, name: Some("Ann".into()), ..Options::default() }).expect("a session")
}

fn next(session: &Session) -> Event {
    session.events().recv_timeout(PATIENCE).expect("an event")
}

fn message(name: &str, body: &str, own: bool) -> Event {
    Event::Message { name: name.into(), body: body.into(), own }
}

#[test]
fn people_talk_in_a_room_by_url() {
    let (listener, address) = listener();
    let mut session = session(format!("ws://{address}/red"));
    let mut peer = Peer::accept(&listener);
    assert_eq!([next(&session), next(&session)], [Event::Connecting, Event::Joined]);
    session.say("hello".into()).expect("room for it");
    assert_eq!(next(&session), message("Ann", "hello", true));
    let said = peer.hear().expect("a message");
    assert_eq!(said, r#"{"body":"hello","name":"Ann"}"#);
    // The server relays it to everybody including Ann, but it is reported once.
    peer.say(&said);
    peer.say(r#"{"name":"Bob","body":"hi Ann"}"#);
    assert_eq!(next(&session), Event::People(vec!["Ann".into()]));
    assert_eq!(next(&session), Event::People(vec!["Ann".into(), "Bob".into()]));
    assert_eq!(next(&session), message("Bob", "hi Ann", false));
    session.finish();
    assert_eq!(peer.hear(), None);
    peer.close();
    assert!(session.events().recv_timeout(PATIENCE).is_err());
}

#[test]
fn a_lost_connection_comes_back_and_what_was_not_answered_is_told() {
    let (listener, address) = listener();
    let session = session(format!("ws://{address}/socket/websocket"));
    let mut peer = Peer::accept(&listener);
    assert!(peer.hear().expect("a join").starts_with(r#"["1","1","rooms:lobby","phx_join""#));
    peer.say(r#"["1","1","rooms:lobby","phx_reply",{"status":"ok","response":{}}]"#);
    assert_eq!([next(&session), next(&session)], [Event::Connecting, Event::Joined]);
    session.say("hello".into()).expect("room for it");
    assert_eq!(next(&session), message("Ann", "hello", true));
    peer.hear();
    peer.close();
    assert!(matches!(next(&session), Event::NotSent { body, .. } if body == "hello"));
    match next(&session) {
        Event::Lost { reason, .. } => {
            assert_eq!(reason, "the server closed the connection (code 1012): restarting")
        }
        other => panic!("{other:?}"),
    }
    let mut peer = Peer::accept(&listener);
    assert!(peer.hear().expect("a join").starts_with(r#"["3","3","rooms:lobby","phx_join""#));
    assert_eq!(next(&session), Event::Connecting);
}

#[test]
fn a_server_that_is_not_there_is_tried_again_until_nobody_wants_it() {
    let (listener, address) = listener();
    drop(listener);
    let mut session = session(format!("ws://{address}/red"));
    assert_eq!(next(&session), Event::Connecting);
    match next(&session) {
        Event::Lost { reason, retry_in } => {
            assert!(reason.contains(&format!("cannot connect to {address}")), "{reason}");
            assert_eq!(retry_in, back_off(1));
        }
        other => panic!("{other:?}"),
    }
    session.finish();
    while session.events().recv_timeout(PATIENCE).is_ok() {}
}

#[test]
fn what_cannot_begin_says_why() {
    let begin = |url: &str, name: &str| {
        let options = Options { url: url.into(), name: Some(name.into()), ..Options::default() };
        Session::begin(options).expect_err(url).to_string()
    };
    assert!(begin("http://h/red", "Ann").contains("ws://HOST:PORT/ROOM"));
    assert!(begin("ws://h/red", "").contains("invalid name"));
    assert!(begin("ws://h/red", "a\nb").contains("invalid name"));
    let trust = TlsTrust { authorities: Some("/nowhere/ca.pem".into()), insecure: false };
    let options = Options { url: "wss://h/red".into(), trust, ..Options::default() };
    assert!(Session::begin(options).expect_err("no such file").to_string().contains("/nowhere/ca.pem"));
}

#[test]
fn attempts_grow_rarer_to_a_bound() {
    let waits: Vec<Duration> = (0..20).map(back_off).collect();
    assert!(waits.is_sorted());
    assert_eq!(waits.last(), Some(&Duration::from_secs(30)));
}
