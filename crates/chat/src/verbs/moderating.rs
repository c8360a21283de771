//! Moderation: bans, mutes, removals. Each is audited in the same transaction.

use super::joining::exit;
use super::listing::{Listed, with_one_more};
use crate::access::{self, Access};
use crate::conversation::{Conversation, Member};
use crate::failure::Thing;
use crate::ids::{AuditId, ConversationId, PersonId, Seq};
use crate::kind::Kind;
use crate::limits::NOTE_BYTES_MAX;
use crate::moderation::{Audit, AuditAction, Sanction, SanctionKind};
use crate::moment::Moment;
use crate::permissions::{Action, Role};
use crate::rows::{Rows, Target};
use crate::{By, Call, Command, Failure, Refusal, text};

/// Bans or mutes somebody: in a room with [`Action::Moderate`] and a higher role than theirs, in the whole community
/// for its moderators and keys. Replaces an earlier sanction of the same kind. A banned person remains a member, so
/// that lifting the ban restores them.
#[derive(Clone, Debug)]
pub struct ImposeSanction {
    /// The person.
    pub person: PersonId,
    /// Where it applies; `None`: in the whole community.
    pub conversation: Option<ConversationId>,
    /// Ban or mute.
    pub kind: SanctionKind,
    /// When it ends; `None`: never.
    pub until: Option<Moment>,
    /// The reason, shown to moderators.
    pub reason: String,
}

impl Command for ImposeSanction {
    type Answer = Sanction;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Sanction, Failure> {
        let reason = note(&self.reason, "reason")?;
        require_above(rows, call, self.conversation, &self.person)?;
        let sanction = Sanction {
            person: self.person.clone(),
            conversation: self.conversation,
            kind: self.kind,
            until: self.until,
            by: call.by.name(),
            at: call.now,
            reason: reason.clone(),
        };
        rows.put(&call.community, &sanction.clone().into())?;
        let deed = match self.kind {
            SanctionKind::Ban => AuditAction::Ban,
            SanctionKind::Mute => AuditAction::Mute,
        };
        let entry = Entry::of(deed, self.conversation);
        log_entry(rows, call, Entry { person: Some(self.person.clone()), note: reason, ..entry })?;
        Ok(sanction)
    }
}

/// Lifts a ban or a mute; does nothing if there is none. Whoever may impose it may lift it.
#[derive(Clone, Debug)]
pub struct LiftSanction {
    /// The person.
    pub person: PersonId,
    /// Where it applies; `None`: in the whole community.
    pub conversation: Option<ConversationId>,
    /// Ban or mute.
    pub kind: SanctionKind,
}

impl Command for LiftSanction {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        require_above(rows, call, self.conversation, &self.person)?;
        let (person, conversation, kind) = (self.person.clone(), self.conversation, self.kind);
        rows.remove(&call.community, &Target::Sanction { person, conversation, kind })?;
        let deed = match self.kind {
            SanctionKind::Ban => AuditAction::Unban,
            SanctionKind::Mute => AuditAction::Unmute,
        };
        let entry = Entry::of(deed, self.conversation);
        log_entry(rows, call, Entry { person: Some(self.person.clone()), ..entry })
    }
}

/// Requires that the caller may moderate that person there.
fn require_above(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: Option<ConversationId>,
    person: &PersonId,
) -> Result<(), Failure> {
    match conversation {
        Some(conversation) => above_here(rows, call, conversation, person).map(drop),
        None => require_above_everywhere(rows, call, person),
    }
}

/// Requires that the caller may moderate that person in a conversation, and returns the person's membership.
fn above_here(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: ConversationId,
    person: &PersonId,
) -> Result<(Access, Option<Member>), Failure> {
    let access = Access::to(rows, call, conversation, Action::Moderate)?;
    let member = rows.member(&call.community, conversation, person)?;
    let role = role_here(rows, call, &access.conversation, person, member.as_ref())?;
    if access.is_above(role) { Ok((access, member)) } else { Err(not_above()) }
}

/// Returns the role that counts against a person in a conversation, given their membership. A community-wide role counts
/// in rooms, never in conversations between people.
pub(super) fn role_here(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &Conversation,
    person: &PersonId,
    member: Option<&Member>,
) -> Result<Role, Failure> {
    let everywhere = if conversation.kind.is_room() { role_everywhere(rows, call, person)? } else { None };
    Ok(member.map(|member| member.role).max(everywhere).unwrap_or(Role::Guest))
}

