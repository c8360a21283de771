//! Coming into conversations, inviting others, going away.

use crate::access::{self, Access};
use crate::conversation::{Conversation, Invitation, Kind, Member};
use crate::failure::{Conflict, Thing};
use crate::ids::{ConversationId, InvitationId, PersonId};
use crate::limits::{CONVERSATIONS_MAX, GROUP_MAX, INVITATION_USES_MAX, PAGE_MAX};
use crate::moment::Moment;
use crate::permissions::{Action, Role};
use crate::problem::Problem;
use crate::rows::{Rows, Target};
use crate::{By, Call, Command, Failure, Refusal};

/// Comes into a conversation; with an invitation, where one is needed. Who is in it already stays what they are. Who has a
/// role in the whole community needs none for a room: they are a member like others there, and their role counts as before.
///
/// Fails with [`Thing::Conversation`] absent where the asker has no invitation to what is hidden, with
/// [`Thing::Invitation`] absent for one that is over, used up, for somebody else or into another conversation, and with
/// [`Refusal::LimitReached`].
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// Which.
    pub conversation: ConversationId,
    /// The invitation; one for this very person is found without.
    pub invitation: Option<InvitationId>,
}

/// That somebody is in a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    /// Their part.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
    /// Whether they were not in it before.
    pub came: bool,
}

impl Command for Join {
    type Answer = Joined;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Joined, Failure> {
        let By::Person(person) = &call.by else {
            return Err(Failure::Absent(Thing::Person));
        };
        let absent = Failure::Absent(Thing::Conversation);
        let conversation = rows.conversation(&call.community, self.conversation)?.ok_or(absent.clone())?;
        let access = Access::before(rows, call, conversation)?;
        if let Some(member) = access.member.clone() {
            access.require(Action::See)?;
            return Ok(Joined { member, conversation: access.conversation, came: false });
        }
        let invitation = self.find_invitation(call, rows, person)?;
        if invitation.is_some() {
            access.require(Action::JoinInvited)?;
        } else {
            access.require(Action::Join)?;
        }
        require_room_for_one_more(rows, call, person)?;
        let role = if access.is_guest() { Role::Guest } else { Role::Member };
        let mut conversation = access.conversation;
        require_place(&conversation)?;
        if let Some(invitation) = invitation {
            use_up(rows, call, invitation)?;
        }
        let member = enter(rows, call, &mut conversation, person.clone(), role)?;
        Ok(Joined { member, conversation, came: true })
    }
}

impl Join {
    fn find_invitation(
        &self,
        call: &Call,
        rows: &mut dyn Rows,
        person: &PersonId,
    ) -> Result<Option<Invitation>, Failure> {
        let fits = |invitation: &Invitation| {
            invitation.conversation == self.conversation && is_open(invitation, call.now)
        };
        if let Some(id) = self.invitation {
            let named = rows.invitation(&call.community, id)?.filter(fits);
            let mine =
                named.filter(|invitation| invitation.person.as_ref().is_none_or(|whom| whom == person));
            return mine.map(Some).ok_or(Failure::Absent(Thing::Invitation));
        }
        let found = rows.invitations(&call.community, Some(self.conversation), Some(person), PAGE_MAX)?;
        Ok(found.into_iter().find(fits))
    }
}

fn is_open(invitation: &Invitation, now: Moment) -> bool {
    invitation.uses > 0 && invitation.until.is_none_or(|until| now < until)
}

fn use_up(rows: &mut dyn Rows, call: &Call, mut invitation: Invitation) -> Result<(), Failure> {
    invitation.uses -= 1;
    if invitation.uses == 0 {
        rows.remove(&call.community, &Target::Invitation(invitation.id))?;
    } else {
        rows.put(&call.community, &invitation.into())?;
    }
    Ok(())
}

/// Puts somebody into a conversation; every rule was looked at before.
pub(super) fn enter(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &mut Conversation,
    person: PersonId,
    role: Role,
) -> Result<Member, Failure> {
    let member = Member::new(conversation, person, role, call.now);
    conversation.members += 1;
    rows.put(&call.community, &conversation.clone().into())?;
    rows.put(&call.community, &member.clone().into())?;
    Ok(member)
}

/// # Errors
/// The person is in as many conversations as anybody may be.
pub(super) fn require_room_for_one_more(
    rows: &mut dyn Rows,
    call: &Call,
    person: &PersonId,
) -> Result<(), Failure> {
    let max = CONVERSATIONS_MAX as u64;
    if rows.memberships_count(&call.community, person)? >= max {
        return Err(Refusal::LimitReached { limit: "conversations_max", max }.into());
    }
    Ok(())
}

/// # Errors
/// The group is full.
pub(super) fn require_place(conversation: &Conversation) -> Result<(), Failure> {
    let max = GROUP_MAX as u64;
    if conversation.kind == Kind::Group && conversation.members >= max {
        return Err(Refusal::LimitReached { limit: "group_max", max }.into());
    }
    Ok(())
}

/// Goes away from a conversation. Fails with [`Conflict::LastOwner`] while others would be left without an owner.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    /// Which.
    pub conversation: ConversationId,
}

