//! Retention: drops what is older than a community keeps.

use crate::access;
use crate::conversation::Conversation;
use crate::ids::{ConversationId, Entropy, MessageId, Seq, Ulid};
use crate::limits::PAGE_MAX;
use crate::message::Message;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure, WEIGHT_MAX};
use std::collections::BTreeMap;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// How many days dead letters are kept.
const DEAD_LETTERS_KEPT_DAYS: u64 = 30;

/// Drops expired revocations, dead letters older than 30 days, and some of the messages older than the community's
/// `history_days`: repeat until there is no more. For keys. A conversation loses messages from its beginning, without
/// gaps: `first` moves forward, and no sequence number is reused. One call drops at most [`PAGE_MAX`] messages, from as
/// few conversations as possible: a conversation costs more than a message.
#[derive(Clone, Copy, Debug)]
pub struct Expire;

/// What was dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expired {
    /// Number of messages.
    pub messages: u64,
    /// Ids of the files that they referred to.
    pub attachments: Vec<String>,
    /// Whether there is more to drop.
    pub more: bool,
}

impl Command for Expire {
    type Answer = Expired;
    const WRITES: bool = true;

    /// It goes through a page of rows and writes each.
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
        // Clocks are set back now and then, so everything up to the last outdated message goes.
        let mut ends: BTreeMap<ConversationId, Seq> = BTreeMap::new();
        for (conversation, seq) in outdated {
            let end = ends.entry(conversation).or_default();
            *end = seq.max(*end);
        }
        for (id, end) in ends {
            if expired.messages >= PAGE_MAX as u64 {
                expired.more = true;
                break;
            }
            match rows.conversation(&call.community, id)? {
                Some(conversation) => drop_outdated(rows, call, conversation, (end, before), &mut expired)?,
                None => drop_of_none(rows, call, (id, end), &mut expired)?,
            }
        }
        Ok(expired)
    }
}

/// Drops the messages up to `end` and those after it as far as they are outdated too, within what is left of the call's
/// share.
fn drop_outdated(
    rows: &mut dyn Rows,
    call: &Call,
    mut conversation: Conversation,
    (end, before): (Seq, MessageId),
    expired: &mut Expired,
) -> Result<(), Failure> {
    let left = PAGE_MAX.saturating_sub(usize::try_from(expired.messages).unwrap_or(PAGE_MAX));
    // A little further than what is known to be outdated: messages beyond that are mostly newer, and reading them is
    // wasted.
    let known = usize::try_from(end.0.saturating_sub(conversation.first.0)).unwrap_or(PAGE_MAX);
    let limit = left.min(known.saturating_add(1).saturating_mul(2));
    let span = conversation.first..=conversation.last;
    let mut dropped: Vec<Message> = rows.messages(&call.community, conversation.id, span, false, limit)?;
    let kept = dropped.iter().rposition(|message| message.seq <= end || message.id < before);
    dropped.truncate(kept.map_or(0, |last| last + 1));
    // If everything that was read goes, more may follow it.
    expired.more |= dropped.len() >= limit;
    let Some(last) = dropped.last().map(|message| message.seq) else {
        return Ok(());
    };
    conversation.first = last.next();
    forget(rows, call, dropped, expired)?;
    Ok(rows.put(&call.community, &conversation.into())?)
}

/// Drops messages up to a place of a conversation that is being erased. If they were left to the erasure, every step of
/// the retention would find the same messages again.
fn drop_of_none(
    rows: &mut dyn Rows,
    call: &Call,
    (id, end): (ConversationId, Seq),
    expired: &mut Expired,
) -> Result<(), Failure> {
    let left = PAGE_MAX.saturating_sub(usize::try_from(expired.messages).unwrap_or(PAGE_MAX));
    let dropped = rows.messages(&call.community, id, Seq(0)..=end, false, left)?;
    expired.more |= dropped.len() >= left;
    forget(rows, call, dropped, expired)
}

fn forget(
    rows: &mut dyn Rows,
    call: &Call,
    dropped: Vec<Message>,
    expired: &mut Expired,
) -> Result<(), Failure> {
    expired.messages += dropped.len() as u64;
    let files = dropped.iter().flat_map(|message| &message.attachments);
    expired.attachments.extend(files.map(|attachment| attachment.id.clone()));
    Ok(rows.remove(&call.community, &Target::Messages(dropped))?)
}
