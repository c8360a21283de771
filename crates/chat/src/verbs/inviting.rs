//! Inviting people into conversations, and what invitations are good for.

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

/// An invitation by which that person comes in: the one that is named, or without a name one for them.
///
/// # Errors
/// [`Thing::Invitation`] absent, where the one that is named is not for this.
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
        let mut open = rows.invitations(&call.community, into, self.person.as_ref(), PAGE_MAX)?;
        // Those that are over would count, and hide others, for ever.
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
