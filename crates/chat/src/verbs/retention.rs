//! Retention: what is older than a community keeps is dropped.

use crate::access;
use crate::conversation::Conversation;
use crate::ids::{ConversationId, Entropy, MessageId, Seq, Ulid};
use crate::limits::PAGE_MAX;
use crate::message::Message;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure, WEIGHT_MAX};
use std::collections::BTreeMap;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// How long it can be seen what a community's site was not told.
const DEAD_LETTERS_KEPT_DAYS: u64 = 30;

/// Drops revocations that have ended, dead letters of a month ago, and a part of what is older than the community's `history_days`: to be repeated until
/// there is no more. For keys. A conversation forgets from its beginning, without holes: `first` moves forward, and no place
/// is used again.
#[derive(Clone, Copy, Debug)]
pub struct Expire;

/// What was dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expired {
    /// How many messages.
    pub messages: u64,
    /// Ids of the files that they referred to.
    pub attachments: Vec<String>,
    /// Whether there is more to drop.
    pub more: bool,
}

impl Command for Expire {
    type Answer = Expired;
    const WRITES: bool = true;

    /// It goes over a page of rows, and writes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Expired, Failure> {
        access::key_or_self(call, None)?;
        let community = access::community(rows, call)?;
        rows.remove(&call.community, &Target::Revocations { ended_before: call.now })?;
        let given_up_before = call.now.before_ms(DEAD_LETTERS_KEPT_DAYS * DAY_MS);
        rows.remove(&call.community, &Target::DeadLetters { given_up_before })?;
        let Some(days) = community.settings.kept_days() else {
            return Ok(Expired::default());
        };
        let oldest_kept = call.now.before_ms(u64::from(days) * DAY_MS);
        let before = MessageId(Ulid::new(oldest_kept, Entropy([0; 16]), 0));
        let outdated = rows.outdated(&call.community, before, PAGE_MAX)?;
        let mut expired = Expired { more: outdated.len() >= PAGE_MAX, ..Expired::default() };
        // Clocks are set back now and then: everything up to the last outdated place goes.
        let mut ends: BTreeMap<ConversationId, Seq> = BTreeMap::new();
        for (conversation, seq) in outdated {
            let end = ends.entry(conversation).or_default();
            *end = seq.max(*end);
        }
        for (id, end) in ends {
            if let Some(conversation) = rows.conversation(&call.community, id)? {
                drop_up_to(rows, call, conversation, end, &mut expired)?;
            }
        }
        Ok(expired)
    }
}

fn drop_up_to(
    rows: &mut dyn Rows,
    call: &Call,
    mut conversation: Conversation,
    end: Seq,
    expired: &mut Expired,
) -> Result<(), Failure> {
    let span = conversation.first..=end;
    let dropped: Vec<Message> = rows.messages(&call.community, conversation.id, span, false, PAGE_MAX)?;
    let Some(last) = dropped.last().map(|message| message.seq) else {
        return Ok(());
    };
    expired.messages += dropped.len() as u64;
    expired.more |= last < end;
    conversation.first = last.next();
    for message in dropped {
        expired.attachments.extend(message.attachments.iter().map(|attachment| attachment.id.clone()));
        rows.remove(&call.community, &Target::Message(Box::new(message)))?;
    }
    Ok(rows.put(&call.community, &conversation.into())?)
}
