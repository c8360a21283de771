//! A TCP connection on which a write fails if the peer takes nothing for too long.
//!
//! It lies below TLS, where each byte that the socket takes can be seen. Otherwise a peer that stops reading would keep
//! its place among the HTTP connections for ever.

use engine::send_queue_bytes;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// How long a write may wait without progress. Beyond it, it fails with [`io::ErrorKind::TimedOut`], and the connection
/// ends.
const STALL_TIME_MAX: Duration = Duration::from_secs(30);
/// How often progress is looked for in that time. By so much later it may end.
const LOOKS: u32 = 6;

pub(crate) struct TimedStream {
    stream: TcpStream,
    /// While a write waits. Boxed: most connections wait for their client instead.
    stall: Option<Box<Stall>>,
}

/// A write that waits.
struct Stall {
    next_look: Pin<Box<Sleep>>,
    /// What the kernel kept for the peer at the last look.
    queued_bytes: u64,
    /// Number of looks since the last progress.
    vain_looks: u32,
}

impl TimedStream {
    pub(crate) fn new(stream: TcpStream) -> TimedStream {
        TimedStream { stream, stall: None }
    }

    pub(crate) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn poll_write_within(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        time_max: Duration,
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.poll_progress(cx, written, time_max)
    }

    /// Turns the result of a write into an error if it has been waiting for too long.
    ///
    /// A socket is announced to be writable when a third of its buffer is free, which a slow reader of a large buffer
    /// does not achieve in time. So the kernel is asked whether the peer takes anything.
    fn poll_progress(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        time_max: Duration,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let interval = time_max / LOOKS;
        let stall = self.stall.get_or_insert_with(|| Box::new(Stall::begin(&self.stream, interval)));
        while stall.vain_looks < LOOKS {
            ready!(stall.next_look.as_mut().poll(cx));
            stall.look(&self.stream);
            stall.next_look.as_mut().reset(Instant::now() + interval);
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Stall {
    fn begin(stream: &TcpStream, interval: Duration) -> Stall {
        let (next_look, queued_bytes) = (Box::pin(sleep(interval)), send_queue_bytes(stream));
        Stall { next_look, queued_bytes, vain_looks: 0 }
    }

    /// Compares what the kernel keeps with the last look. While a write waits, nothing is added to it.
    fn look(&mut self, stream: &TcpStream) {
        let queued_bytes = send_queue_bytes(stream);
        self.vain_looks = if queued_bytes < self.queued_bytes { 0 } else { self.vain_looks + 1 };
        self.queued_bytes = queued_bytes;
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write_within(cx, bytes, STALL_TIME_MAX)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = self.get_mut();
        let written = Pin::new(&mut stream.stream).poll_write_vectored(cx, buffers);
        stream.poll_progress(cx, written, STALL_TIME_MAX)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // Neither of these waits for the peer.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::Read as _;
    use std::net::TcpListener;
    use tokio::task::unconstrained;

    const CHUNK: [u8; 16 << 10] = [7; 16 << 10];

    /// Returns a connection and its peer, who reads only when the test does.
    async fn connected() -> (TimedStream, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stream = TcpStream::connect(address).await.expect("a connection");
        (TimedStream::new(stream), listener.accept().expect("its other end").0)
    }

    /// Writes until the socket takes no more and returns how much it took.
    async fn fill(stream: &mut TimedStream, time_max: Duration) -> usize {
        let mut bytes = 0;
        let filling = poll_fn(|cx| {
            while let Poll::Ready(written) = stream.poll_write_within(cx, &CHUNK, time_max) {
                bytes += written.expect("the peer is there");
            }
            Poll::Ready(())
        });
        // Otherwise the runtime would interrupt it before the socket is full.
        unconstrained(filling).await;
        bytes
    }

    #[tokio::test]
    async fn a_write_fails_if_the_peer_takes_nothing() {
        let (mut stream, _peer) = connected().await;
        let error = loop {
            let short = Duration::from_millis(20);
            if let Err(error) = poll_fn(|cx| stream.poll_write_within(cx, &CHUNK, short)).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_write_that_waited_leaves_no_deadline_to_the_next() {
        let (mut stream, mut peer) = connected().await;
        let generous = Duration::from_secs(600);
        let filled = fill(&mut stream, generous).await;
        assert!(stream.stall.is_some(), "the last write waits");
        peer.read_exact(&mut vec![0; filled]).expect("what was written");
        poll_fn(|cx| stream.poll_write_within(cx, &CHUNK, generous)).await.expect("there is room again");
        assert!(stream.stall.is_none());
    }

    #[tokio::test]
    async fn what_the_peer_takes_counts_before_the_socket_is_writable_again() {
        let (mut stream, mut peer) = connected().await;
        let filled = fill(&mut stream, Duration::from_secs(600)).await;
        let mut stall = stream.stall.take().expect("the last write waits");
        stall.vain_looks = LOOKS - 1;
        peer.read_exact(&mut vec![0; filled]).expect("what was written");
        while stall.vain_looks > 0 {
            stall.look(&stream.stream);
        }
    }
}
