//! People, and whom they block.

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
    /// Who.
    pub id: PersonId,
    /// When they came first.
    pub created: Moment,
    /// What others see of them.
    #[serde(flatten)]
    pub profile: Profile,
    /// Whether others learn what they have read.
    pub receipts: bool,
    /// When others saw them here last, to the minute; 0 if never, or for who is not to know it.
    pub seen: Moment,
    /// When a part of what there is of them was erased last, if they are being erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Moment>,
}

/// What others see of a person, as the host site's token says it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// Their name.
    pub name: String,
    /// An `https` URL.
    pub avatar: Option<String>,
    /// Whether they have no account.
    pub guest: bool,
    /// A role in every room of the community, at least: moderator or owner.
    pub role: Option<Role>,
}

impl Profile {
    /// Puts text into its normal form.
    ///
    /// # Errors
    /// Names every field that breaks a rule.
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
        // One that says less would let its person into private rooms, and permit nothing else there.
        problems.require(self.role.is_none_or(|role| role >= Role::Moderator), "role", || {
            Problem::new("form", "must be moderator or owner")
        });
        problems.or(self)
    }
}

/// That one person has blocked another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Who blocks.
    pub by: PersonId,
    /// Whom.
    pub person: PersonId,
    /// Since when.
    pub at: Moment,
}
