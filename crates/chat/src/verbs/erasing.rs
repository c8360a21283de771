//! Erasure of a person: their content and traces are removed, and a report says what that was.

mod community;
mod conversation;
mod report;

pub(super) use conversation::BeingErased;

pub use community::{CommunityErasure, EraseCommunity, HalfErasedCommunities};
pub use conversation::{ConversationErasure, EraseConversation, Erased, HalfErasedConversations};
pub use report::{ErasureReport, Vanished};

use super::changing::{revise, strip, tallies};
use super::moderating::log;
use crate::access;
use crate::conversation::{Conversation, Member};
use crate::failure::{Failure, Thing};
use crate::ids::{ConversationId, PersonId};
use crate::kind::Kind;
use crate::limits::{PAGE_MAX, REACTIONS_COUNTED_MAX};
use crate::message::{Message, Reaction};
use crate::moderation::{Audit, AuditAction};
use crate::moment::Moment;
use crate::permissions::Role;
use crate::person::Person;
use crate::rows::{Found, Record, Rows, Table, Target};
use crate::{By, Call, Command, CommunityId, Verb, WEIGHT_MAX};

/// Runs one step of a person's erasure: repeat until the report says `done`. For the person themselves and for keys.
///
/// Their messages become tombstones without an author, losing former texts, files, mentions and search index entries.
/// Reactions, memberships, cursors, blocks, invitations, sanctions and undelivered webhook events about them are
/// removed. Reports and the audit log keep what happened and forget who. A direct conversation stays with the other
/// person. What others wrote about them in their own words stays. Revocations remain until they would have expired:
/// erasing a person must not make a revoked token valid again.
///
/// Until the erasure is done, the person's row says when the last step ran, so that one that stopped halfway can be
/// [found](HalfErasedPeople).
#[derive(Clone, Debug)]
pub struct Erase {
    /// The person to erase.
    pub person: PersonId,
}

/// The order matters: mentions are part of messages, and memberships may be needed to find the rest.
const TABLES: [Table; 9] = [
    Table::Message,
    Table::Mention,
    Table::Reaction,
    Table::Invitation,
    Table::Sanction,
    Table::Report,
    Table::Block,
    Table::Member,
    Table::Audit,
];

impl Command for Erase {
    type Answer = ErasureReport;
    const WRITES: bool = true;

    /// It goes through a page of rows and writes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<ErasureReport, Failure> {
        access::community(rows, call)?;
        access::key_or_self(call, Some(&self.person))?;
        let person = rows.person(&call.community, &self.person)?.filter(|person| !person.id.is_reserved());
        let person = person.ok_or(Failure::Absent(Thing::Person))?;
        rows.put(&call.community, &Person { erasing: Some(call.now), ..person }.into())?;
        let mut report = ErasureReport::default();
        let found = next_page(rows, call, &TABLES, Scope::Person(&self.person))?;
        if matches!(found.first(), Some(Record::Reaction(_))) {
            take_back(rows, call, found, &mut report)?;
            return Ok(report);
        }
        if !found.is_empty() {
            for record in found {
                self.forget(rows, call, record, &mut report)?;
            }
            return Ok(report);
        }
        rows.remove(&call.community, &Target::DeliveriesOf(self.person.clone()))?;
        rows.remove(&call.community, &Target::Person(self.person.clone()))?;
        let by = if call.by == By::Service { By::Service } else { By::Person(PersonId::erased()) };
        log(rows, &Call { by, ..call.clone() }, AuditAction::Erase, None)?;
        report.done = true;
        Ok(report)
    }
}

/// Whose records an erasure removes.
#[derive(Clone, Copy)]
enum Scope<'a> {
    /// Everything of the call's community.
    Community,
    /// Everything about a person.
    Person(&'a PersonId),
    /// What belongs to a conversation.
    Conversation(ConversationId),
}

