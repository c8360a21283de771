//! What a stream keeps of one topic.

use super::streams::{Order, refused};
use crate::failure::Failure;
use crate::frame::read_kept;
use crate::limits::{READ_BYTES_MAX, READ_MESSAGES_MAX};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use hub::{BusHistory, Micros, Ordered, Position, Span};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

/// A topic, as its stream knows it.
pub(crate) struct Kept<'a> {
    pub(crate) order: &'a Order,
    pub(crate) subject: &'a str,
    pub(crate) topic: &'a Arc<str>,
}

/// What a question lets through.
struct Bounds {
    since: u64,
    until: u64,
    messages_max: usize,
    bytes_max: usize,
}

impl Kept<'_> {
    pub(crate) async fn read(&self, span: Span, received: Micros) -> Result<BusHistory, Failure> {
        let head = self.order.head(self.subject).await?.position;
        match span {
            Span::Oldest { since } => {
                let (messages_max, bytes_max) = (READ_MESSAGES_MAX, READ_BYTES_MAX);
                let bounds = Bounds { since, until: head.offset, messages_max, bytes_max };
                self.oldest(head, bounds, received).await
            }
            Span::Newest { since, until, messages_max, bytes_max } => {
                self.newest(head, Bounds { since, until, messages_max, bytes_max }, received).await
            }
        }
    }

    async fn oldest(&self, head: Position, bounds: Bounds, received: Micros) -> Result<BusHistory, Failure> {
        let (from, mut next) = self.first(bounds.since, head.offset).await?;
        let (mut ordered, mut bytes, mut previous) = (Vec::new(), 0, from);
        while let Some(message) = next.take() {
            bytes += message.payload.len();
            let is_over = ordered.len() >= bounds.messages_max || bytes > bounds.bytes_max;
            // Who asks for the oldest gets one at least, or would ask for it for ever.
            if message.sequence > bounds.until || (is_over && !ordered.is_empty()) {
                break;
            }
            let after = message.sequence + 1;
            ordered.push(self.ordered(&message, previous, received)?);
            previous = message.sequence;
            if after <= bounds.until {
                next = self.next(after).await?;
            }
        }
        let to = ordered.last().map_or(head.offset, |last| last.position.offset);
        Ok(BusHistory { head, from, to, ordered })
    }

    async fn newest(&self, head: Position, bounds: Bounds, received: Micros) -> Result<BusHistory, Failure> {
        let (floor, mut next) = self.first(bounds.since, head.offset).await?;
        let (mut from, mut bytes, mut messages) = (floor.min(bounds.until), 0, VecDeque::new());
        while let Some(message) = next.take().filter(|message| message.sequence <= bounds.until) {
            let after = message.sequence + 1;
            bytes += message.payload.len();
            messages.push_back(message);
            while messages.len() > bounds.messages_max || bytes > bounds.bytes_max {
                let Some(cut) = messages.pop_front() else { break };
                (bytes, from) = (bytes - cut.payload.len(), cut.sequence);
            }
            next = self.next(after).await?;
        }
        let (mut ordered, mut previous) = (Vec::with_capacity(messages.len()), from);
        for message in &messages {
            ordered.push(self.ordered(message, previous, received)?);
            previous = message.sequence;
        }
        Ok(BusHistory { head, from, to: bounds.until, ordered })
    }

    /// The first that is kept above `since`, and the offset above which nothing is missing.
    async fn first(&self, since: u64, newest: u64) -> Result<(u64, Option<StreamMessage>), Failure> {
        let Some(mut first) = self.next(since.max(1)).await? else {
            return Ok((newest.max(since.min(newest)), None));
        };
        if first.sequence == since {
            return Ok((since, self.next(since + 1).await?));
        }
        let mut floor = match self.is_whole_since(since).await? {
            true => since,
            false => first.sequence - 1,
        };
        while self.is_too_old(&first) {
            floor = first.sequence;
            match self.next(first.sequence + 1).await? {
                Some(next) => first = next,
                None => return Ok((floor, None)),
            }
        }
        Ok((floor, Some(first)))
    }

    /// Whether the stream has dropped nothing of the topic that stood above `since`; if in doubt, it has.
    async fn is_whole_since(&self, since: u64) -> Result<bool, Failure> {
        let stream = &self.order.stream;
        let first = stream.get_info().await.map_err(refused)?.state.first_sequence;
        if first > since + 1 {
            return Ok(false);
        }
        let mut subjects = stream.info_with_subjects(self.subject).await.map_err(refused)?;
        let mut count = 0;
        while let Some(subject) = futures_util::StreamExt::next(&mut subjects).await {
            count += subject.map_err(refused)?.1;
        }
        Ok(count < self.order.rule.messages_max)
    }

    fn is_too_old(&self, message: &StreamMessage) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let age_max = self.order.rule.age_max().as_nanos();
        u128::try_from(message.time.unix_timestamp_nanos()).is_ok_and(|time| time + age_max < now)
    }

    /// The first from `sequence` on.
    async fn next(&self, sequence: u64) -> Result<Option<StreamMessage>, Failure> {
        match self.order.stream.direct_get_next_for_subject(self.subject, Some(sequence)).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    fn ordered(&self, message: &StreamMessage, previous: u64, received: Micros) -> Result<Ordered, Failure> {
        let kept = read_kept(&message.payload)
            .ok_or_else(|| Failure::Refused("a publication that cannot be read".to_owned()))?;
        let position = self.order.at(message.sequence);
        Ok(Ordered { position, previous, draft: kept.into_draft(self.topic.clone(), received) })
    }
}
