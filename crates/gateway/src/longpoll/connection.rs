//! One connection of polling clients, as long as they send only requests that do not need the HTTP library.
//!
//! While a poll waits, only its task, its request head and its session's token are in memory, and no buffer.

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

/// Maximum size of later requests that are read while one is answered.
const AHEAD_BYTES_MAX: usize = 16 << 10;
/// If more than this is left of an unread body, the connection is closed instead of discarding the rest.
const UNWANTED_BYTES_MAX: usize = 64 << 10;

/// Answers polls and posts. Returns the connection, with the whole request unread, when another request arrives; `None`
/// when the connection has ended.
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
            // Closed, or silent for too long.
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

/// Counts a connection while it is alive.
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

/// Waits for a request. Returns `Incomplete` if the connection ends before its request does.
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
    // A drain waits for the response to be dropped, and for nothing more.
    drop(response);
    if is_last {
        stream.shutdown().await?;
    }
    // The rest of a body that nobody needs is read for a while nevertheless; otherwise the answer before it could be
    // lost.
    let discarded = timeout(control.shared.limits.handshake_time_max, discard(stream, left)).await;
    Ok(if !is_last && matches!(discarded, Ok(Ok(()))) { Onward::Next } else { Onward::End })
}

/// Waits until the client disconnects; what it sends instead is read ahead.
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
