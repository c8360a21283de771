//! History: pages by sequence number, never by offset; changes; single messages.

use super::listing::cut;
use crate::access::{self, Access};
use crate::conversation::Conversation;
use crate::failure::Thing;
use crate::ids::{ConversationId, MessageId, Revision, Seq};
use crate::limits::PAGE_MAX;
use crate::message::{Edit, Message, Reaction, Shown, Tally};
use crate::permissions::Action;
use crate::rows::Rows;
use crate::{Call, Command, Failure};
use std::collections::HashMap;

/// Returns a page of messages, in order. Needs [`Action::Read`].
#[derive(Clone, Copy, Debug)]
pub struct ReadPage {
    /// The conversation.
    pub conversation: ConversationId,
    /// Which messages.
    pub around: Around,
    /// Maximum number of messages.
    pub limit: usize,
}

/// Which messages a page contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Around {
    /// The newest.
    Newest,
    /// Those before a sequence number.
    Before(Seq),
    /// Those after a sequence number: what a client that was there has missed.
    After(Seq),
    /// Half of them up to a sequence number, the other half after it.
    Place(Seq),
    /// Those edited, deleted or reacted to after a revision, oldest change first.
    Changed(Revision),
}

/// A page of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The messages.
    pub messages: Vec<Shown>,
    /// The conversation at that moment: `first` and `last` show whether there are more messages, `revision` is where to
    /// ask later for changes.
    pub conversation: Conversation,
    /// Whether there are more of the requested messages: before, after or changed.
    pub more: bool,
}

impl Command for ReadPage {
    type Answer = Page;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Page, Failure> {
        let access = Access::to(rows, call, self.conversation, Action::Read)?;
        let conversation = access.conversation;
        let (messages, more) = self.find(call, rows, &conversation)?;
        Ok(Page { messages: shown(rows, call, messages)?, conversation, more })
    }
}

impl ReadPage {
    fn find(
        &self,
        call: &Call,
        rows: &mut dyn Rows,
        conversation: &Conversation,
    ) -> Result<(Vec<Message>, bool), Failure> {
        let limit = self.limit.clamp(1, PAGE_MAX);
        let (first, last) = (conversation.first, conversation.last);
        let before = |end: u64| Span { from: first, to: Seq(end.min(last.0)), backwards: true };
        let after =
            |seq: Seq| Span { from: Seq(seq.0.saturating_add(1)).max(first), to: last, backwards: false };
        let mut read = |span: Span, limit: usize| span.read(rows, call, self.conversation, limit);
        match self.around {
            Around::Newest => read(before(last.0), limit),
            Around::Before(seq) => read(before(seq.0.saturating_sub(1)), limit),
            Around::After(seq) => read(after(seq), limit),
            Around::Place(seq) => {
                let (mut messages, _) = read(before(seq.0), limit.div_ceil(2))?;
                let (later, more) = read(after(seq), limit - limit.div_ceil(2))?;
                messages.extend(later);
                Ok((messages, more))
            }
            Around::Changed(revision) => {
                let mut found = rows.changed(&call.community, self.conversation, revision, limit + 1)?;
                let more = cut(&mut found, limit);
                Ok((found, more))
            }
        }
    }
}

struct Span {
    from: Seq,
    to: Seq,
    backwards: bool,
}

impl Span {
    fn read(
        self,
        rows: &mut dyn Rows,
        call: &Call,
        of: ConversationId,
        limit: usize,
    ) -> Result<(Vec<Message>, bool), Failure> {
        if self.from > self.to || limit == 0 {
            return Ok((Vec::new(), self.from <= self.to));
        }
        let (span, backwards) = (self.from..=self.to, self.backwards);
        let mut found = rows.messages(&call.community, of, span, backwards, limit + 1)?;
        let more = cut(&mut found, limit);
        if backwards {
            found.reverse();
        }
        Ok((found, more))
    }
}

/// Adds the reactions to messages of one conversation.
pub(super) fn shown(rows: &mut dyn Rows, call: &Call, messages: Vec<Message>) -> Result<Vec<Shown>, Failure> {
    let from = messages.iter().map(|message| message.seq).min();
    let to = messages.iter().map(|message| message.seq).max();
    let (Some(from), Some(to), Some(one)) = (from, to, messages.first()) else {
        return Ok(Vec::new());
    };
    // Changed messages may be far apart: then the range between them must not be read.
    let apart = to.0 - from.0 >= 2 * PAGE_MAX as u64;
    let asker = call.by.name();
    let mut counted = |span| rows.tallies(&call.community, one.conversation, span, &asker);
    let mut all: HashMap<Seq, Vec<Tally>> = HashMap::new();
    if apart {
        for seq in messages.iter().map(|message| message.seq) {
            all.insert(seq, counted(seq..=seq)?.into_iter().map(|(_, tally)| tally).collect());
        }
    } else {
        for (seq, tally) in counted(from..=to)? {
            all.entry(seq).or_default().push(tally);
        }
    }
    let show = |message: Message| Shown { reactions: all.remove(&message.seq).unwrap_or_default(), message };
    Ok(messages.into_iter().map(show).collect())
}

/// Lists the caller's reactions to the messages of a range, by message: the part of a page that differs between
/// readers. Needs [`Action::Read`]. Covers at most the first [`PAGE_MAX`] sequence numbers.
#[derive(Clone, Copy, Debug)]
pub struct OwnReactions {
    /// The conversation.
    pub conversation: ConversationId,
    /// The start of the range.
    pub from: Seq,
    /// The end of the range, inclusive.
    pub to: Seq,
}

impl Command for OwnReactions {
    type Answer = Vec<Reaction>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Reaction>, Failure> {
        Access::to(rows, call, self.conversation, Action::Read)?;
        let to = self.to.min(Seq(self.from.0.saturating_add(PAGE_MAX as u64 - 1)));
        if self.from > to {
            return Ok(Vec::new());
        }
        Ok(rows.own_reactions(&call.community, self.conversation, self.from..=to, &call.by.name())?)
    }
}

/// Returns a message by its id. Absent for those who may not read it.
#[derive(Clone, Copy, Debug)]
pub struct ReadMessage {
    /// The message.
    pub message: MessageId,
}

impl Command for ReadMessage {
    type Answer = Shown;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Shown, Failure> {
        let absent = Failure::Absent(Thing::Message);
        let message = rows.message_named(&call.community, self.message)?.ok_or(absent.clone())?;
        if !access::passes(Access::to(rows, call, message.conversation, Action::Read))? {
            // Knowing an id must not reveal that the message exists.
            return Err(absent);
        }
        shown(rows, call, vec![message])?.pop().ok_or(absent)
    }
}

/// Lists the former texts of a message, oldest first. Needs [`Action::SeeEdits`].
#[derive(Clone, Copy, Debug)]
pub struct EditsOf {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
}

impl Command for EditsOf {
    type Answer = Vec<Edit>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Edit>, Failure> {
        Access::to(rows, call, self.conversation, Action::SeeEdits)?;
        Ok(rows.edits(&call.community, self.conversation, self.seq)?)
    }
}
