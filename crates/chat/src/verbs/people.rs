//! People: profiles, who can see whom, and blocks.

use super::listing::{Listed, with_one_more};
use crate::access;
use crate::community::GuestPolicy;
use crate::failure::Thing;
use crate::ids::PersonId;
use crate::limits::BLOCKS_MAX;
use crate::moment::Moment;
use crate::permissions::{Action, Role};
use crate::person::{Block, Person, Profile};
use crate::problem::Problem;
use crate::rows::{Rows, block_between};
use crate::{By, Call, Command, Failure, Refusal};

/// Records the caller: used when they connect, and when their token or profile changes. To a person who was never
/// recorded, every conversation is absent. Does not update when they were last seen, which they may want to hide
/// ([`NoteSeen`](super::NoteSeen)).
///
/// Fails with [`Refusal::Banned`] for people banned from the community, and as absent for guests where guests are not
/// admitted.
#[derive(Clone, Debug)]
pub struct Meet {
    /// The profile from their token.
    pub profile: Profile,
}

impl Command for Meet {
    type Answer = Person;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Person, Failure> {
        let community = access::community(rows, call)?;
        let By::Person(id) = &call.by else {
            return Err(Failure::Absent(Thing::Person));
        };
        let profile = self.profile.clone().checked()?;
        if id.is_reserved() {
            return Err(Problem::new("alphabet", "must not begin with ~").at("person").into());
        }
        if profile.guest && community.settings.guests == GuestPolicy::Refused {
            return Err(Failure::Absent(Thing::Community));
        }
        if let Some(ban) = access::community_ban(rows, call)? {
            return Err(Refusal::Banned { until: ban.until }.into());
        }
        let known = rows.person(&call.community, id)?;
        let person = match known {
            Some(known) if known.profile == profile => return Ok(known),
            Some(known) => Person { profile, ..known },
            None => Person {
                id: id.clone(),
                created: call.now,
                profile,
                receipts: true,
                seen: Moment::default(),
                erasing: None,
            },
        };
        rows.put(&call.community, &person.clone().into())?;
        Ok(person)
    }
}

/// Sets whether others see the caller's read receipts.
#[derive(Clone, Copy, Debug)]
pub struct SetReceipts {
    /// Whether receipts are shared.
    pub on: bool,
}

impl Command for SetReceipts {
    type Answer = Person;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Person, Failure> {
        let person = Person { receipts: self.on, ..access::asker(rows, call)? };
        rows.put(&call.community, &person.clone().into())?;
        Ok(person)
    }
}

/// Returns a person: to themselves, to those who share a conversation with them, and to everybody where the community
/// lets people find each other; otherwise absent. [`Person::seen`] is subject to the same rules as [`LastSeen`](super::LastSeen).
#[derive(Clone, Debug)]
pub struct ReadPerson {
    /// The person.
    pub person: PersonId,
}

impl Command for ReadPerson {
    type Answer = Person;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Person, Failure> {
        let mut person = visible(rows, call, &self.person)?;
        if !super::seeing::may_see(rows, call, &person.id)? {
            person.seen = Moment::default();
        }
        Ok(person)
    }
}

/// Lists all people of the community, by id. For keys and moderators of the whole community.
#[derive(Clone, Debug)]
pub struct People {
    /// Only people after this one.
    pub after: Option<PersonId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for People {
    type Answer = Listed<Person, PersonId>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        access::community_role(rows, call, Role::Moderator, Action::SeeMembers)?;
        let found = rows.people(&call.community, self.after.as_ref(), with_one_more(self.limit))?;
        Ok(Listed::of(found, self.limit, |person| person.id.clone()))
    }
}

/// Blocks somebody whom the caller can see: neither can write in their direct conversation any more, start one with the
/// other, open a group with them or invite them. Idempotent.
#[derive(Clone, Debug)]
pub struct BlockPerson {
    /// The person.
    pub person: PersonId,
}

impl Command for BlockPerson {
    type Answer = Block;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Block, Failure> {
        let asker = access::asker(rows, call)?;
        let person = visible(rows, call, &self.person)?;
        if asker.id == person.id {
            return Err(Problem::new("form", "must be another person").at("person").into());
        }
        if let Some(block) = rows.block(&call.community, &asker.id, &person.id)? {
            return Ok(block);
        }
        if rows.blocks(&call.community, &asker.id)?.len() >= BLOCKS_MAX {
            return Err(Refusal::LimitReached { limit: "blocks_max", max: BLOCKS_MAX as u64 }.into());
        }
        let block = Block { by: asker.id, person: person.id, at: call.now };
        rows.put(&call.community, &block.clone().into())?;
        Ok(block)
    }
}

/// Removes a block; does nothing if there is none.
#[derive(Clone, Debug)]
pub struct UnblockPerson {
    /// The person.
    pub person: PersonId,
}

impl Command for UnblockPerson {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        let asker = access::asker(rows, call)?;
        let target = crate::rows::Target::Block { by: asker.id, person: self.person.clone() };
        Ok(rows.remove(&call.community, &target)?)
    }
}

/// Lists the people whom the caller blocks; at most [`BLOCKS_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct Blocks;

impl Command for Blocks {
    type Answer = Vec<Block>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Block>, Failure> {
        let asker = access::asker(rows, call)?;
        Ok(rows.blocks(&call.community, &asker.id)?)
    }
}

/// Returns a person whom the caller may know of.
///
/// # Errors
/// Absent: they do not exist, or the caller may not know of them.
pub(super) fn visible(rows: &mut dyn Rows, call: &Call, id: &PersonId) -> Result<Person, Failure> {
    let absent = Failure::Absent(Thing::Person);
    let By::Person(asker) = &call.by else {
        return rows.person(&call.community, id)?.ok_or(absent);
    };
    let community = access::community(rows, call)?;
    let asker = rows.person(&call.community, asker)?.ok_or(absent.clone())?;
    if access::community_ban(rows, call)?.is_some() {
        return Err(absent);
    }
    let may = asker.id == *id
        || (community.settings.people_find_each_other && !asker.profile.guest)
        || asker.profile.role.is_some()
        || rows.share(&call.community, &asker.id, id)?;
    if may { rows.person(&call.community, id)?.ok_or(absent) } else { Err(absent) }
}

/// Returns a person with whom the caller may start a conversation, or whom they may add to one: one whom they may know
/// of, with no block in either direction.
///
/// # Errors
/// Absent, as for [`visible`]. A block looks the same, so that nobody learns of it.
pub(super) fn approachable(rows: &mut dyn Rows, call: &Call, id: &PersonId) -> Result<Person, Failure> {
    let person = visible(rows, call, id)?;
    match &call.by {
        By::Person(asker) if block_between(rows, &call.community, asker, id)? => {
            Err(Failure::Absent(Thing::Person))
        }
        By::Person(_) | By::Service => Ok(person),
    }
}
