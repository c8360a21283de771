//! Receives the body of a POST, into room that all bodies of the node share.
//!
//! Room is taken for what has arrived, since an announced length costs a client nothing. Nobody waits for room: bodies
//! that are half here would wait for each other.

use super::body::BODY_BYTES_MAX;
use super::session::PostBody;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Why a body was not received.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreceived {
    /// It is, or is announced to be, larger than [`BODY_BYTES_MAX`]; or it ended early.
    Invalid,
    /// The bodies of others take all the room.
    NoRoom,
}

/// Receives a whole body. `room` has a permit for each KiB of memory; those that the body takes are returned with it.
pub(super) async fn receive(
    room: &Semaphore,
    mut body: impl PostBody,
) -> Result<(SemaphorePermit<'_>, Bytes), Unreceived> {
    let announced = body.size_hint().upper().unwrap_or(BODY_BYTES_MAX as u64);
    if announced > BODY_BYTES_MAX as u64 {
        return Err(Unreceived::Invalid);
    }
    let mut received = Received {
        bytes: Vec::new(),
        bytes_max: announced as usize,
        taken: room.try_acquire_many(0).map_err(|_| Unreceived::NoRoom)?,
        room,
    };
    while let Some(frame) = body.frame().await {
        // Trailers are not needed.
        if let Ok(bytes) = frame.map_err(|_| Unreceived::Invalid)?.into_data() {
            received.push(&bytes)?;
        }
    }
    Ok((received.taken, Bytes::from(received.bytes)))
}

/// What has arrived of a body.
struct Received<'a> {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// Permits for the capacity of `bytes`.
    taken: SemaphorePermit<'a>,
    room: &'a Semaphore,
}

impl Received<'_> {
    fn push(&mut self, more: &[u8]) -> Result<(), Unreceived> {
        let length = self.bytes.len() + more.len();
        if length > self.bytes_max {
            return Err(Unreceived::Invalid);
        }
        if length > self.bytes.capacity() {
            self.grow((2 * self.bytes.len()).clamp(length, self.bytes_max))?;
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    fn grow(&mut self, capacity: usize) -> Result<(), Unreceived> {
        let lacking = capacity.div_ceil(1 << 10) - self.taken.num_permits();
        let more = self.room.try_acquire_many(lacking as u32).map_err(|_| Unreceived::NoRoom)?;
        self.taken.merge(more);
        self.bytes.reserve_exact(capacity - self.bytes.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::BODIES_KIB_MAX;
    use super::*;
    use hyper::body::{Body, Frame, SizeHint};
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    /// A body of which some has arrived, and perhaps all.
    struct Sent {
        arrived: VecDeque<Bytes>,
        announced: Option<u64>,
        is_whole: bool,
    }

    impl Body for Sent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.arrived.pop_front() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None if self.is_whole => Poll::Ready(None),
                None => Poll::Pending,
            }
        }

        fn size_hint(&self) -> SizeHint {
            self.announced.map_or_else(SizeHint::default, SizeHint::with_exact)
        }
    }

    fn announced(bytes: usize) -> Sent {
        Sent { arrived: VecDeque::new(), announced: Some(bytes as u64), is_whole: false }
    }

    /// Each piece is of 1,000 bytes.
    fn in_pieces(pieces: usize, is_whole: bool) -> Sent {
        let arrived = (0..pieces).map(|piece| Bytes::from(vec![piece as u8; 1000])).collect();
        Sent { arrived, announced: None, is_whole }
    }

    fn poll_once<F: Future>(receiving: Pin<&mut F>) -> Poll<F::Output> {
        receiving.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Polls once; what these bodies have sent has arrived by then.
    fn outcome(room: &Semaphore, body: Sent) -> Poll<Result<(SemaphorePermit<'_>, Bytes), Unreceived>> {
        poll_once(pin!(receive(room, body)))
    }

    #[test]
    fn bodies_that_are_only_announced_take_no_room_from_those_that_come() {
        let room = Semaphore::new(BODIES_KIB_MAX as usize);
        let mut silent: Vec<_> =
            (0..1000).map(|_| Box::pin(receive(&room, announced(BODY_BYTES_MAX)))).collect();
        assert!(silent.iter_mut().all(|receiving| poll_once(receiving.as_mut()).is_pending()));
        assert_eq!(room.available_permits(), BODIES_KIB_MAX as usize);
        let mut other = announced(5);
        (other.arrived, other.is_whole) = (VecDeque::from([Bytes::from("hello")]), true);
        let Poll::Ready(Ok((taken, bytes))) = outcome(&room, other) else { panic!("it is refused") };
        assert_eq!((taken.num_permits(), &bytes[..]), (1, &b"hello"[..]));
    }

    #[test]
    fn a_body_in_pieces_arrives_whole_and_has_room_for_all_of_it() {
        let room = Semaphore::new(BODIES_KIB_MAX as usize);
        let Poll::Ready(Ok((taken, bytes))) = outcome(&room, in_pieces(100, true)) else {
            panic!("it is refused");
        };
        assert_eq!(bytes.len(), 100_000);
        assert!(bytes.chunks(1000).enumerate().all(|(piece, bytes)| bytes == [piece as u8; 1000]));
        assert!(taken.num_permits() * (1 << 10) >= bytes.len(), "{}", taken.num_permits());
        drop(taken);
        assert_eq!(room.available_permits(), BODIES_KIB_MAX as usize, "all of it was given back");
    }

    #[test]
    fn a_body_without_room_is_refused_and_gives_back_what_it_took() {
        let room = Semaphore::new(8);
        let mut half = pin!(receive(&room, in_pieces(4, false)));
        assert!(poll_once(half.as_mut()).is_pending());
        let left = room.available_permits();
        assert!(left < 8, "what has arrived takes room");
        assert!(matches!(outcome(&room, in_pieces(7, true)), Poll::Ready(Err(Unreceived::NoRoom))));
        assert_eq!(room.available_permits(), left);
        assert!(matches!(outcome(&room, in_pieces(1, true)), Poll::Ready(Ok(_))), "a small one has room");
    }

    #[test]
    fn a_body_beyond_the_largest_is_refused_as_soon_as_that_is_known() {
        let room = Semaphore::new(BODIES_KIB_MAX as usize);
        for body in [announced(BODY_BYTES_MAX + 1), in_pieces(BODY_BYTES_MAX / 1000 + 1, false)] {
            assert!(matches!(outcome(&room, body), Poll::Ready(Err(Unreceived::Invalid))));
        }
        assert!(matches!(outcome(&room, in_pieces(BODY_BYTES_MAX / 1000, true)), Poll::Ready(Ok(_))));
    }
}
