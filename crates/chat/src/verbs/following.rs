//! Cursors, unread counts and the conversations tab.

use super::listing::{Listed, with_one_more};
use crate::access::{self, Access};
use crate::conversation::{Conversation, Member};
use crate::failure::Thing;
use crate::ids::{ConversationId, PersonId, Seq};
use crate::limits::RECEIPTS_EACH_MAX;
use crate::message::Message;
use crate::moment::Moment;
use crate::permissions::Action;
use crate::rows::{ReceiptCounts, Rows, SendingFacts};
use crate::{Call, Command, Failure};

/// Moves the asker's cursors forward; backwards nothing moves, and beyond the newest message neither. What is read is
/// delivered, too. Needs [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// Where.
    pub conversation: ConversationId,
    /// Up to here one of the asker's devices has everything.
    pub delivered: Seq,
    /// Up to here they have read everything.
    pub read: Seq,
}

/// Where the cursors stand now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advanced {
    /// The asker's part.
    pub member: Member,
    /// How many messages are unread.
    pub unread: u64,
    /// Whether a cursor moved: the asker's other devices, and where receipts are on the others, are to be told.
    pub moved: bool,
    /// Whether others learn what the asker reads.
    pub receipts: bool,
}

impl Command for Advance {
    type Answer = Advanced;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Advanced, Failure> {
        let (conversation, mut member) = follow(rows, call, self.conversation)?;
        let receipts = access::asker(rows, call)?.receipts;
        let read = self.read.min(conversation.last).max(member.read);
        let delivered = self.delivered.min(conversation.last).max(member.delivered).max(read);
        let moved = (read, delivered) != (member.read, member.delivered);
        if moved {
            (member.read, member.delivered) = (read, delivered);
            rows.put(&call.community, &member.clone().into())?;
        }
        Ok(Advanced { unread: member.unread(&conversation), member, moved, receipts })
    }
}

/// Mutes a conversation for the asker, or puts it away; what is none stays. Needs [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// Which.
    pub conversation: ConversationId,
    /// Whether it notifies no more.
    pub muted: Option<bool>,
    /// Whether it is put away.
    pub archived: Option<bool>,
}

impl Command for Keep {
    type Answer = Member;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Member, Failure> {
        let (_, mut member) = follow(rows, call, self.conversation)?;
        member.muted = self.muted.unwrap_or(member.muted);
        member.archived = self.archived.unwrap_or(member.archived);
        rows.put(&call.community, &member.clone().into())?;
        Ok(member)
    }
}

fn follow(rows: &mut dyn Rows, call: &Call, id: ConversationId) -> Result<(Conversation, Member), Failure> {
    let access = Access::to(rows, call, id, Action::Follow)?;
    let member = access.member.ok_or(Failure::Absent(Thing::Conversation))?;
    Ok((access.conversation, member))
}

/// The asker's conversations, the most recently active first: the conversations tab.
#[derive(Clone, Copy, Debug)]
pub struct Conversations {
    /// Those after it.
    pub before: Option<TabPosition>,
    /// How many.
    pub limit: usize,
}

/// A place in the conversations tab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TabPosition {
    /// [`Conversation::active`].
    pub active: Moment,
    /// Which.
    pub conversation: ConversationId,
}

/// A line of the conversations tab.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tab {
    /// The asker's part.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
    /// The newest message, if there is one that is kept.
    pub last: Option<Message>,
    /// How many are unread.
    pub unread: u64,
    /// How many of the unread mention the asker.
    pub mentions: u64,
}

impl Command for Conversations {
    type Answer = Listed<Tab, TabPosition>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        let asker = access::asker(rows, call)?.id;
        let before = self.before.map(|position| (position.active, position.conversation));
        let found = rows.memberships(&call.community, &asker, before, with_one_more(self.limit))?;
        let listed = Listed::of(found, self.limit, |row| TabPosition {
            active: row.conversation.active,
            conversation: row.conversation.id,
        });
        let own = access::own_facts(rows, call, &asker)?;
        let mut tabs = Vec::with_capacity(listed.rows.len());
        for row in listed.rows {
            let facts = SendingFacts { member: Some(row.member.clone()), ..own.clone() };
            let access = Access::by_facts(rows, call, row.conversation, facts)?;
            // Who is banned is still a member, and sees no more than others of what is said.
            if access.may(Action::Read) {
                tabs.push(tab(rows, call, access.conversation, row.member)?);
            }
        }
        Ok(Listed { rows: tabs, next: listed.next })
    }
}

fn tab(rows: &mut dyn Rows, call: &Call, conversation: Conversation, member: Member) -> Result<Tab, Failure> {
    let id = conversation.id;
    let last = if conversation.last < conversation.first {
        None
    } else {
        rows.message(&call.community, id, conversation.last)?
    };
    let unread = member.unread(&conversation);
    let mentions =
        if unread > 0 { rows.mentions(&call.community, id, &member.person, member.read)? } else { 0 };
    Ok(Tab { member, conversation, last, unread, mentions })
}

/// How far a message has come. Needs [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct ReadReceipts {
    /// Where.
    pub conversation: ConversationId,
    /// Which message.
    pub seq: Seq,
}

/// How far a message has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Receipts {
    /// Up to [`RECEIPTS_EACH_MAX`] members: each one's cursors, without those who let nobody know.
    Each(Vec<Cursors>),
    /// In larger ones: how many.
    Counts(ReceiptCounts),
}

/// Somebody's cursors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursors {
    /// Whose.
    pub person: PersonId,
    /// Up to here it was delivered.
    pub delivered: Seq,
    /// Up to here they have read.
    pub read: Seq,
}

impl Command for ReadReceipts {
    type Answer = Receipts;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Receipts, Failure> {
        let conversation = Access::to(rows, call, self.conversation, Action::Follow)?.conversation;
        if conversation.members > RECEIPTS_EACH_MAX as u64 {
            let counts = rows.receipts(&call.community, self.conversation, self.seq)?;
            return Ok(Receipts::Counts(counts));
        }
        let members = rows.members(&call.community, self.conversation, None, RECEIPTS_EACH_MAX)?;
        let mut each = Vec::with_capacity(members.len());
        for member in members {
            let person = rows.person(&call.community, &member.person)?;
            if person.is_some_and(|person| person.receipts) {
                each.push(Cursors { person: member.person, delivered: member.delivered, read: member.read });
            }
        }
        Ok(Receipts::Each(each))
    }
}
