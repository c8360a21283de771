//! Reads a topic's history from its stream.

use super::explain::{explain_get, explain_info};
use super::order::{Head, Order, is_mark};
use crate::failure::Failure;
use crate::frame::read_kept;
use crate::limits::{READ_BYTES_MAX, READ_MESSAGES_MAX};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use hub::{BusHistory, Micros, Ordered, Span};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

/// Number of parts of a stream that are read concurrently.
const WAYS: u64 = 32;
/// Number of sequences covered by the first step.
const WINDOW_FIRST: u64 = 64;
/// Maximum number for later steps, where the topic has few messages.
const WINDOW_MAX: u64 = 1 << 14;

/// A topic in its stream.
pub(crate) struct Kept<'a> {
    pub(crate) order: &'a Order,
    pub(crate) subject: &'a str,
    pub(crate) topic: &'a Arc<str>,
}

/// The limits of a read.
struct Bounds {
    messages_max: usize,
    bytes_max: usize,
}

/// The start of a read.
struct Start {
    /// The offset above which nothing is missing.
    from: u64,
    /// The sequence of the first wanted message, or one below it.
    first: u64,
}

impl Kept<'_> {
    pub(crate) async fn read(&self, span: Span, received: Micros) -> Result<BusHistory, Failure> {
        let head = self.order.head(self.subject).await?;
        match span {
            Span::Oldest { since } => self.oldest(head, since, received).await,
            Span::Newest { since, until, messages_max, bytes_max } => {
                self.newest(head, (since, until), Bounds { messages_max, bytes_max }, received).await
            }
        }
    }

    async fn oldest(&self, head: Head, since: u64, received: Micros) -> Result<BusHistory, Failure> {
        let Start { from, first } = self.start(since, &head).await?;
        let (mut ordered, mut bytes, mut previous) = (Vec::new(), 0, from);
        let mut windows = Windows::new(first, head.sequence);
        'read: while let Some((low, high)) = windows.next(bytes) {
            for message in self.between(low, high).await? {
                bytes += message.payload.len();
                let is_over = ordered.len() >= READ_MESSAGES_MAX || bytes > READ_BYTES_MAX;
                // A read of the oldest returns at least one, or it would be repeated forever.
                if is_over && !ordered.is_empty() {
                    break 'read;
                }
                let of = self.ordered(&message, previous, received)?;
                previous = of.position.offset;
                ordered.push(of);
            }
        }
        let to = ordered.last().map_or(head.position.offset, |last| last.position.offset);
        Ok(BusHistory { head: head.position, from, to, ordered })
    }

    async fn newest(
        &self,
        head: Head,
        (since, until): (u64, u64),
        bounds: Bounds,
        received: Micros,
    ) -> Result<BusHistory, Failure> {
        let places = &self.order.places;
        let Start { from, first } = self.start(since, &head).await?;
        let (mut from, mut bytes, mut messages) = (from.min(until), 0, VecDeque::new());
        let mut windows = Windows::new(first, places.sequence(until).min(head.sequence));
        while let Some((low, high)) = windows.next(bytes) {
            for message in self.between(low, high).await? {
                bytes += message.payload.len();
                messages.push_back(message);
                while messages.len() > bounds.messages_max || bytes > bounds.bytes_max {
                    let Some(cut) = messages.pop_front() else { break };
                    (bytes, from) = (bytes - cut.payload.len(), places.offset(cut.sequence));
                }
            }
        }
        let (mut ordered, mut previous) = (Vec::with_capacity(messages.len()), from);
        for message in &messages {
            let of = self.ordered(message, previous, received)?;
            previous = of.position.offset;
            ordered.push(of);
        }
        Ok(BusHistory { head: head.position, from, to: until, ordered })
    }

    /// Returns the publications in a part of the stream. Each request returns one message, so several parts are read
    /// concurrently.
    async fn between(&self, low: u64, high: u64) -> Result<Vec<StreamMessage>, Failure> {
        let stride = ((high - low) / WAYS + 1) as usize;
        let ways = (low..=high)
            .step_by(stride)
            .map(|low| self.one_after_the_other(low, high.min(low + stride as u64 - 1)));
        Ok(try_join_all(ways).await?.into_iter().flatten().collect())
    }

    async fn one_after_the_other(&self, mut low: u64, high: u64) -> Result<Vec<StreamMessage>, Failure> {
        let mut messages = Vec::new();
        while low <= high {
            let Some(message) = self.next(low).await?.filter(|message| message.sequence <= high) else {
                break;
            };
            low = message.sequence + 1;
            if !is_mark(&message.payload) {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    /// Finds the first stored message above `since` that is not too old.
    async fn start(&self, since: u64, head: &Head) -> Result<Start, Failure> {
        let places = &self.order.places;
        let above = places.sequence(since);
        let Some(first) = self.next(above.max(places.oldest()).max(1)).await? else {
            let is_whole = since <= head.position.offset && self.is_whole_above(above).await?;
            let from = if is_whole { since } else { head.position.offset };
            return Ok(Start { from, first: head.sequence + 1 });
        };
        let (from, first) = if first.sequence == above {
            (since, self.next(above + 1).await?)
        } else if above >= places.oldest() && self.is_whole_above(above).await? {
            (since, Some(first))
        } else {
            (places.offset(first.sequence - 1), Some(first))
        };
        match first {
            Some(first) if self.is_too_old(&first) => self.first_of_age(&first, head).await,
            Some(first) => Ok(Start { from, first: first.sequence }),
            None => Ok(Start { from, first: head.sequence + 1 }),
        }
    }

    /// Binary search for the first message that is not too old.
    async fn first_of_age(&self, old: &StreamMessage, head: &Head) -> Result<Start, Failure> {
        let (mut low, mut high) = (old.sequence + 1, head.sequence + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.next(middle).await? {
                Some(message) if self.is_too_old(&message) => low = message.sequence + 1,
                Some(_) | None => high = middle,
            }
        }
        Ok(Start { from: self.order.places.offset(low - 1), first: low })
    }

    /// Returns whether the stream has dropped none of the topic's messages above a sequence; `false` if in doubt.
    async fn is_whole_above(&self, sequence: u64) -> Result<bool, Failure> {
        let stream = &self.order.stream;
        let mut subjects =
            stream.info_with_subjects(self.subject).await.map_err(|error| explain_info(&error))?;
        if subjects.info.state.first_sequence > sequence + 1 {
            return Ok(false);
        }
        let mut count = 0;
        while let Some(subject) = subjects.next().await {
            count += subject.map_err(|error| explain_info(&error))?.1;
        }
        Ok(count < self.order.rule.messages_max)
    }

    fn is_too_old(&self, message: &StreamMessage) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let age_max = self.order.rule.age_max().as_nanos();
        u128::try_from(message.time.unix_timestamp_nanos()).is_ok_and(|time| time + age_max < now)
    }

    /// Returns the first message from `sequence` on.
    async fn next(&self, sequence: u64) -> Result<Option<StreamMessage>, Failure> {
        match self.order.stream.direct_get_next_for_subject(self.subject, Some(sequence)).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(explain_get(&error)),
        }
    }

    fn ordered(&self, message: &StreamMessage, previous: u64, received: Micros) -> Result<Ordered, Failure> {
        let kept = read_kept(&message.payload)
            .ok_or_else(|| Failure::Refused("a publication that cannot be read".to_owned()))?;
        let position = self.order.at(message.sequence);
        Ok(Ordered { position, previous, draft: kept.into_draft(self.topic.clone(), received) })
    }
}

