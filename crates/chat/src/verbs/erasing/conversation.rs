//! Erasure of a single room or group: only an entry of the audit log is left.

use super::{Scope, next_page};
use crate::access::{self, Access};
use crate::conversation::{Conversation, UnfinishedErasure};
use crate::failure::{Failure, Thing};
use crate::ids::{ConversationId, RoomName};
use crate::kind::Kind;
use crate::limits::PAGE_MAX;
use crate::moderation::AuditAction;
use crate::moment::Moment;
use crate::permissions::Action;
use crate::problem::Problem;
use crate::rows::{Found, Record, Rows, Table, Target};
use crate::verbs::moderating::{Entry, log_entry};
use crate::{Call, Command, CommunityId, Verb, WEIGHT_MAX};
use serde::Serialize;

/// Runs one step of the erasure of a room or a group: repeat until the report says `done`. Needs [`Action::Erase`] for
/// the first step; further steps are for keys and for the person who ran the first. A direct conversation cannot be
/// erased.
///
/// From the first step on nobody can access the conversation, and undelivered webhook events about it are gone. A room's name becomes free when nothing is left. The
/// community's audit log keeps who erased the conversation, and a room's name.
#[derive(Clone, Debug)]
pub struct EraseConversation {
    /// The conversation.
    pub which: Erased,
}

/// The conversation to erase. After the first step it exists only as an [`UnfinishedErasure`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Erased {
    /// By its id.
    Id(ConversationId),
    /// A room by its name.
    Room(RoomName),
}

/// What was erased.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ConversationErasure {
    /// Messages, with their former texts, mentions and search index entries.
    pub messages: u64,
    /// Everything else, except webhook events: reactions, memberships, invitations, sanctions, reports and its entries of the audit log.
    pub records: u64,
    /// Ids of the files that its messages referred to, for deletion.
    pub attachments: Vec<String>,
    /// The conversation as it was, in the report of the first step.
    #[serde(skip)]
    pub begun: Option<Conversation>,
    /// Whether the erasure is complete.
    pub done: bool,
}

impl ConversationErasure {
    /// Adds a later step's result.
    pub fn add(&mut self, part: Self) {
        self.messages += part.messages;
        self.records += part.records;
        self.attachments.extend(part.attachments);
        self.done = part.done;
    }
}

/// Reactions go before messages, because a message may have any number of them. Reports go before the audit log,
/// because settling a report writes to it.
const TABLES: [Table; 7] = [
    Table::Reaction,
    Table::Message,
    Table::Member,
    Table::Invitation,
    Table::Sanction,
    Table::Report,
    Table::Audit,
];

impl Command for EraseConversation {
    type Answer = ConversationErasure;
    const WRITES: bool = true;

    /// It goes through a page of rows and removes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<ConversationErasure, Failure> {
        access::community(rows, call)?;
        match self.unfinished(rows, call)? {
            Some(unfinished) => go_on(rows, call, unfinished),
            None => self.begin(rows, call),
        }
    }
}

impl EraseConversation {
    fn unfinished(&self, rows: &mut dyn Rows, call: &Call) -> Found<Option<UnfinishedErasure>> {
        match &self.which {
            Erased::Id(id) => rows.unfinished_erasure(&call.community, *id),
            Erased::Room(name) => rows.unfinished_erasure_named(&call.community, name),
        }
    }

    fn begin(&self, rows: &mut dyn Rows, call: &Call) -> Result<ConversationErasure, Failure> {
        let found = match &self.which {
            Erased::Id(id) => rows.conversation(&call.community, *id)?,
            Erased::Room(name) => rows.room(&call.community, name)?,
        };
        let access = Access::before(rows, call, found.ok_or(Failure::Absent(Thing::Conversation))?)?;
        access.require(Action::See)?;
        if access.conversation.kind == Kind::Direct {
            let problem =
                Problem::new("kind", "is a direct conversation, which is only erased with its people");
            return Err(problem.at("conversation").into());
        }
        access.require(Action::Erase)?;
        let conversation = access.conversation;
        rows.remove(&call.community, &Target::Conversation(conversation.id))?;
        rows.remove(&call.community, &Target::DeliveriesAbout(conversation.id))?;
        let unfinished = UnfinishedErasure {
            conversation: conversation.id,
            name: conversation.name.clone(),
            by: call.by.name(),
            last: call.now,
        };
        rows.put_unfinished_erasure(&call.community, &unfinished)?;
        // An entry of the whole community, because those of the conversation are removed. Groups have no name.
        let note = conversation.name.as_ref().map(RoomName::to_string).unwrap_or_default();
        log_entry(rows, call, Entry { note, ..Entry::of(AuditAction::EraseConversation, None) })?;
        Ok(ConversationErasure { begun: Some(conversation), ..ConversationErasure::default() })
    }
}

