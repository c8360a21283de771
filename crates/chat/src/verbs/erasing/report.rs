//! The report of an erasure.

use crate::message::{Message, Tally};
use serde::Serialize;

/// What was erased.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ErasureReport {
    /// Messages that became tombstones.
    pub messages: u64,
    /// Mentions of the person that were removed from others' messages.
    pub mentions: u64,
    /// Reactions.
    pub reactions: u64,
    /// Conversations that they left.
    pub memberships: u64,
    /// Blocks, by them and of them.
    pub blocks: u64,
    /// Invitations, by them and for them.
    pub invitations: u64,
    /// Sanctions that were lifted, or whose author was anonymized.
    pub sanctions: u64,
    /// Reports and audit log entries from which they were removed.
    pub records: u64,
    /// Ids of their files, for deletion.
    pub attachments: Vec<String>,
    /// The messages that this step changed, as they are now, for notifying their conversations' members.
    #[serde(skip)]
    pub changed: Vec<Message>,
    /// The reactions that this step removed, for notifying their conversations' members.
    #[serde(skip)]
    pub vanished: Vec<Vanished>,
    /// Whether the erasure is complete.
    pub done: bool,
}

/// Reactions of an erased person to one message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vanished {
    /// The message, as it is now.
    pub message: Message,
    /// The removed reactions.
    pub emoji: Vec<String>,
    /// The remaining reactions.
    pub reactions: Vec<Tally>,
}

impl ErasureReport {
    /// Adds a later step's result, except what it [changed](Self::changed) and which reactions it removed: those are
    /// reported per step.
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
