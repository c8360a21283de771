//! A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.

mod listener;
mod socket;
mod talk;

use std::error::Error;

use bytes::Bytes;
use fastwebsockets::WebSocketError;
use fastwebsockets::upgrade::{UpgradeFut, upgrade};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tikv_jemallocator::Jemalloc;
use tokio::net::TcpStream;
use tokio::sync::broadcast;

use talk::Published;

/// The allocator that Throng has, too.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Messages that one listener may be behind before it is let go.
const BEHIND_MAX: usize = 1024;

type Channel = broadcast::Sender<Published>;

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
        tokio::spawn(answer(stream, channel.clone()));
    }
}

async fn answer(stream: TcpStream, channel: Channel) {
    let service = service_fn(move |request| upgrade_request(request, channel.clone()));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    // A peer that breaks the protocol or goes away costs its own connection, nothing else.
    let _ = connection.await;
}

async fn upgrade_request(
    mut request: Request<Incoming>,
    channel: Channel,
) -> Result<Response<Empty<Bytes>>, WebSocketError> {
    let listens = request.uri().path() == "/broadcast";
    let (response, upgraded) = upgrade(&mut request)?;
    tokio::spawn(talk(upgraded, listens, channel));
    Ok(response)
}

async fn talk(upgraded: UpgradeFut, listens: bool, channel: Channel) {
    let Ok(Some((reader, writer))) = upgraded.await.map(socket::split) else {
        return;
    };
    let _ = if listens {
        talk::broadcast(reader, writer, channel).await
    } else {
        talk::echo(reader, writer).await
    };
}