fn require_above_everywhere(rows: &mut dyn Rows, call: &Call, person: &PersonId) -> Result<(), Failure> {
    access::community(rows, call)?;
    access::community_role(rows, call, Role::Moderator, Action::Moderate)?;
    let above = match &call.by {
        By::Service => true,
        By::Person(_) => access::asker(rows, call)?.profile.role > role_everywhere(rows, call, person)?,
    };
    if above { Ok(()) } else { Err(not_above()) }
}

fn role_everywhere(rows: &mut dyn Rows, call: &Call, person: &PersonId) -> Result<Option<Role>, Failure> {
    Ok(rows.person(&call.community, person)?.and_then(|person| person.profile.role))
}

fn not_above() -> Failure {
    Refusal::NotPermitted(Action::Moderate).into()
}

/// Removes somebody from a conversation. Needs [`Action::Moderate`] and a higher role than theirs.
#[derive(Clone, Debug)]
pub struct Remove {
    /// The conversation.
    pub conversation: ConversationId,
    /// The member.
    pub person: PersonId,
}

impl Command for Remove {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        let (access, member) = above_here(rows, call, self.conversation, &self.person)?;
        member.ok_or(Failure::Absent(Thing::Person))?;
        let mut conversation = access.conversation;
        if conversation.kind == Kind::Direct {
            return Err(Refusal::NotPermitted(Action::Moderate).into());
        }
        exit(rows, call, &mut conversation, self.person.clone())?;
        let entry = Entry::of(AuditAction::Remove, Some(self.conversation));
        log_entry(rows, call, Entry { person: Some(self.person.clone()), ..entry })
    }
}

/// Lists bans and mutes of a room, by person; without a conversation, of the community. Needs [`Action::Moderate`].
#[derive(Clone, Debug)]
pub struct Sanctions {
    /// Where they apply; `None`: in the whole community.
    pub conversation: Option<ConversationId>,
    /// Only people after this one.
    pub after: Option<PersonId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for Sanctions {
    type Answer = Listed<Sanction, PersonId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        require_sight(rows, call, self.conversation, Action::Moderate)?;
        let limit = with_one_more(self.limit);
        let found = rows.sanctions_of(&call.community, self.conversation, self.after.as_ref(), limit + 1)?;
        Ok(whole_people(found, limit - 1))
    }
}

/// A person may have two sanctions in one place; a page never splits them, because the next one starts after a person.
fn whole_people(mut found: Vec<Sanction>, limit: usize) -> Listed<Sanction, PersonId> {
    let mut end = found.len().min(limit);
    while end > 0 && end < found.len() && found[end - 1].person == found[end].person {
        end += 1;
    }
    let more = end < found.len();
    found.truncate(end);
    let next = if more { found.last().map(|sanction| sanction.person.clone()) } else { None };
    Listed { rows: found, next }
}

/// Requires that the caller may do `action` in that conversation; without one, that they moderate the community.
pub(super) fn require_sight(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: Option<ConversationId>,
    action: Action,
) -> Result<(), Failure> {
    match conversation {
        Some(conversation) => Access::to(rows, call, conversation, action).map(drop),
        None => {
            access::community(rows, call)?;
            access::community_role(rows, call, Role::Moderator, action)
        }
    }
}

/// Normalizes a reason or note.
pub(super) fn note(text: &str, field: &str) -> Result<String, Failure> {
    Ok(text::lines(text, NOTE_BYTES_MAX).map_err(|problem| problem.at(field))?)
}

/// An audit log entry, except who and when.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) deed: AuditAction,
    pub(super) conversation: Option<ConversationId>,
    pub(super) person: Option<PersonId>,
    pub(super) seq: Option<Seq>,
    pub(super) note: String,
}

impl Entry {
    pub(super) fn of(deed: AuditAction, conversation: Option<ConversationId>) -> Self {
        Self { deed, conversation, person: None, seq: None, note: String::new() }
    }
}

/// Writes an action to the audit log.
pub(super) fn log(
    rows: &mut dyn Rows,
    call: &Call,
    deed: AuditAction,
    conversation: Option<ConversationId>,
) -> Result<(), Failure> {
    log_entry(rows, call, Entry::of(deed, conversation))
}

/// Writes an entry to the audit log.
pub(super) fn log_entry(rows: &mut dyn Rows, call: &Call, entry: Entry) -> Result<(), Failure> {
    let audit = Audit {
        id: AuditId(call.id(1)),
        conversation: entry.conversation,
        at: call.now,
        by: call.by.name(),
        deed: entry.deed,
        person: entry.person,
        seq: entry.seq,
        note: entry.note,
    };
    Ok(rows.put(&call.community, &audit.into())?)
}
