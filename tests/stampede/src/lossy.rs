//! A proxy that loses, repeats and reorders whole WebSocket messages by chance, and counts what it did.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{Chance, Frame, Opcode, PATIENCE, Server};

/// A message that waits to be overtaken goes on after so long without another of its sender.
const OVERTAKING_MAX: Duration = Duration::from_millis(300);

/// Which messages are disturbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Those of clients.
    Up,
    /// Those of the server.
    Down,
}

/// What happens to messages, each with its probability; one message has one fate at most.
#[derive(Clone, Copy, Debug)]
pub struct Disturbance {
    /// The same seed has the same fate for the n-th message of the n-th connection.
    pub seed: u64,
    /// Messages of whom.
    pub direction: Direction,
    /// Does not go on.
    pub lost: f64,
    /// Goes on twice.
    pub repeated: f64,
    /// Goes on after the next message of its sender.
    pub reordered: f64,
    /// Who sent a message, as far as the order is concerned; messages of nobody are left alone.
    pub sender_of: fn(&[u8]) -> Option<u64>,
}

/// What was done to messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Messages that came.
    pub messages: u64,
    /// Did not go on.
    pub lost: u64,
    /// Went on twice.
    pub repeated: u64,
    /// Went on after a later message of their sender.
    pub reordered: u64,
}

/// Every message of a connection and a direction has one sender, as with echoes.
#[must_use]
pub fn by_connection(_: &[u8]) -> Option<u64> {
    Some(0)
}

