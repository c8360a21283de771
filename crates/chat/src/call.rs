//! Who asks, for which community, when.

use crate::ids::{CommunityId, Entropy, PersonId, Ulid};
use crate::moment::Moment;
use crate::rows::Rows;
use crate::{Failure, Verb};

/// On whose behalf something is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum By {
    /// A person, within what they may.
    Person(PersonId),
    /// The community's own back end or its administrator, with a key: everything within the community.
    Service,
}

impl By {
    /// What stands in the audit log.
    pub fn name(&self) -> PersonId {
        match self {
            Self::Person(person) => person.clone(),
            Self::Service => PersonId::service(),
        }
    }

    /// Who has that [name](Self::name).
    #[must_use]
    pub fn named(name: &PersonId) -> Self {
        if *name == PersonId::service() { Self::Service } else { Self::Person(name.clone()) }
    }
}

/// What comes with everything that is asked. Nothing of a community can be asked without one.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where.
    pub community: CommunityId,
    /// On whose behalf.
    pub by: By,
    /// When.
    pub now: Moment,
    /// For the ids that it makes. Two calls must not have the same.
    pub entropy: Entropy,
}

impl Call {
    /// Puts the question together with who asks it.
    pub fn ask<C>(self, command: C) -> Asked<C> {
        Asked { call: self, command }
    }

    /// An id that this call makes; `nth` tells several apart.
    pub(crate) fn id(&self, nth: u32) -> Ulid {
        Ulid::new(self.now, self.entropy, nth)
    }
}

/// Something that can be asked within a community.
///
/// A command decides before it writes: when it fails by a rule, it has written nothing. That is what lets many commands
/// share one transaction.
pub trait Command: Send + 'static {
    /// What comes back.
    type Answer: Send + 'static;
    /// Whether it may write.
    const WRITES: bool;

    /// How much of the community's share of a store's time it takes; see [`Verb::weight`].
    fn weight(&self) -> u32 {
        1
    }

    /// Does it.
    ///
    /// # Errors
    /// As the command's documentation says; [`Failure::Unavailable`] from any.
    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure>;
}

/// A command with its call.
#[derive(Clone, Debug)]
pub struct Asked<C> {
    /// Who asks.
    pub call: Call,
    /// What.
    pub command: C,
}

impl<C: Command> Verb for Asked<C> {
    type Answer = C::Answer;
    const WRITES: bool = C::WRITES;

    fn community(&self) -> Option<&CommunityId> {
        Some(&self.call.community)
    }

    fn weight(&self) -> u32 {
        self.command.weight()
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<C::Answer, Failure> {
        self.command.run(&self.call, rows)
    }
}
