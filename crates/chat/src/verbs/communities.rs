//! Communities: made and listed by the installation's operator, changed by themselves.

use super::listing::{Listed, with_one_more};
use super::moderating::log;
use crate::access;
use crate::community::{Community, Settings};
use crate::ids::CommunityId;
use crate::moderation::Deed;
use crate::permissions::{Action, Role};
use crate::rows::Rows;
use crate::{Call, Command, Conflict, Failure, Refusal, Verb};

/// Makes the call's community. For keys only; whoever hands on such a call has made sure that it is the operator's.
///
/// Fails with [`Conflict::NameTaken`], also while one of that name is being erased.
#[derive(Clone, Debug)]
pub struct CreateCommunity {
    /// What its owner chooses.
    pub settings: Settings,
}

impl Command for CreateCommunity {
    type Answer = Community;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Community, Failure> {
        access::key_or_self(call, None)?;
        let settings = self.settings.clone().checked()?;
        if rows.community(&call.community)?.is_some() {
            return Err(Conflict::NameTaken.into());
        }
        let id = call.community.clone();
        let community = Community { id, created: call.now, erasing: None, settings };
        rows.put(&call.community, &community.clone().into())?;
        Ok(community)
    }
}

/// Changes the settings, with the limits. For keys only; whoever hands on such a call has made sure that it is the operator's.
#[derive(Clone, Debug)]
pub struct ChangeCommunity {
    /// All of them.
    pub settings: Settings,
}

/// A community with other settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resettled {
    /// As it is now.
    pub community: Community,
    /// Whether guests may do something else than before: who is here already is to be judged again.
    pub guests_changed: bool,
}

impl Command for ChangeCommunity {
    type Answer = Resettled;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Resettled, Failure> {
        let community = access::community(rows, call)?;
        access::key_or_self(call, None)?;
        resettle(rows, call, community, self.settings.clone())
    }
}

/// Changes what of its settings a community says itself: all but its limits, which are the operator's and stay as they are. For
/// keys and owners of the whole community.
#[derive(Clone, Debug)]
pub struct ChangeOwnSettings {
    /// All of them. The limits in them change nothing.
    pub settings: Settings,
    /// Whether limits were named: then they must be those that there are already, so that nobody believes to have changed them.
    pub names_limits: bool,
}

impl Command for ChangeOwnSettings {
    type Answer = Resettled;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Resettled, Failure> {
        let community = access::community(rows, call)?;
        access::community_role(rows, call, Role::Owner, Action::Administer)?;
        let limits = community.settings.limits;
        if self.names_limits && self.settings.limits != limits {
            return Err(Refusal::NotPermitted(Action::Administer).into());
        }
        resettle(rows, call, community, Settings { limits, ..self.settings.clone() })
    }
}

fn resettle(
    rows: &mut dyn Rows,
    call: &Call,
    mut community: Community,
    settings: Settings,
) -> Result<Resettled, Failure> {
    let before = community.settings.guests;
    community.settings = settings.checked()?;
    rows.put(&call.community, &community.clone().into())?;
    log(rows, call, Deed::ChangeCommunity, None)?;
    Ok(Resettled { guests_changed: community.settings.guests != before, community })
}

/// The call's community. For everybody.
#[derive(Clone, Copy, Debug)]
pub struct ReadCommunity;

impl Command for ReadCommunity {
    type Answer = Community;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Community, Failure> {
        access::community(rows, call)
    }
}

/// All communities by id, also those that are being erased: for the operator. It is the one verb without a community, and never to be offered to anybody
/// else.
#[derive(Clone, Debug)]
pub struct Communities {
    /// Those after it.
    pub after: Option<CommunityId>,
    /// How many.
    pub limit: usize,
}

impl Verb for Communities {
    type Answer = Listed<Community, CommunityId>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        let found = rows.communities(self.after.as_ref(), with_one_more(self.limit))?;
        Ok(Listed::of(found, self.limit, |community| community.id.clone()))
    }
}