/// Messages say `from=NUMBER ` who sent them.
#[must_use]
pub fn by_name(message: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(message).ok()?;
    let (_, name) = text.split_once("from=")?;
    name.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The proxy, between its clients and one server.
pub struct LossyProxy {
    server: Server,
    done: Arc<Mutex<Done>>,
}

impl LossyProxy {
    /// Listens in front of `server`.
    #[must_use]
    pub fn start(server: SocketAddr, disturbance: Disturbance) -> Self {
        let done: Arc<Mutex<Done>> = Arc::default();
        let connections = Mutex::new(0_u64);
        let counted = Arc::clone(&done);
        let server = Server::start(move |peer| {
            let number = {
                let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
                *connections += 1;
                *connections
            };
            let head = peer.request()?;
            let mut upstream = TcpStream::connect(server)?;
            upstream.set_nodelay(true)?;
            upstream.write_all(head.as_bytes())?;
            let client = peer.writer()?;
            let fates = |direction| {
                let seed = disturbance.seed.wrapping_mul(1_000_003).wrapping_add(number);
                let is_disturbed = disturbance.direction == direction;
                is_disturbed.then(|| Fates {
                    disturbance,
                    chance: Chance::new(seed),
                    held: None,
                    done: Arc::clone(&counted),
                })
            };
            let down = Pump::new(
                upstream.try_clone()?,
                client.try_clone()?,
                fates(Direction::Down),
                Frame::unmasked,
            );
            let up = Pump::new(client, upstream, fates(Direction::Up), Frame::masked);
            let downwards = thread::spawn(move || down.run_after_head());
            let outcome = up.run();
            // Its own connection's end is its own affair.
            let _ = downwards.join();
            outcome
        });
        Self { server, done }
    }

    /// `ws://…`, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What was done so far.
    #[must_use]
    pub fn done(&self) -> Done {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One direction of one connection.
struct Pump {
    source: BufReader<TcpStream>,
    sink: TcpStream,
    fates: Option<Fates>,
    encode: fn(&Frame) -> Vec<u8>,
}

impl Pump {
    fn new(source: TcpStream, sink: TcpStream, fates: Option<Fates>, encode: fn(&Frame) -> Vec<u8>) -> Self {
        Self { source: BufReader::new(source), sink, fates, encode }
    }

    /// The response goes on as it is.
    fn run_after_head(mut self) -> io::Result<()> {
        let mut head = Vec::new();
        self.source.get_ref().set_read_timeout(Some(PATIENCE))?;
        while !head.ends_with(b"\r\n\r\n") {
            if self.source.by_ref().take(1 << 14).read_until(b'\n', &mut head)? == 0 {
                break;
            }
        }
        self.sink.write_all(&head)?;
        self.run()
    }

    fn run(mut self) -> io::Result<()> {
        let outcome = self.forward();
        // The other side learns that nothing more comes; it may have gone before.
        let _ = self.sink.shutdown(Shutdown::Write);
        outcome
    }

    fn forward(&mut self) -> io::Result<()> {
        loop {
            if !self.something_comes()? {
                if let Some(held) = self.fates.as_mut().and_then(Fates::release) {
                    self.send(&held)?;
                }
                continue;
            }
            let frame = Frame::read(&mut self.source)?;
            let going = match &mut self.fates {
                Some(fates) if frame.opcode.is_data() => fates.decide(frame),
                Some(fates) if frame.opcode == Opcode::Close => {
                    fates.release().into_iter().chain([frame]).collect()
                }
                Some(_) | None => VecDeque::from([frame]),
            };
            for frame in &going {
                self.send(frame)?;
            }
        }
    }

    /// Waits for the next frame's first byte, not for ever while a message is held.
    fn something_comes(&mut self) -> io::Result<bool> {
        let is_holding = self.fates.as_ref().is_some_and(|fates| fates.held.is_some());
        let patience = if is_holding { OVERTAKING_MAX } else { PATIENCE };
        self.source.get_ref().set_read_timeout(Some(patience))?;
        let outcome = self.source.fill_buf().map(<[u8]>::is_empty);
        self.source.get_ref().set_read_timeout(Some(PATIENCE))?;
        match outcome {
            Ok(false) => Ok(true),
            Ok(true) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error)
                if is_holding && matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, frame: &Frame) -> io::Result<()> {
        self.sink.write_all(&(self.encode)(frame))
    }
}

/// What becomes of the messages of one direction of one connection.
struct Fates {
    disturbance: Disturbance,
    chance: Chance,
    /// Waits for the next message of its sender.
    held: Option<(u64, Frame)>,
    done: Arc<Mutex<Done>>,
}

impl Fates {
    /// What goes on now that this came.
    fn decide(&mut self, frame: Frame) -> VecDeque<Frame> {
        assert!(frame.is_final, "messages in several frames are not for this proxy");
        let Some(sender) = (self.disturbance.sender_of)(&frame.payload) else {
            return VecDeque::from([frame]);
        };
        let Disturbance { lost, repeated, reordered, .. } = self.disturbance;
        let throw = self.chance.throw();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.messages += 1;
        if throw < lost {
            done.lost += 1;
            return VecDeque::new();
        }
        let mut going = VecDeque::from([frame]);
        if throw < lost + repeated {
            done.repeated += 1;
            going.extend(going.front().cloned());
        } else if throw < lost + repeated + reordered && self.held.is_none() {
            self.held = going.pop_front().map(|frame| (sender, frame));
            return going;
        }
        if let Some((_, overtaken)) = self.held.take_if(|(held_sender, _)| *held_sender == sender) {
            done.reordered += 1;
            going.push_back(overtaken);
        }
        going
    }

    /// What was held goes on without having been overtaken.
    fn release(&mut self) -> Option<Frame> {
        self.held.take().map(|(_, frame)| frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(lost: f64, repeated: f64, reordered: f64) -> Fates {
        let direction = Direction::Up;
        let disturbance = Disturbance { seed: 1, direction, lost, repeated, reordered, sender_of: by_name };
        Fates { disturbance, chance: Chance::new(1), held: None, done: Arc::default() }
    }

    fn decide(fates: &mut Fates, text: &str) -> Vec<String> {
        let going = fates.decide(Frame::whole(Opcode::Text, text));
        going.into_iter().map(|frame| String::from_utf8(frame.payload).expect("text")).collect()
    }

    #[test]
    fn a_message_is_lost_or_repeated_or_goes_on() {
        assert_eq!(decide(&mut fates(1.0, 0.0, 0.0), "from=1 a"), [""; 0]);
        assert_eq!(decide(&mut fates(0.0, 1.0, 0.0), "from=1 a"), ["from=1 a", "from=1 a"]);
        assert_eq!(decide(&mut fates(0.0, 0.0, 0.0), "from=1 a"), ["from=1 a"]);
        assert_eq!(decide(&mut fates(1.0, 0.0, 0.0), "of nobody"), ["of nobody"]);
    }

    #[test]
    fn a_held_message_goes_after_the_next_of_its_sender_and_only_then_counts() {
        let mut fates = fates(0.0, 0.0, 1.0);
        assert_eq!(decide(&mut fates, "from=1 a"), [""; 0]);
        assert_eq!(decide(&mut fates, "from=2 b"), ["from=2 b"]);
        assert_eq!(decide(&mut fates, "from=1 c"), ["from=1 c", "from=1 a"]);
        let done = *fates.done.lock().expect("nobody panicked");
        assert_eq!(done, Done { messages: 3, reordered: 1, ..Done::default() });
        assert_eq!(decide(&mut fates, "from=1 d"), [""; 0]);
        assert!(fates.release().is_some_and(|frame| frame.payload == b"from=1 d"));
        assert_eq!(fates.done.lock().expect("nobody panicked").reordered, 1);
    }
}