fn go_on(
    rows: &mut dyn Rows,
    call: &Call,
    unfinished: UnfinishedErasure,
) -> Result<ConversationErasure, Failure> {
    if access::key_or_self(call, Some(&unfinished.by)).is_err() {
        return Err(Failure::Absent(Thing::Conversation));
    }
    let id = unfinished.conversation;
    rows.put_unfinished_erasure(&call.community, &UnfinishedErasure { last: call.now, ..unfinished })?;
    let mut report = ConversationErasure::default();
    let found = next_page(rows, call, &TABLES, Scope::Conversation(id))?;
    if !found.is_empty() {
        forget(rows, &call.community, found, &mut report)?;
        return Ok(report);
    }
    rows.remove(&call.community, &Target::UnfinishedErasure(id))?;
    report.done = true;
    Ok(report)
}

fn forget(
    rows: &mut dyn Rows,
    community: &CommunityId,
    records: Vec<Record>,
    report: &mut ConversationErasure,
) -> Result<(), Failure> {
    let mut messages = Vec::new();
    for record in records {
        match record {
            Record::Message(message) => messages.push(message),
            record => {
                report.records += 1;
                if let Some(target) = Target::of(record) {
                    rows.remove(community, &target)?;
                }
            }
        }
    }
    report.messages += messages.len() as u64;
    let files = messages.iter().flat_map(|message| &message.attachments);
    report.attachments.extend(files.map(|attachment| attachment.id.clone()));
    // They are the first that are left, so there is no other message between them.
    Ok(rows.remove(community, &Target::Messages(messages))?)
}

/// Lists conversations, across all communities, whose erasure was interrupted: no step has run since the given time.
/// For a server that continues them; never to be offered to anybody else.
#[derive(Clone, Copy, Debug)]
pub struct HalfErasedConversations {
    /// The time since which no step has run.
    pub untouched_since: Moment,
}

impl Verb for HalfErasedConversations {
    /// A part of them, if there are many.
    type Answer = Vec<(CommunityId, ConversationId)>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Ok(rows.abandoned_erasures(self.untouched_since, PAGE_MAX)?)
    }
}

/// Conversations that were looked up already, and whether they are being erased.
#[derive(Default)]
pub(in crate::verbs) struct BeingErased(Vec<(ConversationId, bool)>);

impl BeingErased {
    /// Removes the items of a list that belong to conversations that are being erased.
    pub(in crate::verbs) fn leave_out<T>(
        rows: &mut dyn Rows,
        call: &Call,
        list: &mut Vec<T>,
        of: impl Fn(&T) -> Option<ConversationId>,
    ) -> Found<()> {
        // Usually there is none, which costs one query.
        if list.is_empty() || rows.unfinished_erasures(&call.community, 1)?.is_empty() {
            return Ok(());
        }
        let mut known = Self::default();
        for place in (0..list.len()).rev() {
            if let Some(id) = of(&list[place])
                && known.has(rows, call, id)?
            {
                list.remove(place);
            }
        }
        Ok(())
    }

    fn has(&mut self, rows: &mut dyn Rows, call: &Call, id: ConversationId) -> Found<bool> {
        if let Some(&(_, is_one)) = self.0.iter().find(|(known, _)| *known == id) {
            return Ok(is_one);
        }
        let is_one = rows.unfinished_erasure(&call.community, id)?.is_some();
        self.0.push((id, is_one));
        Ok(is_one)
    }
}
