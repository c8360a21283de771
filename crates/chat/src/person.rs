//! People and blocks.

use crate::ids::PersonId;
use crate::limits::NAME_BYTES_MAX;
use crate::moment::Moment;
use crate::permissions::Role;
use crate::problem::{Problem, Problems};
use crate::{Failure, text};
use serde::{Deserialize, Serialize};

/// A person of a community.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Person {
    /// Their id.
    pub id: PersonId,
    /// When they first appeared.
    pub created: Moment,
    /// Their public profile.
    #[serde(flatten)]
    pub profile: Profile,
    /// Whether others see their read receipts.
    pub receipts: bool,
    /// When others last saw them here, to the minute; 0 if never, or if the reader may not know.
    pub seen: Moment,
    /// When a step of their erasure last ran, if they are being erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Moment>,
}

/// A person's public profile, as given by the host site's token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// The display name.
    pub name: String,
    /// An `https` URL.
    pub avatar: Option<String>,
    /// Whether they are a guest, without an account.
    pub guest: bool,
    /// A community-wide role, a minimum in every room: moderator or owner.
    pub role: Option<Role>,
}

impl Profile {
    /// Validates the profile and normalizes its text.
    ///
    /// # Errors
    /// Lists every field that breaks a rule.
    pub fn checked(mut self) -> Result<Self, Failure> {
        let mut problems = Problems::default();
        if let Some(name) = problems.check("name", text::line(&self.name, NAME_BYTES_MAX)) {
            self.name = name;
        }
        if let Some(avatar) = &self.avatar {
            problems.check("avatar", crate::community::https_url(avatar));
        }
        problems.require(!(self.guest && self.role.is_some()), "role", || {
            Problem::new("form", "cannot be given to a guest")
        });
        // A lower role would let its holder into private rooms without permitting anything else there.
        problems.require(self.role.is_none_or(|role| role >= Role::Moderator), "role", || {
            Problem::new("form", "must be moderator or owner")
        });
        problems.or(self)
    }
}

/// Records that one person has blocked another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Who blocks.
    pub by: PersonId,
    /// The blocked person.
    pub person: PersonId,
    /// When the block was made.
    pub at: Moment,
}
