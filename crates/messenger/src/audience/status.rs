//! What others see of somebody's presence, from what their devices say.

use chat::{Moment, PersonId};
use serde::{Deserialize, Serialize};

/// What others see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No device is here, or they wish to look like that.
    #[default]
    Offline,
    /// Devices are here, and none is in use.
    Away,
    /// They do not wish to be disturbed.
    Busy,
    /// They are here.
    Online,
    /// They wish to look offline. Only their own devices see it.
    Invisible,
}

/// Whether a device is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activity {
    /// It is.
    #[default]
    Active,
    /// It is not.
    Idle,
}

/// What a person chose for all their devices, until they are gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Choice {
    /// As their devices are.
    #[default]
    Auto,
    /// Busy.
    Busy,
    /// Invisible.
    Invisible,
}

/// Merges devices: one in use makes the person online. `here` is whether there is any, or one may come back in time.
pub(crate) fn merged(here: bool, choice: Choice, activities: impl Iterator<Item = Activity>) -> Status {
    if !here {
        return Status::Offline;
    }
    match choice {
        Choice::Invisible => Status::Invisible,
        Choice::Busy => Status::Busy,
        Choice::Auto => {
            let mut activities = activities.peekable();
            // Between two connections they are what they were.
            let active =
                activities.peek().is_none() || activities.any(|activity| activity == Activity::Active);
            if active { Status::Online } else { Status::Away }
        }
    }
}

impl Status {
    /// What others see of it.
    #[must_use]
    pub fn for_others(self) -> Self {
        match self {
            Self::Invisible => Self::Offline,
            Self::Offline | Self::Away | Self::Busy | Self::Online => self,
        }
    }
}

/// Somebody's presence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Presence {
    /// Whose.
    pub person: PersonId,
    /// What it is.
    pub status: Status,
    /// When they were seen last, to the minute, where that is known and they look as if they were not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Moment>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_merge_to_the_liveliest() {
        use Activity::{Active, Idle};
        let table = [
            (vec![Active], Choice::Auto, Status::Online),
            (vec![Idle, Active], Choice::Auto, Status::Online),
            (vec![Idle, Idle], Choice::Auto, Status::Away),
            (vec![Active], Choice::Busy, Status::Busy),
            (vec![Idle], Choice::Busy, Status::Busy),
            (vec![Active], Choice::Invisible, Status::Invisible),
            (vec![], Choice::Auto, Status::Online),
        ];
        for (devices, choice, status) in table {
            assert_eq!(merged(true, choice, devices.iter().copied()), status, "{devices:?} {choice:?}");
            assert_eq!(merged(false, choice, devices.into_iter()), Status::Offline);
        }
    }

    #[test]
    fn the_invisible_look_offline() {
        assert_eq!(Status::Invisible.for_others(), Status::Offline);
        assert_eq!(Status::Busy.for_others(), Status::Busy);
    }
}