impl Command for Leave {
    type Answer = Conversation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let access = Access::to(rows, call, self.conversation, Action::Leave)?;
        let Some(member) = access.member else {
            return Ok(access.conversation);
        };
        let mut conversation = access.conversation;
        if member.role == Role::Owner && conversation.members > 1 {
            require_another_owner(rows, call, self.conversation)?;
        }
        exit(rows, call, &mut conversation, member.person)?;
        Ok(conversation)
    }
}

/// # Errors
/// There is only one owner.
pub(super) fn require_another_owner(
    rows: &mut dyn Rows,
    call: &Call,
    id: ConversationId,
) -> Result<(), Failure> {
    if rows.owners(&call.community, id)? <= 1 { Err(Conflict::LastOwner.into()) } else { Ok(()) }
}

/// Takes somebody out of a conversation; every rule was looked at before.
pub(super) fn exit(
    rows: &mut dyn Rows,
    call: &Call,
    conversation: &mut Conversation,
    person: PersonId,
) -> Result<(), Failure> {
    conversation.members = conversation.members.saturating_sub(1);
    rows.put(&call.community, &conversation.clone().into())?;
    let target = Target::Member { conversation: conversation.id, person };
    Ok(rows.remove(&call.community, &target)?)
}

/// Invites somebody, or whoever knows the invitation's id. Needs [`Action::Invite`]; a person must be one whom the asker
/// can see. Whoever is invited already stays so by the same invitation.
///
/// Fails with [`Thing::Person`] absent also where that person or the asker blocks the other.
#[derive(Clone, Debug)]
pub struct Invite {
    /// Into which conversation.
    pub conversation: ConversationId,
    /// Whom; none: whoever knows the id.
    pub person: Option<PersonId>,
    /// When it is over; none: never.
    pub until: Option<Moment>,
    /// How often it may be used, from 1 to [`INVITATION_USES_MAX`]; for a person it is 1.
    pub uses: u32,
}

/// An invitation that stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invited {
    /// The invitation.
    pub invitation: Invitation,
    /// Whether it stood before: nobody is to be told again.
    pub repeated: bool,
}

impl Command for Invite {
    type Answer = Invited;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Invited, Failure> {
        Access::to(rows, call, self.conversation, Action::Invite)?;
        if !(1..=INVITATION_USES_MAX).contains(&self.uses) {
            let problem = Problem::new("range", format!("must be 1 to {INVITATION_USES_MAX}"));
            return Err(problem.at("uses").into());
        }
        let into = Some(self.conversation);
        let open = rows.invitations(&call.community, into, self.person.as_ref(), PAGE_MAX)?;
        if let Some(person) = &self.person {
            super::people::approachable(rows, call, person)?;
            if let Some(invitation) = open.into_iter().find(|invitation| is_open(invitation, call.now)) {
                return Ok(Invited { invitation, repeated: true });
            }
        } else if open.len() >= PAGE_MAX {
            return Err(Refusal::LimitReached { limit: "page_max", max: PAGE_MAX as u64 }.into());
        }
        let invitation = Invitation {
            id: InvitationId(call.id(0)),
            conversation: self.conversation,
            person: self.person.clone(),
            by: call.by.name(),
            at: call.now,
            until: self.until,
            uses: if self.person.is_some() { 1 } else { self.uses },
        };
        rows.put(&call.community, &invitation.clone().into())?;
        Ok(Invited { invitation, repeated: false })
    }
}

/// Takes an invitation back: who made it, who may invite there, or who was invited.
#[derive(Clone, Copy, Debug)]
pub struct Withdraw {
    /// Which.
    pub invitation: InvitationId,
}

impl Command for Withdraw {
    /// As it was.
    type Answer = Invitation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Invitation, Failure> {
        let absent = Failure::Absent(Thing::Invitation);
        let invitation = rows.invitation(&call.community, self.invitation)?.ok_or(absent.clone())?;
        let name = call.by.name();
        let theirs = invitation.by == name || invitation.person.as_ref() == Some(&name);
        if !theirs && !access::passes(Access::to(rows, call, invitation.conversation, Action::Invite))? {
            return Err(absent);
        }
        rows.remove(&call.community, &Target::Invitation(self.invitation))?;
        Ok(invitation)
    }
}

/// The invitations of the asker, or with `conversation` those into it that are for whoever knows them, which needs
/// [`Action::Invite`]. At most [`PAGE_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct Invitations {
    /// Into which.
    pub conversation: Option<ConversationId>,
}

impl Command for Invitations {
    type Answer = Vec<Invitation>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Invitation>, Failure> {
        let mut found = if let Some(into) = self.conversation {
            Access::to(rows, call, into, Action::Invite)?;
            rows.invitations(&call.community, Some(into), None, PAGE_MAX)?
        } else {
            let asker = access::asker(rows, call)?;
            rows.invitations(&call.community, None, Some(&asker.id), PAGE_MAX)?
        };
        found.retain(|invitation| is_open(invitation, call.now));
        Ok(found)
    }
}
