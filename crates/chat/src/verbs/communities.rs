//! Communities: created and listed by the installation's operator, configured by their owners.

use super::listing::{Listed, with_one_more};
use super::moderating::log;
use super::rooms::CreateRoom;
use crate::access;
use crate::community::{Community, Settings};
use crate::conversation::Conversation;
use crate::ids::CommunityId;
use crate::moderation::AuditAction;
use crate::permissions::{Action, Role};
use crate::rows::Rows;
use crate::{Call, Command, Conflict, Failure, Refusal, Verb};

/// Creates the call's community. For keys only; the layer that passes on such a call ensures that it is the operator's.
///
/// Fails with [`Conflict::NameTaken`], also while a community of that name is being erased.
#[derive(Clone, Debug)]
pub struct CreateCommunity {
    /// The settings that its owner chooses.
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

/// Creates a community together with its first room, so that there is no moment at which it has none. For keys. Fails as
/// [`CreateCommunity`] and [`CreateRoom`] do.
#[derive(Clone, Debug)]
pub struct FurnishCommunity {
    /// The settings that its owner chooses.
    pub settings: Settings,
    /// The room.
    pub room: CreateRoom,
}

impl Command for FurnishCommunity {
    type Answer = (Community, Conversation);
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        // What a rule refuses must not have been half done.
        self.room.checked()?;
        let community = CreateCommunity { settings: self.settings.clone() }.run(call, rows)?;
        Ok((community, self.room.run(call, rows)?))
    }
}

/// Replaces the settings, including the limits. For keys only; the layer that passes on such a call ensures that it is
/// the operator's.
#[derive(Clone, Debug)]
pub struct ChangeCommunity {
    /// The complete new settings.
    pub settings: Settings,
}

/// The result of a change of settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resettled {
    /// The community after the change.
    pub community: Community,
    /// Whether the guest policy changed: then the access of people who are connected must be checked again.
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

/// Replaces those settings that a community controls itself: all except the limits, which belong to the operator and
/// stay as they are. For keys and owners of the whole community.
#[derive(Clone, Debug)]
pub struct ChangeOwnSettings {
    /// The complete new settings; the limits in them are ignored.
    pub settings: Settings,
    /// Whether the request named limits: then they must equal the current ones, so that nobody believes they changed
    /// them.
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
    log(rows, call, AuditAction::ChangeCommunity, None)?;
    Ok(Resettled { guests_changed: community.settings.guests != before, community })
}

/// Returns the call's community. For everybody.
#[derive(Clone, Copy, Debug)]
pub struct ReadCommunity;

impl Command for ReadCommunity {
    type Answer = Community;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Community, Failure> {
        access::community(rows, call)
    }
}

/// Lists all communities by id, including those that are being erased. For the operator: it is not bound to a community
/// and must never be offered to anybody else.
#[derive(Clone, Debug)]
pub struct Communities {
    /// Only communities after this one.
    pub after: Option<CommunityId>,
    /// Maximum number of rows.
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
