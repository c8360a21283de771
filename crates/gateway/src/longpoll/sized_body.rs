//! A request body of known length, read on demand.

use crate::control::ControlStream;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub(super) struct SizedBody<'a> {
    pub(super) stream: &'a mut ControlStream,
    /// Number of bytes that have not been returned yet.
    pub(super) left: usize,
}

impl Body for SizedBody<'_> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let body = self.get_mut();
        if body.left == 0 {
            return Poll::Ready(None);
        }
        if body.stream.unread().is_empty() {
            match ready!(body.stream.poll_fill(cx)) {
                Ok(0) => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        let unread = body.stream.unread();
        let bytes = Bytes::copy_from_slice(&unread[..unread.len().min(body.left)]);
        body.stream.take(bytes.len());
        body.left -= bytes.len();
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}
