//! Invitations to conversations, and their use.

use super::erasing::BeingErased;
use crate::access::{self, Access};
use crate::conversation::Invitation;
use crate::failure::Thing;
use crate::ids::{ConversationId, InvitationId, PersonId};
use crate::limits::{INVITATION_USES_MAX, PAGE_MAX};
use crate::moment::Moment;
use crate::permissions::Action;
use crate::problem::Problem;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure, Refusal};

/// Returns the invitation by which that person can join: the one that is named, or otherwise one addressed to them.
///
/// # Errors
/// [`Thing::Invitation`] absent if the named one is not valid for this.
pub(super) fn find_invitation(
    rows: &mut dyn Rows,
    call: &Call,
    into: ConversationId,
    person: &PersonId,
    named: Option<InvitationId>,
) -> Result<Option<Invitation>, Failure> {
    let fits = |invitation: &Invitation| invitation.conversation == into && is_open(invitation, call.now);
    if let Some(id) = named {
        let named = rows.invitation(&call.community, id)?.filter(fits);
        let theirs = named.filter(|invitation| invitation.person.as_ref().is_none_or(|whom| whom == person));
        return theirs.map(Some).ok_or(Failure::Absent(Thing::Invitation));
    }
    let found = rows.invitations(&call.community, Some(into), Some(person), PAGE_MAX)?;
    Ok(found.into_iter().find(fits))
}

fn is_open(invitation: &Invitation, now: Moment) -> bool {
    invitation.uses > 0 && invitation.until.is_none_or(|until| now < until)
}

pub(super) fn use_up(rows: &mut dyn Rows, call: &Call, mut invitation: Invitation) -> Result<(), Failure> {
    invitation.uses -= 1;
    if invitation.uses == 0 {
        rows.remove(&call.community, &Target::Invitation(invitation.id))?;
    } else {
        rows.put(&call.community, &invitation.into())?;
    }
    Ok(())
}

/// Invites a person, or anybody who knows the invitation's id. Needs [`Action::Invite`]; the person must be visible to
/// the caller. Inviting somebody again returns the existing invitation.
///
/// Fails with [`Thing::Person`] absent also if that person and the caller block each other, in either direction.
#[derive(Clone, Debug)]
pub struct Invite {
    /// The conversation.
    pub conversation: ConversationId,
    /// The invited person; `None`: anybody who knows the id.
    pub person: Option<PersonId>,
    /// When it expires; `None`: never.
    pub until: Option<Moment>,
    /// Number of uses, from 1 to [`INVITATION_USES_MAX`]; always 1 if a person is named.
    pub uses: u32,
}

/// The result of [`Invite`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invited {
    /// The invitation.
    pub invitation: Invitation,
    /// Whether it existed before: then nobody needs to be notified again.
    pub repeated: bool,
}

impl Command for Invite {
    type Answer = Invited;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Invited, Failure> {
        Access::to(rows, call, self.conversation, Action::Invite)?;
        if !(1..=INVITATION_USES_MAX).contains(&self.uses) {
            let problem = Problem::new("range", format!("must be from 1 to {INVITATION_USES_MAX}"));
            return Err(problem.at("uses").into());
        }
        let into = Some(self.conversation);
        let mut open = rows.invitations(&call.community, into, self.person.as_ref(), PAGE_MAX)?;
        // Expired ones would count against the limit, and hide others, for ever.
        for over in open.extract_if(.., |invitation| !is_open(invitation, call.now)) {
            rows.remove(&call.community, &Target::Invitation(over.id))?;
        }
        if let Some(person) = &self.person {
            super::people::approachable(rows, call, person)?;
            if let Some(invitation) = open.into_iter().next() {
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

/// Withdraws an invitation. For its creator, for those who may invite to the conversation, and for the invited person.
#[derive(Clone, Copy, Debug)]
pub struct Withdraw {
    /// The invitation.
    pub invitation: InvitationId,
}

impl Command for Withdraw {
    /// The invitation as it was.
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

/// Lists the caller's invitations, or with `conversation` those to it that anybody with the id can use, which needs
/// [`Action::Invite`]. At most [`PAGE_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct Invitations {
    /// The conversation.
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
            let mut theirs = rows.invitations(&call.community, None, Some(&asker.id), PAGE_MAX)?;
            BeingErased::leave_out(rows, call, &mut theirs, |invitation| Some(invitation.conversation))?;
            theirs
        };
        found.retain(|invitation| is_open(invitation, call.now));
        Ok(found)
    }
}
