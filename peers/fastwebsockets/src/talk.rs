//! What is said on one connection, until it ends.

use std::future::{Ready, ready};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use fastwebsockets::{Frame, OpCode, Payload, WebSocketError};
use futures_util::poll;
use tokio::sync::broadcast::Sender;

use crate::socket::{Reader, Writer};

/// A message to all listeners.
#[derive(Clone)]
pub struct Published {
    opcode: OpCode,
    payload: Bytes,
}

/// Sends back what comes; what came together goes back in one write.
pub async fn echo(mut reader: Reader, mut writer: Writer) -> Result<(), WebSocketError> {
    loop {
        let mut sends_nothing = obligated;
        let mut next = pin!(reader.read_frame(&mut sends_nothing));
        let frame = match poll!(&mut next) {
            Poll::Ready(frame) => frame?,
            Poll::Pending => {
                writer.flush().await?;
                next.await?
            }
        };
        match frame.opcode {
            OpCode::Text | OpCode::Binary => writer.write_frame(frame).await?,
            OpCode::Ping => writer.write_frame(Frame::pong(frame.payload)).await?,
            OpCode::Close => return close(writer, frame).await,
            OpCode::Pong | OpCode::Continuation => {}
        }
    }
}

/// Hands what comes to every listener's task, this one's too.
pub async fn broadcast(
    mut reader: Reader,
    mut writer: Writer,
    channel: Sender<Published>,
) -> Result<(), WebSocketError> {
    let mut published = channel.subscribe();
    loop {
        let mut sends_nothing = obligated;
        // Reading must not be given up half-way: it forgets the head of a frame whose rest has not come.
        let mut next = pin!(reader.read_frame(&mut sends_nothing));
        let frame = loop {
            tokio::select! {
                frame = &mut next => break frame?,
                message = published.recv() => {
                    // Who is too far behind has lost messages, and is let go.
                    let Ok(message) = message else { return close(writer, Frame::close(1013, b"too slow")).await };
                    writer.write_frame(message.frame()).await?;
                    while let Ok(message) = published.try_recv() {
                        writer.write_frame(message.frame()).await?;
                    }
                    writer.flush().await?;
                }
            }
        };
        match frame.opcode {
            OpCode::Text | OpCode::Binary => {
                // It fails only where nobody listens, and this task does.
                let _ = channel.send(Published::from(frame));
            }
            OpCode::Ping => {
                writer.write_frame(Frame::pong(frame.payload)).await?;
                writer.flush().await?;
            }
            OpCode::Close => return close(writer, frame).await,
            OpCode::Pong | OpCode::Continuation => {}
        }
    }
}

impl Published {
    fn frame(&self) -> Frame<'_> {
        Frame::new(true, self.opcode, None, Payload::Borrowed(&self.payload))
    }
}

impl From<Frame<'_>> for Published {
    fn from(frame: Frame<'_>) -> Self {
        let payload = match frame.payload {
            Payload::Bytes(bytes) => bytes.freeze(),
            Payload::Owned(bytes) => bytes.into(),
            Payload::BorrowedMut(bytes) => Bytes::copy_from_slice(bytes),
            Payload::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
        };
        Self { opcode: frame.opcode, payload }
    }
}

async fn close(mut writer: Writer, frame: Frame<'_>) -> Result<(), WebSocketError> {
    writer.write_frame(Frame::close_raw(frame.payload)).await?;
    writer.flush().await
}

/// What the reader would be obliged to send, if the library answered pings and closes by itself.
fn obligated(_: Frame<'_>) -> Ready<Result<(), WebSocketError>> {
    ready(Ok(()))
}
