//! A small key-value store for the common data of the orders, in a separate stream, with optimistic concurrency.

use super::explain::{explain_create, explain_get, explain_publish};
use super::subjects::Subjects;
use crate::failure::Failure;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, Stream};

pub(crate) struct Ledger {
    jetstream: Context,
    stream: Stream<()>,
    subjects: Subjects,
}

impl Ledger {
    /// Opens it, and creates it if it does not exist.
    pub(crate) async fn open(
        jetstream: &Context,
        subjects: &Subjects,
        replicas: usize,
    ) -> Result<Ledger, Failure> {
        let name = subjects.marks_stream();
        let config = Config {
            name: name.clone(),
            subjects: vec![subjects.marks("*")],
            max_messages_per_subject: 1,
            allow_direct: true,
            num_replicas: replicas,
            ..Config::default()
        };
        jetstream.get_or_create_stream(config).await.map_err(|error| explain_create(&error))?;
        let stream = jetstream.get_stream_no_info(name).await;
        let stream = stream.map_err(|error| Failure::Refused(error.to_string()))?;
        Ok(Ledger { jetstream: jetstream.clone(), stream, subjects: subjects.clone() })
    }

    /// Returns the value of a key, and its revision.
    pub(crate) async fn read(&self, key: &str) -> Result<(Option<String>, u64), Failure> {
        match self.stream.direct_get_last_for_subject(self.subjects.marks(key)).await {
            Ok(message) => {
                Ok((Some(String::from_utf8_lossy(&message.payload).into_owned()), message.sequence))
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok((None, 0)),
            Err(error) => Err(explain_get(&error)),
        }
    }

    /// Replaces a revision. Returns `false` if somebody else was faster.
    pub(crate) async fn write(&self, key: &str, text: &str, revision: u64) -> Result<bool, Failure> {
        let message =
            PublishMessage::build().payload(text.to_owned().into()).expected_last_subject_sequence(revision);
        let sent = self.jetstream.send_publish(self.subjects.marks(key), message).await;
        match sent.map_err(|error| explain_publish(&error))?.await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(false),
            Err(error) => Err(explain_publish(&error)),
        }
    }
}
