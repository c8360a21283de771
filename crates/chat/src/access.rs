//! The gate before every conversation: who asks, how they stand to it, and what follows.
//!
//! Before a conversation, "exists, but not for you" becomes [`Failure::Absent`] here. A verb that names something else,
//! such as a message or a report, says that this is absent where [`passes`] says no.

use crate::call::{By, Call};
use crate::community::{Community, GuestPolicy};
use crate::conversation::{Conversation, Member};
use crate::failure::{Failure, Refusal, Thing};
use crate::ids::{ConversationId, PersonId};
use crate::kind::Kind;
use crate::moderation::{Sanction, SanctionKind};
use crate::moment::Moment;
use crate::permissions::{Action, Role, Standing, permits};
use crate::person::Person;
use crate::rows::{Rows, SendingFacts};

/// Somebody before a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The conversation.
    pub(crate) conversation: Conversation,
    /// The asker's part in it.
    pub(crate) member: Option<Member>,
    asker: Asker,
    sanctions: Vec<Sanction>,
    blocked: bool,
    now: Moment,
}

/// Who asks, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
enum Asker {
    Service,
    Person { guest: bool, role: Option<Role>, guests: GuestPolicy },
}

impl Access {
    /// Looks everything up, and asks for `action`.
    ///
    /// # Errors
    /// [`Thing::Conversation`] absent, or refused.
    pub(crate) fn to(
        rows: &mut dyn Rows,
        call: &Call,
        id: ConversationId,
        action: Action,
    ) -> Result<Self, Failure> {
        let conversation = rows.conversation(&call.community, id)?;
        let conversation = conversation.ok_or(Failure::Absent(Thing::Conversation))?;
        let access = Self::before(rows, call, conversation)?;
        access.require(action)?;
        Ok(access)
    }

    /// Looks up who is before that conversation, without asking for anything yet.
    pub(crate) fn before(
        rows: &mut dyn Rows,
        call: &Call,
        conversation: Conversation,
    ) -> Result<Self, Failure> {
        let facts = match &call.by {
            By::Person(person) => SendingFacts::before(rows, &call.community, person, &conversation)?,
            By::Service => SendingFacts::default(),
        };
        Self::by_facts(rows, call, conversation, facts)
    }

    /// The same from facts that are there already.
    pub(crate) fn by_facts(
        rows: &mut dyn Rows,
        call: &Call,
        conversation: Conversation,
        facts: SendingFacts,
    ) -> Result<Self, Failure> {
        if call.by == By::Service {
            return Ok(Self::of_service(conversation, call.now));
        }
        let person = facts.person.ok_or(Failure::Absent(Thing::Conversation))?;
        let guests = match facts.guests {
            _ if !person.profile.guest => GuestPolicy::Write,
            Some(guests) => guests,
            None => guest_policy(rows, call)?,
        };
        let asker = Asker::Person { guest: person.profile.guest, role: person.profile.role, guests };
        Ok(Self {
            conversation,
            member: facts.member,
            asker,
            sanctions: facts.sanctions,
            blocked: facts.blocked,
            now: call.now,
        })
    }

    fn of_service(conversation: Conversation, now: Moment) -> Self {
        Self { conversation, member: None, asker: Asker::Service, sanctions: Vec::new(), blocked: false, now }
    }

    /// How the asker stands to it. A role in the whole community counts in rooms, never in conversations between people.
    fn standing(&self) -> Option<Standing> {
        let Asker::Person { guest, role, .. } = self.asker else {
            return None;
        };
        let here = self.member.as_ref().map(|member| member.role);
        let role = if self.conversation.kind.is_room() { here.max(role) } else { here };
        Some(match role {
            Some(role) => Standing::In(role),
            None if guest => Standing::Passerby,
            None => Standing::Visitor,
        })
    }

    /// The role with which the asker moderates; none outside of the conversation. A key is above every role.
    pub(crate) fn is_above(&self, other: Role) -> bool {
        match self.standing() {
            None => true,
            Some(Standing::In(role)) => role.is_above(other),
            Some(Standing::Visitor | Standing::Passerby) => false,
        }
    }

    /// Whether the asker is a guest.
    pub(crate) fn is_guest(&self) -> bool {
        matches!(self.asker, Asker::Person { guest: true, .. })
    }

    /// What guests may do here, if the asker is one: for the facts of the next conversation.
    pub(crate) fn guests(&self) -> Option<GuestPolicy> {
        match self.asker {
            Asker::Person { guest: true, guests, .. } => Some(guests),
            Asker::Person { guest: false, .. } | Asker::Service => None,
        }
    }

    /// Whether `action` is possible.
    pub(crate) fn may(&self, action: Action) -> bool {
        self.require(action).is_ok()
    }

    /// Lets pass who may do `action`.
    ///
    /// # Errors
    /// [`Thing::Conversation`] absent for who may not know of it; else refused, with the reason.
    pub(crate) fn require(&self, action: Action) -> Result<(), Failure> {
        let (Some(standing), Asker::Person { guests, .. }) = (self.standing(), self.asker) else {
            return Ok(());
        };
        let kind = self.conversation.kind;
        let invited = action == Action::JoinInvited && permits(standing, action, kind);
        if !(permits(standing, Action::See, kind) || invited) || guests == GuestPolicy::Refused {
            return Err(Failure::Absent(Thing::Conversation));
        }
        if let Some(ban) = self.sanction(SanctionKind::Ban) {
            return Err(self.banned(ban, standing));
        }
        let may = permits(standing, action, kind) || self.comes_in_by_role(standing, action);
        if !may || (guests == GuestPolicy::Read && action.changes_something()) {
            return Err(Refusal::NotPermitted(action).into());
        }
        if !action.speaks() {
            return Ok(());
        }
        if let Some(mute) = self.sanction(SanctionKind::Mute) {
            return Err(Refusal::Muted { until: mute.until }.into());
        }
        if self.blocked { Err(Refusal::Blocked.into()) } else { Ok(()) }
    }

