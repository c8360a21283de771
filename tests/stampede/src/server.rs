//! A server in the test's process that treats each connection as it is told.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;

use crate::websocket::{Frame, Opcode, accept_key};
use crate::{Counter, PATIENCE};

/// Bytes of a request's head; a client that sends more has lost its way.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// A listening server, one thread for each connection. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    accepted: Counter,
    open: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on a free port of 127.0.0.1. `serve` has the connection for itself; it ends when `serve` returns, and
    /// that a client has gone is no failure.
    pub fn start(serve: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (accepted, open) = (Counter::default(), Arc::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let accepting = Accepting {
            listener,
            serve: Arc::new(serve),
            accepted: accepted.clone(),
            open: Arc::clone(&open),
            is_over: Arc::clone(&is_over),
        };
        let listener = Some(thread::spawn(move || accepting.run()));
        Self { address, accepted, open, is_over, listener }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `ws://…`, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn accepted(&self) -> &Counter {
        &self.accepted
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; it may have ended.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            // A panic of its own has been printed.
            let _ = listener.join();
        }
        for stream in self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

struct Accepting<S> {
    listener: TcpListener,
    serve: Arc<S>,
    accepted: Counter,
    open: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
}

impl<S: Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static> Accepting<S> {
    fn run(self) {
        for stream in self.listener.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let Ok(clone) = stream.try_clone() else { continue };
            self.open.lock().unwrap_or_else(PoisonError::into_inner).push(clone);
            self.accepted.increase();
            let serve = Arc::clone(&self.serve);
            let open = Arc::clone(&self.open);
            thread::spawn(move || {
                let Ok(address) = stream.peer_addr() else { return };
                if let Ok(mut peer) = Peer::new(stream) {
                    // That a client has gone is no failure.
                    let _ = serve(&mut peer);
                }
                // The clone would keep the connection open.
                open.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .retain(|stream| stream.peer_addr().is_ok_and(|other| other != address));
            });
        }
    }
}

/// A connection, seen from the server.
pub struct Peer {
    stream: BufReader<Box<dyn Duplex>>,
    socket: TcpStream,
}

/// What a connection speaks through: TCP, or TLS on it.
trait Duplex: Read + Write {}

impl<S: Read + Write> Duplex for S {}

impl Peer {
    fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let stream: Box<dyn Duplex> = Box::new(socket.try_clone()?);
        Ok(Self { stream: BufReader::new(stream), socket })
    }

    /// Speaks TLS from here on.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn begin_tls(&mut self, config: &Arc<ServerConfig>) -> io::Result<()> {
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        let stream: Box<dyn Duplex> = Box::new(StreamOwned::new(session, self.socket.try_clone()?));
        self.stream = BufReader::new(stream);
        Ok(())
    }

    /// Reads a request's head.
    ///
    /// # Errors
    /// The client has gone, or sends no head.
    pub fn request(&mut self) -> io::Result<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let read = self.stream.by_ref().take(HEAD_BYTES_MAX as u64).read_until(b'\n', &mut head)?;
            if read == 0 || head.len() > HEAD_BYTES_MAX {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        String::from_utf8(head).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Reads the body of a request whose head was read; none where the head does not say how long it is.
    ///
    /// # Errors
    /// The client has gone.
    pub fn body(&mut self, head: &str) -> io::Result<Vec<u8>> {
        let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The client has gone.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.get_mut();
        stream.write_all(bytes)?;
        stream.flush()
    }

    /// Reads a request for a WebSocket and grants it. Returns the path.
    ///
    /// # Errors
    /// The client has gone, or asks for no WebSocket.
    pub fn upgrade(&mut self) -> io::Result<String> {
        let head = self.request()?;
        self.write(upgrade_response(&head)?.as_bytes())?;
        Ok(path_of(&head).to_owned())
    }

    /// The next frame.
    ///
    /// # Errors
    /// The client has gone, or sends no frame.
    pub fn frame(&mut self) -> io::Result<Frame> {
        Frame::read(&mut self.stream)
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// The client has gone.
    pub fn send(&mut self, frame: &Frame) -> io::Result<()> {
        self.write(&frame.unmasked())
    }

    /// The next message: pings are answered, and a close is; then there is none.
    ///
    /// # Errors
    /// The client has gone without a close.
    pub fn message(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let frame = self.frame()?;
            match frame.opcode {
                Opcode::Text | Opcode::Binary | Opcode::Continuation => return Ok(Some(frame)),
                Opcode::Ping => self.send(&Frame::whole(Opcode::Pong, frame.payload))?,
                Opcode::Pong => {}
                Opcode::Close => {
                    self.send(&frame)?;
                    return Ok(None);
                }
            }
        }
    }

    /// Reads and forgets until the client has gone.
    ///
    /// # Errors
    /// The connection ends with a reset.
    pub fn ignore(&mut self) -> io::Result<()> {
        io::copy(&mut self.stream, &mut io::sink()).map(drop)
    }

    /// Lets the connection end with a reset when it is dropped.
    ///
    /// # Errors
    /// The system refuses.
    pub fn reset_at_end(&self) -> io::Result<()> {
        SockRef::from(&self.socket).set_linger(Some(Duration::ZERO))
    }

    /// The TCP connection, to write from elsewhere.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn writer(&self) -> io::Result<TcpStream> {
        self.socket.try_clone()
    }
}

/// The path that a request asks for.
pub(crate) fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or("/")
}

/// The value of a header line.
fn header<'h>(head: &'h str, wanted: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

/// The 101 response to a request.
pub(crate) fn upgrade_response(head: &str) -> io::Result<String> {
    let key = header(head, "sec-websocket-key");
    let key = key.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no WebSocket was asked for"))?;
    Ok(format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_key(key)
    ))
}