/// Successive windows of a stream, each twice as wide as the one before while they contain little.
struct Windows {
    low: u64,
    high: u64,
    width: u64,
}

impl Windows {
    fn new(low: u64, high: u64) -> Windows {
        Windows { low, high, width: WINDOW_FIRST / 2 }
    }

    /// Returns the next window, given the number of bytes kept from those before.
    fn next(&mut self, bytes: usize) -> Option<(u64, u64)> {
        if self.low > self.high {
            return None;
        }
        if bytes < READ_BYTES_MAX / 2 {
            self.width = (self.width * 2).min(WINDOW_MAX);
        }
        let (low, high) = (self.low, self.high.min(self.low + self.width - 1));
        self.low = high + 1;
        Some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_without_a_hole_while_there_is_little_in_them() {
        let mut windows = Windows::new(10, 500);
        let all: Vec<_> = std::iter::from_fn(|| windows.next(0)).collect();
        assert_eq!(all, [(10, 73), (74, 201), (202, 457), (458, 500)]);
        let mut windows = Windows::new(10, 200);
        assert_eq!(windows.next(0), Some((10, 73)));
        assert_eq!(windows.next(READ_BYTES_MAX), Some((74, 137)));
        assert_eq!(Windows::new(11, 10).next(0), None);
    }
}
