//! Joining and leaving conversations.

use super::inviting::{find_invitation, use_up};
use crate::access::Access;
use crate::conversation::{Conversation, Member};
use crate::failure::{Conflict, Thing};
use crate::ids::{ConversationId, InvitationId, PersonId};
use crate::kind::Kind;
use crate::limits::{CONVERSATIONS_MAX, GROUP_MAX};
use crate::permissions::{Action, Role};
use crate::rows::{Rows, Target};
use crate::{By, Call, Command, Failure, Refusal};

/// Joins a conversation, with an invitation where one is needed. Existing members keep their role. People with a
/// community-wide role need no invitation to a room; they become ordinary members there, and their community-wide role
/// applies as before.
///
/// Fails with [`Thing::Conversation`] absent if the conversation is hidden and the caller has no invitation, with
/// [`Thing::Invitation`] absent if the invitation is expired, used up, for somebody else or for another conversation,
/// and with [`Refusal::LimitReached`].
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// The conversation.
    pub conversation: ConversationId,
    /// The invitation; one addressed to the caller is found without it.
    pub invitation: Option<InvitationId>,
}

/// The result of [`Join`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    /// The membership.
    pub member: Member,
    /// The conversation.
    pub conversation: Conversation,
    /// Whether they were not a member before.
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
        let invitation = find_invitation(rows, call, self.conversation, person, self.invitation)?;
        let way = if invitation.is_some() { Action::JoinInvited } else { Action::Join };
        let role = require_way_in(rows, call, &access, person, way)?;
        let mut conversation = access.conversation;
        if let Some(invitation) = invitation {
            use_up(rows, call, invitation)?;
        }
        let member = enter(rows, call, &mut conversation, person.clone(), role)?;
        Ok(Joined { member, conversation, came: true })
    }
}

/// Requires that a person may join a conversation, by themselves or with an invitation, and returns the role they get.
pub(super) fn require_way_in(
    rows: &mut dyn Rows,
    call: &Call,
    access: &Access,
    person: &PersonId,
    way: Action,
) -> Result<Role, Failure> {
    access.require(way)?;
    require_room_for_one_more(rows, call, person)?;
    require_place(&access.conversation)?;
    Ok(if access.is_guest() { Role::Guest } else { Role::Member })
}

/// Adds a member to a conversation; the caller has checked all rules.
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
/// The person is in the maximum number of conversations.
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
fn require_place(conversation: &Conversation) -> Result<(), Failure> {
    let max = GROUP_MAX as u64;
    if conversation.kind == Kind::Group && conversation.members >= max {
        return Err(Refusal::LimitReached { limit: "group_max", max }.into());
    }
    Ok(())
}

/// Leaves a conversation. Fails with [`Conflict::LastOwner`] if other members would be left without an owner.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    /// The conversation.
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

/// Removes a member from a conversation; the caller has checked all rules.
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
