//! Who calls, for which community, and when.

use crate::ids::{CommunityId, Entropy, PersonId, Ulid};
use crate::moment::Moment;
use crate::rows::Rows;
use crate::{Failure, Verb};

/// On whose behalf a command runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum By {
    /// A person, limited by their permissions.
    Person(PersonId),
    /// The community's own back end or its administrator, authenticated by a key; may do everything within the
    /// community.
    Service,
}

impl By {
    /// The name that appears in the audit log.
    pub fn name(&self) -> PersonId {
        match self {
            Self::Person(person) => person.clone(),
            Self::Service => PersonId::service(),
        }
    }

    /// The caller with that [name](Self::name).
    #[must_use]
    pub fn named(name: &PersonId) -> Self {
        if *name == PersonId::service() { Self::Service } else { Self::Person(name.clone()) }
    }
}

/// The context of every command. No command on a community's data runs without one.
#[derive(Clone, Debug)]
pub struct Call {
    /// The community.
    pub community: CommunityId,
    /// The caller.
    pub by: By,
    /// The current time.
    pub now: Moment,
    /// Randomness for the ids that the command creates. No two calls may have the same.
    pub entropy: Entropy,
}

impl Call {
    /// Combines a command with this call.
    pub fn ask<C>(self, command: C) -> Asked<C> {
        Asked { call: self, command }
    }

    /// Returns the `nth` id that this call creates.
    pub(crate) fn id(&self, nth: u32) -> Ulid {
        Ulid::new(self.now, self.entropy, nth)
    }
}

/// A command within a community.
///
/// A command decides before it writes: when a rule makes it fail, it has written nothing. That is what lets many
/// commands share one transaction.
pub trait Command: Send + 'static {
    /// The result type.
    type Answer: Send + 'static;
    /// Whether it may write.
    const WRITES: bool;

    /// Its cost against the community's share of the store's time; see [`Verb::weight`].
    fn weight(&self) -> u32 {
        1
    }

    /// Runs the command.
    ///
    /// # Errors
    /// As the command's documentation says; any command may fail with [`Failure::Unavailable`].
    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure>;
}

/// A command with its call.
#[derive(Clone, Debug)]
pub struct Asked<C> {
    /// The caller and context.
    pub call: Call,
    /// The command.
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