    /// Who has a role in the whole community stands in every room without being a member of any, and may become one of each.
    fn comes_in_by_role(&self, standing: Standing, action: Action) -> bool {
        let stands_in = matches!(standing, Standing::In(_));
        stands_in && self.member.is_none() && matches!(action, Action::Join | Action::JoinInvited)
    }

    /// Who is banned learns of it where everybody sees the room; from what is hidden they are kept out as strangers.
    fn banned(&self, ban: &Sanction, standing: Standing) -> Failure {
        let outside = match standing {
            Standing::In(_) | Standing::Visitor => Standing::Visitor,
            Standing::Passerby => Standing::Passerby,
        };
        match self.conversation.kind {
            Kind::Direct | Kind::Group => Refusal::Banned { until: ban.until }.into(),
            kind if permits(outside, Action::See, kind) => Refusal::Banned { until: ban.until }.into(),
            Kind::Public | Kind::Members | Kind::Private => Failure::Absent(Thing::Conversation),
        }
    }

    fn sanction(&self, kind: SanctionKind) -> Option<&Sanction> {
        holding(&self.sanctions, kind, Some(self.conversation.id), self.now)
    }
}

/// Whether somebody was let pass. A rule that says no is an answer; that the storage did not say anything is none.
///
/// # Errors
/// [`Failure::Unavailable`], as it came.
pub(crate) fn passes<T>(outcome: Result<T, Failure>) -> Result<bool, Failure> {
    match outcome {
        Err(Failure::Unavailable(trouble)) => Err(trouble.into()),
        outcome => Ok(outcome.is_ok()),
    }
}

/// The community of the call.
///
/// # Errors
/// There is none, or it is being erased.
pub(crate) fn community(rows: &mut dyn Rows, call: &Call) -> Result<Community, Failure> {
    let community = rows.community(&call.community)?.filter(|community| community.erasing.is_none());
    community.ok_or(Failure::Absent(Thing::Community))
}

fn guest_policy(rows: &mut dyn Rows, call: &Call) -> Result<GuestPolicy, Failure> {
    Ok(community(rows, call)?.settings.guests)
}

/// The person who asks.
///
/// # Errors
/// They are not known in the community; or a key asks where only a person can.
pub(crate) fn asker(rows: &mut dyn Rows, call: &Call) -> Result<Person, Failure> {
    match &call.by {
        By::Person(person) => rows.person(&call.community, person)?.ok_or(Failure::Absent(Thing::Person)),
        By::Service => Err(Failure::Absent(Thing::Person)),
    }
}

/// What is the same of a person before every conversation, for who looks at many of them: each one's member is added. No
/// block is looked up, so that it says nothing about [`Action::Send`] and [`Action::React`].
pub(crate) fn own_facts(
    rows: &mut dyn Rows,
    call: &Call,
    person: &PersonId,
) -> Result<SendingFacts, Failure> {
    let person_row = rows.person(&call.community, person)?;
    let is_guest = person_row.as_ref().is_some_and(|person| person.profile.guest);
    Ok(SendingFacts {
        guests: if is_guest { Some(guest_policy(rows, call)?) } else { None },
        person: person_row,
        sanctions: rows.sanctions(&call.community, person)?,
        ..SendingFacts::default()
    })
}

/// Lets pass keys, and a person in what is about themselves; without a person, keys alone.
///
/// # Errors
/// Refused [`Action::Administer`].
pub(crate) fn key_or_self(call: &Call, person: Option<&PersonId>) -> Result<(), Failure> {
    match &call.by {
        By::Service => Ok(()),
        By::Person(asker) if person == Some(asker) => Ok(()),
        By::Person(_) => Err(Refusal::NotPermitted(Action::Administer).into()),
    }
}

/// Lets pass keys and those with a role in the whole community of at least `role`.
///
/// # Errors
/// Refused `action`.
pub(crate) fn community_role(
    rows: &mut dyn Rows,
    call: &Call,
    role: Role,
    action: Action,
) -> Result<(), Failure> {
    match &call.by {
        By::Service => Ok(()),
        By::Person(_) => {
            let person = asker(rows, call)?;
            let banned = community_ban(rows, call)?;
            let may = banned.is_none() && person.profile.role.is_some_and(|own| own >= role);
            if may { Ok(()) } else { Err(Refusal::NotPermitted(action).into()) }
        }
    }
}

/// The ban that keeps the asker out of the whole community.
pub(crate) fn community_ban(rows: &mut dyn Rows, call: &Call) -> Result<Option<Sanction>, Failure> {
    let By::Person(person) = &call.by else {
        return Ok(None);
    };
    let sanctions = rows.sanctions(&call.community, person)?;
    Ok(ban_in_community(&sanctions, call.now).cloned())
}

/// Of somebody's sanctions, the ban that keeps them out of the whole community.
pub(crate) fn ban_in_community(sanctions: &[Sanction], now: Moment) -> Option<&Sanction> {
    holding(sanctions, SanctionKind::Ban, None, now)
}

/// The sanction of that kind that somebody has in that conversation; without one, in the whole community.
fn holding(
    sanctions: &[Sanction],
    kind: SanctionKind,
    conversation: Option<ConversationId>,
    now: Moment,
) -> Option<&Sanction> {
    let mut sanctions = sanctions.iter();
    sanctions.find(|sanction| sanction.kind == kind && sanction.covers(conversation) && sanction.holds(now))
}