/// Returns a page of the first of these tables that still has records; an empty one if none of them has.
fn next_page(rows: &mut dyn Rows, call: &Call, tables: &[Table], of: Scope<'_>) -> Found<Vec<Record>> {
    for &table in tables {
        let found = of.read(rows, &call.community, table)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

impl Scope<'_> {
    fn read(self, rows: &mut dyn Rows, community: &CommunityId, table: Table) -> Found<Vec<Record>> {
        let scanned = match self {
            Self::Community => rows.scan(community, table, None, None, PAGE_MAX)?,
            Self::Person(person) => rows.scan(community, table, Some(person), None, PAGE_MAX)?,
            Self::Conversation(id) => return rows.records_of(community, id, table, PAGE_MAX),
        };
        Ok(scanned.into_iter().map(|scanned| scanned.record).collect())
    }
}

/// Lists people, in all communities, whose erasure has not advanced since a given time: whoever ran it has stopped. For
/// a server that continues it, and never to be offered to anybody else.
#[derive(Clone, Copy, Debug)]
pub struct HalfErasedPeople {
    /// The time since which no step has run.
    pub untouched_since: Moment,
}

impl Verb for HalfErasedPeople {
    /// A subset, if there are more.
    type Answer = Vec<(CommunityId, PersonId)>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Ok(rows.half_erased(self.untouched_since, PAGE_MAX)?)
    }
}

impl Erase {
    pub(super) fn forget(
        &self,
        rows: &mut dyn Rows,
        call: &Call,
        record: Record,
        report: &mut ErasureReport,
    ) -> Result<(), Failure> {
        let community = &call.community;
        match record {
            Record::Message(message) => {
                report.messages += 1;
                report.attachments.extend(message.attachments.iter().map(|attachment| attachment.id.clone()));
                report.changed.extend(bury(rows, call, message)?);
            }
            Record::Mention(mention) => {
                report.mentions += 1;
                if let Some(old) = rows.message(community, mention.conversation, mention.seq)? {
                    let mut new = old.clone();
                    new.mentions.retain(|person| *person != self.person);
                    report.changed.extend(change(rows, call, &old, new)?);
                }
            }
            Record::Invitation(invitation) => {
                report.invitations += 1;
                rows.remove(community, &Target::Invitation(invitation.id))?;
            }
            Record::Sanction(mut sanction) => {
                report.sanctions += 1;
                if sanction.person == self.person {
                    let (person, conversation, kind) =
                        (sanction.person, sanction.conversation, sanction.kind);
                    rows.remove(community, &Target::Sanction { person, conversation, kind })?;
                } else {
                    sanction.by = PersonId::erased();
                    sanction.reason.clear();
                    rows.put(community, &sanction.into())?;
                }
            }
            Record::Report(mut row) => {
                report.records += 1;
                // What they wrote, and what others wrote about them.
                let is_author = self.anonymise(&mut row.author);
                if self.anonymise(&mut row.by) || is_author {
                    row.reason.clear();
                }
                if let Some(settled) = &mut row.settled
                    && (self.anonymise(&mut settled.by) || is_author)
                {
                    settled.note.clear();
                }
                rows.put(community, &row.into())?;
            }
            Record::Block(block) => {
                report.blocks += 1;
                rows.remove(community, &Target::Block { by: block.by, person: block.person })?;
            }
            Record::Member(member) => {
                report.memberships += 1;
                match rows.conversation(community, member.conversation)? {
                    Some(conversation) => self.go(rows, call, conversation, member.role)?,
                    // The conversation is being erased.
                    None => {
                        let (conversation, person) = (member.conversation, member.person);
                        rows.remove(community, &Target::Member { conversation, person })?;
                    }
                }
            }
            Record::Audit(audit) => {
                report.records += 1;
                let row = self.anonymous(audit);
                rows.put(community, &row.into())?;
            }
            Record::Community(_)
            | Record::Key(_)
            | Record::Revocation(_)
            | Record::Person(_)
            | Record::Conversation(_)
            | Record::Edit(_)
            | Record::Reaction(_) => {
                debug_assert!(false, "these are not forgotten row by row");
            }
        }
        Ok(())
    }

