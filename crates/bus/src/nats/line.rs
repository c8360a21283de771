//! What the tasks of a session share, and how they say something.

use super::neighbours::{Beat, Neighbours, Said};
use super::people::Own;
use super::streams::Streams;
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::losses::Passage;
use crate::port::NodeAddress;
use crate::session::Desk;
use async_nats::client::RequestErrorKind;
use async_nats::{Client, PublishErrorKind, Subject, Subscriber};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

pub(crate) struct Line {
    pub(crate) desk: Desk,
    pub(crate) client: Client,
    pub(crate) subjects: Subjects,
    pub(crate) streams: Streams,
    pub(crate) neighbours: Arc<Neighbours>,
    pub(crate) own: Own,
    /// Where the node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    /// From when on everybody who lives was heard.
    pub(crate) settled: Instant,
    /// Which session of the node it is.
    pub(crate) number: u64,
    pub(crate) beats: AtomicU64,
    pub(crate) fail: UnboundedSender<Failure>,
    /// Of what was sent since the server last confirmed that it had seen everything.
    pub(crate) passages: Mutex<Vec<Passage>>,
}

impl Line {
    pub(crate) fn fail(&self, failure: Failure) {
        // Refused only when the session is over.
        let _ = self.fail.send(failure);
    }

    /// Says something to whom it may concern. What is larger than the server takes is dropped and counted.
    pub(crate) async fn say(&self, subject: impl Into<Subject>, message: Vec<u8>) -> Result<(), Failure> {
        self.send(subject, message, None).await
    }

    /// The same; its passage is over when the server has confirmed that it has seen it.
    pub(crate) async fn send(
        &self,
        subject: impl Into<Subject>,
        message: Vec<u8>,
        passage: Option<Passage>,
    ) -> Result<(), Failure> {
        match self.client.publish(subject.into(), message.into()).await {
            Ok(()) => {
                self.passages().extend(passage);
                Ok(())
            }
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                self.desk.refuse("a message that is larger than its `max_payload`");
                Ok(())
            }
            Err(error) => Err(Failure::Unreachable(error.to_string())),
        }
    }

    /// The server has seen everything that was said before.
    pub(crate) async fn round_trip(&self) -> Result<(), Failure> {
        // Dropped with whoever waits for the answer.
        let before = std::mem::take(&mut *self.passages());
        match self.client.request(self.subjects.nobody(), Vec::new().into()).await {
            Ok(_) => {}
            // Nobody listens there, which it says at once.
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {}
            Err(error) if error.kind() == RequestErrorKind::TimedOut => return Err(Failure::Late),
            Err(error) => return Err(Failure::Unreachable(error.to_string())),
        }
        before.into_iter().for_each(Passage::arrive);
        Ok(())
    }

    fn passages(&self) -> MutexGuard<'_, Vec<Passage>> {
        self.passages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this node lives.
    pub(crate) async fn beat(&self) -> Result<(), Failure> {
        let beat = Beat {
            node: self.desk.node,
            session: self.number,
            number: self.beats.fetch_add(1, Relaxed),
            listening: self.listening.clone(),
        };
        self.say(self.subjects.nodes(), Said::Beat(beat).write()).await
    }

    /// Tells who lives, if that is news.
    pub(crate) fn tell_who_lives(&self) {
        self.neighbours.tell(&self.desk, self.listening.as_ref(), Instant::now());
    }
}

pub(crate) async fn subscribe(client: &Client, subject: String) -> Result<Subscriber, Failure> {
    client.subscribe(subject).await.map_err(|error| Failure::Unreachable(error.to_string()))
}
