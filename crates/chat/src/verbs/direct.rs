//! Direct conversations of two people, and groups.

use super::joining::require_room_for_one_more;
use super::people::approachable;
use super::rooms::empty;
use crate::access;
use crate::community::GuestPolicy;
use crate::conversation::{Conversation, Member, Pair};
use crate::ids::PersonId;
use crate::kind::Kind;
use crate::limits::{GROUP_MAX, NAME_BYTES_MAX};
use crate::permissions::{Action, Role};
use crate::person::Person;
use crate::problem::Problem;
use crate::rows::Rows;
use crate::{Call, Command, Failure, Refusal, text};

/// Returns the caller's direct conversation with a person whom they can see; creates it if there is none. For people
/// with an account, and for guests where guests may write.
///
/// Fails with [`Thing::Person`](crate::Thing::Person) absent also if there is no conversation yet and one of the two
/// blocks the other. An existing conversation remains available.
#[derive(Clone, Debug)]
pub struct OpenDirect {
    /// The other person.
    pub with: PersonId,
}

impl Command for OpenDirect {
    type Answer = Conversation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let asker = opener(rows, call)?;
        let Some(pair) = Pair::of(&asker.id, &self.with) else {
            return Err(Problem::new("form", "must be another person").at("with").into());
        };
        if let Some(found) = rows.direct(&call.community, &pair)? {
            return Ok(found);
        }
        let other = approachable(rows, call, &self.with)?;
        for person in [&asker.id, &other.id] {
            require_room_for_one_more(rows, call, person)?;
        }
        let conversation = Conversation { pair: Some(pair), members: 2, ..empty(call, Kind::Direct) };
        rows.put(&call.community, &conversation.clone().into())?;
        for person in [asker.id, other.id] {
            let member = Member::new(&conversation, person, Role::Member, call.now);
            rows.put(&call.community, &member.into())?;
        }
        Ok(conversation)
    }
}

/// Creates a group of the caller, who owns it, and others whom they can see. For people with an account.
///
/// Fails with [`Thing::Person`](crate::Thing::Person) absent also if the caller and one of the others block each other.
#[derive(Clone, Debug)]
pub struct OpenGroup {
    /// The other people; up to [`GROUP_MAX`] including the caller.
    pub with: Vec<PersonId>,
    /// The title; may be empty.
    pub title: String,
}

impl Command for OpenGroup {
    type Answer = Conversation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Conversation, Failure> {
        let asker = opener(rows, call)?;
        if asker.profile.guest {
            return Err(Refusal::NotPermitted(Action::Administer).into());
        }
        let title = text::lines(&self.title, NAME_BYTES_MAX).and_then(|title| {
            if title.contains(['\n', '\t']) {
                Err(Problem::new("control_character", "must be a single line"))
            } else {
                Ok(title)
            }
        });
        let title = title.map_err(|problem| problem.at("title"))?;
        let mut others = self.with.clone();
        others.retain(|person| *person != asker.id);
        others.sort();
        others.dedup();
        if !(1..GROUP_MAX).contains(&others.len()) {
            return Err(Problem::length(1, GROUP_MAX - 1, "other people").at("with").into());
        }
        require_room_for_one_more(rows, call, &asker.id)?;
        for person in &others {
            let person = approachable(rows, call, person)?;
            require_room_for_one_more(rows, call, &person.id)?;
        }
        let members = others.len() as u64 + 1;
        let conversation = Conversation { title, members, ..empty(call, Kind::Group) };
        rows.put(&call.community, &conversation.clone().into())?;
        let owner = Member::new(&conversation, asker.id, Role::Owner, call.now);
        rows.put(&call.community, &owner.into())?;
        for person in others {
            let member = Member::new(&conversation, person, Role::Member, call.now);
            rows.put(&call.community, &member.into())?;
        }
        Ok(conversation)
    }
}

/// Returns the caller, if they may start conversations at all.
fn opener(rows: &mut dyn Rows, call: &Call) -> Result<Person, Failure> {
    let community = access::community(rows, call)?;
    let asker = access::asker(rows, call)?;
    if let Some(ban) = access::community_ban(rows, call)? {
        return Err(Refusal::Banned { until: ban.until }.into());
    }
    if asker.profile.guest && community.settings.guests != GuestPolicy::Write {
        return Err(Refusal::NotPermitted(Action::Send).into());
    }
    Ok(asker)
}
