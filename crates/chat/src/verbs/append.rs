//! Sending messages: the one verb that runs in batches.
//!
//! A batch is one lookup of facts, the rules for each message in turn (including what earlier messages of the batch
//! changed), and one write. So the database sees a few large statements, and no rule knows about batches.

use crate::access::Access;
use crate::community::GuestPolicy;
use crate::conversation::{Conversation, Member};
use crate::failure::{Conflict, Refusal, Thing};
use crate::ids::{ClientId, CommunityId, ConversationId, MessageId, PersonId, Revision, Seq};
use crate::message::{Draft, Message};
use crate::permissions::Action;
use crate::problem::Problem;
use crate::rows::{AppendBatch, Rows, Sending, SendingFacts};
use crate::store::{Done, PendingAppend, Request, Verb};
use crate::{By, Call, Failure, StoreError};
use std::collections::HashMap;

/// This many bytes of text cost as much as a message itself.
const WEIGHED_BYTES: usize = 2 * 1024;

/// Sends a message. Needs [`Action::Send`]; it also marks everything before it in the conversation as read by the
/// sender.
///
/// A message sent again under the same client id into the same conversation returns the original, with
/// [`Appended::repeated`], whatever became of it since, and even if its sender may no longer send. With a different
/// text, reply or conversation it fails with [`Conflict::ClientIdReused`].
///
/// Fails with [`Refusal::Muted`], [`Refusal::SlowMode`] and [`Refusal::Blocked`].
#[derive(Clone, Debug)]
pub struct Append {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub draft: Draft,
}

/// The result of [`Append`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Appended {
    /// The stored message.
    pub message: Message,
    /// Whether it was stored before: then nobody needs to be notified again.
    pub repeated: bool,
}

/// Appends have their own [`Verb`] implementation, because they run in batches.
impl Verb for crate::Asked<Append> {
    type Answer = Appended;
    const WRITES: bool = true;

    fn community(&self) -> Option<&CommunityId> {
        Some(&self.call.community)
    }

    /// A long text adds many words to the search index.
    fn weight(&self) -> u32 {
        1 + (self.command.draft.text.len() / WEIGHED_BYTES) as u32
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Appended, Failure> {
        let mut answers = append_batch(rows, &[self])?;
        answers.pop().unwrap_or(Err(Failure::Absent(Thing::Conversation)))
    }

    fn into_request(self, done: Done<Appended>) -> Request {
        Request::Append(PendingAppend::new(self, done))
    }
}

/// Appends all messages that the rules admit, and returns an answer for each, in order.
///
/// # Errors
/// A storage failure: nothing was appended, and the transaction must be rolled back.
pub fn append_batch(
    rows: &mut dyn Rows,
    asked: &[&crate::Asked<Append>],
) -> Result<Vec<Result<Appended, Failure>>, StoreError> {
    let senders: Vec<PersonId> = asked.iter().map(|asked| asked.call.by.name()).collect();
    let sendings: Vec<Sending<'_>> =
        asked.iter().zip(&senders).map(|(asked, sender)| asked.sending(sender)).collect();
    let facts = rows.facts(&sendings)?;
    let mut batch = Batch::default();
    let mut answers = Vec::with_capacity(asked.len());
    for (asked, facts) in asked.iter().zip(facts) {
        match batch.add(rows, &asked.call, &asked.command, facts) {
            Err(Failure::Unavailable(trouble)) => return Err(trouble),
            answer => answers.push(answer),
        }
    }
    let batch = batch.finish();
    if !batch.messages.is_empty() {
        rows.append(&batch)?;
    }
    Ok(answers)
}

impl crate::Asked<Append> {
    fn sending<'a>(&'a self, sender: &'a PersonId) -> Sending<'a> {
        Sending {
            community: &self.call.community,
            conversation: self.command.conversation,
            sender,
            client_id: self.command.draft.client_id.as_ref(),
        }
    }
}

/// Changes by earlier messages of the batch, which the looked-up facts do not contain.
#[derive(Default)]
struct Batch {
    messages: Vec<(CommunityId, Message)>,
    conversations: HashMap<(CommunityId, ConversationId), Conversation>,
    members: HashMap<(CommunityId, ConversationId, PersonId), Member>,
    sent: HashMap<(CommunityId, PersonId, ClientId), usize>,
    guests: HashMap<CommunityId, GuestPolicy>,
}

impl Batch {
    fn add(
        &mut self,
        rows: &mut dyn Rows,
        call: &Call,
        append: &Append,
        mut facts: SendingFacts,
    ) -> Result<Appended, Failure> {
        let draft = append.draft.clone().checked()?;
        let sender = call.by.name();
        let here = (call.community.clone(), append.conversation);
        let known = self.conversations.get(&here).cloned().or(facts.conversation.take());
        // Checked first: an earlier message in a conversation that is being erased must not be returned.
        let conversation = known.ok_or(Failure::Absent(Thing::Conversation))?;
        if let Some(earlier) = self.earlier(call, &sender, &draft, facts.earlier.take()) {
            return repeated(earlier, append.conversation, &draft);
        }
        let member_key = (here.0.clone(), here.1, sender.clone());
        if let Some(member) = self.members.get(&member_key) {
            facts.member = Some(member.clone());
        }
        facts.guests = self.guests.get(&call.community).copied();
        let access = Access::by_facts(rows, call, conversation, facts)?;
        if let Some(guests) = access.guests() {
            self.guests.insert(call.community.clone(), guests);
        }
        access.require(Action::Send)?;
        require_patience(&access, call)?;
        require_answerable(&access.conversation, draft.reply_to)?;
        let message = self.message(rows, call, &access, sender.clone(), draft)?;
        self.sent.insert((call.community.clone(), sender, message.client_id.clone()), self.messages.len());
        self.keep(here, member_key, access, &message);
        Ok(Appended { message, repeated: false })
    }

