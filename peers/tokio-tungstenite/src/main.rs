//! A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.

mod listener;
mod talk;

use std::error::Error;

use tikv_jemallocator::Jemalloc;
use tokio::net::TcpStream;
use tokio::sync::broadcast;
use tokio_tungstenite::accept_hdr_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// The allocator that Throng has, too.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Messages that one listener may be behind before it is let go.
const BEHIND_MAX: usize = 1024;
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// The library reserves this for each connection; its default is 128 KiB.
const READ_BUFFER_BYTES: usize = 4096;
const WRITE_BUFFER_BYTES: usize = 16 << 10;
const UNSENT_BYTES_MAX: usize = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let port = listener::port_from_arguments()?;
    listener::raise_descriptor_limit()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(serve(port))
}

async fn serve(port: u16) -> Result<(), Box<dyn Error>> {
    let listener = listener::listen(port)?;
    let (channel, _) = broadcast::channel(BEHIND_MAX);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(upgrade(stream, channel.clone()));
    }
}

async fn upgrade(stream: TcpStream, channel: broadcast::Sender<Message>) {
    let mut listens = false;
    #[expect(clippy::result_large_err, reason = "the library asks for this type")]
    let look_at_path = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        listens = request.uri().path() == "/broadcast";
        Ok(response)
    };
    let Ok(socket) = accept_hdr_async_with_config(stream, look_at_path, Some(config())).await else {
        return; // No WebSocket request: the library has answered.
    };
    // A peer that breaks the protocol or goes away costs its own connection, nothing else.
    let _ = if listens { talk::broadcast(socket, channel).await } else { talk::echo(socket).await };
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_write_buffer_size(UNSENT_BYTES_MAX)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX))
}
