//! What an erasure has done.

use crate::message::{Message, Tally};
use serde::Serialize;

/// What was erased.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ErasureReport {
    /// Messages that became tombstones.
    pub messages: u64,
    /// Mentions of them that were taken out of others' messages.
    pub mentions: u64,
    /// Reactions.
    pub reactions: u64,
    /// Conversations that they were in.
    pub memberships: u64,
    /// Blocks, by them and of them.
    pub blocks: u64,
    /// Invitations, by them and for them.
    pub invitations: u64,
    /// Sanctions that were lifted, or whose author was forgotten.
    pub sanctions: u64,
    /// Reports and entries of the audit log that forgot them.
    pub records: u64,
    /// Ids of files of theirs, which are to be deleted.
    pub attachments: Vec<String>,
    /// The messages that this step changed, as they are now: who follows their conversations is told.
    #[serde(skip)]
    pub changed: Vec<Message>,
    /// The reactions that this step took away: who follows their conversations is told.
    #[serde(skip)]
    pub vanished: Vec<Vanished>,
    /// Whether nothing is left.
    pub done: bool,
}

/// Reactions of an erased person to one message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vanished {
    /// The message, as it is now.
    pub message: Message,
    /// Which reactions were theirs.
    pub emoji: Vec<String>,
    /// The reactions that are left.
    pub reactions: Vec<Tally>,
}

impl ErasureReport {
    /// Adds what a further step has erased, except what it [changed](Self::changed) and took away from others' messages: that is
    /// told by each step.
    pub fn add(&mut self, step: Self) {
        self.messages += step.messages;
        self.mentions += step.mentions;
        self.reactions += step.reactions;
        self.memberships += step.memberships;
        self.blocks += step.blocks;
        self.invitations += step.invitations;
        self.sanctions += step.sanctions;
        self.records += step.records;
        self.attachments.extend(step.attachments);
        self.done = step.done;
    }
}