    fn earlier(
        &self,
        call: &Call,
        sender: &PersonId,
        draft: &Draft,
        stored: Option<Message>,
    ) -> Option<Message> {
        let id = draft.client_id.clone()?;
        let place = self.sent.get(&(call.community.clone(), sender.clone(), id));
        stored.or_else(|| place.map(|&place| self.messages[place].1.clone()))
    }

    fn message(
        &self,
        rows: &mut dyn Rows,
        call: &Call,
        access: &Access,
        sender: PersonId,
        draft: Draft,
    ) -> Result<Message, Failure> {
        let conversation = &access.conversation;
        let id = MessageId(call.id(0));
        Ok(Message {
            conversation: conversation.id,
            seq: conversation.last.next(),
            id,
            sender,
            client_id: draft.client_id.unwrap_or_else(|| id.into()),
            at: call.now,
            text: draft.text,
            reply_to: draft.reply_to,
            mentions: those_who_are_here(rows, call, conversation, draft.mentions)?,
            attachments: draft.attachments,
            edited: None,
            edits: 0,
            deleted: None,
            revision: Revision(0),
        })
    }

    fn keep(
        &mut self,
        here: (CommunityId, ConversationId),
        member_key: (CommunityId, ConversationId, PersonId),
        access: Access,
        message: &Message,
    ) {
        let mut conversation = access.conversation;
        conversation.go_on_with(message);
        if let Some(mut member) = access.member {
            member.note_own(message);
            self.members.insert(member_key, member);
        }
        self.messages.push((here.0.clone(), message.clone()));
        self.conversations.insert(here, conversation);
    }

    fn finish(self) -> AppendBatch {
        AppendBatch {
            messages: self.messages,
            conversations: self
                .conversations
                .into_iter()
                .map(|((community, _), row)| (community, row))
                .collect(),
            members: self.members.into_iter().map(|((community, ..), row)| (community, row)).collect(),
        }
    }
}

fn repeated(earlier: Message, conversation: ConversationId, draft: &Draft) -> Result<Appended, Failure> {
    let untouched = earlier.edited.is_none() && earlier.deleted.is_none();
    let same = earlier.conversation == conversation
        && earlier.reply_to == draft.reply_to
        && (!untouched || (earlier.text == draft.text && earlier.attachments == draft.attachments));
    if same {
        Ok(Appended { message: earlier, repeated: true })
    } else {
        Err(Conflict::ClientIdReused.into())
    }
}

fn require_patience(access: &Access, call: &Call) -> Result<(), Failure> {
    let wait_ms = u64::from(access.conversation.slow_mode_s) * 1_000;
    let Some(member) = access.member.as_ref().filter(|_| wait_ms > 0) else {
        return Ok(());
    };
    let waited_ms = call.now.since_ms(member.sent);
    if waited_ms >= wait_ms || call.by == By::Service || access.may(Action::SkipSlowMode) {
        return Ok(());
    }
    Err(Refusal::SlowMode { retry_after_ms: wait_ms - waited_ms }.into())
}

/// Every sequence number up to the newest message exists, because there are no gaps.
fn require_answerable(conversation: &Conversation, reply_to: Option<Seq>) -> Result<(), Failure> {
    match reply_to {
        Some(seq) if seq > conversation.last => {
            let problem = Problem::new("range", "is not a message of this conversation");
            Err(problem.at("reply_to").into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Only members can be mentioned: anybody else would learn of a conversation that they may not see.
pub(super) fn those_who_are_here(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &Conversation,
    mentions: Vec<PersonId>,
) -> Result<Vec<PersonId>, Failure> {
    let mut here = Vec::with_capacity(mentions.len());
    for person in mentions {
        if rows.member(&call.community, conversation.id, &person)?.is_some() {
            here.push(person);
        }
    }
    Ok(here)
}
