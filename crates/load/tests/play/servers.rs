//! Thread-based test servers: a correct echo, rooms by path, a minimal Phoenix, and faulty ones.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use proto::handshake::accept_key;
use proto::phoenix::{FrameKind, Payload, Version, decode, encode_broadcast, encode_reply};
use proto::ws::{Decoder, Event, Inflater, Limits, Opcode, Pending, Role, encode_close, encode_frame};

/// Handles each connection on its own thread.
pub(crate) fn serve(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    let handle = Arc::new(handle);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Reads a request's head; `None` if the peer disconnects before its end.
pub(crate) fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            Ok(_) | Err(_) => return None,
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

pub(crate) fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (header, value) = line.split_once(": ")?;
        header.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

/// Answers an upgrade request; returns the request target.
pub(crate) fn upgrade(stream: &mut TcpStream, further: &str) -> Option<String> {
    let head = head(stream)?;
    let key = header(&head, "sec-websocket-key")?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n{further}\r\n",
        accept_key(&key)
    );
    stream.write_all(answer.as_bytes()).ok()?;
    head.split(' ').nth(1).map(str::to_owned)
}

/// A message from a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Message(FrameKind, Vec<u8>),
    Close(Option<u16>),
    Pong(Vec<u8>),
}

/// Iterates over the frames of a client until it disconnects.
pub(crate) struct Frames {
    stream: TcpStream,
    decoder: Decoder,
    pending: Pending,
    inflater: Inflater,
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn new(stream: &TcpStream, deflate: bool) -> Self {
        Self {
            stream: stream.try_clone().expect("a stream can be cloned"),
            decoder: Decoder { role: Role::Server, limits: Limits::default(), deflate },
            pending: Pending::default(),
            inflater: Inflater::default(),
            bytes: Vec::new(),
        }
    }
}

impl Iterator for Frames {
    type Item = Said;

    fn next(&mut self) -> Option<Said> {
        loop {
            let step = self.decoder.decode(&mut self.pending, &mut self.inflater, &mut self.bytes).ok()?;
            let consumed = step.consumed;
            let said = step.event.map(|event| match event {
                Event::Text(text) => Said::Message(FrameKind::Text, text.as_bytes().to_vec()),
                Event::Binary(bytes) => Said::Message(FrameKind::Binary, bytes.to_vec()),
                Event::Close { code, .. } => Said::Close(code),
                Event::Ping(bytes) | Event::Pong(bytes) => Said::Pong(bytes.to_vec()),
            });
            self.bytes.drain(..consumed);
            if said.is_some() {
                return said;
            }
            if consumed > 0 {
                continue;
            }
            let mut room = [0; 4096];
            match self.stream.read(&mut room) {
                Ok(length) if length > 0 => self.bytes.extend_from_slice(&room[..length]),
                Ok(_) | Err(_) => return None,
            }
        }
    }
}

pub(crate) fn say(stream: &TcpStream, kind: FrameKind, body: &[u8]) {
    let mut frame = Vec::new();
    let opcode = match kind {
        FrameKind::Text => Opcode::Text,
        FrameKind::Binary => Opcode::Binary,
    };
    encode_frame(&mut frame, opcode, body);
    // The peer may have disconnected.
    drop((&*stream).write_all(&frame));
}

pub(crate) fn say_close(stream: &TcpStream, code: Option<u16>) {
    let mut frame = Vec::new();
    encode_close(&mut frame, code, "");
    drop((&*stream).write_all(&frame));
    drop(stream.shutdown(Shutdown::Write));
}

/// Echoes every message `copies` times.
pub(crate) fn echo_server(copies: usize) -> SocketAddr {
    serve(move |mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(kind, body) => (0..copies).for_each(|_| say(&stream, kind, &body)),
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    })
}

/// Broadcasts every message to everyone on the same path, including the sender.
pub(crate) fn room_server() -> SocketAddr {
    let members: Arc<Mutex<Vec<(String, TcpStream)>>> = Arc::default();
    serve(move |mut stream| {
        let Some(path) = head_and_enter(&mut stream, &members) else { return };
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(kind, body) => {
                    for (_, member) in
                        members.lock().expect("no panic").iter().filter(|(room, _)| *room == path)
                    {
                        say(member, kind, &body);
                    }
                }
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    })
}

/// Adds a member to its room before the 101 response is sent, so that it gets every message sent after that.
fn head_and_enter(stream: &mut TcpStream, members: &Mutex<Vec<(String, TcpStream)>>) -> Option<String> {
    let mut members = members.lock().expect("no panic");
    let path = upgrade(stream, "")?;
    members.push((path.clone(), stream.try_clone().ok()?));
    Some(path)
}

/// A minimal Phoenix: `room:…` can be joined, `deny:…` cannot; `new_msg` is broadcast to all members of a topic, `ping`
/// is replied to, `mute` is not.
pub(crate) fn phoenix_server(version: Version) -> SocketAddr {
    let members: Arc<Mutex<Vec<(String, TcpStream)>>> = Arc::default();
    serve(move |mut stream| {
        if upgrade(&mut stream, "").is_none() {
            return;
        }
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(kind, body) => answer(version, &stream, &members, kind, &body),
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    })
}

fn answer(
    version: Version,
    stream: &TcpStream,
    members: &Mutex<Vec<(String, TcpStream)>>,
    kind: FrameKind,
    body: &[u8],
) {
    let message = decode(version, kind, body).expect("users speak Phoenix");
    let topic = message.topic.as_text().expect("a topic").to_owned();
    let event = message.event.as_text().expect("an event");
    let mut members = members.lock().expect("no panic");
    let status = match event {
        "phx_join" if topic.starts_with("deny:") => "error",
        "phx_join" => {
            members.push((topic.clone(), stream.try_clone().expect("a stream can be cloned")));
            "ok"
        }
        "new_msg" => {
            for (_, member) in members.iter().filter(|(member_of, _)| *member_of == topic) {
                let mut out = Vec::new();
                let kind = encode_broadcast(version, &mut out, &topic, "new_msg", message.payload);
                say(member, kind.expect("a broadcast"), &out);
            }
            "ok"
        }
        "mute" => return,
        _ => "ok",
    };
    let mut out = Vec::new();
    let kind = encode_reply(
        version,
        &mut out,
        &message.join_ref,
        &message.reference,
        &message.topic,
        status,
        Payload::Json("{}"),
    );
    say(stream, kind.expect("a reply"), &out);
}

/// Answers each request on a connection with the result of `respond`; `None` closes the connection.
pub(crate) fn http_server(
    respond: impl Fn(&str, usize) -> Option<String> + Send + Sync + 'static,
) -> SocketAddr {
    serve(move |mut stream| {
        let mut count = 0;
        while let Some(head) = head(&mut stream) {
            if let Some(length) = header(&head, "content-length").and_then(|length| length.parse().ok()) {
                let mut body = vec![0; length];
                if stream.read_exact(&mut body).is_err() {
                    return;
                }
            }
            let Some(response) = respond(&head, count) else { return };
            if stream.write_all(response.as_bytes()).is_err() {
                return;
            }
            count += 1;
        }
    })
}
