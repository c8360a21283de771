//! People: who they are, what they may see of each other, whom they block.

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

/// Notes who the asker is: when they connect, and when their token or profile changes. Whoever was never met finds every
/// conversation absent. That they are here is not noted with it: they may not want to be seen ([`NoteSeen`]).
///
/// Fails with [`Refusal::Banned`] for who is banned from the community, and as absent for guests where there are none.
#[derive(Clone, Debug)]
pub struct Meet {
    /// What their token says of them.
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

/// Whether others learn what the asker has read.
#[derive(Clone, Copy, Debug)]
pub struct SetReceipts {
    /// Whether they do.
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

/// A person. For themselves, for those who share a conversation with them, for everybody where the community lets people
/// find each other; else absent. When they were [seen](Person::seen) is told as [`LastSeen`] does.
#[derive(Clone, Debug)]
pub struct ReadPerson {
    /// Whom.
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

/// All people of the community, by id. For keys and moderators of the whole community.
#[derive(Clone, Debug)]
pub struct People {
    /// Those after it.
    pub after: Option<PersonId>,
    /// How many.
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

/// Blocks somebody whom the asker can see: in a conversation of two, neither can write any more, and neither can begin one
/// with the other, open a group with them or invite them. Again is the same.
#[derive(Clone, Debug)]
pub struct BlockPerson {
    /// Whom.
    pub person: PersonId,
}

impl Command for BlockPerson {
    type Answer = Block;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Block, Failure> {
        let asker = access::asker(rows, call)?;
        let person = visible(rows, call, &self.person)?;
        if asker.id == person.id {
            return Err(Problem::new("form", "is oneself").at("person").into());
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

/// Blocks somebody no more; also who was not blocked.
#[derive(Clone, Debug)]
pub struct UnblockPerson {
    /// Whom.
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

/// Whom the asker blocks; at most [`BLOCKS_MAX`].
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

/// A person whom the asker may know of.
///
/// # Errors
/// Absent: they do not exist, or not for the asker.
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

/// A person with whom the asker may begin a conversation, or whom they may bring into one: they may know of them, and neither
/// blocks the other.
///
/// # Errors
/// Absent: as [`visible`]. A block looks the same, so that nobody learns of it.
pub(super) fn approachable(rows: &mut dyn Rows, call: &Call, id: &PersonId) -> Result<Person, Failure> {
    let person = visible(rows, call, id)?;
    match &call.by {
        By::Person(asker) if block_between(rows, &call.community, asker, id)? => {
            Err(Failure::Absent(Thing::Person))
        }
        By::Person(_) | By::Service => Ok(person),
    }
}
