//! What others see of a person's presence, derived from their devices.

use chat::{Moment, PersonId};
use serde::{Deserialize, Serialize};

/// A status as others see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No device is connected, or the person chose to appear so.
    #[default]
    Offline,
    /// Devices are connected, and none is in use.
    Away,
    /// They do not want to be disturbed.
    Busy,
    /// A device is connected and in use.
    Online,
    /// They chose to appear offline. Only their own devices see it.
    Invisible,
}

/// Whether a device is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activity {
    /// In use.
    #[default]
    Active,
    /// Not in use.
    Idle,
}

/// The status a person chose for all their devices, until they are gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Choice {
    /// Derived from their devices.
    #[default]
    Auto,
    /// Busy.
    Busy,
    /// Invisible.
    Invisible,
}

/// Merges devices: one in use makes the person online. `here` says whether any is connected, or may come back in time;
/// `before` is the status that was last announced.
pub(crate) fn merged(
    here: bool,
    before: Status,
    choice: Choice,
    activities: impl Iterator<Item = Activity>,
) -> Status {
    if !here {
        return Status::Offline;
    }
    match choice {
        Choice::Invisible => Status::Invisible,
        Choice::Busy => Status::Busy,
        Choice::Auto => {
            let mut activities = activities.peekable();
            let is_active = match activities.peek() {
                Some(_) => activities.any(|activity| activity == Activity::Active),
                // During the lease between two connections they stay away if they were.
                None => before != Status::Away,
            };
            if is_active { Status::Online } else { Status::Away }
        }
    }
}

impl Status {
    /// Returns what others see of it.
    #[must_use]
    pub fn for_others(self) -> Self {
        match self {
            Self::Invisible => Self::Offline,
            Self::Offline | Self::Away | Self::Busy | Self::Online => self,
        }
    }
}

/// A person's presence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Presence {
    /// The person.
    pub person: PersonId,
    /// Their status.
    pub status: Status,
    /// When they were last seen, to the minute, if that is known and they appear offline.
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
        ];
        for (devices, choice, status) in table {
            for before in [Status::Online, Status::Away] {
                let merged = |here| merged(here, before, choice, devices.iter().copied());
                assert_eq!(merged(true), status, "{devices:?} {choice:?}");
                assert_eq!(merged(false), Status::Offline);
            }
        }
    }

    #[test]
    fn without_devices_a_person_stays_away_or_online_until_the_lease_ends() {
        let nobody = std::iter::empty;
        for status in [Status::Online, Status::Away] {
            assert_eq!(merged(true, status, Choice::Auto, nobody()), status);
            assert_eq!(merged(false, status, Choice::Auto, nobody()), Status::Offline);
        }
        assert_eq!(merged(true, Status::Away, Choice::Busy, nobody()), Status::Busy);
    }

    #[test]
    fn the_invisible_look_offline() {
        assert_eq!(Status::Invisible.for_others(), Status::Offline);
        assert_eq!(Status::Busy.for_others(), Status::Busy);
    }
}
