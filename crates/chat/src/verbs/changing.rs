//! Changes to a message after it was sent: edits, deletion, reactions.
//!
//! Each of them increments the conversation's [`Revision`](crate::Revision), so that clients who were away can ask for
//! changes.

use super::append::those_who_are_here;
use super::moderating::{Entry, log_entry, role_here};
use crate::access::Access;
use crate::conversation::Conversation;
use crate::failure::{Conflict, Refusal, Thing};
use crate::ids::{ConversationId, PersonId, Seq};
use crate::limits::{EDITS_MAX, REACTION_BYTES_MAX, REACTIONS_MAX};
use crate::message::{Draft, Edit, Message, Reaction, Tally};
use crate::moderation::AuditAction;
use crate::permissions::Action;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure, text};

/// A message after a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// The message.
    pub message: Message,
    /// Its reactions; `mine` refers to the caller.
    pub reactions: Vec<Tally>,
    /// Whether anything changed: otherwise nobody needs to be notified.
    pub changed: bool,
}

/// Edits one's own message. Needs [`Action::Send`]; the former text is kept for moderators.
///
/// Fails with [`Conflict::Deleted`], with [`Refusal::NotPermitted`] for others' messages, and with
/// [`Refusal::LimitReached`] after [`EDITS_MAX`] edits.
#[derive(Clone, Debug)]
pub struct EditText {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
    /// The new text.
    pub text: String,
    /// The people it now mentions.
    pub mentions: Vec<PersonId>,
}

impl Command for EditText {
    type Answer = Changed;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Changed, Failure> {
        let (access, old) = reach(rows, call, self.conversation, self.seq, Action::Send)?;
        let draft = Draft {
            mentions: self.mentions.clone(),
            attachments: old.attachments.clone(),
            ..Draft::text(None, &self.text)
        };
        let draft = draft.checked()?;
        if old.sender != call.by.name() {
            return Err(Refusal::NotPermitted(Action::Send).into());
        }
        if old.deleted.is_some() {
            return Err(Conflict::Deleted.into());
        }
        if old.text == draft.text {
            return finish(rows, call, old, false);
        }
        if old.edits as usize >= EDITS_MAX {
            return Err(Refusal::LimitReached { limit: "edits_max", max: EDITS_MAX as u64 }.into());
        }
        let mentions = those_who_are_here(rows, call, &access.conversation, draft.mentions)?;
        let nth = old.edits + 1;
        let former =
            Edit { conversation: old.conversation, seq: old.seq, nth, at: call.now, text: old.text.clone() };
        let mut new = old.clone();
        new.text = draft.text;
        new.mentions = mentions;
        new.edited = Some(call.now);
        new.edits = nth;
        rows.put(&call.community, &former.into())?;
        revise(rows, call, access.conversation, &old, &mut new)?;
        finish(rows, call, new, true)
    }
}

/// Deletes a message, leaving a tombstone in its place. One's own needs [`Action::Send`], others' need
/// [`Action::DeleteAny`] and a higher role than the author's, in a room also than the one that they have in the whole
/// community; the latter is audited. Deleting a message again changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Delete {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
}

impl Command for Delete {
    type Answer = Changed;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Changed, Failure> {
        let (access, old) = reach(rows, call, self.conversation, self.seq, Action::Read)?;
        let own = old.sender == call.by.name();
        if own {
            // People who are muted or blocked may still delete what they said.
            access.require(Action::Follow)?;
        } else {
            access.require(Action::DeleteAny)?;
            let author = rows.member(&call.community, old.conversation, &old.sender)?;
            let role = role_here(rows, call, &access.conversation, &old.sender, author.as_ref())?;
            if !access.is_above(role) {
                return Err(Refusal::NotPermitted(Action::DeleteAny).into());
            }
        }
        if old.deleted.is_some() {
            return finish(rows, call, old, false);
        }
        let mut new = old.clone();
        new.bury(call.now, !own);
        let (conversation, seq) = (old.conversation, old.seq);
        strip(rows, call, conversation, seq)?;
        revise(rows, call, access.conversation, &old, &mut new)?;
        if !own {
            let entry = Entry::of(AuditAction::DeleteMessage, Some(conversation));
            log_entry(rows, call, Entry { person: Some(old.sender), seq: Some(seq), ..entry })?;
        }
        finish(rows, call, new, true)
    }
}

