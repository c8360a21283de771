//! What is said on one connection, until it ends.

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::broadcast::Sender;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

type Socket = WebSocketStream<TcpStream>;

/// Sends back what comes; what came together goes back in one write.
pub async fn echo(mut socket: Socket) -> Result<(), Error> {
    while let Some(message) = socket.next().await {
        feed_back(&mut socket, message?).await?;
        while let Some(Some(message)) = socket.next().now_or_never() {
            feed_back(&mut socket, message?).await?;
        }
        socket.flush().await?;
    }
    Ok(())
}

async fn feed_back(socket: &mut Socket, message: Message) -> Result<(), Error> {
    // The library answers pings and the closing handshake.
    if message.is_text() || message.is_binary() { socket.feed(message).await } else { Ok(()) }
}

/// Hands what comes to every listener's task, this one's too.
pub async fn broadcast(mut socket: Socket, channel: Sender<Message>) -> Result<(), Error> {
    let mut published = channel.subscribe();
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(message)) if message.is_text() || message.is_binary() => {
                    // It fails only where nobody listens, and this task does.
                    let _ = channel.send(message);
                }
                Some(Ok(_)) => socket.flush().await?,
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
            message = published.recv() => {
                // Who is too far behind has lost messages, and is let go.
                let Ok(message) = message else { return socket.close(None).await };
                socket.feed(message).await?;
                while let Ok(message) = published.try_recv() {
                    socket.feed(message).await?;
                }
                socket.flush().await?;
            }
        }
    }
}
