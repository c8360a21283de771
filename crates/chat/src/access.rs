//! Access control for conversations: who is calling, how they stand to the conversation, and what that permits.
//!
//! For conversations, "exists, but not for you" becomes [`Failure::Absent`] here. A verb that addresses something else,
//! such as a message or a report, checks with [`passes`] and reports that thing as absent.

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

/// A caller's access to one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The conversation.
    pub(crate) conversation: Conversation,
    /// The caller's membership, if any.
    pub(crate) member: Option<Member>,
    asker: Asker,
    sanctions: Vec<Sanction>,
    blocked: bool,
    now: Moment,
}

/// The caller, as far as the rules look at it.
#[derive(Clone, Copy, Debug)]
enum Asker {
    Service,
    Person { guest: bool, role: Option<Role>, guests: GuestPolicy },
}

impl Access {
    /// Looks up everything needed and requires `action`.
    ///
    /// # Errors
    /// [`Thing::Conversation`] absent, or a refusal.
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

    /// Looks up the caller's access to that conversation without requiring an action.
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

    /// Like [`before`](Self::before), from facts that were already looked up.
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

    /// Returns how the caller stands to the conversation. A community-wide role counts in rooms, never in conversations
    /// between people.
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

    /// Whether the caller's role here is above `other`. Callers outside of the conversation have none; a key is above
    /// every role.
    pub(crate) fn is_above(&self, other: Role) -> bool {
        match self.standing() {
            None => true,
            Some(Standing::In(role)) => role.is_above(other),
            Some(Standing::Visitor | Standing::Passerby) => false,
        }
    }

    /// Whether the caller is a guest.
    pub(crate) fn is_guest(&self) -> bool {
        matches!(self.asker, Asker::Person { guest: true, .. })
    }

    /// The guest policy, if the caller is a guest; lets callers reuse it for the next conversation's facts.
    pub(crate) fn guests(&self) -> Option<GuestPolicy> {
        match self.asker {
            Asker::Person { guest: true, guests, .. } => Some(guests),
            Asker::Person { guest: false, .. } | Asker::Service => None,
        }
    }

    /// Whether `action` is permitted.
    pub(crate) fn may(&self, action: Action) -> bool {
        self.require(action).is_ok()
    }

    /// Requires that the caller may do `action`.
    ///
    /// # Errors
    /// [`Thing::Conversation`] absent for callers who may not know of it; otherwise a refusal with the reason.
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

    /// A community-wide role gives access to every room without being a member, and allows becoming a member of each.
    fn comes_in_by_role(&self, standing: Standing, action: Action) -> bool {
        let stands_in = matches!(standing, Standing::In(_));
        stands_in && self.member.is_none() && matches!(action, Action::Join | Action::JoinInvited)
    }

    /// A banned caller is told so only where outsiders can see the room; a hidden room looks absent to them, as to any
    /// stranger.
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

/// Whether a check passed. A refusal by a rule is an answer; a storage failure is not.
///
/// # Errors
/// Passes [`Failure::Unavailable`] through.
pub(crate) fn passes<T>(outcome: Result<T, Failure>) -> Result<bool, Failure> {
    match outcome {
        Err(Failure::Unavailable(trouble)) => Err(trouble.into()),
        outcome => Ok(outcome.is_ok()),
    }
}

/// Returns the call's community.
///
/// # Errors
/// Absent if there is none, or if it is being erased.
pub(crate) fn community(rows: &mut dyn Rows, call: &Call) -> Result<Community, Failure> {
    let community = rows.community(&call.community)?.filter(|community| community.erasing.is_none());
    community.ok_or(Failure::Absent(Thing::Community))
}

fn guest_policy(rows: &mut dyn Rows, call: &Call) -> Result<GuestPolicy, Failure> {
    Ok(community(rows, call)?.settings.guests)
}

/// Returns the calling person.
///
/// # Errors
/// Absent if the community does not know them, or if a key calls where only a person can.
pub(crate) fn asker(rows: &mut dyn Rows, call: &Call) -> Result<Person, Failure> {
    match &call.by {
        By::Person(person) => rows.person(&call.community, person)?.ok_or(Failure::Absent(Thing::Person)),
        By::Service => Err(Failure::Absent(Thing::Person)),
    }
}

/// Looks up those facts about a person that are the same for every conversation, for checking many of them: add each
/// one's member. Blocks are not looked up, so the result says nothing about [`Action::Send`] and [`Action::React`].
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

/// Admits keys, and a person where it is about themselves; with `person` as `None`, keys only.
///
/// # Errors
/// [`Action::Administer`] refused.
pub(crate) fn key_or_self(call: &Call, person: Option<&PersonId>) -> Result<(), Failure> {
    match &call.by {
        By::Service => Ok(()),
        By::Person(asker) if person == Some(asker) => Ok(()),
        By::Person(_) => Err(Refusal::NotPermitted(Action::Administer).into()),
    }
}

/// Admits keys and people whose community-wide role is at least `role`.
///
/// # Errors
/// `action` refused.
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

/// Returns the ban that excludes the caller from the whole community, if any.
pub(crate) fn community_ban(rows: &mut dyn Rows, call: &Call) -> Result<Option<Sanction>, Failure> {
    let By::Person(person) = &call.by else {
        return Ok(None);
    };
    let sanctions = rows.sanctions(&call.community, person)?;
    Ok(ban_in_community(&sanctions, call.now).cloned())
}

/// Returns the ban among `sanctions` that excludes the person from the whole community.
pub(crate) fn ban_in_community(sanctions: &[Sanction], now: Moment) -> Option<&Sanction> {
    holding(sanctions, SanctionKind::Ban, None, now)
}

/// Returns the sanction of that kind in that conversation; without a conversation, in the whole community.
fn holding(
    sanctions: &[Sanction],
    kind: SanctionKind,
    conversation: Option<ConversationId>,
    now: Moment,
) -> Option<&Sanction> {
    let mut sanctions = sanctions.iter();
    sanctions.find(|sanction| sanction.kind == kind && sanction.covers(conversation) && sanction.holds(now))
}
