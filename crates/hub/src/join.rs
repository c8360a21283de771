//! One connection's membership of one topic, from the request to the end.

use crate::channel::Channel;
use crate::ids::{JoinInstance, Ticket, TopicId};
use crate::outgoing::Outgoing;
use crate::presence::PhxRef;
use crate::sizes::block_bytes;
use proto::phoenix::Ref;

/// Not a member yet.
pub(crate) const NOT_A_MEMBER: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JoinState {
    /// The join handler, or its task, has not decided yet.
    Deciding,
    /// Accepted; the topic's home has not confirmed yet that publications reach this shard.
    Subscribing,
    /// The reply has been sent.
    Joined,
    /// Joined, and the channel waits for a task before it handles more messages.
    Held,
    /// No longer a member; its last handler runs.
    Ending,
}

/// Kept small: millions of connections have one of these inline.
pub(crate) struct Join {
    pub(crate) topic: TopicId,
    /// The index among the topic's members.
    pub(crate) member: u32,
    pub(crate) instance: JoinInstance,
    pub(crate) state: JoinState,
    /// The join_ref exactly as the join message had it.
    pub(crate) join_ref: Ref,
    /// `None` while one of its handlers runs.
    pub(crate) channel: Option<Box<dyn Channel>>,
    pub(crate) extra: Option<Box<JoinExtra>>,
}

/// State that most joins no longer need once they are established.
#[derive(Default)]
pub(crate) struct JoinExtra {
    /// The join message's `ref`, for its reply and, where the join_ref was null, for pushes.
    pub(crate) reference: Ref,
    /// The ticket of the current message, if someone waits for it.
    pub(crate) ticket: Option<Ticket>,
    /// The response of an accepted join whose reply has not been sent yet.
    pub(crate) response: Option<Outgoing<'static>>,
    /// Tasks in progress, including holds, but not the one that decides on the join itself.
    pub(crate) tasks: u16,
    /// Those of them for which the channel holds.
    pub(crate) holds: u16,
    /// Presences that this join tracks.
    pub(crate) tracked: Vec<(Box<str>, PhxRef)>,
}

impl Join {
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, JoinState::Deciding | JoinState::Subscribing | JoinState::Held)
    }

    pub(crate) fn is_joined(&self) -> bool {
        matches!(self.state, JoinState::Joined | JoinState::Held)
    }

    /// Returns the ref for the channel's own pushes and replies: the join_ref, or the join's ref if that was null.
    pub(crate) fn push_ref(&self) -> &Ref {
        match &self.extra {
            Some(extra) if self.join_ref.is_null() => &extra.reference,
            _ => &self.join_ref,
        }
    }

    pub(crate) fn extra(&mut self) -> &mut JoinExtra {
        self.extra.get_or_insert_default()
    }

    pub(crate) fn take_ticket(&mut self) -> Ticket {
        self.extra.as_mut().and_then(|extra| extra.ticket.take()).unwrap_or(Ticket::NONE)
    }

    pub(crate) fn channel_bytes(&self) -> u64 {
        self.channel.as_deref().map_or(0, channel_bytes)
    }

    /// Releases one hold. If it was the last one, returns the ticket of the message that waited.
    pub(crate) fn release(&mut self) -> Ticket {
        let extra = self.extra();
        extra.holds -= 1;
        if extra.holds > 0 {
            return Ticket::NONE;
        }
        self.state = JoinState::Joined;
        self.take_ticket()
    }

    /// Drops the rare state when nothing in it is needed any more. `keep_reference` is for dialects in whose pushes the
    /// reference is visible.
    pub(crate) fn settle(&mut self, keep_reference: bool) {
        let keep = self.extra.as_ref().is_some_and(|extra| {
            !extra.tracked.is_empty()
                || extra.tasks > 0
                || extra.ticket.is_some()
                || (keep_reference && self.join_ref.is_null())
        });
        if !keep {
            self.extra = None;
        }
    }
}

/// Returns the memory of a channel, including the allocator's rounding.
pub(crate) fn channel_bytes(channel: &dyn Channel) -> u64 {
    block_bytes(size_of_val(channel)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_stays_within_its_bytes() {
        assert!(size_of::<Join>() <= 56, "{} bytes", size_of::<Join>());
    }
}
