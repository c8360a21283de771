//! Erasure of a whole community: nothing of it is left, and its name becomes free.

use super::{Scope, next_page};
use crate::access;
use crate::community::Community;
use crate::failure::{Failure, Thing};
use crate::ids::{CommunityId, KeyId};
use crate::limits::PAGE_MAX;
use crate::moment::Moment;
use crate::rows::{Record, Rows, Table, Target};
use crate::{Call, Command, Verb, WEIGHT_MAX};
use serde::Serialize;

/// Runs one step of the erasure of the call's community: repeat until the report says `done`. For keys only; the layer
/// that passes on such a call ensures that it is the operator's.
///
/// From the first step on nobody can access it: its keys are gone, and nobody can join. Its name becomes free when
/// nothing is left.
#[derive(Clone, Copy, Debug)]
pub struct EraseCommunity;

/// What was erased.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CommunityErasure {
    /// Messages, with their former texts, mentions and search index entries.
    pub messages: u64,
    /// Rooms, groups and direct conversations.
    pub conversations: u64,
    /// People.
    pub people: u64,
    /// Everything else: reactions, memberships, invitations, sanctions, blocks, reports, the audit log, revocations and
    /// keys.
    pub records: u64,
    /// Ids of the files that its messages referred to, for deletion.
    pub attachments: Vec<String>,
    /// Keys that this step removed, if any; `Some` for the step from which on nobody can access the community.
    #[serde(skip)]
    pub keys: Option<Vec<KeyId>>,
    /// Whether the erasure is complete.
    pub done: bool,
}

impl CommunityErasure {
    /// Adds a later step's result, except its [keys](Self::keys): those are reported per step.
    pub fn add(&mut self, part: Self) {
        self.messages += part.messages;
        self.conversations += part.conversations;
        self.people += part.people;
        self.records += part.records;
        self.attachments.extend(part.attachments);
        self.done = part.done;
    }
}

/// Former texts and mentions go with their messages, which have few of each. Conversations go first: otherwise people
/// who are still connected could keep writing. Keys go again at the end: an older server on the same store may have
/// created one in the meantime.
const TABLES: [Table; 12] = [
    Table::Conversation,
    Table::Person,
    Table::Reaction,
    Table::Message,
    Table::Member,
    Table::Invitation,
    Table::Sanction,
    Table::Report,
    Table::Block,
    Table::Audit,
    Table::Revocation,
    Table::Key,
];

impl Command for EraseCommunity {
    type Answer = CommunityErasure;
    const WRITES: bool = true;

    /// It goes through a page of rows and removes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<CommunityErasure, Failure> {
        access::key_or_self(call, None)?;
        let community = rows.community(&call.community)?.ok_or(Failure::Absent(Thing::Community))?;
        let mut report = CommunityErasure::default();
        if community.erasing.is_none() {
            begin(rows, call, community, &mut report)?;
            return Ok(report);
        }
        rows.put(&call.community, &Community { erasing: Some(call.now), ..community }.into())?;
        let found = next_page(rows, call, &TABLES, Scope::Community)?;
        if !found.is_empty() {
            for record in found {
                forget(rows, call, record, &mut report)?;
            }
            return Ok(report);
        }
        // The rows of conversations that were being erased are gone by now.
        let unfinished = rows.unfinished_erasures(&call.community, PAGE_MAX)?;
        for erasure in &unfinished {
            rows.remove(&call.community, &Target::UnfinishedErasure(erasure.conversation))?;
        }
        if !unfinished.is_empty() {
            report.records += unfinished.len() as u64;
            return Ok(report);
        }
        rows.remove(&call.community, &Target::Community)?;
        report.done = true;
        Ok(report)
    }
}

/// Lists communities whose erasure has not advanced since a given time: whoever ran it has stopped. For a server that
/// continues it, and never to be offered to anybody else.
#[derive(Clone, Copy, Debug)]
pub struct HalfErasedCommunities {
    /// The time since which no step has run.
    pub untouched_since: Moment,
}

impl Verb for HalfErasedCommunities {
    /// A subset, if there are more.
    type Answer = Vec<CommunityId>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Ok(rows.half_erased_communities(self.untouched_since, PAGE_MAX)?)
    }
}

/// Removes the keys first: nobody can use them any more, and their endpoints' deliveries go with them.
fn begin(
    rows: &mut dyn Rows,
    call: &Call,
    community: Community,
    report: &mut CommunityErasure,
) -> Result<(), Failure> {
    let keys: Vec<KeyId> = rows.keys(&call.community)?.iter().map(|key| key.id).collect();
    for &key in &keys {
        forget_key(rows, call, key)?;
    }
    report.records += keys.len() as u64;
    report.keys = Some(keys);
    Ok(rows.put(&call.community, &Community { erasing: Some(call.now), ..community }.into())?)
}

fn forget_key(rows: &mut dyn Rows, call: &Call, key: KeyId) -> Result<(), Failure> {
    rows.remove(&call.community, &Target::Deliveries { endpoint: key })?;
    Ok(rows.remove(&call.community, &Target::Key(key))?)
}

fn forget(
    rows: &mut dyn Rows,
    call: &Call,
    record: Record,
    report: &mut CommunityErasure,
) -> Result<(), Failure> {
    let count = match &record {
        Record::Message(message) => {
            report.attachments.extend(message.attachments.iter().map(|attachment| attachment.id.clone()));
            &mut report.messages
        }
        Record::Conversation(_) => &mut report.conversations,
        Record::Person(_) => &mut report.people,
        Record::Revocation(_) => {
            // All of them at once, whether they have ended or not: there are few.
            report.records += rows.revocations_count(&call.community)?;
            return Ok(rows.remove(&call.community, &Target::Revocations { ended_before: Moment::MAX })?);
        }
        Record::Key(key) => {
            report.records += 1;
            report.keys.get_or_insert_default().push(key.id);
            return forget_key(rows, call, key.id);
        }
        _ => &mut report.records,
    };
    let Some(target) = Target::of(record) else {
        debug_assert!(false, "these go with others");
        return Ok(());
    };
    *count += 1;
    Ok(rows.remove(&call.community, &target)?)
}