    /// Anonymizes `person` if it is the erased one; returns whether it was.
    fn anonymise(&self, person: &mut PersonId) -> bool {
        let is_theirs = *person == self.person;
        if is_theirs {
            *person = PersonId::erased();
        }
        is_theirs
    }

    fn anonymous(&self, mut audit: Audit) -> Audit {
        let is_theirs = self.anonymise(&mut audit.by);
        if audit.person.as_mut().is_some_and(|person| self.anonymise(person)) || is_theirs {
            audit.note.clear();
        }
        audit
    }

    /// Removes them from a conversation. If the last owner of a group or room leaves this way, the first remaining
    /// member by id among those with the highest role, guests excluded, becomes its owner.
    fn go(
        &self,
        rows: &mut dyn Rows,
        call: &Call,
        mut conversation: Conversation,
        role: Role,
    ) -> Result<(), Failure> {
        let id = conversation.id;
        if role == Role::Owner && rows.owners(&call.community, id)? <= 1 {
            for role in [Role::Moderator, Role::Member] {
                if let Some(heir) = rows.first_with_role(&call.community, id, role, &self.person)? {
                    rows.put(&call.community, &Member { role: Role::Owner, ..heir }.into())?;
                    break;
                }
            }
        }
        if conversation.kind == Kind::Direct {
            conversation.pair = None;
        }
        super::joining::exit(rows, call, &mut conversation, self.person.clone())
    }
}

/// Turns a message into a tombstone without an author.
fn bury(rows: &mut dyn Rows, call: &Call, old: Message) -> Result<Option<Message>, Failure> {
    let mut new = old.clone();
    if old.deleted.is_none() {
        new.bury(call.now, false);
    }
    new.sender = PersonId::erased();
    new.client_id = old.id.into();
    strip(rows, call, old.conversation, old.seq)?;
    change(rows, call, &old, new)
}

/// Writes a message with a new revision, so that clients who come back see the change. If the conversation no longer
/// exists, there is nobody left to notify.
fn change(
    rows: &mut dyn Rows,
    call: &Call,
    old: &Message,
    mut new: Message,
) -> Result<Option<Message>, Failure> {
    let Some(conversation) = rows.conversation(&call.community, old.conversation)? else {
        rows.replace(&call.community, old, &new)?;
        return Ok(None);
    };
    revise(rows, call, conversation, old, &mut new)?;
    Ok(Some(new))
}

/// Removes reactions, and recounts what is left on each message. A message can have any number of reactions, so a step
/// takes no further message once it has counted enough.
fn take_back(
    rows: &mut dyn Rows,
    call: &Call,
    records: Vec<Record>,
    report: &mut ErasureReport,
) -> Result<(), Failure> {
    let community = &call.community;
    let reaction = |record| if let Record::Reaction(reaction) = record { Some(reaction) } else { None };
    let reactions: Vec<Reaction> = records.into_iter().filter_map(reaction).collect();
    let mut counted = 0;
    // Reactions to one message are adjacent.
    for theirs in
        reactions.chunk_by(|one, other| (one.conversation, one.seq) == (other.conversation, other.seq))
    {
        let Some(&Reaction { conversation, seq, .. }) = theirs.first() else { continue };
        for Reaction { person, emoji, .. } in theirs.iter().cloned() {
            rows.remove(community, &Target::Reaction { conversation, seq, person, emoji })?;
        }
        report.reactions += theirs.len() as u64;
        let Some(old) = rows.message(community, conversation, seq)? else { continue };
        let Some(message) = change(rows, call, &old, old.clone())? else { continue };
        let reactions = tallies(rows, call, conversation, seq)?;
        counted += reactions.iter().map(|tally| tally.count).sum::<u64>();
        let emoji = theirs.iter().map(|reaction| reaction.emoji.clone()).collect();
        report.vanished.push(Vanished { message, emoji, reactions });
        if counted >= REACTIONS_COUNTED_MAX {
            break;
        }
    }
    Ok(())
}
