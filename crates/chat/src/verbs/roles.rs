//! Assigning roles, and adding people to conversations. Each is audited.

use super::inviting::{find_invitation, use_up};
use super::joining::{enter, require_another_owner, require_way_in};
use super::moderating::{Entry, log_entry};
use super::rooms::hide_what_is_private;
use crate::access::{self, Access};
use crate::conversation::{Conversation, Member};
use crate::failure::Thing;
use crate::ids::{ConversationId, InvitationId, PersonId};
use crate::kind::Kind;
use crate::moderation::AuditAction;
use crate::permissions::{Action, Role};
use crate::rows::Rows;
use crate::{By, Call, Command, Failure, Refusal};

/// Changes a member's role. Needs [`Action::Administer`]; only an owner can change an owner. Guests stay guests.
/// Returns the member as [`Members`](super::Members) shows them.
///
/// Fails with [`LastOwner`](crate::Conflict::LastOwner).
#[derive(Clone, Debug)]
pub struct SetRole {
    /// The conversation.
    pub conversation: ConversationId,
    /// The member.
    pub person: PersonId,
    /// The new role.
    pub role: Role,
}

impl Command for SetRole {
    type Answer = Member;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Member, Failure> {
        let access = Access::to(rows, call, self.conversation, Action::Administer)?;
        let found = rows.member(&call.community, self.conversation, &self.person)?;
        let member = found.ok_or(Failure::Absent(Thing::Person))?;
        let mut member = give(rows, call, &access.conversation, member, self.role)?;
        hide_what_is_private(call, &mut member);
        Ok(member)
    }
}

/// Gives a member a role, if they may have it.
fn give(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &Conversation,
    mut member: Member,
    role: Role,
) -> Result<Member, Failure> {
    require_role(rows, call, conversation, member.role, role)?;
    member.role = role;
    rows.put(&call.community, &member.clone().into())?;
    log_role(rows, call, &member)?;
    Ok(member)
}

/// Requires that the member may be given that role in place of their current or future one.
fn require_role(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &Conversation,
    had: Role,
    role: Role,
) -> Result<(), Failure> {
    let guest = had == Role::Guest || role == Role::Guest;
    if conversation.kind == Kind::Direct || (guest && had != role) {
        return Err(Refusal::NotPermitted(Action::Administer).into());
    }
    if had == Role::Owner && role != Role::Owner {
        require_another_owner(rows, call, conversation.id)?;
    }
    Ok(())
}

fn log_role(rows: &mut dyn Rows, call: &Call, member: &Member) -> Result<(), Failure> {
    let entry = Entry::of(AuditAction::SetRole, Some(member.conversation));
    let note = member.role.name().to_owned();
    log_entry(rows, call, Entry { person: Some(member.person.clone()), note, ..entry })
}

/// Adds a person to a room or a group that they could join by themselves or with an invitation, and optionally gives
/// them a role: both, or nothing. Existing members stay. For keys.
///
/// Fails as that person's [`Join`](super::Join) and as [`SetRole`] do.
#[derive(Clone, Debug)]
pub struct AddMember {
    /// The conversation.
    pub conversation: ConversationId,
    /// The person.
    pub person: PersonId,
    /// The role; `None`: their current role, or that of somebody who joins.
    pub role: Option<Role>,
    /// The invitation to use; one addressed to the person is found without it.
    pub invitation: Option<InvitationId>,
}

/// The result of [`AddMember`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brought {
    /// The membership, as [`Members`](super::Members) shows it.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
    /// The membership as the person sees it, if they were not a member before.
    pub came: Option<Member>,
    /// Whether they were a member before and were given a role.
    pub given: bool,
}

impl Command for AddMember {
    type Answer = Brought;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Brought, Failure> {
        access::key_or_self(call, None)?;
        let conversation = rows.conversation(&call.community, self.conversation)?;
        let conversation = conversation.ok_or(Failure::Absent(Thing::Conversation))?;
        let theirs = Call { by: By::Person(self.person.clone()), ..call.clone() };
        let access = Access::before(rows, &theirs, conversation)?;
        let (mut member, conversation, came) = match access.member.clone() {
            Some(member) => {
                access.require(Action::See)?;
                (self.stays(call, rows, &access.conversation, member)?, access.conversation, None)
            }
            None => {
                let (member, conversation) = self.comes(&theirs, call, rows, access)?;
                (member.clone(), conversation, Some(member))
            }
        };
        hide_what_is_private(call, &mut member);
        let given = came.is_none() && self.role.is_some();
        Ok(Brought { member, conversation, came, given })
    }
}

impl AddMember {
    fn stays(
        &self,
        call: &Call,
        rows: &mut dyn Rows,
        conversation: &Conversation,
        member: Member,
    ) -> Result<Member, Failure> {
        match self.role {
            Some(role) => give(rows, call, conversation, member, role),
            None => Ok(member),
        }
    }

    /// A key admits as an invitation would; an invitation that exists is used up.
    fn comes(
        &self,
        theirs: &Call,
        call: &Call,
        rows: &mut dyn Rows,
        access: Access,
    ) -> Result<(Member, Conversation), Failure> {
        let person = &self.person;
        let invitation = find_invitation(rows, theirs, self.conversation, person, self.invitation)?;
        let comes_as = require_way_in(rows, theirs, &access, person, Action::JoinInvited)?;
        let mut conversation = access.conversation;
        let role = self.role.unwrap_or(comes_as);
        require_role(rows, call, &conversation, comes_as, role)?;
        if let Some(invitation) = invitation {
            use_up(rows, theirs, invitation)?;
        }
        let member = enter(rows, theirs, &mut conversation, person.clone(), role)?;
        if role != comes_as {
            log_role(rows, call, &member)?;
        }
        Ok((member, conversation))
    }
}
