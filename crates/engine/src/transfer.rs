//! Moves sockets between descriptor tables, which only the kernel can do, through a pair of Unix sockets (SCM_RIGHTS).
//! The data that accompanies a socket waits under a token in a [`PendingTransfers`] that both sides share.

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// Sockets per message: the kernel's SCM_MAX_FD.
const SOCKETS_PER_MESSAGE_MAX: usize = 253;
const TOKEN_BYTES: usize = size_of::<u64>();
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(SOCKETS_PER_MESSAGE_MAX));

/// One end of the channel between a shard and the control plane. It never blocks: what does not fit waits here.
pub(crate) struct Link {
    end: OwnedFd,
    outgoing: VecDeque<(Token, OwnedFd)>,
}

/// The key of an entry in a [`PendingTransfers`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Token(u64);

impl Link {
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )?;
        let link = |end| Self { end, outgoing: VecDeque::new() };
        Ok((link(one), link(other)))
    }

    /// Queues a socket for [`Link::flush`].
    pub(crate) fn push(&mut self, token: Token, socket: OwnedFd) {
        self.outgoing.push_back((token, socket));
    }

    /// Returns whether sockets wait for the kernel to accept them.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends what is queued, as far as the kernel accepts it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            let count = self.outgoing.len().min(SOCKETS_PER_MESSAGE_MAX);
            match self.send_first(count) {
                Ok(()) => drop(self.outgoing.drain(..count)),
                Err(Errno::INTR) => {}
                // The kernel limits how many sockets of one user are in flight; there are fewer once the receiver takes
                // some.
                Err(Errno::AGAIN | Errno::TOOMANYREFS) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Receives everything that has arrived. A token without a socket is one for whose socket this table had no room.
    pub(crate) fn receive(&self, arrived: &mut Vec<(Token, Option<OwnedFd>)>) -> io::Result<()> {
        loop {
            match self.receive_message(arrived) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn send_first(&self, count: usize) -> Result<(), Errno> {
        let mut tokens = Vec::with_capacity(count * TOKEN_BYTES);
        let mut sockets: Vec<BorrowedFd<'_>> = Vec::with_capacity(count);
        for (token, socket) in self.outgoing.iter().take(count) {
            tokens.extend_from_slice(&token.0.to_ne_bytes());
            sockets.push(socket.as_fd());
        }
        let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(&sockets));
        debug_assert!(fits, "the space is for as many sockets as one message may carry");
        rustix::net::sendmsg(&self.end, &[IoSlice::new(&tokens)], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Returns how many bytes of tokens were received.
    fn receive_message(&self, arrived: &mut Vec<(Token, Option<OwnedFd>)>) -> Result<usize, Errno> {
        let mut tokens = [0; SOCKETS_PER_MESSAGE_MAX * TOKEN_BYTES];
        let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let message = rustix::net::recvmsg(
            &self.end,
            &mut [IoSliceMut::new(&mut tokens)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let mut sockets = ancillary.drain().flat_map(|part| match part {
            RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
            _ => None,
        });
        let mut sockets = sockets.next().into_iter().flatten();
        for token in tokens[..message.bytes].chunks_exact(TOKEN_BYTES) {
            let number = u64::from_ne_bytes(token.try_into().expect("a chunk is as long as a token"));
            arrived.push((Token(number), sockets.next()));
        }
        Ok(message.bytes)
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.end.as_raw_fd()
    }
}

/// The data that accompanies the sockets in flight, shared by both sides.
pub(crate) struct PendingTransfers<T> {
    entries: Mutex<Entries<T>>,
}

struct Entries<T> {
    next: u64,
    waiting: HashMap<Token, T>,
}

impl<T> PendingTransfers<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::new(Entries { next: 0, waiting: HashMap::new() }) }
    }

    pub(crate) fn enter(&self, belongings: T) -> Token {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let token = Token(entries.next);
        entries.next += 1;
        entries.waiting.insert(token, belongings);
        token
    }

    pub(crate) fn claim(&self, token: Token) -> Option<T> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.waiting.remove(&token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn more_sockets_than_one_message_carries_arrive_with_their_belongings() {
        let (mut here, there) = Link::pair().expect("a pair");
        let manifest = PendingTransfers::new();
        let mut writers = Vec::new();
        for number in 0..300u32 {
            let (writer, reader) = UnixStream::pair().expect("a pair");
            writers.push(writer);
            here.push(manifest.enter(number), reader.into());
        }
        here.flush().expect("the kernel takes two messages");
        assert!(!here.is_waiting());
        let mut arrived = Vec::new();
        there.receive(&mut arrived).expect("the kernel gives them");
        assert_eq!(arrived.len(), 300);
        for (token, socket) in arrived {
            let number = manifest.claim(token).expect("it was entered");
            assert_eq!(manifest.claim(token), None);
            writers[number as usize].write_all(&number.to_ne_bytes()).expect("a writable pair");
            let mut bytes = [0; 4];
            UnixStream::from(socket.expect("there is room")).read_exact(&mut bytes).expect("a readable pair");
            assert_eq!(u32::from_ne_bytes(bytes), number);
        }
    }

    #[test]
    fn what_the_kernel_does_not_take_waits_for_the_reader() {
        let (mut here, there) = Link::pair().expect("a pair");
        let manifest = PendingTransfers::new();
        let mut sent = 0;
        while !here.is_waiting() {
            let (_, reader) = UnixStream::pair().expect("a pair");
            here.push(manifest.enter(()), reader.into());
            here.flush().expect("a full way is no error");
            sent += 1;
        }
        let mut arrived = Vec::new();
        there.receive(&mut arrived).expect("the kernel gives them");
        here.flush().expect("there is room again");
        there.receive(&mut arrived).expect("the kernel gives them");
        assert_eq!(arrived.len(), sent);
    }
}
