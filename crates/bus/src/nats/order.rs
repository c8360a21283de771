//! One stream, and the positions of its topics.

use super::explain::{explain_get, explain_info, explain_publish};
use super::places::Places;
use super::rule::Rule;
use crate::failure::Failure;
use crate::stored_head::StoredHead;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use hub::{Epoch, Position};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often to look for the mark of a topic that another node creates at the same time.
const MARK_TRIES_MAX: usize = 10;
const MARK_TRY_INTERVAL: Duration = Duration::from_millis(10);

/// A stream, and the mapping of its sequences to offsets.
pub(crate) struct Order {
    pub(crate) rule: Rule,
    pub(crate) stream: Stream<()>,
    pub(crate) places: Places,
    pub(crate) epoch: Epoch,
    /// Identifies the run of the server.
    pub(crate) run: Box<str>,
    pub(crate) witness: Arc<StoredHead>,
}

/// The head of a topic.
pub(crate) struct Head {
    /// The sequence of its newest publication, or the stream's newest if it has none.
    pub(crate) sequence: u64,
    pub(crate) position: Position,
}

/// Returns whether a message is the mark with which a topic's order begins, and not a publication.
pub(crate) fn is_mark(payload: &[u8]) -> bool {
    payload.is_empty()
}

impl Order {
    /// Records a stored publication, which a restarted server must still have.
    pub(crate) fn witness(&self, position: &Position) {
        self.witness.see(position, &self.run);
    }

    /// Returns the position of a topic that is followed from now on. A topic without messages begins with a mark, so
    /// that its position is still known after other topics have grown.
    pub(crate) async fn stand(&self, jetstream: &Context, subject: &str) -> Result<Position, Failure> {
        for _ in 0..MARK_TRIES_MAX {
            if let Some(sequence) = self.newest_of(subject).await? {
                return Ok(self.at(sequence));
            }
            let mark = PublishMessage::build().expected_last_subject_sequence(0);
            let sent = jetstream.send_publish(subject.to_owned(), mark).await;
            match sent.map_err(|error| explain_publish(&error))?.await {
                Ok(ack) => return Ok(self.at(ack.sequence)),
                // Another node was faster; with replicas, the one that answers may not know the mark yet.
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                    sleep(MARK_TRY_INTERVAL).await;
                }
                // There is no room for it.
                Err(error) if error.kind() == PublishErrorKind::Other => break,
                Err(error) => return Err(explain_publish(&error)),
            }
        }
        Ok(self.head(subject).await?.position)
    }

    pub(crate) async fn head(&self, subject: &str) -> Result<Head, Failure> {
        if let Some(sequence) = self.newest_of(subject).await? {
            return Ok(self.standing_at(sequence));
        }
        let info = self.stream.get_info().await.map_err(|error| explain_info(&error))?;
        // Checked again: a message that arrived between the two requests belongs to the topic.
        let sequence = self.newest_of(subject).await?.unwrap_or(info.state.last_sequence);
        Ok(self.standing_at(sequence))
    }

    async fn newest_of(&self, subject: &str) -> Result<Option<u64>, Failure> {
        match self.stream.direct_get_last_for_subject(subject).await {
            Ok(newest) => Ok(Some(newest.sequence)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(explain_get(&error)),
        }
    }

    fn standing_at(&self, sequence: u64) -> Head {
        Head { sequence, position: self.at(sequence) }
    }

    /// Returns the position of a sequence.
    pub(crate) fn at(&self, sequence: u64) -> Position {
        Position { epoch: self.epoch.clone(), offset: self.places.offset(sequence) }
    }
}
