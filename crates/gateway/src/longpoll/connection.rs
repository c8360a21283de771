//! One connection of polling clients, as long as they send what needs no HTTP library.
//!
//! While a poll waits there are its task, its head and its session's token, and no buffer.

use super::answer::goes_on;
use super::request::{Polling, Read, read};
use super::respond;
use super::response::bytes_of;
use super::sized_body::SizedBody;
use crate::control::{Control, ControlStream, RemotePeer};
use bytes::Bytes;
use hyper::Response;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// What is read of later requests while one is answered.
const AHEAD_BYTES_MAX: usize = 16 << 10;
/// Behind a longer rest of a body that nobody wants, the connection ends.
const UNWANTED_BYTES_MAX: usize = 64 << 10;

/// Answers polls and posts. Gives the connection back, with all of the request, when there is another; `None` when it
/// is over.
pub(crate) async fn serve(
    control: &Arc<Control>,
    mut stream: ControlStream,
    peer: RemotePeer,
) -> Option<ControlStream> {
    let counted = Counted::new(control.longpolls.clone());
    let time_max = control.shared.limits.handshake_time_max;
    loop {
        let request = match timeout(time_max, next(control, &mut stream, peer)).await {
            Ok(Ok(Read::Polling(request))) => request,
            Ok(Ok(Read::Other)) => {
                drop(counted);
                return Some(stream);
            }
            // Gone, or silent for too long.
            Ok(Ok(Read::Incomplete) | Err(_)) | Err(_) => return None,
        };
        match answer(control, &mut stream, *request).await {
            Ok(Onward::Next) => {}
            Ok(Onward::End) => return None,
            Err(error) => {
                tracing::debug!(%error, remote = %peer.address, "a long-polling connection ended with an error");
                return None;
            }
        }
    }
}

/// A connection that is counted while this lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, Relaxed);
        Counted(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

enum Onward {
    Next,
    End,
}

/// Waits for a request; an incomplete one is one that the client did not end.
async fn next(control: &Control, stream: &mut ControlStream, peer: RemotePeer) -> io::Result<Read> {
    loop {
        match read(control, stream.unread(), peer) {
            Read::Incomplete if stream.fill().await? == 0 => return Ok(Read::Incomplete),
            Read::Incomplete => {}
            Read::Polling(request) => {
                stream.take(request.head_bytes);
                return Ok(Read::Polling(request));
            }
            Read::Other => return Ok(Read::Other),
        }
    }
}

async fn answer(control: &Arc<Control>, stream: &mut ControlStream, request: Polling) -> io::Result<Onward> {
    let Polling { head, place, body_bytes, is_last, .. } = request;
    let mut body = SizedBody { stream, left: body_bytes };
    let (response, left) = if body_bytes == 0 {
        let response = respond(control, place, head, http_body_util::Empty::<Bytes>::new());
        tokio::select! {
            response = response => (response, 0),
            () = gone(body.stream) => return Ok(Onward::End),
        }
    } else {
        let response = respond(control, place, head, &mut body).await;
        (response, body.left)
    };
    let sent_away = control.is_draining() && !goes_on(&response);
    let is_last = is_last || left > UNWANTED_BYTES_MAX || sent_away;
    write(stream, &response, is_last).await?;
    // A drain waits no longer.
    drop(response);
    if is_last {
        stream.shutdown().await?;
    }
    // What nobody wants of a body is read all the same, for a while, or the answer in front of it would be lost.
    let discarded = timeout(control.shared.limits.handshake_time_max, discard(stream, left)).await;
    Ok(if !is_last && matches!(discarded, Ok(Ok(()))) { Onward::Next } else { Onward::End })
}

/// Waits for the client to go away, and reads ahead what it says instead.
async fn gone(stream: &mut ControlStream) {
    while stream.unread().len() < AHEAD_BYTES_MAX {
        if !matches!(stream.fill().await, Ok(1..)) {
            return;
        }
    }
    std::future::pending().await
}

async fn write(stream: &mut ControlStream, response: &Response<Bytes>, is_last: bool) -> io::Result<()> {
    stream.write_all(&bytes_of(response, is_last)).await?;
    stream.flush().await
}

async fn discard(stream: &mut ControlStream, mut bytes: usize) -> io::Result<()> {
    loop {
        let count = stream.unread().len().min(bytes);
        stream.take(count);
        bytes -= count;
        if bytes == 0 {
            return Ok(());
        }
        if stream.fill().await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