/// Adds or removes a reaction. Needs [`Action::React`]. Idempotent.
///
/// Fails with [`Conflict::Deleted`], and with [`Refusal::LimitReached`] above [`REACTIONS_MAX`] different reactions.
#[derive(Clone, Debug)]
pub struct React {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
    /// The emoji or short name.
    pub emoji: String,
    /// `true` to add it, `false` to remove it.
    pub on: bool,
}

impl React {
    /// Returns the reaction in its stored form.
    ///
    /// # Errors
    /// It is not a valid reaction.
    pub fn normal_emoji(&self) -> Result<String, Failure> {
        Ok(text::line(&self.emoji, REACTION_BYTES_MAX).map_err(|problem| problem.at("emoji"))?)
    }
}

impl Command for React {
    type Answer = Changed;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Changed, Failure> {
        let (access, old) = reach(rows, call, self.conversation, self.seq, Action::React)?;
        let emoji = self.normal_emoji()?;
        if old.deleted.is_some() {
            return Err(Conflict::Deleted.into());
        }
        let person = call.by.name();
        let given = tallies(rows, call, self.conversation, self.seq)?;
        let tally = given.iter().find(|tally| tally.emoji == emoji);
        if tally.is_some_and(|tally| tally.mine) == self.on {
            return Ok(Changed { message: old, reactions: given, changed: false });
        }
        if self.on {
            if tally.is_none() && given.len() >= REACTIONS_MAX {
                return Err(
                    Refusal::LimitReached { limit: "reactions_max", max: REACTIONS_MAX as u64 }.into()
                );
            }
            let (conversation, seq) = (self.conversation, self.seq);
            let reaction = Reaction { conversation, seq, person, emoji, at: call.now };
            rows.put(&call.community, &reaction.into())?;
        } else {
            let (conversation, seq) = (self.conversation, self.seq);
            rows.remove(&call.community, &Target::Reaction { conversation, seq, person, emoji })?;
        }
        let mut new = old.clone();
        revise(rows, call, access.conversation, &old, &mut new)?;
        finish(rows, call, new, true)
    }
}

/// Looks up a message together with the caller's access to its conversation.
pub(super) fn reach(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: ConversationId,
    seq: Seq,
    action: Action,
) -> Result<(Access, Message), Failure> {
    let access = Access::to(rows, call, conversation, action)?;
    let message = rows.message(&call.community, conversation, seq)?;
    Ok((access, message.ok_or(Failure::Absent(Thing::Message))?))
}

/// Increments the conversation's revision, and writes it and the message.
pub(super) fn revise(
    rows: &mut dyn Rows,
    call: &Call,
    mut conversation: Conversation,
    old: &Message,
    new: &mut Message,
) -> Result<(), Failure> {
    conversation.revision = conversation.revision.next();
    new.revision = conversation.revision;
    rows.replace(&call.community, old, new)?;
    Ok(rows.put(&call.community, &conversation.into())?)
}

/// Removes a message's former texts and reactions.
pub(super) fn strip(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: ConversationId,
    seq: Seq,
) -> Result<(), Failure> {
    rows.remove(&call.community, &Target::Edits { conversation, seq })?;
    Ok(rows.remove(&call.community, &Target::Reactions { conversation, seq })?)
}

fn finish(rows: &mut dyn Rows, call: &Call, message: Message, changed: bool) -> Result<Changed, Failure> {
    let reactions = tallies(rows, call, message.conversation, message.seq)?;
    Ok(Changed { message, reactions, changed })
}

/// Returns the reactions to one message, counted by the store.
pub(super) fn tallies(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: ConversationId,
    seq: Seq,
) -> Result<Vec<Tally>, Failure> {
    let counted = rows.tallies(&call.community, conversation, seq..=seq, &call.by.name())?;
    Ok(counted.into_iter().map(|(_, tally)| tally).collect())
}
