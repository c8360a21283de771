//! The state shared by the tasks of a session, and its way of sending.

use super::liveness::{Beat, Liveness, Said};
use super::people::Own;
use super::streams::Streams;
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::losses::LossGuard;
use crate::port::NodeAddress;
use crate::session::SessionContext;
use async_nats::client::RequestErrorKind;
use async_nats::{Client, PublishErrorKind, Subject, Subscriber};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

pub(crate) struct Line {
    pub(crate) context: SessionContext,
    pub(crate) client: Client,
    pub(crate) subjects: Subjects,
    pub(crate) streams: Streams,
    pub(crate) neighbours: Arc<Liveness>,
    pub(crate) own: Own,
    /// The address where the node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    /// From when on every live node has been heard.
    pub(crate) settled: Instant,
    /// The number of the node's session.
    pub(crate) number: u64,
    pub(crate) beats: AtomicU64,
    pub(crate) fail: UnboundedSender<Failure>,
    /// The passages of what was sent since the server last confirmed everything.
    pub(crate) passages: Mutex<Vec<LossGuard>>,
}

impl Line {
    pub(crate) fn fail(&self, failure: Failure) {
        // Fails only when the session is over.
        let _ = self.fail.send(failure);
    }

    /// Publishes a message. One that exceeds the server's maximum payload is dropped and counted.
    pub(crate) async fn say(&self, subject: impl Into<Subject>, message: Vec<u8>) -> Result<(), Failure> {
        self.send(subject, message, None).await
    }

    /// Like [`Line::say`]; the passage ends when the server has confirmed that it has received the message.
    pub(crate) async fn send(
        &self,
        subject: impl Into<Subject>,
        message: Vec<u8>,
        passage: Option<LossGuard>,
    ) -> Result<(), Failure> {
        match self.client.publish(subject.into(), message.into()).await {
            Ok(()) => {
                self.passages().extend(passage);
                Ok(())
            }
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                self.context.refuse("a message that is larger than its `max_payload`");
                Ok(())
            }
            Err(error) => Err(Failure::Unreachable(error.to_string())),
        }
    }

    /// Waits until the server has received everything that was sent before.
    pub(crate) async fn round_trip(&self) -> Result<(), Failure> {
        // Dropped, and thus recorded as losses, if this future is dropped.
        let before = std::mem::take(&mut *self.passages());
        match self.client.request(self.subjects.nobody(), Vec::new().into()).await {
            Ok(_) => {}
            // The server reports at once that nobody listens there.
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {}
            Err(error) if error.kind() == RequestErrorKind::TimedOut => return Err(Failure::Late),
            Err(error) => return Err(Failure::Unreachable(error.to_string())),
        }
        before.into_iter().for_each(LossGuard::arrive);
        Ok(())
    }

    fn passages(&self) -> MutexGuard<'_, Vec<LossGuard>> {
        self.passages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a sign of life.
    pub(crate) async fn beat(&self) -> Result<(), Failure> {
        let beat = Beat {
            node: self.context.node,
            session: self.number,
            number: self.beats.fetch_add(1, Relaxed),
            listening: self.listening.clone(),
        };
        self.say(self.subjects.nodes(), Said::Beat(beat).write()).await
    }

    /// Reports the live nodes if they have changed.
    pub(crate) fn tell_who_lives(&self) {
        self.neighbours.tell(&self.context, self.listening.as_ref(), Instant::now());
    }
}

pub(crate) async fn subscribe(client: &Client, subject: String) -> Result<Subscriber, Failure> {
    client.subscribe(subject).await.map_err(|error| Failure::Unreachable(error.to_string()))
}
