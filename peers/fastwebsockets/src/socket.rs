//! The two halves of an upgraded connection, on the bare TCP socket.

use fastwebsockets::{FragmentCollectorRead, Role, WebSocket, WebSocketWrite};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::BufWriter;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// What is answered together goes out together, up to so much.
const WRITE_BUFFER_BYTES: usize = 2048;

pub type Reader = FragmentCollectorRead<OwnedReadHalf>;
pub type Writer = WebSocketWrite<BufWriter<OwnedWriteHalf>>;

/// None where a client has spoken before it was answered, which it must not (RFC 6455, section 4.1).
pub fn split(upgraded: WebSocket<TokioIo<Upgraded>>) -> Option<(Reader, Writer)> {
    let parts = upgraded.into_inner().into_inner().downcast::<TokioIo<TcpStream>>().ok()?;
    if !parts.read_buf.is_empty() {
        return None;
    }
    let mut socket = WebSocket::after_handshake(parts.io.into_inner(), Role::Server);
    socket.set_max_message_size(MESSAGE_BYTES_MAX);
    // Answered in `talk`, by the half that writes.
    socket.set_auto_pong(false);
    socket.set_auto_close(false);
    let (reader, writer) = socket.split(|stream| {
        let (read, write) = stream.into_split();
        (read, BufWriter::with_capacity(WRITE_BUFFER_BYTES, write))
    });
    Some((FragmentCollectorRead::new(reader), writer))
}
