//! The chat in line mode, for scripts and pipes: each line of standard input is sent as a message, messages are written
//! as `name: text` to standard output, and everything else goes to standard error.

use std::io::{self, BufRead as _, BufReader, Write};
use std::thread;

use crate::chat::error::ChatError;
use crate::chat::{Event, Session};
use crate::live::figures::one_line;

/// Maximum number of consecutive failed attempts to connect.
const ATTEMPTS_MAX: u32 = 5;

/// Chats over standard input and output until the input has ended and all messages from it are answered.
pub(super) fn run(session: Session) -> Result<(), ChatError> {
    talk(session, BufReader::new(io::stdin()).lines(), &mut io::stdout().lock(), &mut io::stderr().lock())
}

fn talk(
    mut session: Session,
    lines: impl Iterator<Item = io::Result<String>> + Send + 'static,
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> Result<(), ChatError> {
    if let Some(speaker) = session.speaker() {
        session.finish();
        let read = move || {
            for line in lines.map_while(Result::ok) {
                if !line.is_empty() && !speaker.say(line) {
                    return;
                }
            }
        };
        // The thread is abandoned if the session ends first, because a read of standard input cannot be interrupted.
        thread::Builder::new().name("stdin".into()).spawn(read).map_err(ChatError::Terminal)?;
    }
    show(&session, out, notes)
}

/// Writes events until the session has ended.
fn show(session: &Session, out: &mut dyn Write, notes: &mut dyn Write) -> Result<(), ChatError> {
    let mut failures = 0;
    let mut unreached = None;
    while let Ok(event) = session.events().recv() {
        match &event {
            Event::Joined => (failures, unreached) = (0, None),
            Event::Lost { reason, retry_in } => {
                failures += 1;
                unreached = Some(reason.clone());
                if failures == ATTEMPTS_MAX || retry_in.is_zero() {
                    break;
                }
            }
            Event::Connecting
            | Event::Message { .. }
            | Event::People(_)
            | Event::Crowd(_)
            | Event::Arrived(_)
            | Event::Departed(_)
            | Event::NotSent { .. } => {}
        }
        write(&event, session, out, notes).map_err(ChatError::Terminal)?;
    }
    match unreached {
        Some(reason) => Err(ChatError::GaveUp(reason)),
        None => Ok(()),
    }
}

fn write(event: &Event, session: &Session, out: &mut dyn Write, notes: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::Connecting | Event::People(_) | Event::Crowd(_) => return Ok(()),
        Event::Joined => writeln!(notes, "* {} joined {}", session.name(), session.room())?,
        Event::Message { name, body, own: _ } if name.is_empty() => writeln!(out, "{}", one_line(body))?,
        Event::Message { name, body, own: _ } => writeln!(out, "{}: {}", one_line(name), one_line(body))?,
        Event::Arrived(name) => writeln!(notes, "* {} joined", one_line(name))?,
        Event::Departed(name) => writeln!(notes, "* {} left", one_line(name))?,
        Event::NotSent { body, reason } => {
            writeln!(notes, "* not sent: {}: {}", one_line(body), one_line(reason))?;
        }
        Event::Lost { reason, retry_in } => {
            writeln!(notes, "* {}; retrying in {:.1} s", one_line(reason), retry_in.as_secs_f64())?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use proto::handshake::accept_key;

    use super::*;
    use crate::chat::Options;

    /// Accepts a WebSocket, answers the first message with `text`, and closes the connection.
    fn answer(listener: &TcpListener, text: &str) {
        let (stream, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let head: Vec<String> =
            reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let key = head.iter().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).expect("a key");
        let mut stream: TcpStream = stream;
        let accept = accept_key(key);
        write!(stream, "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")
            .expect("sent");
        let mut frame = Vec::new();
        assert!(reader.read(&mut [0; 512]).expect("a message") > 0);
        proto::ws::encode_frame(&mut frame, proto::ws::Opcode::Text, text.as_bytes());
        proto::ws::encode_close(&mut frame, Some(1000), "");
        stream.write_all(&frame).expect("sent");
    }

    fn session(url: String) -> Session {
        Session::begin(Options { url, name: Some("Ann".into()), ..Options::default() }).expect("a session")
    }

    #[test]
    fn lines_go_in_and_messages_come_out() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let session = session(format!("ws://{}/red", listener.local_addr().expect("an address")));
        let server = std::thread::spawn(move || {
            answer(&listener, "{\"name\":\"Bob\",\"body\":\"hi\\u001b[2J\\nAnn\"}")
        });
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let lines = ["hello", ""].map(|line| Ok(line.to_owned())).into_iter();
        talk(session, lines, &mut out, &mut notes).expect("an orderly end");
        server.join().expect("the server");
        assert_eq!(String::from_utf8_lossy(&out), "Ann: hello\nBob: hi [2J Ann\n");
        assert_eq!(String::from_utf8_lossy(&notes), "* Ann joined red\n");
    }

    #[test]
    fn a_server_that_is_not_there_ends_it_with_the_reason() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let ended = talk(
            session(format!("ws://{address}/red")),
            std::iter::empty(),
            &mut Vec::new(),
            &mut Vec::new(),
        );
        assert!(
            matches!(&ended, Err(ChatError::GaveUp(reason)) if reason.contains("cannot connect")),
            "{ended:?}"
        );
    }
}
