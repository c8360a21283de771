//! Cursors, unread counts and the list of conversations.

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

/// Moves the caller's cursors forward, never backwards and never beyond the newest message. Reading implies delivery.
/// Needs [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// The conversation.
    pub conversation: ConversationId,
    /// One of the caller's devices has received everything up to here.
    pub delivered: Seq,
    /// The caller has read everything up to here.
    pub read: Seq,
}

/// The cursors after [`Advance`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advanced {
    /// The caller's membership.
    pub member: Member,
    /// Number of unread messages.
    pub unread: u64,
    /// Whether a cursor moved: then the caller's other devices need to be notified, and other members where receipts
    /// are on.
    pub moved: bool,
    /// Whether the caller shares read receipts.
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

/// Sets whether the caller has muted or archived a conversation; `None` leaves a flag as it is. Needs
/// [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// The conversation.
    pub conversation: ConversationId,
    /// Whether notifications are off.
    pub muted: Option<bool>,
    /// Whether it is archived.
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

/// Lists the caller's conversations, most recently active first.
#[derive(Clone, Copy, Debug)]
pub struct Conversations {
    /// Only conversations after this position.
    pub before: Option<TabPosition>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// A position in the list of conversations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TabPosition {
    /// [`Conversation::active`].
    pub active: Moment,
    /// The conversation.
    pub conversation: ConversationId,
}

/// A row of the list of conversations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tab {
    /// The caller's membership.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
    /// The newest message that is still kept, if any.
    pub last: Option<Message>,
    /// Number of unread messages.
    pub unread: u64,
    /// Number of unread messages that mention the caller.
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
            // A banned person remains a member, but sees no more of the messages than outsiders do.
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

/// Returns who has received and read a message. Needs [`Action::Follow`].
#[derive(Clone, Copy, Debug)]
pub struct ReadReceipts {
    /// The conversation.
    pub conversation: ConversationId,
    /// The message.
    pub seq: Seq,
}

/// Who has received and read a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Receipts {
    /// In conversations of up to [`RECEIPTS_EACH_MAX`] members: each member's cursors, except of those who do not share
    /// them.
    Each(Vec<Cursors>),
    /// In larger ones: counts.
    Counts(ReceiptCounts),
}

/// A member's cursors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursors {
    /// The member.
    pub person: PersonId,
    /// Delivered up to here.
    pub delivered: Seq,
    /// Read up to here.
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
