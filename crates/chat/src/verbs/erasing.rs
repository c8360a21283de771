//! Erasure of a person: what they wrote and did is forgotten, and the report says what that was.

mod report;

pub use report::{ErasureReport, Vanished};

use super::changing::{revise, strip, tallies};
use super::moderating::log;
use crate::access;
use crate::conversation::{Conversation, Kind};
use crate::failure::{Failure, Thing};
use crate::ids::PersonId;
use crate::limits::PAGE_MAX;
use crate::message::{Message, Reaction};
use crate::moderation::{Audit, Deed};
use crate::permissions::Role;
use crate::rows::{Record, Rows, Table, Target};
use crate::{By, Call, Command, WEIGHT_MAX};

/// Erases a part of what there is of a person: to be repeated until the report says `done`. For themselves and for keys.
///
/// Their messages become tombstones of nobody, with former texts, files, mentions and the search index; reactions,
/// memberships, cursors, blocks, invitations, sanctions and what their community's site was not told of them yet go; reports and the audit log keep what happened, and forget
/// who. A conversation of two stays with the other one. What others wrote about them in their own words stays. What was
/// revoked stays revoked until it would have expired: a token must not be good again because its person was erased.
#[derive(Clone, Debug)]
pub struct Erase {
    /// Whom.
    pub person: PersonId,
}

/// In this order: a mention is in a message, a membership may be needed to find the rest.
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

    /// It goes over a page of rows, and writes each.
    fn weight(&self) -> u32 {
        WEIGHT_MAX
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<ErasureReport, Failure> {
        access::community(rows, call)?;
        access::key_or_self(call, Some(&self.person))?;
        if self.person.is_reserved() || rows.person(&call.community, &self.person)?.is_none() {
            return Err(Failure::Absent(Thing::Person));
        }
        let mut report = ErasureReport::default();
        for table in TABLES {
            let found = rows.scan(&call.community, table, Some(&self.person), None, PAGE_MAX)?;
            if !found.is_empty() {
                for scanned in found {
                    self.forget(rows, call, scanned.record, &mut report)?;
                }
                for vanished in std::mem::take(&mut report.vanished) {
                    report.vanished.extend(revise_without(rows, call, vanished)?);
                }
                return Ok(report);
            }
        }
        rows.remove(&call.community, &Target::DeliveriesOf(self.person.clone()))?;
        rows.remove(&call.community, &Target::Person(self.person.clone()))?;
        let by = if call.by == By::Service { By::Service } else { By::Person(PersonId::erased()) };
        log(rows, &Call { by, ..call.clone() }, Deed::Erase, None)?;
        report.done = true;
        Ok(report)
    }
}

impl Erase {
    fn forget(
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
            Record::Reaction(reaction) => {
                report.reactions += 1;
                let Reaction { conversation, seq, person, emoji, .. } = reaction;
                let target = Target::Reaction { conversation, seq, person, emoji: emoji.clone() };
                rows.remove(community, &target)?;
                // Those to one message follow each other.
                let of = |each: &&mut Vanished| {
                    (each.message.conversation, each.message.seq) == (conversation, seq)
                };
                match report.vanished.last_mut().filter(of) {
                    Some(vanished) => vanished.emoji.push(emoji),
                    None => {
                        let message = rows.message(community, conversation, seq)?;
                        let emoji = vec![emoji];
                        let vanished = |message| Vanished { message, emoji, reactions: Vec::new() };
                        report.vanished.extend(message.map(vanished));
                    }
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
                    rows.put(community, &sanction.into())?;
                }
            }
            Record::Report(mut row) => {
                report.records += 1;
                self.anonymise(&mut row.author);
                self.anonymise(&mut row.by);
                if let Some(settled) = &mut row.settled {
                    self.anonymise(&mut settled.by);
                }
                rows.put(community, &row.into())?;
            }
            Record::Block(block) => {
                report.blocks += 1;
                rows.remove(community, &Target::Block { by: block.by, person: block.person })?;
            }
            Record::Member(member) => {
                report.memberships += 1;
                if let Some(conversation) = rows.conversation(community, member.conversation)? {
                    self.go(rows, call, conversation, member.role)?;
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
            | Record::Edit(_) => {
                debug_assert!(false, "these are not scanned");
            }
        }
        Ok(())
    }

    fn anonymise(&self, person: &mut PersonId) {
        if *person == self.person {
            *person = PersonId::erased();
        }
    }

    fn anonymous(&self, mut audit: Audit) -> Audit {
        self.anonymise(&mut audit.by);
        if let Some(person) = &mut audit.person
            && *person == self.person
        {
            *person = PersonId::erased();
            audit.note.clear();
        }
        audit
    }

    /// Takes them out of a conversation; who stays in a group or room gets an owner, if the last one is gone.
    fn go(
        &self,
        rows: &mut dyn Rows,
        call: &Call,
        mut conversation: Conversation,
        role: Role,
    ) -> Result<(), Failure> {
        let id = conversation.id;
        if role == Role::Owner && rows.owners(&call.community, id)? <= 1 {
            let others = rows.members(&call.community, id, None, PAGE_MAX)?;
            let others =
                others.into_iter().filter(|other| other.person != self.person && other.role > Role::Guest);
            // The first among the highest, by id: the same in every store.
            let heir = others.fold(None, |heir: Option<crate::Member>, other| match heir {
                Some(heir) if heir.role >= other.role => Some(heir),
                _ => Some(other),
            });
            if let Some(mut heir) = heir {
                heir.role = Role::Owner;
                rows.put(&call.community, &heir.into())?;
            }
        }
        if conversation.kind == Kind::Direct {
            conversation.pair = None;
        }
        super::joining::exit(rows, call, &mut conversation, self.person.clone())
    }
}

/// Makes a tombstone of nobody.
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

/// Writes a message as one of a newer revision, so that clients who come back learn of it, too. None is left to be told where
/// the conversation is no more.
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

/// Writes a message that has lost reactions as one of a newer revision, and counts those that are left.
fn revise_without(rows: &mut dyn Rows, call: &Call, vanished: Vanished) -> Result<Option<Vanished>, Failure> {
    let old = vanished.message;
    let Some(message) = change(rows, call, &old, old.clone())? else { return Ok(None) };
    let reactions = tallies(rows, call, message.conversation, message.seq)?;
    Ok(Some(Vanished { message, reactions, ..vanished }))
}
