//! Refuses newcomers by TLS. An answer takes the handshake that was to be spared, so only so many a second are answered;
//! the others are cut.

use super::Control;
use crate::handshake::{Rejection, refusal};
use crate::pace::Pace;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsAcceptor;

/// From the beginning of the handshake to the end of the connection. Past it the connection is cut.
const TIME_MAX: Duration = Duration::from_secs(3);
/// What is read of a request that will not be heard, before it is answered.
const REQUEST_BYTES_MAX: usize = 1024;
/// What a client may still say behind its answer, in bytes as they are on the wire. Past it the connection is cut.
const DISCARDED_BYTES_MAX: usize = 64 << 10;

/// How many refusals by TLS may be answered, and were.
pub(crate) struct Refusals {
    pace: Pace,
    /// At the same time: a handshake has memory, too, and who is slow must not have it for nothing.
    places: Semaphore,
    answered: AtomicU64,
    cut: AtomicU64,
}

impl Refusals {
    /// Answers so many a second, at least one, and as many at the same time.
    pub(crate) fn new(per_second: u32) -> Refusals {
        Refusals {
            pace: Pace::new(per_second, per_second),
            places: Semaphore::new(per_second.max(1) as usize),
            answered: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        }
    }

    /// A place for one more answer, if there may be one now.
    fn admit(&self) -> Option<SemaphorePermit<'_>> {
        let place = self.places.try_acquire().ok()?;
        self.pace.admits().then_some(place)
    }

    /// What became of those that there were.
    pub(crate) fn named(&self) -> [(&'static str, u64); 2] {
        [("answered", self.answered.load(Relaxed)), ("cut", self.cut.load(Relaxed))]
    }
}

impl Control {
    /// Says why and when to come back, where that may be afforded now, and ends the connection.
    pub(super) async fn refuse_by_tls(&self, acceptor: &TlsAcceptor, stream: TcpStream, why: &Rejection) {
        self.reject(why.reason);
        let Some(_place) = self.refusals.admit() else {
            self.refusals.cut.fetch_add(1, Relaxed);
            return;
        };
        let deadline = Instant::now() + TIME_MAX;
        match timeout_at(deadline, answer(acceptor, stream, &refusal(why))).await {
            Ok(Ok(stream)) => {
                self.refusals.answered.fetch_add(1, Relaxed);
                // Closing with bytes unread would reset the connection, and the answer might be lost with it. However
                // this ends, all is said.
                let _ = timeout_at(deadline, discard(stream)).await;
            }
            Ok(Err(_)) | Err(_) => {
                self.refusals.cut.fetch_add(1, Relaxed);
            }
        }
    }
}

/// Gives the handshake and the answer; the connection then has only to be closed.
async fn answer(acceptor: &TlsAcceptor, stream: TcpStream, answer: &[u8]) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let mut stream = acceptor.accept(stream).await?;
    // An answer before the request would be one to nothing for some clients.
    if stream.read(&mut [0; REQUEST_BYTES_MAX]).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    stream.write_all(answer).await?;
    stream.shutdown().await?;
    Ok(stream.into_inner().0)
}

/// Reads what still comes until the end, and decrypts none of it.
async fn discard(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; REQUEST_BYTES_MAX];
    let mut discarded = 0;
    while discarded < DISCARDED_BYTES_MAX {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            length => discarded += length,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_a_second_may_have_are_answered_and_not_more_at_a_time() {
        let refusals = Refusals::new(2);
        let first = refusals.admit().expect("the first of two");
        let second = refusals.admit().expect("the second of two");
        assert!(refusals.admit().is_none(), "there is no place, whatever the pace says");
        drop((first, second));
        assert_eq!(refusals.places.available_permits(), 2, "both gave their places back");
    }

    #[test]
    fn a_place_that_the_pace_forbids_is_not_kept() {
        let refusals = Refusals::new(1);
        while refusals.admit().is_some() {}
        assert_eq!(refusals.places.available_permits(), 1);
    }
}
