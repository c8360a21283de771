//! Refuses new TLS connections. An answer requires the very handshake that the refusal should avoid, so only a limited
//! number per second are answered; the others are cut.

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

/// Time from the start of the handshake to the end of the connection. Beyond it the connection is cut.
const TIME_MAX: Duration = Duration::from_secs(3);
/// How much of the request is read before the refusal is sent.
const REQUEST_BYTES_MAX: usize = 1024;
/// How much a client may still send after its answer, in bytes on the wire. Beyond it the connection is cut.
const DISCARDED_BYTES_MAX: usize = 64 << 10;

/// The limit on answered TLS refusals, and their counts.
pub(crate) struct Refusals {
    pace: Pace,
    /// Limits concurrent answers: a handshake takes memory, and slow clients must not get it without bound.
    places: Semaphore,
    answered: AtomicU64,
    cut: AtomicU64,
}

impl Refusals {
    /// Allows the given number per second, at least one, and as many at the same time.
    pub(crate) fn new(per_second: u32) -> Refusals {
        Refusals {
            pace: Pace::new(per_second, per_second),
            places: Semaphore::new(per_second.max(1) as usize),
            answered: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        }
    }

    /// Returns a permit for one more answer, if one is allowed now.
    fn admit(&self) -> Option<SemaphorePermit<'_>> {
        let place = self.places.try_acquire().ok()?;
        self.pace.admits().then_some(place)
    }

    /// Returns the counts by outcome.
    pub(crate) fn named(&self) -> [(&'static str, u64); 2] {
        [("answered", self.answered.load(Relaxed)), ("cut", self.cut.load(Relaxed))]
    }
}

impl Control {
    /// Answers with the reason and `Retry-After` if that is affordable now, and ends the connection.
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
                // Closing with unread bytes would reset the connection, and the answer might be lost. Nothing more can
                // be done, whatever the result.
                let _ = timeout_at(deadline, discard(stream)).await;
            }
            Ok(Err(_)) | Err(_) => {
                self.refusals.cut.fetch_add(1, Relaxed);
            }
        }
    }
}

/// Performs the handshake and sends the answer; then the connection only has to be closed.
async fn answer(acceptor: &TlsAcceptor, stream: TcpStream, answer: &[u8]) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let mut stream = acceptor.accept(stream).await?;
    // Some clients do not expect an answer before they have sent the request.
    if stream.read(&mut [0; REQUEST_BYTES_MAX]).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    stream.write_all(answer).await?;
    stream.shutdown().await?;
    Ok(stream.into_inner().0)
}

/// Reads what still arrives until the end, without decrypting it.
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
